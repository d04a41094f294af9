"""Why a crawl is told: which pages meet which conditions. What reads pages is a function that a judge runs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from crawler.domain.changes.digest import without_template
from crawler.domain.noise.page_pairs import PageOfCrawl, PagePair
from crawler.domain.noise.rules import RuleSet
from crawler.domain.pages.markup_bombs import UnparsablePage
from crawler.domain.watching.comparing import values_of_new
from crawler.domain.watching.conditions import Conditions, PageFacts, holding
from crawler.domain.watching.rules import PageWatch, WatchIndex, WatchRule
from crawler.domain.watching.values import ChangeKind, WatchedChange

MOST_REASONS = 200
"""Kept of one crawl; one is enough to tell it."""
UNREADABLE = "its text could not be read, so nobody can tell whether a condition holds"


class TellReason(NamedTuple):
    url: str
    rule: str | None
    """The id of the watch rule; None: the conditions of the schedule or of a recipient."""
    why: str

    def as_record(self) -> dict[str, Any]:
        return self._asdict()


class Asked(NamedTuple):
    """Conditions, and whose they are."""

    rule: str | None
    conditions: Conditions


class Question(NamedTuple):
    """A page that has to be read to know whether conditions hold for it."""

    page: PagePair | PageOfCrawl
    """Of a new page only what it is now."""
    facts: PageFacts
    asked: tuple[Asked, ...]
    watch: PageWatch = PageWatch()
    """What is watched on a new page."""


class Reading(NamedTuple):
    """How pages are read: as they were when the crawl was compared."""

    rules: RuleSet
    template: Sequence[Mapping[str, Any]]


def asked_of(url: str, index: WatchIndex, conditions: Conditions | None) -> tuple[Asked, ...]:
    """The conditions that are about this page."""
    found = [Asked(str(rule.id), rule.tell) for rule in index.of(url) if rule.tell is not None]
    found += [Asked(None, conditions)] if conditions is not None else []
    return tuple(one for one in found if one.conditions.holds_for(url))


def needs_reading(asked: Iterable[Asked], facts: PageFacts) -> bool:
    """Whether the page has to be read to answer."""
    if facts.is_removed or facts.unread:
        return False
    every = (one for each in asked for one in each.conditions.of)
    if facts.is_new:
        return any(one.needs_text or one.needs_value(facts.watched) for one in every)
    return any(one.needs_text or one.needs_lines for one in every)


def reasons(facts: PageFacts, asked: Iterable[Asked]) -> list[TellReason]:
    found = ((one.rule, holding(one.conditions, facts)) for one in asked)
    return [TellReason(facts.url, rule, why) for rule, why in found if why]


def answered(question: Question, reading: Reading) -> list[TellReason]:
    """Which conditions hold for a page, by what it says."""
    page, facts, asked, watch = question
    try:
        known = (
            _read_pair(page, facts, reading)
            if isinstance(page, PagePair)
            else _read_new(page, facts, reading)._replace(changes=tuple(values_of_new(page, watch)))
        )
    except UnparsablePage:
        known = facts._replace(unread=UNREADABLE)
    return reasons(known, asked)


def _read_new(page: PageOfCrawl, facts: PageFacts, reading: Reading) -> PageFacts:
    return facts._replace(after="\n".join(page.side.blocks(reading.rules.on(page.url)).lines))


def _read_pair(pair: PagePair, facts: PageFacts, reading: Reading) -> PageFacts:
    edits = without_template(pair.apply_noise_rules(reading.rules).edits, reading.template)
    part, rules = pair.watched.selectors if pair.watched else (), reading.rules.on(pair.url)
    old, new = (side.blocks(rules, part) for side in (pair.old, pair.new))
    if part and not (old.only_found and new.only_found):
        old, new = (side.blocks(rules) for side in (pair.old, pair.new))
    return facts._replace(
        before="\n".join(old.lines),
        after="\n".join(new.lines),
        added=sum(edit.added is not None for edit in edits),
        removed=sum(edit.removed is not None for edit in edits),
    )


def by_values(changes: Iterable[WatchedChange], rules: Mapping[str, WatchRule]) -> list[TellReason]:
    """What rules tell by themselves: a selector that is broken, and every value of a rule without conditions."""
    return [
        TellReason(change.url, change.rule, change.words)
        for change in changes
        if change.rule in rules
        if change.kind is ChangeKind.BROKEN or rules[change.rule].tell is None
    ]


def told_words(found: Sequence[TellReason]) -> str:
    """The first reason, and how many more there are."""
    if not found:
        return "no condition held"
    more = len({reason.url for reason in found}) - 1
    return f"{found[0].why} ({found[0].url}){f' and {more:,} more' if more else ''}"
