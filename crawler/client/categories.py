"""Client for categories: selectors that extract fields from pages of the acquisition queue."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from crawler.client.connection import Call, Connection, given, path
from crawler.client.value import Value, read


class FieldFill(Value):
    """How often a field of a category has a value."""

    field: str
    share: float
    of: int
    usual: float | None
    dropped: bool
    since: datetime


class Category(Value):
    name: str
    defined: bool
    """False if entries name the category, but it has no selectors."""
    selectors: dict[str, Any]
    revision: str
    entries: int
    extractions: int
    fill: tuple[FieldFill, ...]
    alarms: tuple[str, ...]
    """Fields that have a value much less often than before."""
    created_at: datetime | None
    updated_at: datetime | None


class ExtractionTrial(Value):
    page_id: UUID
    url: str
    category: str
    revision: str
    fields: dict[str, Any]
    text: str
    language: str | None
    matches: dict[str, int]
    problem: str | None
    seconds: float


class Categories:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self) -> Sequence[Category]:
        return tuple(self._connection.listed("/categories", Category))

    def get(self, name: str) -> Category:
        return read(Category, self._connection.get(path("categories", name)))

    def set(self, name: str, selectors: Mapping[str, Any]) -> Category:
        """
        >>> client.categories.set("hotel", {"include": ["main"], "fields": {"name": "h1", "photo": "img@src"}})
        """
        call = Call("PUT", path("categories", name), body=dict(selectors), repeatable=True)
        return read(Category, self._connection.json(call))

    def delete(self, name: str, *, force: bool = False) -> None:
        self._connection.json(Call("DELETE", path("categories", name), given(force=force or None)))

    def try_on(
        self,
        name: str,
        *,
        selectors: Mapping[str, Any] | None = None,
        page_id: UUID | str | None = None,
        url: str | None = None,
        queue_id: int | None = None,
    ) -> ExtractionTrial:
        """What the category's selectors, or these, read from a stored page."""
        page = None if page_id is None else str(page_id)
        unsaved = None if selectors is None else dict(selectors)
        body = given(selectors=unsaved, page_id=page, url=url, queue_id=queue_id)
        call = Call("POST", path("categories", name, "try"), body=body, repeatable=True)
        return read(ExtractionTrial, self._connection.json(call))
