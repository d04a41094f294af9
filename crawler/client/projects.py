"""Client for projects: websites to crawl and watch."""

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from crawler.client.connection import Call, Connection, given, path
from crawler.client.files import write_whole
from crawler.client.value import Value, read


class Project(Value):
    id: UUID
    name: str
    website_url: str | None
    settings: dict[str, Any]
    """Crawl options of the project, by name."""
    is_active: bool
    flagged_for_review: bool
    phase_status: str
    created_at: datetime
    updated_at: datetime
    tags: tuple[str, ...] = ()
    muted_until: datetime | None = None


class Previewed(Value):
    """Whether a URL would be crawled, and by which rule."""

    url: str
    admitted: bool
    rule: str
    normalized_url: str | None
    priority: int | None
    reason: str | None


class _Preview(Value):
    urls: tuple[Previewed, ...]


class Projects:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        name: str,
        website_url: str | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Project:
        """Make a project. Without a website each of its crawls names a `seed_url`.

        >>> client.projects.create("Example", "https://example.org/", settings={"delay_seconds": 1})
        """
        body = given(name=name, website_url=website_url, settings=settings)
        return read(Project, self._connection.start("/projects", body, idempotency_key))

    def all(self, search: str | None = None) -> Iterator[Project]:
        """Those the key sees, oldest first; `search`: a part of the name or address, or the beginning of the id."""
        return self._connection.listed("/projects", Project, **given(search=search))

    def get(self, project_id: UUID | str) -> Project:
        return read(Project, self._connection.get(path("projects", project_id)))

    def change(self, project_id: UUID | str, **changes: Any) -> Project:
        """Only what is given changes, of the settings too: `name`, `website_url`, `is_active`, `settings`."""
        call = Call("PATCH", path("projects", project_id), body=changes, repeatable=True)
        return read(Project, self._connection.json(call))

    def delete(self, project_id: UUID | str) -> None:
        """Forget a project with all its crawls and pages."""
        self._connection.json(Call("DELETE", path("projects", project_id)))

    def preview(
        self,
        project_id: UUID | str,
        urls: Sequence[str],
        *,
        config: Mapping[str, Any] | None = None,
        seed_url: str | None = None,
    ) -> tuple[Previewed, ...]:
        """Which of these URLs would be crawled, with these options over the project's settings."""
        body = given(urls=list(urls), config=config, seed_url=seed_url)
        call = Call("POST", path("projects", project_id, "scope", "preview"), body=body, repeatable=True)
        return read(_Preview, self._connection.json(call)).urls

    def markdown(self, project_id: UUID | str, file: str | os.PathLike[str]) -> Path:
        """The whole site as one text, written to a file that appears whole or not at all."""
        with self._connection.stream(path("projects", project_id, "markdown")) as pieces:
            return write_whole(file, pieces)
