"""What is read where all crawls share a process is read quickly, whatever it was built for."""

import time

import pytest

from crawler.domain.pages.calm_markup import FEW_BYTES, MAX_TAGS, SAFE_BYTES, is_calm
from crawler.domain.pages.nodes import parse

PIECE, QUIET = 14_336, 2_048
"""Lengths of what is left between the samples that `markup_bombs` takes, and of the samples."""


def between_samples(unit: bytes, size: int = 100_000) -> bytes:
    """A page that is full of `unit`, but closes what nobody opened wherever somebody takes a sample."""
    piece = b"</q>" * (QUIET // 4) + (unit * PIECE)[:PIECE]
    return piece * (size // len(piece) + 1)


HOSTILE = {
    "divs": between_samples(b"<div>"),
    "ruby": between_samples(b"<rt>"),
    "drawings": between_samples(b"<svg>"),
    "seemingly closed": b"<span><div></span></div>" * 5_000,
    "closed by comments": b"<div><!--</div>-->" * 6_000,
    "roots": b"".join(b"<body a%d>" % n for n in range(8_000)),
    "groups": b"<optgroup>" * 8_000,
    "formatting": b"</i>" * 2_000 + b"<p>" + b"".join(b"<b a=%d>" % n for n in range(1_000)) + b"<p>x" * 1_000,
    "formatting, oddly spelled": b"".join(b"<b a='>%d'>" % n for n in range(1_500)) + b"<p>x" * 1_500,
    "formatting, stray quotes": b"".join(b'<b x" a=">%d">' % n for n in range(1_500)) + b"<p>x" * 1_500,
    "formatting, tabs": b"".join(b"<b\ta%d>" % n for n in range(1_500)) + b"<p>x" * 1_500,
    "attributes": b"<a " + b" ".join(b'a%d="<"' % n for n in range(30_000)) + b">",
    "attributes with ends": b"<a " + b" ".join(b'a%d=">"' % n for n in range(30_000)) + b">",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_markup_that_could_take_long_is_not_calm(name: str) -> None:
    assert not is_calm(HOSTILE[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_as_much_of_it_as_is_calm_is_parsed_quickly(name: str) -> None:
    body = HOSTILE[name]
    size = max((size for size in (SAFE_BYTES, 20_000, 40_000, FEW_BYTES) if is_calm(body[:size])), default=0)
    began = time.process_time()
    parse(body[:size])
    assert time.process_time() - began < 2, "seconds, with a wide margin for a busy machine"


def test_pages_of_people_are_calm() -> None:
    row = b'<li class="card"><a href="/rooms/%d" title="Room"><b>Room %d</b> <i class="x">quiet</i></a></li>\n'
    assert is_calm(b"<ul>" + b"".join(row % (n, n) for n in range(400)) + b"</ul>")
    assert is_calm(b"<p>" + b"word " * 500_000)
    assert is_calm(b'<script type="json">' + b'{"a": "b", "c": 1} ' * 200_000 + b"</script>")
    assert is_calm(b"<p>x</p>" * (MAX_TAGS // 2))


@pytest.mark.parametrize(
    "body",
    [b"<a b='" * 4_900 + b"c" * 5_000_000, (b"<a " + b"b " * 1_900) * 1_300, b"<a =" * 4_900 + b"= " * 2_000_000],
    ids=["quotes", "few attributes each", "signs"],
)
def test_looking_takes_no_longer_than_reading(body: bytes) -> None:
    began = time.process_time()
    is_calm(body)
    assert time.process_time() - began < 2
