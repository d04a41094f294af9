"""A text that some requests get in place of a page, and others not: a question about cookies, an announcement.

Two looks in a row show it. Where one text came in place of some pages between them, and went from others, nobody edited
these pages. From then on it is a wall wherever it stands in place of a page. Nobody needs to understand its words.

An edit, such as that some products are withdrawn, goes to and fro, too, while old copies of pages are served. But then
no page showed it in the crawl before. And what stays on all pages that are looked at twice passes no more: it is told.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from crawler.domain.changes.shared_walls import FEWEST, KEPT_WORDS, SHARED_LINES, Group, groups, marked
from crawler.domain.diffs.replaced_text import OwnLines, Replaced
from crawler.domain.diffs.walls import Wall
from crawler.domain.noise.page_noise import FilteredPage

OTHERWISE = 0.2
"""What a page may say otherwise than the text, for each word of it."""
MOST_TEXTS = 5
_KEY = "passing_walls"


class PassingText(NamedTuple):
    lines: frozenset[int]
    """Hashes of its lines, with the words of titles and without them."""
    words: int
    frame: frozenset[int] = frozenset()
    """Hashes of lines that stand around it and around the pages."""

    def is_in_place_of(self, texts: Replaced, side: int) -> bool:
        """Whether one version of a page says this, and nothing of what the other says but the frame."""
        return self._is_said_by(texts.sides[side]) and _is_lost(texts, side, self.frame)

    def _is_said_by(self, own: OwnLines) -> bool:
        """Whether a page says this and hardly anything else that its other version does not."""
        both = zip(own.lines, own.whole, strict=True)
        said = sum(words for (line, words), whole in both if line in self.lines or whole in self.lines)
        return max(own.words, self.words) - said <= OTHERWISE * self.words

    def is_like(self, other: Self) -> bool:
        return len(self.lines & other.lines) >= (1 - OTHERWISE) * max(len(self.lines), len(other.lines))


Texts = tuple[PassingText, ...]


def may_pass(pages: Iterable[FilteredPage]) -> bool:
    """Whether so much was replaced on some page that it is worth a look."""
    open_pages = (page.texts for page in pages if page.wall is None and page.texts)
    return any(texts.sides[side].lines and texts.sides[1 - side].words for texts in open_pages for side in (0, 1))


def seen_passing(looks: Sequence[Mapping[str, FilteredPage]], pages: Mapping[str, FilteredPage]) -> Texts:
    """Texts that came and went between two looks.

    `looks`: of the crawl before and of this one, what differs between both looks at a page. `pages`: what differs
    between the crawls.
    """
    before = ((pages, 0), *((seen, side) for seen in looks[:1] for side in (0, 1)))
    earlier = [_text(group) for some, side in before for group in groups(some, side)]
    seen = {f"{crawl} {url}": page for crawl, some in enumerate(looks) for url, page in some.items()}
    went, came = (list(groups(seen, side)) for side in (0, 1))
    pairs = ((one, other, _text(one), _text(other)) for one in came for other in went)
    return tuple(
        text._replace(lines=text.lines | more.lines, frame=text.frame & more.frame)
        for one, other, text, more in pairs
        if len(one.urls) + len(other.urls) >= FEWEST and text.is_like(more)
        if one.had_own_texts and other.had_own_texts and any(map(text.is_like, earlier))
    )[:MOST_TEXTS]


def still_passing(texts: Texts, looks: Mapping[str, FilteredPage], pages: Mapping[str, FilteredPage]) -> Texts:
    """Those that did not stay. `looks`: what differs between the two looks of this crawl."""
    return tuple(one for one in texts if not _stays(one, looks, pages))


def _stays(text: PassingText, looks: Mapping[str, FilteredPage], pages: Mapping[str, FilteredPage]) -> bool:
    """Whether it stood in place of several pages at both looks, and of none at only one of them."""
    seen = [look.texts for look in looks.values() if look.texts]
    if any(text.is_in_place_of(one, side) for one in seen for side in (0, 1)):
        return False
    same = [texts for url, look in looks.items() if not look.edits and url in pages and (texts := pages[url].texts)]
    return sum(text.is_in_place_of(one, 1) for one in same) >= FEWEST


def with_passing_walls(pages: Mapping[str, FilteredPage], texts: Texts) -> dict[str, FilteredPage]:
    """Pages marked that these texts stand in place of, or stood."""
    return {url: _judged(page, texts) if texts else page for url, page in pages.items()}


def known(summary: Mapping[str, Any] | None) -> Texts:
    kept = (summary or {}).get(_KEY, ())
    return tuple(PassingText(frozenset(one["lines"]), one["words"], frozenset(one["frame"])) for one in kept)


def together(texts: Texts, found: Texts) -> Texts:
    """Those found now first; each once."""
    return (*found, *(one for one in texts if not any(map(one.is_like, found))))[:MOST_TEXTS]


def as_record(texts: Texts) -> dict[str, Any]:
    kept = [{"lines": sorted(one.lines), "words": one.words, "frame": sorted(one.frame)} for one in texts]
    return {_KEY: kept} if kept else {}


def _judged(page: FilteredPage, texts: Texts) -> FilteredPage:
    if page.wall is not None or page.texts is None:
        return page
    before, now = (any(text.is_in_place_of(page.texts, side) for text in texts) for side in (0, 1))
    return marked(page, Wall.SAME, passed=before and not now) if before or now else page


def _is_lost(texts: Replaced, side: int, frame: frozenset[int]) -> bool:
    kept = sum(words for line, words in texts.kept_lines if line not in frame)
    return texts.sides[1 - side].words > 0 and kept <= KEPT_WORDS * texts.sides[1 - side].words


def _text(group: Group) -> PassingText:
    sides = [group.texts[url].sides[group.side] for url in group.urls]
    counted = Counter(line for side in sides for line in {*side.whole, *(masked for masked, _ in side.lines)})
    shared = frozenset(line for line, pages in counted.items() if pages >= SHARED_LINES * len(sides))
    return PassingText(shared, min(side.words for side in sides), group.frame)
