"""Real documentation pages to begin with."""

from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import NamedTuple

from lxml import etree
from lxml import html as lxml_html

from benchmarks.labelled.values import Half

OWN_PAGES = Path(__file__).parent / "pages"
"""A few pages of this project's own manual, as they once were: what tests use, which have no packages of Debian."""
SMALLEST, LARGEST = 2_000, 150_000
FEWEST_PARAGRAPHS = 6
"""Items of lists counted."""


class Source(NamedTuple):
    path: str
    body: bytes


def pages(folder: Path, half: Half, random: Random, count: int) -> list[Source]:
    """So many pages of the half's own, in a random order."""
    found = sorted(path for path in folder.rglob("*.html") if SMALLEST <= path.stat().st_size <= LARGEST)
    # The halves are fixed by the names alone, so that no seed can bring a page into both.
    Random("corpus").shuffle(found)
    mine = found[half is not Half.TUNING :: 2]
    random.shuffle(mine)
    return list(_usable(folder, mine, count))


def _usable(folder: Path, paths: Iterable[Path], count: int) -> Iterable[Source]:
    taken = 0
    for path in paths:
        if taken == count:
            return
        body = path.read_bytes()
        if _has_prose(parse(body)):
            taken += 1
            yield Source(path.relative_to(folder).as_posix(), body)


def _has_prose(tree: "lxml_html.HtmlElement") -> bool:
    return tree.find(".//p") is not None and len(tree.xpath(".//p | .//li")) >= FEWEST_PARAGRAPHS


def parse(body: bytes) -> "lxml_html.HtmlElement":
    parser = lxml_html.HTMLParser(encoding="utf-8")
    return etree.fromstring(body, parser)


def serialize(tree: "lxml_html.HtmlElement") -> bytes:
    written: bytes = etree.tostring(tree, encoding="utf-8", method="html", doctype="<!DOCTYPE html>")
    return written
