"""Pages written by hand, for rules about a single link or a single answer."""

from collections.abc import Mapping, Sequence
from html import escape

from tests.integration.engine import Engine
from tests.site.client import Site


def page(*links: str, title: str = "A page", head: str = "", body: str = "") -> str:
    anchors = "\n".join(f'<a href="{escape(link)}">to {escape(link)[:80]}</a>' for link in links)
    return f"<!doctype html><html><head><title>{escape(title)}</title>{head}</head><body>{body}\n{anchors}</body></html>"


def lay(site: Site, pages: Mapping[str, Sequence[str] | str], *, host: int = 0) -> None:
    """Path → its links, or all of its HTML. A page's title is its path."""
    for path, content in pages.items():
        site.edit(path, host=host, html=content if isinstance(content, str) else page(*content, title=path))


def asked(site: Site, *, host: int | None = None) -> list[str]:
    """Targets that were requested, in order, without robots.txt and the sitemap every crawl looks for."""
    address = f"127.0.0.{host + 1}" if host is not None else ""
    return [
        request.target
        for request in site.requests()
        if request.address.startswith(address) and request.path not in {"/robots.txt", "/sitemap.xml"}
    ]


def host_of(site: Site, host: int = 0) -> str:
    """The name under which politeness is kept for it."""
    return site.url("", host).removeprefix("http://")


def reasons(crawler: Engine, crawl_id: object) -> dict[str, tuple[str, str | None]]:
    """Path → state and reason."""
    rows = crawler.rows("SELECT url, fetch_state, reason FROM crawl_discovered_urls WHERE crawl_job_id = :id", id=crawl_id)
    return {"/" + row["url"].split("/", 3)[3]: (row["fetch_state"], row["reason"]) for row in rows}
