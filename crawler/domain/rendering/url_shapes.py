"""Kinds of pages by the shape of their URLs, and what was learned about which of them need a browser.

A site that needs a browser on its homepage may not need it everywhere, and may stop needing it. So some of its pages
are fetched both ways. A shape whose comparisons agree often enough goes light; a single one that does not agree
sends it back, and then it takes twice as many to trust it again.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

from crawler.domain.crawls.render_rule import RenderRule
from crawler.domain.pages.still_loading import Signs
from crawler.domain.rendering.signals import Decision, Signal
from crawler.domain.urls.url import Url, digest

MAX_SHAPES = 300
"""Per project. A shape that finds no place is not learned, and treated as its site is."""
MAX_SEGMENTS = 6
MAX_DOUBLINGS = 4
FEW_ADDED = 3
"""Words, or links, that a browser may add to a page that says that a part of it is still to come, and no part came: if
the sign is still there. A price is one word."""

_NONE = Signs()
_NUMBER = re.compile(r"\d+").fullmatch
_IDENTIFIER = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}|[0-9a-f]{16,64}").fullmatch
_SLUG = re.compile(r"[^.]{25,}|[^-_.]+[-_][^-_.]+[-_][^.]+|[^.]*\d[^.]*").fullmatch
_EXTENSION = re.compile(r"(.+)(\.(?:html?|php|aspx?|jsp|cgi))").fullmatch


class Visit(NamedTuple):
    """How a URL is to be fetched."""

    render: bool
    compare: bool
    """The other way too, to learn whether both say the same."""
    why: Decision
    cookies: str = ""
    """Cookies of the visit before."""


class LightPage(NamedTuple):
    """What the server sent of a page that is rendered, as far as it is needed until the browser has shown it."""

    text: str
    links: list[str]
    content_hash: bytes
    signs: Signs = _NONE
    """That parts of it are still to come."""

    @property
    def is_loading(self) -> bool:
        return bool(self.signs.first)


class Comparison(NamedTuple):
    """How a page as the server sends it compares with what the browser makes of it."""

    agrees: bool
    words: float
    """The share of the rendered page's words that the light one has."""
    links: float


class Learned(NamedTuple):
    agreed: int = 0
    """In a row, since the last that did not."""
    disagreed: int = 0

    def needed(self, rule: RenderRule) -> int:
        return int(rule.agreeing_needed << min(self.disagreed, MAX_DOUBLINGS))


Findings = Mapping[str, Learned]
"""Comparisons of one batch, by shape. Findings of several batches add up in any order."""


