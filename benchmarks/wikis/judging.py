"""Whether what a crawl told is what happened: pages by name, whatever addresses they have."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

NameOf = Callable[[str], str | None]
"""The name of the page at an address; None for what only lists or repeats other pages (histories, special pages)."""


@dataclass(frozen=True)
class Truth:
    """What was done to a site since the crawl before."""

    changed: frozenset[str] = frozenset()
    new: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    moved: Mapping[str, str] = field(default_factory=dict)
    template: frozenset[str] = frozenset()
    """The pages that show one edit: told as one change of the template, or each of them."""
    may: frozenset[str] = frozenset()
    """Pages that show what was done elsewhere, as lists of changes do: right if told, and right if not."""

    @property
    def edits(self) -> int:
        return len(self.changed) + len(self.new) + len(self.removed) + len(self.moved) + bool(self.template)


@dataclass(frozen=True)
class Told:
    """What a crawl said: page names, each as often as it was said."""

    changed: Counter[str] = field(default_factory=Counter)
    new: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)
    moved: frozenset[tuple[str | None, str | None]] = frozenset()
    template: int = 0
    echoes: tuple[str, ...] = ()
    """Told addresses that only list or repeat pages."""
    compared: int = 0
    is_announced: bool = False
    """A wall or something else that keeps pages from being compared is told."""

    @property
    def names(self) -> set[str]:
        moved = {name for pair in self.moved for name in pair if name}
        return {*self.changed, *self.new, *self.removed} | moved


@dataclass(frozen=True)
class Verdict:
    edits: int = 0
    untold: tuple[str, ...] = ()
    """Done before this crawl, and not told by it; a later one may."""
    late: tuple[str, ...] = ()
    """Told now, though it was done before an earlier crawl."""
    twice: tuple[str, ...] = ()
    """Told before, or under several addresses."""
    false_alarms: tuple[str, ...] = ()
    """Where nothing was done, also what only lists or repeats pages."""
    echoes: int = 0
    compared: int = 0
    is_silent_fall: bool = False

    @property
    def is_right(self) -> bool:
        return not (self.untold or self.late or self.twice or self.false_alarms or self.is_silent_fall)


TEMPLATE = "the template"
LEAST_COMPARED = 0.9
"""Of the pages of the crawl before: fewer is a fall of coverage."""


def read_told(summary: Mapping[str, Any], name_of: NameOf) -> Told:
    """From the summary that is kept with a crawl."""
    lists = {kind: summary[f"{kind}_page_urls"] for kind in ("changed", "new", "removed")}
    names = {kind: _named(urls, name_of) for kind, urls in lists.items()}
    counts = summary["summary"]
    return Told(
        **names,
        moved=frozenset((name_of(move["from"]), name_of(move["to"])) for move in summary["moved"]),
        template=len(summary["template_changes"]),
        echoes=tuple("/" + url.split("/", 3)[3] for urls in lists.values() for url in urls if name_of(url) is None),
        compared=counts["changed_pages"] + counts["unchanged_pages"],
        is_announced=bool(summary["wall_notes"] or (summary.get("coverage") or {}).get("sentence")),
    )


class Judge:
    """Of one project's crawls, in their order."""

    def __init__(self, pages: int) -> None:
        self._pages = pages
        """Of the crawl before."""
        self._done: frozenset[str] = frozenset()
        """All that was told rightly so far."""
        self._showing: frozenset[str] = frozenset()
        """Pages with what an edit of the template changed."""
        self._owed: dict[str, str] = {}
        """What was not told yet: page and kind."""

    @property
    def owed(self) -> tuple[str, ...]:
        return tuple(sorted(self._owed))

    def __call__(self, truth: Truth, told: Told, pages: int) -> Verdict:
        """`pages` are those of this crawl."""
        said = {
            "changed": {*told.changed},
            "new": {*told.new} | {target for _, target in told.moved if target},
            "removed": {*told.removed, *told.changed} | {source for source, _ in told.moved if source},
            "template": {TEMPLATE} if told.template else set(),
        }
        late = [name for name, kind in self._owed.items() if name in said[kind]]
        untold = [(name, kind) for name, kind in _wanted(truth, told) if name not in said[kind]]
        self._showing |= truth.template
        known = truth.changed | truth.new | truth.removed | truth.may | {*late}
        known |= self._showing if truth.template or TEMPLATE in self._owed else frozenset()
        known |= {*truth.moved, *truth.moved.values()}
        odd = sorted(told.names - known)
        twice = [name for name in odd if name in self._done]
        twice += [f"{name} (×{count})" for name, count in sorted((told.changed + told.new).items()) if count > 1]
        alarms = [name for name in odd if name not in self._done]
        alarms += [TEMPLATE] * (0 if truth.template or TEMPLATE in late else told.template)
        alarms += () if known else told.echoes
        expected = max(self._pages - len(truth.removed) - len(truth.moved), 0)
        verdict = Verdict(
            edits=truth.edits,
            untold=tuple(sorted(name for name, _ in untold)),
            late=tuple(sorted(late)),
            twice=tuple(twice),
            false_alarms=tuple(alarms),
            echoes=len(told.echoes),
            compared=told.compared,
            is_silent_fall=told.compared < expected * LEAST_COMPARED and not told.is_announced,
        )
        for name in late:
            del self._owed[name]
        self._owed |= dict(untold)
        self._done = known - {*self._owed} - truth.may
        self._pages = pages
        return verdict


def _wanted(truth: Truth, told: Told) -> Iterator[tuple[str, str]]:
    """Pages with what has to be said of them. What is hidden by nothing may be said clumsily: one page gone and one
    new is a move, and a page that says that it does not exist any more may be a changed one.
    """
    yield from ((name, "changed") for name in truth.changed)
    yield from ((name, "new") for name in truth.new)
    yield from ((name, "removed") for name in truth.removed)
    yield from ((name, "new") for name in truth.moved.values())
    if truth.template - {*told.changed}:
        yield TEMPLATE, "template"


def _named(urls: Iterable[str], name_of: NameOf) -> Counter[str]:
    return Counter(name for url in urls if (name := name_of(url)) is not None)
