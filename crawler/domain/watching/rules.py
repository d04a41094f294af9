"""Watch rules: which parts and values count on pages whose URL matches a pattern."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, NamedTuple, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from crawler.domain.noise.page_pairs import WatchedPart
from crawler.domain.patterns import MAX_LIST_STATES, check_url_pattern
from crawler.domain.plain_text import one_line
from crawler.domain.urls.pattern_index import PatternIndex, needed_word
from crawler.domain.watching.conditions import Conditions
from crawler.domain.watching.fields import MOST_CHARACTERS, NamedField, WatchField, checked_selector
from crawler.domain.watching.products import FIELDS as PRODUCT_FIELDS
from crawler.domain.watching.values import FieldType
from crawler.errors import Invalid, InvalidPattern

MOST_RULES = 10_000
MOST_WORDLESS = 50
"""Rules of a project whose pattern has no word that must be in the URL: they are tried for each page."""
MOST_WORDLESS_STATES = MAX_LIST_STATES
"""Of the patterns of all these rules."""
MOST_PARTS = 20
MOST_FIELDS = 50
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


class InvalidWatch(Invalid):
    """This watch rule cannot be used."""

    code = "invalid_watch_rule"


class WatchOrder(BaseModel):
    """A watch rule as it is written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field("", max_length=100, description="For people")
    pattern: str = Field("", max_length=512, description="RE2 that a page's URL matches; empty is every page")
    priority: int = Field(0, ge=-1000, le=1000, description="Of rules that say the same thing the highest counts")
    watch: tuple[Annotated[str, Field(max_length=MOST_CHARACTERS)], ...] = Field(
        (), max_length=MOST_PARTS, description="CSS or xpath: only what stands in these elements counts"
    )
    fields: dict[str, NamedField] = Field({}, max_length=MOST_FIELDS, description="Named values")
    products: bool = Field(default=False, description="Name, price and availability of declared products")
    tell: Conditions | None = Field(None, description="Null: every change of a field or product is told")
    enabled: bool = True

    @field_validator("name")
    @classmethod
    def _is_line(cls, value: str) -> str:
        return one_line(value, 100)

    @field_validator("pattern")
    @classmethod
    def _is_pattern(cls, value: str) -> str:
        try:
            check_url_pattern(value)
        except InvalidPattern as exc:
            raise ValueError(exc.message) from exc
        return value

    @field_validator("watch")
    @classmethod
    def _are_selectors(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tuple(checked_selector(value, json=False) for value in values)
        except Invalid as exc:
            raise ValueError(exc.message) from exc

    @field_validator("fields")
    @classmethod
    def _are_names(cls, values: dict[str, WatchField]) -> dict[str, WatchField]:
        if wrong := next((name for name in values if not _FIELD.fullmatch(name)), None):
            raise ValueError(f"{one_line(wrong, 80)!r} is no name; use letters, digits, - and _, a letter first")
        return dict(sorted(values.items()))

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.watch or self.fields or self.products or self.tell):
            raise ValueError("a rule says what is watched (watch, fields, products) or when it is told (tell)")
        return self

    @property
    def is_wordless(self) -> bool:
        return needed_word(self.pattern) is None

    @property
    def states(self) -> int:
        """What it costs to look for the pattern in a URL."""
        return check_url_pattern(self.pattern)

    @property
    def words(self) -> str:
        parts = [f"only {', '.join(self.watch)}"] if self.watch else []
        parts += [f"{name} ({field.words})" for name, field in self.fields.items()]
        parts += ["products"] if self.products else []
        where = f"on {self.pattern}" if self.pattern else "on every page"
        what = f"{'; '.join(parts)} {where}" if parts else where
        return one_line(f"{what}; told if {self.tell.words}" if self.tell else what, 400)


TRIED = UUID(int=0)
"""The id of a rule that is tried on past crawls and not kept."""


class WatchRule(WatchOrder):
    id: UUID
    project_id: UUID
    created_at: datetime

    @property
    def order(self) -> WatchOrder:
        return WatchOrder.model_validate(self.model_dump(include=set(WatchOrder.model_fields)))


def stored_rule(row: Mapping[str, Any]) -> WatchRule:
    """A rule that was checked when it was kept. Of thousands few are used, so they are not checked each time."""
    body = row["body"]
    tell = body.get("tell")
    return WatchRule.model_construct(
        **{name: row[name] for name in _COLUMNS},
        watch=tuple(body.get("watch", ())),
        fields={
            name: WatchField.model_construct(**_typed(field)) for name, field in sorted(body.get("fields", {}).items())
        },
        products=bool(body.get("products")),
        tell=Conditions.model_validate(tell) if tell else None,
    )


def _typed(field: Mapping[str, Any]) -> dict[str, Any]:
    return {**field, "type": FieldType(field.get("type", FieldType.TEXT))}


_COLUMNS = ("id", "project_id", "name", "pattern", "priority", "enabled", "created_at")


def read_order(given: Any) -> WatchOrder:
    """A rule from JSON. Raises InvalidWatch with a sentence that says where it is wrong."""
    try:
        return WatchOrder.model_validate(given)
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"] if part != "selector")
        words = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
        raise InvalidWatch(one_line(f"{where}: {words}." if where else f"{words[:1].upper()}{words[1:]}.")) from None


class WatchedField(NamedTuple):
    name: str
    field: WatchField
    rule: str


class PageWatch(NamedTuple):
    """What is watched on one page, by all rules that hold for it."""

    part: WatchedPart | None = None
    fields: tuple[WatchedField, ...] = ()
    products: str | None = None
    """The id of the rule that asks for them."""

    def __bool__(self) -> bool:
        return bool(self.part or self.fields or self.products)

    @property
    def names(self) -> frozenset[str]:
        """The names of all values that are watched."""
        return frozenset({field.name for field in self.fields} | (set(PRODUCT_FIELDS) if self.products else set()))


_NOTHING = PageWatch()


class WatchIndex:
    """The enabled rules of a project, by the URLs they hold for."""

    def __init__(self, rules: Iterable[WatchRule]) -> None:
        self.rules = sorted(
            (rule for rule in rules if rule.enabled), key=lambda rule: (-rule.priority, rule.created_at, rule.id)
        )
        self._index = PatternIndex([(rule.pattern, rule) for rule in self.rules])

    def __bool__(self) -> bool:
        return bool(self.rules)

    def of(self, url: str) -> Sequence[WatchRule]:
        """The rules that hold for a URL, the most important first."""
        return self._index.find(url)

    def part(self, url: str) -> WatchedPart | None:
        """The only part of a page that counts, if a rule says so."""
        return _part(self.of(url))

    def watch(self, url: str) -> PageWatch:
        """Each thing from the first rule that says it."""
        rules = self.of(url)
        if not rules:
            return _NOTHING
        fields: dict[str, WatchedField] = {}
        products: str | None = None
        for rule in rules:
            name = str(rule.id)
            for field, how in rule.fields.items():
                fields.setdefault(field, WatchedField(field, how, name))
            products = products or (name if rule.products else None)
        return PageWatch(_part(rules), tuple(fields.values()), products)


def _part(rules: Sequence[WatchRule]) -> WatchedPart | None:
    return next((WatchedPart(str(rule.id), rule.watch) for rule in rules if rule.watch), None)