class ShapeBook:
    """What is known of a project's shapes. Never changed: learning makes a new one."""

    __slots__ = ("_learned",)

    def __init__(self, learned: Mapping[str, Learned] | None = None) -> None:
        self._learned = dict(learned or {})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeBook) and self._learned == other._learned

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self._learned)

    def of(self, shape: str) -> Learned:
        return self._learned.get(shape, Learned())

    def is_light(self, shape: str, rule: RenderRule) -> bool:
        learned = self._learned.get(shape)
        return learned is not None and learned.agreed >= learned.needed(rule)

    def learn(self, findings: Findings) -> "ShapeBook":
        """One disagreement among a batch's findings outweighs all that agree."""
        learned = dict(self._learned)
        for shape, found in findings.items():
            before = learned.get(shape)
            if before is None and len(learned) >= MAX_SHAPES:
                continue
            before = before or Learned()
            agreed = 0 if found.disagreed else before.agreed + found.agreed
            learned[shape] = Learned(agreed, before.disagreed + found.disagreed)
        return ShapeBook(learned)

    def as_record(self) -> dict[str, list[int]]:
        """What was learned about kinds of URLs, as JSON."""
        return {shape: list(learned) for shape, learned in self._learned.items()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        return cls({shape: Learned(*map(int, counts)) for shape, counts in record.items()})


def add_up(batches: Iterable[Findings]) -> dict[str, Learned]:
    total: dict[str, Learned] = {}
    for findings in batches:
        for shape, found in findings.items():
            before = total.get(shape, Learned())
            total[shape] = Learned(before.agreed + found.agreed, before.disagreed + found.disagreed)
    return total


def finding(shape: str, comparison: Comparison, *, is_loading: bool = False) -> Findings:
    """What one page teaches about its kind. Of a page that says that a part of it is still to come, also about that."""
    found = Learned(1, 0) if comparison.agrees else Learned(0, 1)
    return dict.fromkeys((shape, loading_shape(shape)) if is_loading else (shape,), found)


def plan_visit(site: Decision, url: Url, normalized: str, book: ShapeBook, rule: RenderRule) -> Visit:
    """How to fetch a page of a site that needs a browser. `site` is the homepage's decision."""
    shape = url_shape(url)
    compare = is_sampled(normalized, rule.compare_one_in)
    if book.is_light(shape, rule):
        why = Decision(render=False, signal=Signal.SHAPE, measured=shape)
        return Visit(render=False, compare=compare, why=why)
    return Visit(render=True, compare=compare, why=Decision(render=True, signal=Signal.SITE, measured=site.signal))


def spare(decision: Decision, url: Url, book: ShapeBook, rule: RenderRule) -> Decision:
    """A page that looks like a shell is not rendered where pages of its shape proved to be no shells.

    One that says that a part of it is still to come is not where no part ever came to such pages of its shape: that
    short pages of that shape are no shells says nothing about it.
    """
    if not decision.render or decision.signal is Signal.FETCH_FAILED:
        return decision
    shape = url_shape(url)
    if book.is_light(loading_shape(shape) if decision.signal is Signal.STILL_LOADING else shape, rule):
        return Decision(render=False, signal=Signal.SHAPE, measured=shape)
    return decision


def is_sampled(normalized: str, one_in: int) -> bool:
    """Whether a page is fetched both ways. The same pages each time, so that a crawl that is repeated does the same."""
    return int.from_bytes(digest(normalized)[:8]) % one_in == 0


def compare(
    light: tuple[str, Iterable[str]],
    rendered: tuple[str, Iterable[str]],
    rule: RenderRule,
    signs: Signs = _NONE,
    left: Signs = _NONE,
) -> Comparison:
    """Text and links of both. More on the light page is no loss; less of either is.

    Where a page says that a part of it is still to come (`signs`), what the browser adds counts, however long the page
    is: a list may be a small share of it. That a part came is told by the signs that are gone (`left`: the others), or
    beside one that is only hidden by what was added.
    """
    words, more = _share(light[0].split(), rendered[0].split())
    links, more_links = _share(set(light[1]), set(rendered[1]))
    added = max(more, more_links)
    has_come = bool(added and _gone(signs, left)) or (bool(signs.loading) and added > FEW_ADDED)
    agrees = min(words, links) >= rule.same_share and not has_come
    return Comparison(agrees, round(words, 4), round(links, 4))


def _gone(signs: Signs, left: Signs) -> Counter[str]:
    return (Counter(signs.loading) - Counter(left.loading)) + (Counter(signs.places) - Counter(left.places))


def loading_shape(shape: str) -> str:
    """Pages of a shape that say that a part of them is still to come are learned about on their own."""
    return f"loading {shape}"


def _share(of: Iterable[str], wanted: Iterable[str]) -> tuple[float, int]:
    """How much of what is wanted is there, and how many are not."""
    want = Counter(wanted)
    total, kept = want.total(), (want & Counter(of)).total()
    return (kept / total if total else 1.0), total - kept


def url_shape(url: Url) -> str:
    """Host and path with what differs from page to page generalised, and the names of the parameters.

    The last of several segments names the page itself, whatever it looks like: /team/anna is like /team/bob.
    """
    segments = [part for part in url.path.lower().split("/") if part]
    last = len(segments) - 1
    parts = [_generalised(part, names_page=0 < last == at) for at, part in enumerate(segments[:MAX_SEGMENTS])]
    if last >= MAX_SEGMENTS:
        parts.append("…")
    path = "/".join(parts)
    names = sorted({pair.partition("=")[0].lower()[:40] for pair in url.query.split("&") if pair})[:5]
    return f"{url.host}/{path}" + (f"?{'&'.join(names)}" if names else "")


def _generalised(segment: str, *, names_page: bool) -> str:
    found = _EXTENSION(segment)
    stem, extension = found.groups() if found else (segment, "")
    if _NUMBER(stem):
        return "{n}" + extension
    if _IDENTIFIER(stem):
        return "{id}" + extension
    if names_page or _SLUG(stem):
        return "{name}" + extension
    return segment
