"""Pages written by hand, for rules about a single link or a single answer."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from html import escape

from crawler.adapters.curl.fetcher import CurlFetcher
from crawler.bootstrap import utc_now
from tests.integration.live_engine import Engine
from tests.site.client import Site
from tests.site.graph import address


def page(*links: str, title: str = "A page", head: str = "", body: str = "") -> str:
    anchors = "\n".join(f'<a href="{escape(link)}">to {escape(link)[:80]}</a>' for link in links)
    return (
        f"<!doctype html><html><head><title>{escape(title)}</title>{head}</head><body>{body}\n{anchors}</body></html>"
    )


def lay(site: Site, pages: Mapping[str, Sequence[str] | str], *, host: int = 0) -> None:
    """Path → its links, or all of its HTML. A page's title is its path."""
    for path, content in pages.items():
        site.edit(path, host=host, html=content if isinstance(content, str) else page(*content, title=path))


def asked(site: Site, *, host: int | None = None) -> list[str]:
    """Targets that were requested, in order, without robots.txt and the sitemap every crawl looks for."""
    dialled = address(host) if host is not None else ""
    return [
        request.target
        for request in site.requests()
        if dialled in {"", request.address} and request.path not in {"/robots.txt", "/sitemap.xml"}
    ]


def host_of(site: Site, host: int = 0) -> str:
    """The name under which politeness is kept for it."""
    return site.url("", host).removeprefix("http://")


def find_names(crawler: Engine, names: Mapping[str, int]) -> None:
    """Let the engine find these names at the site's hosts. Before its first crawl."""
    tools = crawler.tools
    tools.engine.fetcher = CurlFetcher(
        user_agent=tools.settings.user_agent,
        egress=tools.egress,
        timeout_seconds=tools.settings.http_timeout_seconds,
        resolve={name: [address(host)] for name, host in names.items()},
    )


class Clock:
    """The engine's clock, which can be put forward. Before the engine's first use."""

    def __init__(self, crawler: Engine) -> None:
        self._ahead = timedelta(0)
        crawler.tools.clock = self

    def __call__(self) -> datetime:
        return utc_now() + self._ahead

    def forward(self, **time: float) -> None:
        self._ahead += timedelta(**time)
