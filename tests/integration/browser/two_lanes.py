"""Whole crawls in two lanes: the engine, and somebody in the browser lane."""

from typing import Any
from uuid import uuid4

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.frontier import Lane
from tests.integration.live_engine import Engine


class TwoLanes(Engine):
    """The engine with somebody in the browser lane."""

    def shift(self) -> None:
        super().shift()
        if self.tools.frontier.due(Lane.BROWSER, 1)[0]:
            self.tools.engine.browser_shift(Lane.BROWSER, str(uuid4()))

    def crawl(self, url: str, *, seconds: float = 90, urls: tuple[str, ...] = (), **config: Any) -> CrawlJob:
        """Without pictures, which take longer than the pages, unless a test is about them."""
        return super().crawl(url, seconds=seconds, urls=urls, **{"render": "auto", "screenshots": False, **config})

    def change(self, crawl: CrawlJob, **settings: Any) -> None:
        """Of the crawl's project."""
        store, now = self.tools.store, self.tools.clock()
        project = store.get_project(crawl.project_id)
        store.save_project(project.changed(now, settings=project.settings.model_dump() | settings))

    def methods(self, crawl: CrawlJob) -> dict[str, str]:
        rows = self.rows("SELECT url, crawl_method FROM crawled_pages WHERE project_id = :id", id=crawl.project_id)
        return {"/" + row["url"].split("/", 3)[3]: row["crawl_method"] for row in rows}
