"""Conditions: which changes are worth a notice. Each looks at one page of a crawl."""

import re
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, NamedTuple, Self
from unicodedata import normalize

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, field_validator, model_validator

from crawler.domain.patterns import Compiled, check_states, check_url_pattern, compile_pattern
from crawler.domain.plain_text import one_line
from crawler.domain.watching.values import ChangeKind, WatchedChange
from crawler.errors import InvalidPattern

MOST_CONDITIONS = 50
LARGEST = 10**15 - 1
LONGEST_NUMBER = 44
_SPACES = re.compile(r"[^\S\n]+")
_NUMBER = r"-?[0-9]{1,15}(\.[0-9]{1,20})?([eE]-[0-9]{1,3})?"
MOST_SEARCHED = 2_000_000
"""Characters of a page in which a word is looked for."""


class ConditionKind(StrEnum):
    CONTAINS = "contains"
    NO_LONGER_CONTAINS = "no_longer_contains"
    FIELD = "field"
    BACK_IN_STOCK = "back_in_stock"
    NEW_PAGE = "new_page"
    REMOVED_PAGE = "removed_page"
    ADDED_ONLY = "added_only"
    REMOVED_ONLY = "removed_only"
    CHANGED_LINES = "changed_lines"


_OF_TEXT = frozenset({ConditionKind.CONTAINS, ConditionKind.NO_LONGER_CONTAINS})
_OF_LINES = frozenset({ConditionKind.ADDED_ONLY, ConditionKind.REMOVED_ONLY, ConditionKind.CHANGED_LINES})


class Match(StrEnum):
    ANY = "any"
    ALL = "all"


def _is_number(value: object) -> object:
    if isinstance(value, str) and not re.fullmatch(_NUMBER, value):
        raise ValueError("a number is written like 99 or -0.5")
    return value


_NUMBERS = {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}
Limit = Annotated[
    Decimal,
    BeforeValidator(_is_number),
    Field(ge=-LARGEST, le=LARGEST),
    WithJsonSchema({"anyOf": [_NUMBERS, {"type": "string", "pattern": f"^{_NUMBER}$", "maxLength": LONGEST_NUMBER}]}),
]
"""Described alike wherever it is written or read."""


class Condition(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ConditionKind
    text: str | None = Field(None, min_length=1, max_length=500, description="A word; upper or lower case")
    regex: str | None = Field(None, min_length=1, max_length=512, description="RE2, in place of a word")
    field: str | None = Field(None, min_length=1, max_length=80, description="As a rule names it, or product.price")
    below: Limit | None = Field(None, allow_inf_nan=False)
    above: Limit | None = Field(None, allow_inf_nan=False)
    by_percent: float | None = Field(None, gt=0, le=1_000_000, allow_inf_nan=False, description="Up or down")
    lines: int | None = Field(None, ge=1, le=1_000_000)

    @field_validator("regex")
    @classmethod
    def _is_pattern(cls, value: str | None) -> str | None:
        try:
            check_states(value or "")
        except InvalidPattern as exc:
            raise ValueError(exc.message) from exc
        return value

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.kind in _OF_TEXT) != (self.text is not None or self.regex is not None) or (self.text and self.regex):
            raise ValueError("contains and no_longer_contains need either text or regex, and no other does")
        if (self.kind is ConditionKind.FIELD) != (self.field is not None):
            raise ValueError("a condition of the kind field needs the field's name, and no other does")
        limits = [self.below, self.above, self.by_percent]
        if any(limit is not None for limit in limits) and self.kind is not ConditionKind.FIELD:
            raise ValueError("below, above and by_percent are for the kind field")
        if sum(limit is not None for limit in limits) > 1:
            raise ValueError("a condition has one of below, above and by_percent; write two conditions")
        if (self.kind is ConditionKind.CHANGED_LINES) != (self.lines is not None):
            raise ValueError("changed_lines needs lines, and no other does")
        return self

    @property
    def words(self) -> str:
        match self.kind:
            case ConditionKind.CONTAINS:
                return f"it contains {self._sought}"
            case ConditionKind.NO_LONGER_CONTAINS:
                return f"it no longer contains {self._sought}"
            case ConditionKind.FIELD:
                return f"{self.field} {self._limit}"
            case ConditionKind.BACK_IN_STOCK:
                return "it is back in stock"
            case ConditionKind.NEW_PAGE:
                return "the page is new"
            case ConditionKind.REMOVED_PAGE:
                return "the page is gone"
            case ConditionKind.ADDED_ONLY:
                return "lines only came"
            case ConditionKind.REMOVED_ONLY:
                return "lines only went"
            case ConditionKind.CHANGED_LINES:
                return f"at least {self.lines:,} {'line' if self.lines == 1 else 'lines'} changed"

    @property
    def written(self) -> str:
        """The condition in the few words that `condition_from_text` reads."""
        match self.kind:
            case ConditionKind.CONTAINS | ConditionKind.NO_LONGER_CONTAINS:
                sought = f"/{self.regex}/" if self.regex else self.text
                return f"{self.kind.value.replace('_', ' ')} {sought}"
            case ConditionKind.FIELD if self.below is not None:
                return f"{self.field} below {self.below}"
            case ConditionKind.FIELD if self.above is not None:
                return f"{self.field} above {self.above}"
            case ConditionKind.FIELD:
                return f"{self.field} by {self.by_percent:g} %" if self.by_percent else f"{self.field} changed"
            case ConditionKind.CHANGED_LINES:
                return f"{self.lines} {'line' if self.lines == 1 else 'lines'}"
        return self.kind.value.replace("_", " ")

    @property
    def _sought(self) -> str:
        return f"/{self.regex}/" if self.regex else f"“{self.text}”"

    @property
    def _limit(self) -> str:
        if self.below is not None:
            return f"is below {self.below}"
        if self.above is not None:
            return f"is above {self.above}"
        return f"changed by at least {self.by_percent:g} %" if self.by_percent is not None else "changed"

    @property
    def needs_text(self) -> bool:
        return self.kind in _OF_TEXT

    @property
    def needs_lines(self) -> bool:
        return self.kind in _OF_LINES

    def needs_value(self, watched: frozenset[str]) -> bool:
        """Whether a value of a new page decides: it was never another, but may be below or above a limit."""
        return self.field in watched and not (self.below is None and self.above is None)


