"""Servers, workers and a site, as the product runs them, with handles to hurt each of them.

The workers reach both servers through proxies; the test itself goes straight to them, so that it sees what is stored
while a network is down.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import UUID, uuid4

import psutil

from crawler.adapters.postgres.schema import migrate
from crawler.bootstrap import App, build
from crawler.config import load_settings
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.project import Project
from crawler.entrypoints.processes import worker
from crawler.errors import DatabaseUnavailable
from crawler.supervisor import FileOutput, ProcessSpec, Supervisor
from tests.chaos.proxy import Proxy
from tests.chaos.rabbit import Rabbit
from tests.chaos.sentinels import SentinelServers
from tests.chaos.servers import POSTGRES, VALKEY, FragileServers
from tests.chaos.standby import PostgresPair
from tests.integration.frontier.valkey_process import ValkeyProcess
from tests.site.client import Site
from tests.site.graph import Expected, address

# Short, so that a scenario sees several leases run out; the rules between them are the product's.
TIMES = {
    "CRAWLER_LEASE_SECONDS": "10",
    "CRAWLER_HTTP_TIMEOUT_SECONDS": "5",
    "CRAWLER_SHIFT_SECONDS": "6",
    "CRAWLER_RECONCILE_SECONDS": "4",
}
LOOK_SECONDS = 0.1
BEAT = (sys.executable, "-m", "celery", "-A", "workers.app", "beat", "-S", "workers.beat.BeatScheduler", "--pidfile=")

T = TypeVar("T")


class TooSlow(AssertionError):
    """Something did not happen in its time."""


@dataclass(frozen=True)
class Crawl:
    """A crawl under test, and what it must come to."""

    id: UUID
    project_id: UUID
    hosts: frozenset[int]
    delay: float
    cap: int
    expected: Mapping[str, Expected]


class Stack:
    """`with Stack(directory, hosts=4, pages=200) as stack:`"""

    def __init__(
        self,
        directory: Path,
        *,
        workers: tuple[str, ...] = ("fetch-1", "fetch-2"),
        beat: bool = True,
        clock_jump: tuple[float, float] | None = None,
        rabbit: int = 0,
        shards: int = 0,
        sentinels: bool = False,
        standby: bool = False,
        environment: Mapping[str, str] | None = None,
        **site: Any,
    ) -> None:
        """`clock_jump`: after how long the clock of the first fetch worker jumps, and by how much.

        `rabbit`: how many servers of RabbitMQ carry the messages; with 0 Redis does.
        `sentinels`, `standby`: Redis or Postgres have a stand-in, and workers know both.
        `shards`: how many servers the frontier has; with 0 it is where everything else is.
        """
        self.directory = directory
        self.data_dir = directory / "data"
        self.site = Site(directory, **site)
        self.servers = FragileServers(self.data_dir)
        self.fetchers = workers
        self._beat = beat
        self._clock_jump = clock_jump
        self.rabbit = Rabbit(directory / "rabbit", rabbit) if rabbit else None
        self.sentinels = SentinelServers(directory / "sentinels") if sentinels else None
        self.pair = PostgresPair() if standby else None
        self.shards = [ValkeyProcess(directory / f"shard{number}") for number in range(shards)]
        self._environment = {**TIMES, **(environment or {})}
        self._exit = ExitStack()
        self._polling = threading.Event()

    # -- up and down ------------------------------------------------------------------------

    def __enter__(self) -> Self:
        with self._exit:
            self._start()
            self._exit = self._exit.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None) -> None:
        self._exit.close()

    def _start(self) -> None:
        self._exit.callback(self.servers.stop)
        self.servers.start()
        if self.rabbit:
            self._exit.callback(self.rabbit.close)
            self.rabbit.start()
            self._environment["CRAWLER_BROKER_URL"] = self.rabbit.url
        for stand_in in (self.sentinels, self.pair):
            if stand_in:
                self._exit.callback(stand_in.stop)
                stand_in.start()
        for shard in self.shards:
            shard.directory.mkdir()
            shard.start()
            self._exit.callback(shard.kill)
        if self.shards:
            self._environment["CRAWLER_FRONTIER_URLS"] = ",".join(f"unix://{shard.socket}" for shard in self.shards)
        self.networks = {name: self._proxy(name) for name in (POSTGRES, VALKEY)}
        self.tools = self._tools()
        self._exit.callback(self.tools.database.dispose)
        self._exit.callback(self.tools.redis.close)
        migrate(self.tools.database)
        self._exit.enter_context(self.site)
        self.start_workers()
        self._exit.callback(self.stop_workers)

    def _proxy(self, server: str) -> Proxy:
        proxy = Proxy(self.servers.sockets[server])
        proxy.start()
        self._exit.callback(proxy.stop)
        return proxy

    def _tools(self) -> App:
        given = {name.removeprefix("CRAWLER_").lower(): value for name, value in self._environment.items()}
        return build(
            load_settings(
                **{
                    **given,
                    "failpoint": "",
                    "database_url": self.pair.url if self.pair else self.servers.database_url,
                    "redis_url": self.sentinels.url if self.sentinels else self.servers.redis_url,
                    "data_dir": self.data_dir,
                    "max_pages_ceiling": 1_000_000,
                }
            )
        )

    def environment(self, **more: str) -> dict[str, str]:
        """Of a worker: it knows the servers only through the proxies."""
        keep = {name: value for name, value in os.environ.items() if not name.startswith("CRAWLER_")}
        ports = {name: f"127.0.0.1:{network.port}" for name, network in self.networks.items()}
        database = f"postgresql://crawler@{ports[POSTGRES]}/crawler?sslmode=disable"
        return {
            **keep,
            **self._environment,
            "CRAWLER_DATA_DIR": str(self.data_dir),
            "CRAWLER_DATABASE_URL": self.pair.url if self.pair else database,
            "CRAWLER_REDIS_URL": self.sentinels.url if self.sentinels else f"redis://{ports[VALKEY]}/0",
            "CRAWLER_EGRESS_ALLOW": "127.0.0.0/8",
            "CRAWLER_MAX_PAGES_CEILING": "1000000",
            "CRAWLER_USER_AGENT": "crawler-chaos/1 (+https://example.test/bot)",
            **more,
        }

    def start_workers(self) -> None:
        """In the order of the product; two fetch workers of one process each, so that one can go while one stays."""
        env = self.environment()
        specs = [worker("control", "coordinator,compare,notify", "-c", "2", env=env)]
        specs += [worker(name, "fetch", "-c", "1", env=env) for name in self.fetchers]
        if self._clock_jump:
            specs[1] = skewed(specs[1], *self._clock_jump)
        if self._beat:
            specs.append(ProcessSpec("beat", BEAT, env))
        self._supervisor = Supervisor(specs, FileOutput(self.data_dir / "logs"))
        self._supervisor.start()
        self._polling.set()
        self._thread = threading.Thread(target=self._look_after, name="supervisor")
        self._thread.start()

    def stop_workers(self, grace_seconds: float = 15) -> None:
        """All of them, politely at first."""
        for network in self.networks.values():
            network.mend()
        self._polling.clear()
        self._thread.join()
        for process in self.processes():
            with suppress(psutil.Error):
                process.send_signal(signal.SIGCONT)
        self._supervisor.stop(grace_seconds)

    def kill_workers(self) -> None:
        """As a power cut would; nobody restarts them until `start_workers`."""
        self._polling.clear()
        self._thread.join()
        for process in self.processes():
            with suppress(psutil.Error):
                process.kill()
        self._supervisor.stop(0)

    def _look_after(self) -> None:
        while self._polling.is_set():
            self._states = {state.name: state for state in self._supervisor.poll()}
            time.sleep(LOOK_SECONDS)

    # -- processes --------------------------------------------------------------------------

    def main(self, name: str, seconds: float = 60) -> psutil.Process:
        """The main process of a worker, waiting for it if it is down."""
        return self.eventually(lambda: self._find_main(name), seconds, f"{name} runs")

    def _find_main(self, name: str) -> psutil.Process | None:
        pid = next(state.pid for state in self._supervisor_states() if state.name == name)
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(pid) if pid else None
        return None

    def _supervisor_states(self) -> Iterable[Any]:
        self.eventually(lambda: hasattr(self, "_states"), 10, "the supervisor looks")
        return list(self._states.values())

    def child(self, name: str, seconds: float = 60) -> psutil.Process:
        """The process of a worker that runs its tasks."""
        return self.eventually(lambda: self._find_child(name), seconds, f"{name} has a child")

    def _find_child(self, name: str) -> psutil.Process | None:
        main = self._find_main(name)
        with suppress(psutil.NoSuchProcess):
            return next(iter(main.children()), None) if main else None
        return None

    def wait_gone(self, process: psutil.Process, seconds: float) -> bool:
        """Whether it ended in time. Only looks: it is the supervisor's to bury it."""
        with suppress(TooSlow):
            return self.eventually(lambda: _has_ended(process), seconds, f"{process.pid} ends")
        return False

    def processes(self) -> list[psutil.Process]:
        """Everything the supervisor runs, with children."""
        found: list[psutil.Process] = []
        for state in list(getattr(self, "_states", {}).values()):
            with suppress(psutil.NoSuchProcess):
                if state.pid:
                    main = psutil.Process(state.pid)
                    found += [main, *main.children(recursive=True)]
        return found

    def log(self, name: str) -> str:
        path = self.data_dir / "logs" / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def logs(self) -> str:
        return "\n".join(self.log(path.stem) for path in sorted((self.data_dir / "logs").glob("*.log")))

    # -- crawls -----------------------------------------------------------------------------

    def crawl(
        self, *, hosts: Iterable[int] = (0,), delay: float = 0.0, concurrency: int = 8, seed: str = "/", **config: Any
    ) -> Crawl:
        """Start one, from the first of these hosts, over all of them."""
        chosen = sorted(hosts)
        allowed = [f"{address(host)}:{self.site.port}" for host in chosen]
        start = self.site.url(seed, host=chosen[0])
        project = self.tools.store.add_project(
            Project.create(name=str(uuid4()), website_url=start, now=self.tools.clock())
        )
        options = {
            "max_pages": 100_000,
            "allowed_hosts": allowed,
            "delay_seconds": delay,
            "max_concurrent": concurrency,
            "use_sitemaps": False,
            **config,
        }
        crawl = self.tools.crawls.start(project.id, config=options)
        expected = self.site.expected(start=chosen[0], hosts=frozenset(chosen))
        cap = max(5, concurrency) if delay == 0 else 5
        return Crawl(crawl.id, project.id, frozenset(chosen), delay, cap, expected)

    def row(self, crawl: Crawl) -> CrawlJob:
        return self.tools.store.get_crawl(crawl.id)

    def is_over(self, crawl: Crawl) -> bool:
        with suppress(DatabaseUnavailable):
            return self.row(crawl).status.is_over
        return False

    def is_done(self, crawl: Crawl) -> bool:
        """Over, and compared with the crawl before."""
        with suppress(DatabaseUnavailable):
            return self.row(crawl).status.is_over and self.tools.store.is_diffed(crawl.id)
        return False

    # -- waiting ----------------------------------------------------------------------------

    def asked(self) -> int:
        """Requests the site has seen."""
        path = self.site.log_path
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def wait_asked(self, count: int, seconds: float = 60) -> None:
        self.eventually(lambda: self.asked() >= count, seconds, f"{count} requests")

    def wait_done(self, crawls: Sequence[Crawl], seconds: float) -> float:
        began = time.monotonic()
        self.eventually(lambda: all(map(self.is_done, crawls)), seconds, "all crawls are over")
        return time.monotonic() - began

    def wait_more(self, crawls: Sequence[Crawl], seconds: float) -> float:
        """Until something is asked for again after this moment, or all is over; how long that took."""
        began, now = time.monotonic(), time.time()
        self.eventually(
            lambda: self._asked_since(now) or all(map(self.is_done, crawls)), seconds, "something is asked for"
        )
        return time.monotonic() - began

    def _asked_since(self, moment: float) -> bool:
        return any(request.arrived > moment for request in self.site.requests())

    @staticmethod
    def eventually(what: Callable[[], T | None], seconds: float, name: str) -> T:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if found := what():
                return found
            time.sleep(LOOK_SECONDS)
        raise TooSlow(f"not within {seconds:g} s: {name}")


def skewed(spec: ProcessSpec, after: float, by: float) -> ProcessSpec:
    """The same worker with a clock that jumps by so much after so long."""
    python, module, _celery, *arguments = spec.argv
    return replace(spec, argv=(python, module, "tests.chaos.skewed", str(after), str(by), *arguments))


def _has_ended(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
