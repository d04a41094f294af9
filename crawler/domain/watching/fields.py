"""Fields: named values of a page, found by a selector and read as a type."""

import re
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from crawler.domain.acquisition.selector_syntax import check_selectors
from crawler.domain.acquisition.selectors import FieldRule, SelectorKind, SelectorSet
from crawler.domain.pages.css_matching import check_selector
from crawler.domain.pages.named_parts import XPATH
from crawler.domain.watching.json_paths import parse_path
from crawler.domain.watching.values import FieldType
from crawler.errors import Invalid

MOST_CHARACTERS = 600
_ATTRIBUTE = re.compile(r"(?P<selector>.*[^\s@])@(?P<attribute>[A-Za-z_:][\w:.-]*)", re.DOTALL)
_TYPES = frozenset(kind.value for kind in FieldType)


def is_json(selector: str) -> bool:
    return selector.startswith("$")


def checked_selector(selector: str, *, json: bool = True) -> str:
    """The selector as it is kept: CSS, `xpath:` or JSONPath. Raises Invalid with a sentence."""
    selector = selector.strip()
    if "\0" in selector:
        raise Invalid("A selector holds no NUL character.")
    if is_json(selector):
        if not json:
            raise Invalid("JSONPath names values, not parts of a page; use it in a field.")
        parse_path(selector)
        return selector
    if not selector.startswith(XPATH):
        return check_selector(selector)
    path = FieldRule(selector=selector.removeprefix(XPATH).strip() or "?", kind=SelectorKind.XPATH)
    check_selectors(SelectorSet(fields={"xpath": path}) if json else SelectorSet(include=(path,)))
    return f"{XPATH}{path.selector}"


def _from_text(value: object) -> object:
    """`.price` is a text, `a.buy@href` an attribute, `price .total` a price, `number, .kg` one with decimal commas."""
    if not isinstance(value, str):
        return value
    kind, _, rest = value.strip().partition(" ")
    given: dict[str, object] = {"selector": value}
    sign = kind[-1:] if kind.endswith((",", ".")) else None
    if kind.removesuffix(sign or "") in _TYPES and rest.strip():
        given = {"type": kind.removesuffix(sign or ""), "selector": rest.strip(), "decimal": sign}
    selector = str(given["selector"])
    found = None if selector.startswith((XPATH, "$")) else _ATTRIBUTE.fullmatch(selector)
    return {**given, **found.groupdict()} if found else given


class WatchField(BaseModel):
    """A value of a page. Written as a text: `.price`, `a.buy@href`, `price .total`, `xpath://b`, `$.items[0].price`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    selector: str = Field(min_length=1, max_length=MOST_CHARACTERS, description="CSS, xpath: or JSONPath")
    type: FieldType = FieldType.TEXT
    attribute: str | None = Field(None, min_length=1, max_length=100, description="Null is the text")
    decimal: Literal[".", ","] | None = Field(None, description="What begins decimals; null: it is found out")

    @field_validator("selector")
    @classmethod
    def _is_selector(cls, value: str) -> str:
        try:
            return checked_selector(value)
        except Invalid as exc:
            raise ValueError(exc.message) from exc

    @property
    def written(self) -> str:
        """The field as `_from_text` reads it."""
        return f"{self.type}{self.decimal or ''} {self.selector}{f'@{self.attribute}' if self.attribute else ''}"

    @property
    def words(self) -> str:
        return f"{self.type} of {self.selector}{f'@{self.attribute}' if self.attribute else ''}"


NamedField = Annotated[WatchField, BeforeValidator(_from_text)]