_WRITTEN = (
    (re.compile(r"(?P<no>no longer )?contains /(?P<regex>.+)/"), None),
    (re.compile(r"(?P<no>no longer )?contains (?P<text>.+)"), None),
    (re.compile(r"back in stock"), ConditionKind.BACK_IN_STOCK),
    (re.compile(r"new page"), ConditionKind.NEW_PAGE),
    (re.compile(r"removed page"), ConditionKind.REMOVED_PAGE),
    (re.compile(r"added only"), ConditionKind.ADDED_ONLY),
    (re.compile(r"removed only"), ConditionKind.REMOVED_ONLY),
    (re.compile(r"(?P<lines>\d+) lines?"), ConditionKind.CHANGED_LINES),
    (re.compile(r"(?P<field>\S+) (?:below|<) (?P<below>-?\d+(?:\.\d+)?)"), ConditionKind.FIELD),
    (re.compile(r"(?P<field>\S+) (?:above|>) (?P<above>-?\d+(?:\.\d+)?)"), ConditionKind.FIELD),
    (re.compile(r"(?P<field>\S+) by (?P<by_percent>\d+(?:\.\d+)?) ?%"), ConditionKind.FIELD),
    (re.compile(r"(?P<field>\S+) changed"), ConditionKind.FIELD),
)


def condition_from_text(value: object) -> object:
    """A condition in a few words: `contains sale`, `contains /RE/`, `price below 100`, `price by 5 %`, `3 lines`."""
    if not isinstance(value, str):
        return value
    line = " ".join(value.split())
    for pattern, kind in _WRITTEN:
        if found := pattern.fullmatch(line):
            given = {name: part for name, part in found.groupdict().items() if part is not None and name != "no"}
            words = ConditionKind.NO_LONGER_CONTAINS if found.groupdict().get("no") else ConditionKind.CONTAINS
            return {"kind": kind or words, **given}
    raise ValueError(
        "a condition reads like: contains WORD, no longer contains WORD, contains /RE/, FIELD below 100, FIELD above "
        "5, FIELD by 5 %, FIELD changed, back in stock, new page, removed page, added only, removed only, 3 lines"
    )


WrittenCondition = Annotated[Condition, BeforeValidator(condition_from_text)]


