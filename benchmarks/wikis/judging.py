"""Whether what a crawl told is what happened: pages by name, whatever addresses they have."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
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


@dataclass(frozen=True)
class Told:
    """What a crawl said: page names, each as often as it was said."""

    changed: Counter[str] = field(default_factory=Counter)
    new: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)
    moved: frozenset[tuple[str | None, str | None]] = frozenset()
    template: int = 0
    echoes: int = 0
    """Told addresses that only list or repeat pages."""
    compared: int = 0
    not_compared: int = 0
    is_announced: bool = False
    """A wall or something else that keeps pages from being compared is told."""

    @property
    def names(self) -> set[str]:
        moved = {name for pair in self.moved for name in pair if name}
        return {*self.changed, *self.new, *self.removed} | moved


@dataclass(frozen=True)
class Verdict:
    missed: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()
    false_alarms: tuple[str, ...] = ()
    echoes: int = 0
    compared: int = 0
    is_silent_fall: bool = False


LEAST_COMPARED = 0.9
"""Of the pages of the crawl before: fewer is a fall of coverage."""


def read_told(summary: Mapping[str, Any], name_of: NameOf) -> Told:
    """From the summary that is kept with a crawl."""
    lists = {kind: summary[f"{kind}_page_urls"] for kind in ("changed", "new", "removed")}
    names = {kind: _named(urls, name_of) for kind, urls in lists.items()}
    counts = summary["summary"]
    said = sum(map(len, lists.values()))
    return Told(
        **names,
        moved=frozenset((name_of(move["from"]), name_of(move["to"])) for move in summary["moved"]),
        template=len(summary["template_changes"]),
        echoes=said - sum(sum(found.values()) for found in names.values()),
        compared=counts["changed_pages"] + counts["unchanged_pages"],
        not_compared=summary["not_compared"],
        is_announced=bool(summary["wall_notes"]),
    )


def judge(truth: Truth, told: Told, *, before: Truth, pages_before: int) -> Verdict:
    """`before`: what was done before the crawl before; whoever tells it now tells it twice."""
    known = truth.changed | truth.new | truth.removed | truth.template | truth.may
    known |= {*truth.moved, *truth.moved.values()}
    past = before.changed | before.new | before.removed | {*before.moved, *before.moved.values()}
    odd = told.names - known
    twice = [name for name in sorted(odd) if name in past]
    twice += [f"{name} (×{count})" for name, count in sorted((told.changed + told.new).items()) if count > 1]
    alarms = [name for name in sorted(odd) if name not in past]
    if told.template and not truth.template:
        again = told.template if before.template else 0
        twice += ["the template"] * again
        alarms += ["the template"] * (told.template - again)
    expected = max(pages_before - len(truth.removed) - len(truth.moved), 0)
    fell = told.compared < expected * LEAST_COMPARED
    return Verdict(
        tuple(_missed(truth, told)), tuple(twice), tuple(alarms), told.echoes, told.compared,
        is_silent_fall=fell and not told.is_announced,
    )  # fmt: skip


def _missed(truth: Truth, told: Told) -> Iterable[str]:
    """A move may be told as one page gone and one new: clumsy, but nothing is missed."""
    yield from sorted(truth.changed - {*told.changed})
    yield from sorted(truth.new - {*told.new})
    yield from sorted(truth.removed - {*told.removed})
    moved_to = {target for _, target in told.moved} | {*told.new}
    yield from sorted(f"{old} → {new}" for old, new in truth.moved.items() if new not in moved_to)
    if truth.template and not told.template:
        yield from sorted(truth.template - {*told.changed})


def _named(urls: Iterable[str], name_of: NameOf) -> Counter[str]:
    return Counter(name for url in urls if (name := name_of(url)) is not None)
