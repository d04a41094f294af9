"""Noise rules: what a comparison leaves out. People write some, others are learned."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from crawler.domain.diffs.page_blocks import check_selector
from crawler.domain.noise.learned import ANYWHERE, LearnedRule
from crawler.domain.patterns import Compiled, compile_pattern
from crawler.errors import Invalid

MOST_RULES = 500
EVERYWHERE = "*"


class RuleKind(StrEnum):
    SELECTOR = "selector"
    """What a CSS selector names is no part of the page."""
    REGEX = "regex"
    """Lines in which this is found are no part of the page."""
    NUMBERS = "numbers"
    DATES = "dates"
    LEARNED = "learned"


class Origin(StrEnum):
    OPERATOR = "operator"
    LEARNED = "learned"


class NoiseRule(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: UUID
    project_id: UUID
    kind: RuleKind
    value: str = Field(
        description="A CSS selector, a regular expression, `*` for numbers and dates, or what was learned"
    )
    origin: Origin = Origin.OPERATOR
    enabled: bool = True
    created_at: datetime
    hits: int = Field(0, description="Pages it kept quiet")

    @property
    def words(self) -> str:
        return (
            LearnedRule.from_value(self.value).words if self.kind is RuleKind.LEARNED else f"{self.kind} {self.value}"
        )


def checked_value(kind: RuleKind, value: str) -> str:
    """The value as it is kept. Raises Invalid with a sentence."""
    match kind:
        case RuleKind.SELECTOR:
            return check_selector(value)
        case RuleKind.REGEX:
            if not value:
                raise Invalid("A regular expression that is empty would silence every line.")
            compile_pattern(value)
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


class RuleSet(NamedTuple):
    """Enabled rules, ready to be used. Names say which rule kept a page quiet."""

    selectors: Mapping[str, str] = {}
    """Names by selector."""
    patterns: tuple[tuple[str, Compiled], ...] = ()
    numbers: str | None = None
    dates: str | None = None
    learned: Mapping[str, Sequence[Learned]] = {}
    """Learned rules, by place."""

    @classmethod
    def of(cls, rules: Iterable[NoiseRule]) -> Self:
        learned: dict[str, list[Learned]] = defaultdict(list)
        by_kind: dict[RuleKind, list[NoiseRule]] = defaultdict(list)
        for rule in rules:
            if not rule.enabled:
                continue
            if rule.kind is RuleKind.LEARNED:
                known = LearnedRule.from_value(rule.value)
                learned[known.place].append(Learned(str(rule.id), known))
            by_kind[rule.kind].append(rule)
        numbers, dates = (_first(by_kind[kind]) for kind in (RuleKind.NUMBERS, RuleKind.DATES))
        return cls(
            selectors={rule.value: str(rule.id) for rule in by_kind[RuleKind.SELECTOR]},
            patterns=tuple((str(rule.id), compile_pattern(rule.value)) for rule in by_kind[RuleKind.REGEX]),
            numbers=numbers,
            dates=dates,
            learned=learned,
        )

    def at(self, place: str, shape: str) -> list[Learned]:
        here = (*self.learned.get(place, ()), *self.learned.get(ANYWHERE, ()))
        return [known for known in here if known.rule.shape in (None, shape)]


def _first(rules: Sequence[NoiseRule]) -> str | None:
    return str(rules[0].id) if rules else None
