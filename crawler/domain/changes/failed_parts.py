"""A part of many pages that failed: the server wrote one line in place of what each of them said there (its reviews).

Nobody can tell such a line from an edit by its words. So it takes that all of this is so, and for two crawls only:

- the same new line, on ten pages and more, in place of words of each page's own, or on three, if these were long;
  numbers and prices are none;
- and nearly everywhere where the part is: what an author writes (`Sold out`) stands where it is true;
- and the pages say more of their own that stayed: of what is withdrawn hardly the name is left.

The pages are compared as ever but for that part, which is compared with what it was when it is back. What still stands
there in the third crawl is told. A page on which something else was edited, too, is told at once, as it is.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from crawler.domain.changes.removals import Move
from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.noise.page_noise import FilteredPage
from crawler.domain.noise.stand_ins import Key
from crawler.domain.noise.template_changes import texts_of
from crawler.domain.rendering.url_shapes import url_shape
from crawler.domain.urls.url import parse

RULE = "part that failed"
KEY = "failed_parts"
FEWEST, MANY = 3, 10
MOST_CRAWLS = 2
"""In a row, in which it is not told."""
OWN_WORDS, LONG = 5, 20
"""Words that each page said there, in lines that no other page has: at least, and on few pages, which somebody may just
as well have edited one by one."""
OWN = 0.5
"""The share of such words."""
FRAME = 0.5
"""The share of pages that must keep a line for it to be one of the site's frame."""
KEPT_LINES, KEPT_WORDS = 3, 8
"""Lines, or words, of each page's own that stayed, its title among them."""
NEARLY_ALL = 0.8
MOST_PAGES = 5_000
"""That are kept in mind; others are told."""
MOST_PARTS = 5
MOST_ASKED = 40
"""Pages of a sort."""
MOST_TOLD, MOST_TOLD_CHARACTERS = 20, 2_000
"""Edits of the template on one page; a page with more is told at once, as it is."""
ToldEdit = tuple[str, str, str]
"""Where it is, and what the line was and became; empty where there was none."""


class HeldPage(NamedTuple):
    """A page with a part that failed."""

    version: UUID
    """What the page was before."""
    lines: tuple[str, ...]
    """What stands there now."""
    crawls: int = 1
    told: tuple[ToldEdit, ...] = ()
    """What was told of the page since then: edits of the template."""

    @property
    def is_over(self) -> bool:
        """Whether it is told if it stands there still."""
        return self.crawls >= MOST_CRAWLS

    def and_now(self, lines: tuple[str, ...], told: Iterable[BlockEdit]) -> "HeldPage":
        """The page in the next crawl, of which this is told."""
        now = [(edit.place, *texts_of(edit)) for edit in told]
        undone = {(place, added, removed) for place, removed, added in now}
        again = {(place, removed) for place, removed, _ in now if removed}
        kept = (one for one in self.told if one not in undone and one[:2] not in again)
        before = {(place, added, removed) for place, removed, added in self.told}
        return HeldPage(self.version, lines, self.crawls + 1, (*kept, *(one for one in now if one not in before)))

    @property
    def is_within_bounds(self) -> bool:
        told = [text for one in self.told for text in one]
        return len(self.told) <= MOST_TOLD and sum(map(len, told)) <= MOST_TOLD_CHARACTERS


class Parts(NamedTuple):
    """Lines that stand in place of parts."""

    pages: Mapping[str, FilteredPage]
    by_key: Mapping[Key, Sequence[str]]
    """The pages on which each of them stands."""

    def common(self) -> set[int]:
        """What several of these pages said there, by its hash: where that became another line, somebody edited the
        template."""
        found: set[int] = set()
        for key, urls in self.by_key.items():
            times = _times(key, [self.pages[url] for url in urls])
            found |= {line for line, pages in times.items() if pages > 1}
        return found

    def places(self, key: Key) -> frozenset[str]:
        """Where most of these pages had the part."""
        found = [one.places for url in self.by_key[key] for one in self.pages[url].stand_ins if one.key == key]
        times = Counter(place for places in found for place in places)
        return frozenset(place for place, pages in times.items() if 2 * pages >= len(found))


def known(summary: Mapping[str, Any] | None) -> dict[str, HeldPage]:
    """Pages of which a crawl did not tell a part, by URL."""
    kept = (summary or {}).get(KEY, {})
    return {
        url: HeldPage(
            UUID(one["version"]),
            tuple(one["lines"]),
            one["crawls"],
            tuple((place, removed, added) for place, removed, added in one.get("told", ())),
        )
        for url, one in kept.items()
    }


def as_record(pages: Mapping[str, HeldPage]) -> dict[str, Any]:
    if not pages:
        return {}
    kept = {
        url: {"version": str(page.version), "lines": list(page.lines), "crawls": page.crawls, "told": list(page.told)}
        for url, page in sorted(pages.items())
    }
    return {KEY: kept}


