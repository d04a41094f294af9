"""What is to be read from the pages of a category: which parts, which not, and which named fields."""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from crawler.domain.plain_text import one_line
from crawler.errors import Invalid

MAX_SELECTORS = 50
MAX_SELECTOR = 1000
MAX_FIELDS = 50
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_ATTRIBUTE = re.compile(r"(?P<selector>.*[^\s@])@(?P<attribute>[A-Za-z_:][\w:.-]*)", re.DOTALL)
_XPATH = "xpath:"
_EXTRACTOR = "1"
"""Changed when the same selectors give other values of the same page: then all is extracted again."""


class InvalidSelector(Invalid):
    """This selector cannot be used."""

    code = "invalid_selector"


class SelectorKind(StrEnum):
    CSS = "css"
    XPATH = "xpath"


def _selector_from_text(value: object) -> object:
    """`.price` is CSS, `xpath://b` is XPath."""
    if not isinstance(value, str):
        return value
    if value.startswith(_XPATH):
        return {"selector": value.removeprefix(_XPATH), "kind": SelectorKind.XPATH}
    return {"selector": value}


def _field_from_text(value: object) -> object:
    """`img.main@src` is an attribute."""
    written = _selector_from_text(value)
    if isinstance(value, str) and isinstance(written, dict) and "kind" not in written:
        found = _ATTRIBUTE.fullmatch(value)
        return found.groupdict() if found else written
    return written


class Selector(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    selector: str = Field(min_length=1, max_length=MAX_SELECTOR)
    kind: SelectorKind = SelectorKind.CSS


class FieldRule(Selector):
    attribute: str | None = Field(None, min_length=1, max_length=100, description="Null is the text")
    many: bool = Field(default=False, description="All matches as a list, instead of the first that says something")
    required: bool = Field(default=False, description="A page without it is not extracted: its entry fails")


_Selector = Annotated[Selector, BeforeValidator(_selector_from_text)]
_FieldRule = Annotated[FieldRule, BeforeValidator(_field_from_text)]


class SelectorSet(BaseModel):
    """Nothing at all is the default extractor: the page's main text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    include: tuple[_Selector, ...] = Field((), max_length=MAX_SELECTORS, description="Whose text counts; else all")
    exclude: tuple[_Selector, ...] = Field(
        (), max_length=MAX_SELECTORS, description="What goes before anything is read"
    )
    fields: dict[str, _FieldRule] = Field({}, max_length=MAX_FIELDS)

    @field_validator("fields", mode="after")
    @classmethod
    def _in_order(cls, value: dict[str, FieldRule]) -> dict[str, FieldRule]:
        """Fields in the order of their names: Postgres keeps no other."""
        return dict(sorted(value.items()))

    @property
    def is_default(self) -> bool:
        return not (self.include or self.exclude or self.fields)

    @property
    def revision(self) -> str:
        """The revision of these selectors: the same selectors have the same one, whenever they were set."""
        return sha256(f"{_EXTRACTOR} {self.model_dump_json()}".encode()).hexdigest()[:16]

    def placed(self) -> Iterator[tuple[str, Selector]]:
        """Each selector with the place where it is written."""
        for part in ("include", "exclude"):
            for number, selector in enumerate(getattr(self, part)):
                yield f"{part}[{number}]", selector
        for name, rule in self.fields.items():
            yield f"fields.{name}", rule


DEFAULT = SelectorSet()


def read_selectors(given: Any) -> SelectorSet:
    """Selectors from JSON or YAML. Raises InvalidSelector with a sentence that says where they are wrong."""
    if not isinstance(given, dict):
        raise InvalidSelector("Selectors are an object with include, exclude and fields.")
    try:
        found = SelectorSet.model_validate(given)
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False)[0]
        raise InvalidSelector(one_line(f"{_place(first['loc'])}: {_words(first)}.")) from None
    if wrong := next((name for name in found.fields if not _FIELD.fullmatch(name)), None):
        raise InvalidSelector(
            f"fields: {one_line(wrong, 80)!r} is no name; use letters, digits, - and _, beginning with a letter."
        )
    return found


def _place(path: Sequence[int | str]) -> str:
    """A place as `SelectorSet.placed` names it: `include[0]`, not `include.0.selector`."""
    parts = path[:-1] if path and path[-1] == "selector" else path
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).removeprefix(".")


def _words(error: Mapping[str, Any]) -> str:
    most = error.get("ctx", {}).get("max_length", 0)
    match error["type"]:
        case "string_too_short":
            return "nothing is written there"
        case "string_too_long":
            return f"at most {most:,} characters, please"
        case "too_long":
            return f"these are too many: at most {most:,}"
        case "extra_forbidden":
            return "there is no such thing here"
        case "missing":
            return "it is missing"
    return str(error["msg"]).removeprefix("Value error, ")
