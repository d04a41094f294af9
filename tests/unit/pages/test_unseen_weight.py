from time import process_time

import pytest

from crawler.domain.pages.unseen_weight import MOST_UNSEEN, without_unseen_weight

LONG = b"x" * (MOST_UNSEEN + 1)


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (b"<p>a</p><script>" + LONG + b"</script><p>b</p>", b"<p>a</p><script></script><p>b</p>"),
        (b"<SCRIPT type=x>" + LONG + b"</Script ><p>b", b"<SCRIPT type=x></Script ><p>b"),
        (b"<style media=all>" + LONG + b"</style>b", b"<style media=all></style>b"),
        (b"a<!--" + LONG + b"-->b", b"a<!---->b"),
        (b"a<script>" + LONG, b"a<script>"),
        (b"<script>'<p>'+\"<!--\"" + LONG + b"</script>b", b"<script></script>b"),
        (b"<!-- <script> -->" + LONG + b"<script>1</script>", b"<!-- <script> -->" + LONG + b"<script>1</script>"),
        (b"<script>1</script>" + LONG + b"<style>2</style>", b"<script>1</script>" + LONG + b"<style>2</style>"),
        (b"<template><p>" + LONG + b"</template>", b"<template><p>" + LONG + b"</template>"),
        (b"<svg><text>" + LONG + b"</svg>", b"<svg><text>" + LONG + b"</svg>"),
        (b"<img src='data:image/png;base64," + LONG + b"==' alt=b>", b"<img src='data:,' alt=b>"),
        (b"<p>data:image/png;base64,abc</p>" + LONG, b"<p>data:image/png;base64,abc</p>" + LONG),
        (b"<scripts>" + LONG + b"</scripts>", b"<scripts>" + LONG + b"</scripts>"),
    ],
)
def test_only_what_nobody_reads_and_is_long_goes(page: bytes, expected: bytes) -> None:
    assert without_unseen_weight(page) == expected


@pytest.mark.parametrize("piece", [b"<script>", b"<!--", b"<style", b"data:", b"data:a/b;base64,a ", b"</script", b"<"])
def test_it_takes_linear_time(piece: bytes) -> None:
    started = process_time()
    without_unseen_weight(piece * (5_000_000 // len(piece)))
    assert process_time() - started < 3
