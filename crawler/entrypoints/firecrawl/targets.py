"""What a monitor watches: several pages and sites as one crawl of ours, and which of them a page belongs to."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid5

from crawler.domain.crawls.crawl import CrawlConfig, QueryParams
from crawler.domain.urls.url import Url, parse
from crawler.entrypoints.firecrawl.bodies import MonitorTarget
from crawler.entrypoints.firecrawl.path_patterns import ANY_ORIGIN
from crawler.errors import Invalid

_SHARED = (
    "max_depth", "allow_subdomains", "query_params", "use_sitemaps", "follow_links", "delay_seconds", "max_concurrent",
)  # fmt: skip


_DECIDED = {
    "max_depth", "allow_subdomains", "query_params", "use_sitemaps", "follow_links", "start_urls", "path_prefix",
    "include_patterns", "exclude_patterns", "render_wait_seconds",
}  # fmt: skip
"""Settings that targets decide, also by not naming them."""


def crawl_of(targets: Sequence[MonitorTarget], ceiling: int) -> tuple[str, dict[str, Any]]:
    """Where the crawl begins, and the settings with which it goes after all targets and nothing else."""
    first, settings = _reach(targets, ceiling)
    wait = max(one.scrape_options.options().wait_seconds for one in targets)
    return first, {**settings, "render_wait_seconds": wait} if wait else settings


def recrawl_of(targets: Sequence[MonitorTarget], ceiling: int) -> tuple[str, dict[str, Any]]:
    """The same for a project that had other targets: nothing of those stays."""
    first, settings = crawl_of(targets, ceiling)
    return first, {**CrawlConfig().model_dump(include=_DECIDED), **settings}


def _reach(targets: Sequence[MonitorTarget], ceiling: int) -> tuple[str, dict[str, Any]]:
    pages = [url for one in targets if one.type != "crawl" for url in one.addresses]
    sites = [one for one in targets if one.type == "crawl"]
    if not sites:
        first, *rest = pages
        if not rest:
            return first, {"max_pages": 1, "max_depth": 0, "use_sitemaps": False}
        settings = {"max_pages": len(pages), "max_depth": 0, "use_sitemaps": False, "query_params": QueryParams.KEEP}
        return first, {**settings, "start_urls": rest}
    first, *rest = [*(one.addresses[0] for one in sites), *pages]
    each = [one.crawl_options.settings(one.addresses[0], ceiling) for one in sites]
    return first, each[0] if not rest else {**_merged(sites, each, pages, ceiling), "start_urls": rest}


def _merged(
    sites: Sequence[MonitorTarget], each: Sequence[dict[str, Any]], pages: Sequence[str], ceiling: int
) -> dict[str, Any]:
    for name in _SHARED:
        if any(one.get(name) != each[0].get(name) for one in each):
            raise Invalid(
                f"targets: those of one monitor have the same crawlOptions; {name} differs. Make one for each."
            )
    include = [pattern for site, one in zip(sites, each, strict=True) for pattern in _included(site, one)]
    exclude = [
        _on(parse(site.addresses[0]), p) for site, one in zip(sites, each, strict=True) for p in one["exclude_patterns"]
    ]
    return {
        **each[0],
        "path_prefix": "",
        "max_pages": min(sum(one["max_pages"] for one in each) + len(pages), ceiling),
        "include_patterns": [*include, *(f"^{re.escape(parse(url).href)}$" for url in pages)],
        "exclude_patterns": exclude,
    }


def _included(site: MonitorTarget, settings: Mapping[str, Any]) -> list[str]:
    url = parse(site.addresses[0])
    if settings["include_patterns"]:
        return [_on(url, pattern) for pattern in settings["include_patterns"]]
    return [f"^{_origin(url)}{re.escape(settings['path_prefix'].rstrip('/'))}([/?#]|$)"]


def _on(url: Url, pattern: str) -> str:
    """A pattern about paths, for the paths of this site alone."""
    return f"^{_origin(url)}{pattern.removeprefix(ANY_ORIGIN)}" if pattern.startswith(ANY_ORIGIN) else pattern


def _origin(url: Url) -> str:
    return rf"https?://(www\.)?{re.escape(url.host.removeprefix('www.'))}"


def shown_targets(project_id: UUID, targets: Sequence[MonitorTarget]) -> list[dict[str, Any]]:
    """As they were asked for, each with an id."""
    return [
        {"id": str(uuid5(project_id, str(number))), **one.model_dump(mode="json", by_alias=True, exclude_unset=True)}
        for number, one in enumerate(targets)
    ]


class TargetIndex:
    """Which target a page belongs to: the page itself if it was named, else the site with the longest address."""

    def __init__(self, targets: Sequence[Mapping[str, Any]]) -> None:
        self._first = str(targets[0]["id"]) if targets else None
        self._pages: dict[str, str] = {}
        self._sites: list[tuple[re.Pattern[str], str, str]] = []
        for one in targets:
            if one["type"] == "scrape":
                for given in (one.get("url"), *one.get("urls", ())):
                    if given:
                        self._pages.setdefault(parse(given).href, str(one["id"]))
            if one["type"] == "crawl":
                site = parse(one.get("url") or one["urls"][0])
                self._sites.append((re.compile(f"{_origin(site)}([/?#]|$)"), site.path, str(one["id"])))

    def find(self, url: str) -> str | None:
        if url in self._pages:
            return self._pages[url]
        path = parse(url).path
        sites = [(len(at) if path.startswith(at) else 0, name) for origin, at, name in self._sites if origin.match(url)]
        return max(sites)[1] if sites else self._first