class Conditions(BaseModel):
    """Any or all of some conditions, for the pages under a pattern."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    match: Match = Match.ANY
    of: tuple[WrittenCondition, ...] = Field(min_length=1, max_length=MOST_CONDITIONS)
    pattern: str = Field("", max_length=512, description="RE2: only pages whose URL it matches; empty is all")

    @field_validator("pattern")
    @classmethod
    def _is_pattern(cls, value: str) -> str:
        try:
            check_url_pattern(value)
        except InvalidPattern as exc:
            raise ValueError(exc.message) from exc
        return value

    @property
    def words(self) -> str:
        joined = (" or " if self.match is Match.ANY else " and ").join(one.words for one in self.of)
        return one_line(f"{joined}{f', on {self.pattern}' if self.pattern else ''}", 400)

    def holds_for(self, url: str) -> bool:
        """Whether they are about this page at all."""
        return not self.pattern or compile_pattern(self.pattern).search(url) is not None


class PageFacts(NamedTuple):
    """What conditions may ask about one page of a crawl."""

    url: str
    is_new: bool = False
    is_removed: bool = False
    before: str = ""
    """The text of the page, noise and template apart; none of a new page."""
    after: str = ""
    added: int = 0
    removed: int = 0
    """Lines that came and went; one that became another did both."""
    changes: tuple[WatchedChange, ...] = ()
    watched: frozenset[str] = frozenset()
    """Fields that rules name on a new page."""
    unread: str | None = None
    """Why nobody could look at it: then conditions count as if they held."""


def holding(conditions: Conditions, facts: PageFacts) -> str | None:
    """Why the page is told by these conditions, in words; None if it is not."""
    if not conditions.holds_for(facts.url):
        return None
    reasons = [_holds(one, facts) for one in conditions.of]
    told = [reason for reason in reasons if reason]
    enough = len(told) == len(reasons) if conditions.match is Match.ALL else bool(told)
    return "; ".join(dict.fromkeys(told)) if enough else None


def _holds(one: Condition, facts: PageFacts) -> str | None:
    match one.kind:
        case ConditionKind.NEW_PAGE:
            return one.words if facts.is_new else None
        case ConditionKind.REMOVED_PAGE:
            return one.words if facts.is_removed else None
        case ConditionKind.FIELD if facts.is_new and not one.needs_value(facts.watched):
            return None
        case ConditionKind.FIELD if facts.is_new and facts.unread:
            return facts.unread
        case ConditionKind.FIELD:
            return next((change.words for change in facts.changes if _field_holds(one, change)), None)
        case ConditionKind.BACK_IN_STOCK:
            return next((change.words for change in facts.changes if change.back_in_stock), None)
    if facts.is_removed:
        return None
    if facts.unread:
        return facts.unread
    return one.words if _text_holds(one, facts) else None


def _text_holds(one: Condition, facts: PageFacts) -> bool:
    match one.kind:
        case ConditionKind.CONTAINS:
            return _has(one, facts.after) and not _has(one, facts.before)
        case ConditionKind.NO_LONGER_CONTAINS:
            return _has(one, facts.before) and not _has(one, facts.after)
        case ConditionKind.ADDED_ONLY:
            return bool(facts.added) and not facts.removed and not facts.is_new
        case ConditionKind.REMOVED_ONLY:
            return bool(facts.removed) and not facts.added
    return not facts.is_new and max(facts.added, facts.removed) >= (one.lines or 1)


def _field_holds(one: Condition, change: WatchedChange) -> bool:
    """A value that is gone, or that cannot be read or compared, holds in any case: nobody can tell that it does not."""
    if change.field != one.field:
        return False
    if one.below is None and one.above is None and one.by_percent is None:
        return True
    if one.by_percent is not None:
        return change.percent is None or abs(change.percent) >= one.by_percent
    if change.kind is ChangeKind.BROKEN or change.number is None:
        return True
    return change.number < one.below if one.below is not None else one.above is not None and change.number > one.above


def _has(one: Condition, text: str) -> bool:
    """However characters and spaces are written: é is one character or two, and a space may forbid a line break."""
    searched = _alike(text[:MOST_SEARCHED])
    if one.regex:
        regex: Compiled = compile_pattern(one.regex)
        return regex.search(searched) is not None
    return _alike(one.text or "").casefold() in searched.casefold()


def _alike(text: str) -> str:
    return _SPACES.sub(" ", normalize("NFC", text))
