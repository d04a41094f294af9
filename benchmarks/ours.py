"""Us, as a user runs us: embedded servers, a coordinator, one fetch process per core; all of it warm."""

import json
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil

from benchmarks import worker_tree
from benchmarks.children import guarded
from crawler.adapters.postgres.schema import migrate
from crawler.bootstrap import App, build, with_servers
from crawler.config import load_settings
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.project import Project
from crawler.entrypoints.processes import all_processes, crawl_processes
from crawler.supervisor import FileOutput, Supervisor

WARM_PAGES = 300

Watch = Callable[[CrawlJob], None]


class Ours:
    def __init__(self, tools: App, supervisor: Supervisor, data_dir: Path, *, renders: bool = False) -> None:
        self.tools = tools
        self._renders = renders
        self._supervisor = supervisor
        self.data_dir = data_dir
        self._workers: dict[str, int] = {}
        self._look_after()

    def pids(self) -> list[int]:
        """Everything that works for a crawl: workers and both servers. May be asked by another thread."""
        return [*self._workers.values(), *server_pids(self.data_dir).values()]

    def postgres_pid(self) -> int:
        return server_pids(self.data_dir)["postgres"]

    def processes(self) -> dict[str, int]:
        """The workers by name: Celery's own processes, and the slots in which work is done."""
        found: dict[str, int] = {}
        for name, pid in self._workers.items():
            found |= worker_tree.named(pid, name, worker_tree.children_of(pid))
        return found

    def slots(self) -> dict[str, int]:
        """The processes that fetch."""
        return {name: pid for name, pid in self.processes().items() if name.startswith("fetch ")}

    def renderer(self, seconds: float = 30) -> psutil.Process:
        """The process that renders."""
        (root,) = self._workers.values()
        until = time.monotonic() + seconds
        while (found := worker_tree.renderer(root)) is None:
            if time.monotonic() > until:
                raise SystemExit("No worker that renders has started.")
            time.sleep(0.1)
        return found

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Our workers get no CPU at all, so that whoever is measured meanwhile has the machine."""
        groups = list(self._workers.values())
        try:
            for group in groups:
                os.killpg(group, signal.SIGSTOP)
            yield
        finally:
            for group in groups:
                with suppress(ProcessLookupError):
                    os.killpg(group, signal.SIGCONT)

    def project(self, url: str, **config: Any) -> Project:
        project = Project.create(name=str(uuid4()), website_url=url, now=self.tools.clock())
        # Where nobody renders, nothing may wait for it.
        render = "auto" if self._renders else "never"
        options = {"max_pages": 1_000_000, "delay_seconds": 0, "max_concurrent": 32, "render": render, **config}
        return self.tools.store.add_project(project.changed(self.tools.clock(), settings=options))

    def crawl(self, project: Project, seconds: float = 600, watch: Watch | None = None) -> CrawlJob:
        """Crawl to the end; `watch` hears of it about ten times a second and may end it."""
        crawl = self.tools.crawls.start(project.id)
        until = time.monotonic() + seconds
        while not crawl.status.is_over:
            if time.monotonic() > until:
                raise SystemExit(f"The crawl did not end in {seconds:g} s: {crawl}")
            time.sleep(0.1)
            self._look_after()
            crawl = self.tools.store.get_crawl(crawl.id)
            if watch is not None:
                watch(crawl)
        return crawl

    def attend(self, seconds: float) -> None:
        """Let time pass, and keep the workers up meanwhile."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._look_after()
            time.sleep(min(left, 0.1))

    def warm(self, url: str, **config: Any) -> None:
        """Nobody's imports, models and caches are measured."""
        for _ in range(2):
            self.crawl(self.project(url, **{**config, "max_pages": WARM_PAGES}))

    def _look_after(self) -> None:
        """Restart what died; what lives is remembered. Each worker leads a process group."""
        self._workers = {child.name: child.pid for child in self._supervisor.poll() if child.pid}


@contextmanager
def ours(
    fetchers: int | None = None, *, render: bool = False, up: bool = False, ingest: bool = False, **settings: Any
) -> Iterator[Ours]:
    """The workers of one crawl, as `crawler run` starts them; with `up`, those of a service, `ingest` among them."""
    with ExitStack() as stack:
        data_dir = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-crawler-")))
        options = {
            "data_dir": data_dir, "egress_allow": "127.0.0.0/8", "max_pages_ceiling": 10_000_000,
            "user_agent": "bench/1 (+https://example.test/bot)", "log_level": "warning", **settings,
        }  # fmt: skip
        named, embedded = with_servers(load_settings(**options))
        if embedded is not None:
            stack.callback(embedded.release)
            stack.enter_context(ending_with_us(data_dir))
        tools = build(named)
        stack.callback(tools.database.dispose)
        migrate(tools.database)
        processes = crawl_processes(named, fetchers or os.cpu_count() or 1, render=render)
        if up:
            names = ("control", "fetch", *(("ingest",) if ingest else ()))
            processes = [spec for spec in all_processes(named, "127.0.0.1", 0) if spec.name in names]
        supervisor = Supervisor(processes, FileOutput(data_dir / "logs"))
        stack.callback(supervisor.stop, grace_seconds=10)
        supervisor.start()
        time.sleep(4)  # until Celery's processes stand
        yield Ours(tools, supervisor, data_dir, renders=render)


def server_pids(data_dir: Path) -> dict[str, int]:
    state = json.loads((data_dir / "servers" / "state.json").read_text())
    return {name: state[name]["pid"] for name in ("postgres", "valkey")}


@contextmanager
def ending_with_us(data_dir: Path) -> Iterator[None]:
    """Embedded servers are made to survive their owner's death; those of a killed benchmark should not."""
    with guarded() as guard:
        groups = {os.getpgid(pid) for pid in server_pids(data_dir).values()}
        for group in groups:
            guard.add(group)
        try:
            yield
        finally:
            for group in groups:
                guard.remove(group)
