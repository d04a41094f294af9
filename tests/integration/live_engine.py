"""The engine in this process: real Postgres, real Valkey, the real fetcher; only Celery is replaced, by a loop."""

import atexit
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy
from sqlalchemy import text

from crawler.adapters.acquisition.extraction_process import ExtractionProcess
from crawler.adapters.judging.judge_pool import JudgePool
from crawler.adapters.postgres.database import connect
from crawler.bootstrap import App, build
from crawler.bootstrap import acquisition as acquisition_room
from crawler.bootstrap import judging as judging_room
from crawler.bootstrap import pages as pages_room
from crawler.config import PREFIX, Settings, load_settings
from crawler.domain.acquisition.extractions import Handed
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.frontier import Lane
from crawler.domain.crawls.project import Project
from crawler.domain.urls.url import Url, read
from crawler.handlers.crawls.check_reach import CheckKnown
from crawler.server_urls import postgres_url


class InlineHints:
    """Takes hints and does nothing: `Engine.run` looks for itself, as the reconciler would."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Any]] = []
        self.later: list[tuple[str, UUID]] = []
        """Of these what nobody waits for."""

    def start_crawl(self, crawl_id: UUID, *, later: bool = False) -> None:
        self.sent.append(("start_crawl", crawl_id))
        self.later += [("start_crawl", crawl_id)] if later else []

    def fetch(self, lane: Lane, countdown_seconds: float = 0) -> None:
        self.sent.append(("fetch", (lane, countdown_seconds)))

    def finish_crawl(self, crawl_id: UUID, *, later: bool = False) -> None:
        self.sent.append(("finish_crawl", crawl_id))
        self.later += [("finish_crawl", crawl_id)] if later else []

    def tend_large_crawl(self, crawl_id: UUID) -> None:
        self.sent.append(("tend_large_crawl", crawl_id))

    def after_crawl(self, crawl_id: UUID, *, later: bool = False) -> None:
        self.sent.append(("after_crawl", crawl_id))
        self.later += [("after_crawl", crawl_id)] if later else []

    def notify(self, crawl_id: UUID, countdown_seconds: float = 0) -> None:
        self.sent.append(("notify", crawl_id))

    def resend_notice(self, notification_id: UUID) -> None:
        self.sent.append(("resend_notice", notification_id))

    def run_queue(self) -> None:
        self.sent.append(("run_queue", None))

    def ingest_documents(self) -> None:
        self.sent.append(("ingest_documents", None))

    def embed_documents(self) -> None:
        self.sent.append(("embed_documents", None))

    def extract_entries(self, countdown_seconds: float = 0) -> None:
        self.sent.append(("extract_entries", countdown_seconds))

    def reconcile(self) -> None:
        self.sent.append(("reconcile", None))

    def classify(self, task: str, handed: Handed) -> None:
        self.sent.append((task, handed))

    def classification_length(self) -> int:
        return 0  # all are taken at once

    def ping(self) -> None: ...


class Engine:
    def __init__(self, tools: App) -> None:
        self.tools = tools

    def project(self, url: str | None, **settings: Any) -> Project:
        """Pages of tests are tiny: each would count as an empty shell. None is rendered unless a test asks for it."""
        project = Project.create(name=str(uuid4()), website_url=url, now=self.tools.clock())
        options = {"render": "never", **settings}
        return self.tools.store.add_project(project.changed(self.tools.clock(), settings=options))

    def start(self, project: Project, **options: Any) -> CrawlJob:
        """A crawl that is open in the frontier."""
        crawl = self.tools.crawls.start(project.id, **options)
        return self.tools.crawls.seed(crawl.id)

    def crawl(self, url: str, *, seconds: float = 30, urls: tuple[str, ...] = (), **config: Any) -> CrawlJob:
        """A whole crawl of a project of its own. Fast unless told otherwise."""
        config = {"delay_seconds": 0, "max_concurrent": 8, **config}
        return self.run(self.start(self.project(url), config=config, urls=urls), seconds=seconds)

    def again(self, crawl: CrawlJob, *, seconds: float = 30) -> CrawlJob:
        """Crawl the same project once more, with its saved settings."""
        return self.run(self.start(self.tools.store.get_project(crawl.project_id)), seconds=seconds)

    def run(self, crawl: CrawlJob, *, seconds: float = 30) -> CrawlJob:
        until = time.monotonic() + seconds
        while not crawl.status.is_over:
            assert time.monotonic() < until, f"still {crawl}: {self.tools.frontier.stats(crawl.id)}"
            self.shift()
            crawl = self.tools.crawls.finish(crawl.id)
            time.sleep(0.01)
        return self.tools.changes.diff_crawl(crawl.id)

    def reconcile(self) -> None:
        """The reconciler, and who is told by it to finish crawls. A message that is on its way may be sent again."""
        tools, before = self.tools, len(self.sent)
        for mark in tools.redis.scan_iter("*hint:finish *"):
            tools.redis.delete(mark)
        tools.crawls.reconcile()
        for task, crawl_id in self.sent[before:]:
            if task == "finish_crawl":
                tools.crawls.finish(crawl_id)

    @property
    def sent(self) -> list[tuple[str, Any]]:
        """All hints so far."""
        assert isinstance(self.tools.hints, InlineHints)
        return self.tools.hints.sent

    def shift(self) -> None:
        self.tools.engine.work_shift(Lane.HTTP, str(uuid4()))

    def shift_until(self, is_done: Callable[[], bool], *, seconds: float = 30) -> None:
        """As many shifts as it takes: on a busy machine a short one may end before its first answer is written."""
        until = time.monotonic() + seconds
        while not is_done():
            assert time.monotonic() < until, "it did not come to pass in time"
            self.shift()

    def ledger(self, crawl: CrawlJob) -> dict[str, dict[str, Any]]:
        """Every URL of the crawl by its key."""
        rows = self.rows(
            "SELECT * FROM crawl_discovered_urls WHERE crawl_job_id = :id ORDER BY normalized_url", id=crawl.id
        )
        return {row["normalized_url"]: row for row in rows}

    def ends(self, crawl: CrawlJob) -> dict[str, str]:
        """URL path → "done", or the reason why not."""
        return {
            path: row["fetch_state"] if row["fetch_state"] == "done" else row["reason"]
            for path, row in self.paths(crawl).items()
        }

    def paths(self, crawl: CrawlJob) -> dict[str, dict[str, Any]]:
        """The ledger by URL path, without what is no URL at all."""
        rows = self.ledger(crawl).items()
        return {"/" + key.split("/", 3)[3]: row for key, row in rows if isinstance(read(row["url"]), Url)}

    def page(self, crawl: CrawlJob, path: str) -> dict[str, Any]:
        (row,) = self.rows(
            "SELECT * FROM crawled_pages WHERE project_id = :id AND url LIKE '%' || :path",
            id=crawl.project_id,
            path=path,
        )
        return row

    def rows(self, query: str, **values: Any) -> list[dict[str, Any]]:
        with self.tools.database.begin() as db:
            return [row._asdict() for row in db.execute(text(query), values)]


class _SharedExtractor(ExtractionProcess):
    """Stays when its user is done: to start one takes longer than most tests."""

    def __exit__(self, *_: object) -> None: ...


@cache
def _extractor(seconds: float, pid: int) -> ExtractionProcess:
    extractor = _SharedExtractor(seconds)
    atexit.register(extractor.close)
    return extractor


@cache
def _judges(size: int, reserved: int, pid: int) -> JudgePool:
    pool = JudgePool(size, reserved)
    atexit.register(pool.close)
    return pool


@contextmanager
def _sharing_children() -> Iterator[None]:
    """All apps of a process, also those that commands make, use the same children; what is forked has its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging_room, "JudgePool", lambda size, reserved: _judges(size, reserved, os.getpid()))
        for room in (acquisition_room, pages_room):
            patch.setattr(room, "ExtractionProcess", lambda seconds: _extractor(seconds, os.getpid()))
        yield


