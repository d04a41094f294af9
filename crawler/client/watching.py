"""Client for watch rules: which parts and values of pages count, and when a change of them is told."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from crawler.client.connection import Call, Connection, given, path
from crawler.client.value import Value, read


class WatchRule(Value):
    id: UUID
    project_id: UUID
    name: str
    pattern: str
    """RE2 that a page's URL matches; empty is every page."""
    priority: int
    watch: tuple[str, ...]
    """CSS or XPath: only what stands in these elements counts."""
    fields: dict[str, dict[str, Any]]
    """Named values: selector, type, attribute, decimal."""
    products: bool
    tell: dict[str, Any] | None
    """Conditions: match, of, pattern. None: every change of a value is told."""
    enabled: bool
    created_at: datetime
    described: str


class FieldPreview(Value):
    field: str
    found: bool
    value: str | None
    problem: str | None = None


class PagePreview(Value):
    url: str
    parts: int
    share: float
    """Of the page's words that stand in the watched parts."""
    fields: tuple[FieldPreview, ...]
    note: str | None = None


class WatchPreview(Value):
    matching_pages: int
    pages: tuple[PagePreview, ...]
    warnings: tuple[str, ...]


class VersionMatch(Value):
    """What a selector named in one version of a page."""

    version_id: UUID
    fetched_at: datetime
    count: int
    texts: tuple[str, ...]
    """What the first few elements say."""
    note: str | None = None


class Picked(Value):
    """A selector, and what it named in the last versions of a page."""

    page_id: UUID
    selector: str
    text: str
    alike: str | None
    """A selector of all elements that are like the one that was picked."""
    versions: tuple[VersionMatch, ...]


class Watching:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def rules(self, project_id: UUID | str) -> Sequence[WatchRule]:
        return tuple(self._connection.listed(path("projects", project_id, "watch-rules"), WatchRule))

    def add(self, project_id: UUID | str, **rule: Any) -> WatchRule:
        """The same rule twice is one. `client.noise.backtest(project.id, watch=rule)` tries it on past crawls.

        >>> client.watching.add(
        ...     project.id, pattern="/products/", fields={"price": "price .total"}, tell={"of": ["price below 100"]}
        ... )
        """
        where = path("projects", project_id, "watch-rules")
        return read(WatchRule, self._connection.json(Call("POST", where, body=rule, repeatable=True)))

    def get(self, project_id: UUID | str, rule_id: UUID | str) -> WatchRule:
        return read(WatchRule, self._connection.get(path("projects", project_id, "watch-rules", rule_id)))

    def replace(self, project_id: UUID | str, rule_id: UUID | str, **rule: Any) -> WatchRule:
        """The whole rule: what is left out gets its default."""
        where = path("projects", project_id, "watch-rules", rule_id)
        return read(WatchRule, self._connection.json(Call("PUT", where, body=rule, repeatable=True)))

    def enable(self, project_id: UUID | str, rule_id: UUID | str, *, enabled: bool = True) -> WatchRule:
        where = path("projects", project_id, "watch-rules", rule_id)
        return read(WatchRule, self._connection.json(Call("PATCH", where, body={"enabled": enabled}, repeatable=True)))

    def remove(self, project_id: UUID | str, rule_id: UUID | str) -> None:
        self._connection.json(Call("DELETE", path("projects", project_id, "watch-rules", rule_id)))

    def preview(self, project_id: UUID | str, **rule: Any) -> WatchPreview:
        """What a rule finds on stored pages; nothing is kept."""
        where = path("projects", project_id, "watch-preview")
        return read(WatchPreview, self._connection.json(Call("POST", where, body=rule, repeatable=True)))

    def pick(self, project_id: UUID | str, url: str, *, text: str = "", selector: str = "") -> Picked:
        """A selector of the smallest element of a stored page that has this text, and what it named in the last ten
        versions; with `selector`, what that one named."""
        query = given(url=url, text=text or None, selector=selector or None)
        return read(Picked, self._connection.get(path("projects", project_id, "picked"), **query))
