"""Us, by a clock that can be moved: real Postgres, real Valkey, the real fetcher; a loop takes the place of Celery."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import text

from benchmarks.ours import ending_with_us
from crawler.adapters.postgres.schema import migrate
from crawler.bootstrap import App, build, with_servers
from crawler.config import load_settings
from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.domain.crawls.frontier import Lane
from crawler.domain.crawls.project import Project

SECONDS = 600.0


class NoHints:
    """Nobody waits for them: the loop looks for itself."""

    def __getattr__(self, _: str) -> Callable[..., None]:
        return lambda *_, **__: None


class Watcher:
    def __init__(self, tools: App) -> None:
        self.tools = tools

    def project(self, url: str, **options: Any) -> Project:
        project = Project.create(name=str(uuid4()), website_url=url, now=self.tools.clock())
        # Where nobody renders, nothing may wait for it.
        settings = {"delay_seconds": 0, "render": "never", **options}
        return self.tools.store.add_project(project.changed(self.tools.clock(), settings=settings))

    def crawl(self, project_id: UUID) -> CrawlJob:
        """As a schedule starts it, to the comparison."""
        crawl = self.tools.crawls.start(project_id, crawl_type=CrawlType.SCHEDULED)
        crawl = self.tools.crawls.seed(crawl.id)
        until = time.monotonic() + SECONDS
        while not crawl.status.is_over:
            if time.monotonic() > until:
                raise SystemExit(f"The crawl did not end in {SECONDS:g} s: {crawl}")
            self.tools.engine.work_shift(Lane.HTTP, str(uuid4()))
            self.tools.crawls.finish(crawl.id)
            crawl = self.tools.store.get_crawl(crawl.id)
            time.sleep(0.01)
        return self.tools.changes.diff_crawl(crawl.id)

    def stored(self, project_id: UUID) -> list[str]:
        """Addresses of all pages."""
        with self.tools.database.begin() as db:
            rows = db.execute(text("SELECT url FROM crawled_pages WHERE project_id = :id"), {"id": project_id})
            return list(rows.scalars())


@contextmanager
def watcher(clock: Callable[[], datetime]) -> Iterator[Watcher]:
    with ExitStack() as stack:
        data_dir = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-crawler-")))
        settings = load_settings(
            data_dir=data_dir, egress_allow="127.0.0.0/8", log_level="warning", shift_seconds=5,
            user_agent="bench/1 (+https://example.test/bot)",
        )  # fmt: skip
        named, embedded = with_servers(settings)
        if embedded is not None:
            stack.callback(embedded.release)
            stack.enter_context(ending_with_us(data_dir))
        tools = build(named, hints=NoHints(), clock=clock)
        stack.callback(tools.database.dispose)
        migrate(tools.database)
        yield Watcher(tools)
        tools.engine.fetcher.close()
