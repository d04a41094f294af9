"""Starts embedded servers while this process still imports what it needs to talk to them, and then the workers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from crawler.config import Settings
from crawler.embedded import EmbeddedServers, prepare_data_dir
from crawler.entrypoints.processes import crawl_processes, warmed
from crawler.errors import CrawlerError
from crawler.lazy_module import load
from crawler.supervisor import FileOutput, Supervisor

STOP_SECONDS = 10.0
DYING_SECONDS = 1.0
"""Seconds to wait for a killed worker's children to end."""


@contextmanager
def servers_begun(settings: Settings) -> Iterator[None]:
    """Start embedded servers in a background thread. The session, which starts them too, reports errors."""
    prepare_data_dir(settings.data_dir)
    if settings.database_url and settings.redis_url:
        yield
        return
    servers = EmbeddedServers(settings.data_dir)
    starting = threading.Thread(target=_start, args=(servers,), name="servers")
    starting.start()
    try:
        yield
    finally:
        starting.join()
        servers.release()


def import_workers() -> None:
    """Import what workers need, all but what needs the servers' addresses: it takes longer than servers to start."""
    load("workers.warm").prepare()


@contextmanager
def workers_begun(settings: Settings, fetchers: int, *, render: bool) -> Iterator[Supervisor]:
    """Start the crawl's workers on servers that run, and stop them at the end in any case."""
    processes = warmed(crawl_processes(settings, fetchers, render=render), everything=False)
    supervisor = Supervisor(processes, FileOutput(settings.data_dir / "logs"))
    try:
        supervisor.start()
        yield supervisor
    finally:
        # Whoever had work for them has stopped them already; the others are not waited for.
        supervisor.stop(STOP_SECONDS, hurry=lambda: True)
        if render:
            _clear_browsers(settings)


def _clear_browsers(settings: Settings) -> None:
    """Delete browser profiles, and end browsers, of workers that were killed."""
    load("crawler.adapters.browser.chromium_records").reap_orphans(settings.data_dir / "browsers", DYING_SECONDS)


def _start(servers: EmbeddedServers) -> None:
    with suppress(CrawlerError):
        servers.ensure_running()
