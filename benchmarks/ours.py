"""Us, as a user runs us: embedded servers, a coordinator, one fetch process per core; all of it warm."""

import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from crawler.adapters.schema import migrate
from crawler.bootstrap import App, build, with_servers
from crawler.config import load_settings
from crawler.domain.crawls import CrawlJob
from crawler.domain.projects import Project
from crawler.entrypoints.stack import crawl_processes
from crawler.supervisor import FileOutput, Supervisor


class Ours:
    def __init__(self, tools: App, supervisor: Supervisor, data_dir: Path) -> None:
        self.tools = tools
        self._supervisor = supervisor
        self._data_dir = data_dir

    def pids(self) -> list[int]:
        """Everything that works for a crawl: workers and both servers."""
        state = json.loads((self._data_dir / "servers" / "state.json").read_text())
        workers = [child.pid for child in self._supervisor.poll() if child.pid]
        return [*workers, state["postgres"]["pid"], state["valkey"]["pid"]]

    def worker_pids(self) -> list[int]:
        return [child.pid for child in self._supervisor.poll() if child.pid]

    def project(self, url: str, **config: Any) -> Project:
        project = Project.create(name=str(uuid4()), website_url=url, now=self.tools.clock())
        options = {"max_pages": 1_000_000, "delay_seconds": 0, "max_concurrent": 32, **config}
        return self.tools.store.add_project(project.changed(self.tools.clock(), settings=options))

    def crawl(self, project: Project, seconds: float = 600, **options: Any) -> CrawlJob:
        crawl = self.tools.start_crawl(project.id, **options)
        until = time.monotonic() + seconds
        while not crawl.status.is_over:
            if time.monotonic() > until:
                raise SystemExit(f"The crawl did not end in {seconds} s: {crawl}")
            time.sleep(0.05)
            self._supervisor.poll()
            crawl = self.tools.store.get_crawl(crawl.id)
        return crawl


@contextmanager
def ours(fetchers: int | None = None, **settings: Any) -> Iterator[Ours]:
    with tempfile.TemporaryDirectory(prefix="bench-crawler-") as home:
        data_dir = Path(home)
        options = {
            "data_dir": data_dir, "egress_allow": "127.0.0.0/8", "max_pages_ceiling": 10_000_000,
            "user_agent": "bench/1 (+https://example.test/bot)", "log_level": "warning", **settings,
        }  # fmt: skip
        named, embedded = with_servers(load_settings(**options))
        tools = build(named)
        migrate(tools.engine)
        processes = crawl_processes(named, fetchers or os.cpu_count() or 1)
        supervisor = Supervisor(processes, FileOutput(data_dir / "logs"))
        supervisor.start()
        try:
            time.sleep(4)  # warm: nobody's imports are measured
            yield Ours(tools, supervisor, data_dir)
        finally:
            supervisor.stop(grace_seconds=10)
            tools.engine.dispose()
            if embedded is not None:
                embedded.release()
