"""The composition root (dependency injection): the only place that constructs adapters and passes them to handlers."""

from crawler.bootstrap.app import App, build
from crawler.bootstrap.servers import utc_now, with_servers

__all__ = ["App", "build", "utc_now", "with_servers"]
