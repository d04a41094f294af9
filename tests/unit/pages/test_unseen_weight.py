from time import process_time

import pytest

from crawler.domain.pages.nodes import parse
from crawler.domain.pages.unseen_weight import MOST_UNSEEN, without_unseen_weight

LONG = b"x" * (MOST_UNSEEN + 1)


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (b"<p>a</p><script>" + LONG + b"</script><p>b</p>", b"<p>a</p><script></script><p>b</p>"),
        (b"<SCRIPT type=x>" + LONG + b"</Script ><p>b", b"<SCRIPT type=x></Script ><p>b"),
        (b"<style media=all>" + LONG + b"</style>b", b"<style media=all></style>b"),
        (b"a<script>" + LONG, b"a<script>"),
        (b"<script>'<p>'+\"<!--\"" + LONG + b"</script>b", b"<script></script>b"),
        (b'<script data-a="x > y">' + LONG + b"</script>b", b'<script data-a="x > y"></script>b'),
        (b"<svg/><svg><path/></svg><script>" + LONG + b"</script>b", b"<svg/><svg><path/></svg><script></script>b"),
        (b"<img src='data:image/png;base64," + LONG + b"==' alt=b>", b"<img src='data:,' alt=b>"),
        (b"a<!-- <script> --><script>" + LONG + b"</script>b", b"a<!-- <script> --><script></script>b"),
    ],
)
def test_what_nobody_reads_and_is_long_goes(page: bytes, expected: bytes) -> None:
    assert without_unseen_weight(page, 10**6) == expected


MENTIONS = (
    b'<a title="write <!-- so">x</a>', b'<a title="use <script> here">x</a>', b"<img alt='<style>'>", b"<!-->",
    b"<!--->", b"<!-- <script> -->", b"<textarea><!-- your comment</textarea>", b"<textarea><script></textarea>",
    b"<title>About <!-- in HTML</title>", b"<title>A <script> element</title>", b"<iframe><!--</iframe>",
    b"<xmp><!--</xmp>", b"<scripts>", b"<svg><style>a</style></svg>", b"<script>1</script>", b"<style>2</style>",
    b"<template><p>", b"<p>data:image/png;base64,abc</p>", b"<p>a < b and <script</p>", b'<a href=x="y">z</a>',
    b"<a b=c'd>e</a>", b'<input placeholder="<script>alert(1)">', b"<a \"<script>\">f</a>", b"<?php <script> ?>",
)  # fmt: skip


@pytest.mark.parametrize("mention", MENTIONS)
@pytest.mark.parametrize("behind", [b"", b"-->", b"</script>", b"</style>"])
def test_what_is_only_mentioned_takes_nothing_away(mention: bytes, behind: bytes) -> None:
    seen = b"<p>Read me. " + LONG.replace(b"x", b"y ") + b"</p>"
    page = b"<html><body>" + mention + seen + behind + b"<p>The end.</p></body></html>"
    left = without_unseen_weight(page, 10**6)
    assert left is not None
    assert parse(left).body.text() == parse(page).body.text()  # type: ignore[union-attr]


def test_a_page_that_is_too_large_without_them_is_none() -> None:
    page = b"<script>" + LONG + b"</script>" + b"<p>word</p>" * 1000
    assert without_unseen_weight(page, 5_000) is None
    assert without_unseen_weight(page, 20_000) is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [b"<script>", b"<!--", b"<style", b"data:", b"<a b='data:a/b;base64,a'>", b"</script", b"<", b"<a b=", b'<a "',
     b"<b>", b"<svg><script>", b"<title>", b"<!-->", b"<a b='", b"</1>", b"</svg>", b"</>"],
)  # fmt: skip
def test_it_takes_little_time(piece: bytes) -> None:
    started = process_time()
    without_unseen_weight(piece * (8_000_000 // len(piece)), 2_000_000)
    assert process_time() - started < 3