def without_lines(page: FilteredPage, lines: Container[str], common: Container[int] = ()) -> FilteredPage:
    """A page without what such lines took the place of, but for edits of `common` lines beside them."""
    parts = [one for one in page.stand_ins if one.line in lines]
    gone = {edit for one in parts for edit in one.edits}
    gone -= {edit for one in parts for said, edit in one.edited if said in common}
    edits, clock = (tuple(edit for edit in some if edit not in gone) for some in (page.edits, page.clock))
    return page._replace(edits=edits, clock=clock, rules=tuple(dict.fromkeys((*page.rules, RULE))))


def with_moved(moves: Iterable[Move], held: Mapping[str, HeldPage]) -> tuple[Move, ...]:
    """Moves, with the lines that were not told of these pages: where they are now, nobody knows what they were."""
    return tuple(_with_part(move, held[move.source]) if move.source in held else move for move in moves)


def _with_part(move: Move, page: HeldPage) -> Move:
    lines = [(None, line) for line in page.lines if not any(one and one.lower() == line for one, _ in move.edits)]
    return move._replace(edits=(*move.edits, *lines))


def shared_parts(pages: Mapping[str, FilteredPage]) -> Parts:
    """Lines that stand in place of what each of several pages said itself."""
    by_key: dict[Key, list[str]] = defaultdict(list)
    for url, page in sorted(pages.items()):
        if page.wall is None and not page.is_truncated:
            for key in dict.fromkeys(one.key for one in page.stand_ins):
                by_key[key].append(url)
    found = {}
    for key, urls in sorted(by_key.items(), key=lambda one: (-len(one[1]), one[0]))[:MOST_PARTS]:
        some = {url: pages[url] for url in urls}
        own = _with_own(key, some, OWN_WORDS if len(urls) >= MANY else LONG)
        if len(own) >= max(FEWEST, NEARLY_ALL * len(urls)):
            found[key] = own
    return Parts(pages, found)


def neighbours(urls: Collection[str], of: Collection[str]) -> tuple[list[str], list[str]]:
    """Other pages that may have the same part: those beside these or of their kind, and all others."""
    known, names = set(of), {name for url in of for name in _names(url)}
    others = [url for url in urls if url not in known]
    near = [url for url in others if names.intersection(_names(url))]
    return near, sorted(set(others).difference(near))


def some_of(urls: Sequence[str]) -> Sequence[str]:
    return urls[:: -(-len(urls) // MOST_ASKED) or 1]


def is_nearly_everywhere(pages: int, others: Iterable[tuple[int, Sequence[bool]]]) -> bool:
    """Whether a line stands on nearly all pages that had the part.

    `others`: of each sort how many there are, and of some whether they have it still.
    """
    having = 0.0
    for number, asked in others:
        if number and not asked:
            return False
        having += number * sum(asked) / max(len(asked), 1)
    return pages >= NEARLY_ALL * (pages + having)


def _names(url: str) -> tuple[str, str]:
    """Its kind, and its folder."""
    return url_shape(parse(url)), f"{url.partition('?')[0].rpartition('/')[0]}/"


def standing(
    pages: Mapping[str, FilteredPage], parts: Parts, before: Mapping[str, HeldPage]
) -> dict[str, tuple[str, ...]]:
    """By page the lines that are not told: those of these parts, and those that were not told in the crawl before.

    Once it is known, such a line is one wherever it stands: on the first page, too, which shows a few of all reviews.
    """
    found: dict[str, tuple[str, ...]] = {}
    failed = {line for _, line in parts.by_key}
    for url, page in pages.items():
        held = before.get(url)
        lines = {one.line for one in page.stand_ins if one.line in failed or (held and one.line in held.lines)}
        if lines and not (held and held.is_over):
            found[url] = tuple(sorted(lines))
    return found


def _times(key: Key, pages: Iterable[FilteredPage]) -> Counter[int]:
    """On how many pages each line stood that is gone, by its hash."""
    lost = ({said.hash for one in page.stand_ins if one.key == key for said in one.lines} for page in pages)
    return Counter(line for lines in lost for line in lines)


def _with_own(key: Key, pages: Mapping[str, FilteredPage], fewest: int) -> list[str]:
    """Pages that said something of their own there, and still say more of their own elsewhere."""
    lost = {
        url: {said for one in page.stand_ins if one.key == key for said in one.lines} for url, page in pages.items()
    }
    times = _times(key, pages.values())
    kept = {url: dict(page.texts.kept_lines) if page.texts else {} for url, page in pages.items()}
    frame = Counter(line for lines in kept.values() for line in lines)
    found = []
    for url in pages:
        own = sum(said.words for said in lost[url] if times[said.hash] == 1)
        stayed = [words for line, words in kept[url].items() if frame[line] <= max(1, FRAME * len(pages))]
        says_more = len(stayed) >= KEPT_LINES or sum(stayed) >= KEPT_WORDS
        if own >= max(fewest, OWN * sum(said.words for said in lost[url])) and says_more:
            found.append(url)
    return found
