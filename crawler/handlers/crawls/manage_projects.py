"""Create, change and delete projects: the same rules for API, terminal and dashboard.

Settings and their limits: `CrawlConfig` in `domain/crawls/crawl.py`. Names: `checked_name` in
`domain/crawls/project.py`.
"""

from collections.abc import Mapping
from typing import Any, Protocol
from uuid import UUID

from pydantic import ValidationError

from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob
from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.crawls.project import ACQUISITION_ID, Project
from crawler.domain.urls.scope import Scope
from crawler.domain.urls.typed_url import page_url
from crawler.errors import Conflict, Invalid, InvalidTransition, NotFound
from crawler.handlers.crawls.start_crawl import explain, valid_config

_ANY_SEED = "http://example.org/"
"""Stands in for the website when checking options of a project that has none."""


class ManagedProjects(ProjectReader, Protocol):
    def add_project(self, project: Project) -> Project: ...
    def save_project(self, project: Project) -> Project: ...
    def delete_project(self, project_id: UUID) -> None: ...
    def open_crawls(self) -> list[CrawlJob]: ...


class Cancel(Protocol):
    def __call__(self, crawl_id: UUID, /) -> CrawlJob: ...


class ManageProjects:
    def __init__(self, store: ManagedProjects, cancel: Cancel, clock: Clock, max_pages_ceiling: int) -> None:
        self._store = store
        self._cancel = cancel
        self._clock = clock
        self._ceiling = max_pages_ceiling

    def create(self, *, name: str, website_url: str | None, settings: Mapping[str, Any] | None = None) -> Project:
        href = page_url(website_url).href if website_url is not None else None
        options = self._checked(valid_config(settings or {}), href)
        try:
            project = Project.create(name=name, website_url=href, now=self._clock(), settings=options)
        except ValidationError as exc:
            raise Invalid(explain(exc)) from exc
        return self._store.add_project(project)

    def change(self, project_id: UUID, changes: Mapping[str, Any]) -> Project:
        """Change the given fields only; the same for the given settings."""
        project = self._store.get_project(project_id)
        given = dict(changes)
        if given.get("website_url") is not None:
            given["website_url"] = page_url(given["website_url"]).href
        href = given.get("website_url", project.website_url)
        merged = valid_config({**project.settings.model_dump(), **(given.pop("settings", None) or {})})
        try:
            changed = project.changed(self._clock(), **given, settings=self._checked(merged, href))
        except ValidationError as exc:
            raise Invalid(explain(exc)) from exc
        return self._store.save_project(changed)

    def delete(self, project_id: UUID) -> None:
        """Delete a project. A large one takes a while: from now on nothing of it is started.

        Its running crawls are cancelled first, or their frontier would stay without a record.
        """
        if project_id == ACQUISITION_ID:
            raise Conflict("This project is the queue's own and stays; delete entries with 'crawler queue delete'.")
        project = self._store.get_project(project_id)
        self._store.save_project(project.changed(self._clock(), is_active=False))
        for crawl in self._store.open_crawls():
            if crawl.project_id == project_id:
                self._end(crawl.id)
        self._store.delete_project(project_id)

    def _end(self, crawl_id: UUID) -> None:
        try:
            self._cancel(crawl_id)
        except (InvalidTransition, NotFound):
            return  # it ended by itself meanwhile

    def _checked(self, options: CrawlConfig, href: str | None) -> CrawlConfig:
        Scope.of(href or _ANY_SEED, options.within(self._ceiling))  # refuses invalid hosts
        return options
