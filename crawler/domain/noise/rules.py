"""Noise rules: what a comparison leaves out. People write some, others are learned."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from crawler.domain.noise.learned_rule import LearnedRule, Varies, is_named
from crawler.domain.noise.moving_values import singular
from crawler.domain.noise.rotations import InTurn, Known
from crawler.domain.pages.css_matching import check_selector
from crawler.domain.patterns import Compiled, check_states, compile_pattern
from crawler.errors import Invalid

MOST_RULES = 500
MOST_ROTATIONS = 2
"""So often other texts may come in turn at a place; then they are news, and any may come."""
_LOOSE = frozenset({Varies.ORDER, Varies.ALL})
EVERYWHERE = "*"
_ON_PAGE = re.compile(r"(.+) @ (https?://\S+)", re.DOTALL).fullmatch
"""`.price @ https://shop.example/lamp`: the rule holds for this one page. No selector has such an end."""


class RuleKind(StrEnum):
    SELECTOR = "selector"
    """What a CSS selector names is no part of the page."""
    REGEX = "regex"
    """Lines in which this is found are no part of the page."""
    NUMBERS = "numbers"
    DATES = "dates"
    LEARNED = "learned"


PAGED = frozenset({RuleKind.SELECTOR, RuleKind.REGEX})
"""Kinds that may hold for one page alone."""


class Origin(StrEnum):
    OPERATOR = "operator"
    LEARNED = "learned"


class NoiseRule(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: UUID
    project_id: UUID
    kind: RuleKind
    value: str = Field(
        description="A CSS selector, a regular expression, `*` for numbers and dates, or what was learned; "
        "one that ends in ` @ ` and a URL holds for that page alone"
    )
    origin: Origin = Origin.OPERATOR
    enabled: bool = True
    created_at: datetime
    hits: int = Field(0, description="Pages it kept quiet")

    @property
    def place(self) -> "RulePlace":
        """What it leaves out, and where."""
        return place_of(self.kind, self.value)

    @property
    def problem(self) -> str | None:
        """Why the rule is not used: it was written before rules were checked as they are now."""
        try:
            if self.kind is RuleKind.SELECTOR:
                check_selector(self.place.what)
            elif self.kind is RuleKind.REGEX:
                check_states(self.place.what)
        except Invalid as exc:
            return exc.message
        return None

    @property
    def words(self) -> str:
        return (
            LearnedRule.from_value(self.value).words if self.kind is RuleKind.LEARNED else f"{self.kind} {self.value}"
        )


class RulePlace(NamedTuple):
    what: str
    """A selector or an expression."""
    page: str | None = None
    """The URL of the only page it holds for."""


def place_of(kind: RuleKind, value: str) -> RulePlace:
    found = _ON_PAGE(value) if kind in PAGED else None
    return RulePlace(found[1], found[2]) if found else RulePlace(value)


def on_page(value: str, url: str) -> str:
    """The value of a rule that holds for this page alone."""
    return f"{value} @ {url}"


def checked_value(kind: RuleKind, value: str) -> str:
    """The value as it is kept. Raises Invalid with a sentence."""
    what, page = place_of(kind, value)
    if page is not None:
        return on_page(_checked(kind, what.strip()), page)
    return _checked(kind, value)


def _checked(kind: RuleKind, value: str) -> str:
    match kind:
        case RuleKind.SELECTOR:
            return check_selector(value)
        case RuleKind.REGEX:
            if not value:
                raise Invalid("A regular expression that is empty would silence every line.")
            check_states(value)
            return value
        case RuleKind.NUMBERS | RuleKind.DATES:
            if value not in {"", EVERYWHERE}:
                raise Invalid(f"A rule for {kind} takes no value: it holds everywhere.")
            return EVERYWHERE
        case RuleKind.LEARNED:
            raise Invalid("Rules are learned from pages that were fetched twice; they cannot be written by hand.")


class Learned(NamedTuple):
    name: str
    rule: LearnedRule


class LearnedAt:
    """The learned rules of one place, by the lines that they hold for."""

    def __init__(self, rules: Iterable[Learned]) -> None:
        self.rules = tuple(rules)
        self.loose = any(one.rule.varies in _LOOSE for one in self.rules)
        self.order = next((one.name for one in self.rules if one.rule.varies is Varies.ORDER), None)
        self.torn = frozenset(name for one in self.rules if one.rule.varies is Varies.ORDER for name in one.rule.torn)
        """What does not keep its lines together there, where the order varies."""
        self.whole = tuple(one for one in self.rules if one.rule.varies is Varies.ALL)
        self.in_turn = _in_turn(one.rule for one in self.whole)
        """The only texts that come there; none: any may."""
        self._any_line = tuple(one for one in self.rules if one.rule.varies is Varies.VALUES and one.rule.line is None)
        self._lines: dict[str, list[Learned]] = defaultdict(list)
        self._words: dict[int, list[Learned]] = defaultdict(list)
        for one in self.rules:
            if one.rule.varies is Varies.VALUES and one.rule.line is not None:
                self._lines[singular(one.rule.line)].append(one)
            elif one.rule.varies is Varies.WORDS and one.rule.line:
                self._words[len(one.rule.line.split())].append(one)

    def for_values(self, line: str) -> tuple[Learned, ...]:
        """Rules for values of a line, as `singular` writes it."""
        return (*self._any_line, *self._lines.get(line, ()))

    def for_words(self, count: int) -> Sequence[Learned]:
        """Rules for lines of so many words, some of which may be any."""
        return self._words.get(count, ())


def _in_turn(rules: Iterable[LearnedRule]) -> InTurn | None:
    rules = [rule for rule in rules if rule.texts]
    known = [Known(rule.texts, rule.said, rule.free) for rule in rules]
    is_named_place = all(is_named(rule.place) for rule in rules)
    is_news = is_named_place and len({one.texts for one in known}) > MOST_ROTATIONS
    return InTurn.of(known) if known and not is_news else None


_NONE_LEARNED = LearnedAt(())


class PageRules(NamedTuple):
    """Rules that hold for one page alone."""

    selectors: Mapping[str, str]
    patterns: tuple[tuple[str, Compiled], ...]

    @classmethod
    def of(cls, rules: Sequence[NoiseRule]) -> Self:
        return cls(
            {rule.place.what: str(rule.id) for rule in rules if rule.kind is RuleKind.SELECTOR},
            tuple((str(rule.id), compile_pattern(rule.place.what)) for rule in rules if rule.kind is RuleKind.REGEX),
        )


class RuleSet(NamedTuple):
    """Enabled rules, ready to be used. Names say which rule kept a page quiet."""

    selectors: Mapping[str, str] = {}
    """Names by selector."""
    patterns: tuple[tuple[str, Compiled], ...] = ()
    numbers: str | None = None
    dates: str | None = None
    learned: Mapping[str, Sequence[Learned]] = {}
    """Learned rules, by place."""
    problems: Mapping[str, str] = {}
    """Rules that are not used, by name, and why."""
    pages: Mapping[str, PageRules] = {}
    """More rules for single pages, by URL."""

    @classmethod
    def of(cls, rules: Iterable[NoiseRule]) -> Self:
        learned: dict[str, list[Learned]] = defaultdict(list)
        by_kind: dict[RuleKind, list[NoiseRule]] = defaultdict(list)
        by_page: dict[str | None, list[NoiseRule]] = defaultdict(list)
        problems: dict[str, str] = {}
        for rule in rules:
            if not rule.enabled:
                continue
            if problem := rule.problem:
                problems[str(rule.id)] = problem
                continue
            if rule.kind is RuleKind.LEARNED:
                known = LearnedRule.from_value(rule.value)
                learned[known.place].append(Learned(str(rule.id), known))
            by_kind[rule.kind].append(rule)
            by_page[rule.place.page].append(rule)
        everywhere = PageRules.of(by_page.pop(None, []))
        numbers, dates = (_first(by_kind[kind]) for kind in (RuleKind.NUMBERS, RuleKind.DATES))
        return cls(
            selectors=everywhere.selectors,
            patterns=everywhere.patterns,
            numbers=numbers,
            dates=dates,
            learned=learned,
            problems=problems,
            pages={page: PageRules.of(own) for page, own in by_page.items() if page},
        )

    @property
    def blind(self) -> dict[str, LearnedRule]:
        """Rules by which an edit may go untold, by their names: they mask all of a place, or any bare number there."""
        places = [LearnedAt(some) for some in self.learned.values()]
        whole = {
            one.name: one.rule._replace(texts=(), free=()) for here in places if not here.in_turn for one in here.whole
        }
        numbers = {one.name: one.rule for here in places for one in here.rules if one.rule.masks_bare_values}
        return numbers | whole

    def on(self, url: str) -> Self:
        """The rules for the page at this URL."""
        own = self.pages.get(url)
        if own is None:
            return self
        selectors, patterns = {**self.selectors, **own.selectors}, (*self.patterns, *own.patterns)
        return self._replace(selectors=selectors, patterns=patterns, pages={})

    def at(self, place: str, shape: str, page: str = "") -> LearnedAt:
        """The rules for just this place, which may be ANYWHERE, on a page (its id) of this shape."""
        here = self.learned.get(place)
        return LearnedAt(known for known in here if known.rule.holds_on(shape, page)) if here else _NONE_LEARNED


def _first(rules: Sequence[NoiseRule]) -> str | None:
    return str(rules[0].id) if rules else None
