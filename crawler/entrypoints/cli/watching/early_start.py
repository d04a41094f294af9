"""Starts embedded servers and workers while this process still imports what it needs to talk to them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from crawler.config import Settings
from crawler.embedded import EmbeddedServers, prepare_data_dir
from crawler.entrypoints.processes import crawl_processes
from crawler.errors import CrawlerError
from crawler.supervisor import FileOutput, Supervisor

STOP_SECONDS = 10.0
DYING_SECONDS = 1.0
"""Seconds to wait for a killed worker's children to end."""


@contextmanager
def workers_begun(settings: Settings, fetchers: int, *, render: bool) -> Iterator[Supervisor]:
    """Start the crawl's workers, and stop them at the end in any case."""
    logs = prepare_data_dir(settings.data_dir) / "logs"
    supervisor = Supervisor(crawl_processes(settings, fetchers, render=render), FileOutput(logs))
    with _servers_begun(settings):
        try:
            supervisor.start()
            yield supervisor
        finally:
            # `watch_crawl` has already stopped workers that had work; the others are not waited for.
            supervisor.stop(STOP_SECONDS, hurry=lambda: True)
            if render:
                _clear_browsers(settings)


def _clear_browsers(settings: Settings) -> None:
    """Delete browser profiles, and end browsers, of workers that were killed."""
    from crawler.adapters.browser.chromium_records import reap_orphans  # noqa: PLC0415 - not before a crawl's first request

    reap_orphans(settings.data_dir / "browsers", DYING_SECONDS)


@contextmanager
def _servers_begun(settings: Settings) -> Iterator[None]:
    """Start embedded servers in a background thread. The session, which starts them too, reports errors."""
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


def _start(servers: EmbeddedServers) -> None:
    with suppress(CrawlerError):
        servers.ensure_running()
