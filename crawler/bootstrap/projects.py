"""Builds handlers for projects: create, change, list, credentials, preview of URL rules."""

from functools import cached_property
from typing import TYPE_CHECKING

from crawler.adapters.crawls.project_list import ProjectList
from crawler.adapters.operating.queues import LANE_QUEUE
from crawler.adapters.pages.sample import PageSample
from crawler.domain.crawls.crawl_choices import RenderMode
from crawler.domain.crawls.frontier import Lane
from crawler.handlers.crawls.manage_projects import ManageProjects
from crawler.handlers.crawls.preview_scope import PreviewScope
from crawler.handlers.crawls.preview_settings import PreviewSettings
from crawler.handlers.crawls.scrape_pages import ScrapeOptions
from crawler.handlers.hosts.manage_credentials import ManageCredentials
from crawler.handlers.hosts.manage_logins import ManageLogins

if TYPE_CHECKING:
    from crawler.bootstrap.app import App


class Projects:
    def __init__(self, app: "App") -> None:
        self._app = app

    @cached_property
    def manage(self) -> ManageProjects:
        return ManageProjects(
            self._app.store, self._app.crawls.control.cancel, self._app.clock, self._app.settings.max_pages_ceiling
        )

    @cached_property
    def credentials(self) -> ManageCredentials:
        return ManageCredentials(self._app.credentials, self._app.store, self._app.clock)

    @cached_property
    def logins(self) -> ManageLogins:
        options = ScrapeOptions(render=RenderMode.ALWAYS)
        return ManageLogins(
            self._app.logins,
            self._app.store,
            lambda project_id, url: self._app.crawls.scrape.start(project_id, [url], options),
            self._has_browser,
            self._app.clock,
        )

    def _has_browser(self) -> bool:
        workers = self._app.operating.live_workers.of(LANE_QUEUE[Lane.BROWSER])
        return any(not state.lack for state in workers.values())

    @cached_property
    def overview(self) -> ProjectList:
        return ProjectList(self._app.database)

    @cached_property
    def preview_scope(self) -> PreviewScope:
        return PreviewScope(self._app.store)

    @cached_property
    def preview_settings(self) -> PreviewSettings:
        return PreviewSettings(self.preview_scope, PageSample(self._app.database), self._app.crawls.urls)