@cache
def _shared_connections(database_url: str, pool_size: int, pid: int) -> sqlalchemy.Engine:
    """With the statements that were compiled: to compile them again is a tenth of most tests."""
    return connect(database_url, pool_size)


_read: dict[str, Settings] = {}


def _settings(options: dict[str, Any]) -> Settings:
    """Those of earlier tests where only the folder differs: to read them is a quarter of what an engine takes."""
    data_dir = options.get("data_dir")
    same = {name: value for name, value in options.items() if name != "data_dir"}
    environment = {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}
    key = repr((same, environment))
    if key not in _read:
        _read[key] = load_settings(**same)
    return _read[key].model_copy(update={"data_dir": data_dir}) if data_dir else _read[key]


@contextmanager
def running_engine(database_url: str, redis_url: str, **settings: Any) -> Iterator[Engine]:
    options = {
        "database_url": database_url,
        "redis_url": redis_url,
        "egress_allow": "127.0.0.0/8",
        "max_pages_ceiling": 100_000,
        "shift_seconds": 5,
        "user_agent": "crawler-test/1 (+https://example.test/bot)",
        **settings,
    }
    named = _settings(options)
    tools = build(
        named,
        hints=InlineHints(),
        database=_shared_connections(postgres_url(database_url), named.database_pool_size, os.getpid()),
    )
    # Names in tests are made up; those that nobody should know end in this.
    tools.crawls.check_known = CheckKnown(lambda host: host.endswith(".invalid"), by_proxy=False)
    try:
        with _sharing_children():
            yield Engine(tools)
    finally:
        tools.engine.fetcher.close()
        tools.redis.close()
