"""Opens a command's backend: local servers, or the service that CRAWLER_API_URL names."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from crawler.entrypoints.cli.error_exit import quiet_logs
from crawler.lazy_module import LazyModule

if TYPE_CHECKING:
    from crawler import config
    from crawler.entrypoints.cli.backend import local, remote, session
    from crawler.entrypoints.cli.backend.backend import Backend
else:
    config = LazyModule("crawler.config")
    local = LazyModule("crawler.entrypoints.cli.backend.local")
    remote = LazyModule("crawler.entrypoints.cli.backend.remote")
    session = LazyModule("crawler.entrypoints.cli.backend.session")


@contextmanager
def open_backend() -> Iterator["Backend"]:
    quiet_logs()
    settings = config.load_settings()
    if settings.api_url is None:
        with session.session() as tools:
            yield local.LocalBackend(tools)
    else:
        with remote.remote_backend(settings) as backend:
            yield backend
