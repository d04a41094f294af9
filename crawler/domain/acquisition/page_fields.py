"""What is read from a page by selectors, as it goes from process to process. Apart from the reading, which is heavy."""

from collections.abc import Sequence
from typing import NamedTuple

Value = str | list[str] | None


class PageFields(NamedTuple):
    fields: dict[str, Value]
    text: str
    language: str | None
    matches: dict[str, int]
    """How many elements each selector found, by its place: `include[0]`, `fields.price`."""
    is_cut: bool = False
    """It is a file with more text than is read."""
    pictures: Sequence[str] = ()
    """Of a PDF: what each is known by."""


class StoredContent(NamedTuple):
    """A page as it was fetched."""

    url: str
    content_type: str
    body: bytes


class ExtractionFailed(NamedTuple):
    code: str
    """Stable: parse, too_large, timeout, crash."""
    sentence: str

    @property
    def words(self) -> str:
        return f"{self.code}: {self.sentence}"


class ProcessLost(NamedTuple):
    """The process that read a page ended: from outside, or because of the page; nobody can tell which."""

    signal: int
