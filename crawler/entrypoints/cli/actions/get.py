"""Gets one page, or the URLs of a site, and prints it.

Through the service that CRAWLER_API_URL names, else with workers of its own.

Fetched by `handlers/crawls/scrape_pages.py`.
"""

import base64
import json
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from crawler.bootstrap import App
from crawler.client import ScrapeJob
from crawler.config import load_settings
from crawler.domain.crawls.crawl import RenderMode
from crawler.domain.crawls.project import SINGLE_PAGES_ID
from crawler.domain.markdown.page_formats import PageFormat, Wanted
from crawler.domain.pages.scraped import ScrapedVersion
from crawler.domain.urls.url import parse
from crawler.entrypoints.cli.backend.remote import service_client
from crawler.entrypoints.cli.backend.session import session
from crawler.entrypoints.cli.error_exit import quiet_logs
from crawler.entrypoints.cli.input.run_options import opened_for
from crawler.entrypoints.cli.input.typed_site import typed_address
from crawler.entrypoints.cli.screen.streams import print_bytes
from crawler.entrypoints.cli.watching.early_start import workers_begun
from crawler.errors import Invalid, Unavailable
from crawler.handlers.crawls.map_site import MapOptions
from crawler.handlers.crawls.scrape_pages import ScrapeOptions
from crawler.handlers.crawls.start_crawl import explain
from crawler.supervisor import Supervisor

LOOK_SECONDS = 0.02


class Asked(NamedTuple):
    url: str
    form: str
    whole: bool
    select: tuple[str, ...]
    without: tuple[str, ...]
    render: RenderMode
    max_age: int
    timeout: float


class MapAsked(NamedTuple):
    url: str
    search: str
    subdomains: bool
    ignore_query: bool
    limit: int
    timeout: float


def print_page(asked: Asked, output: Path | None) -> None:
    quiet_logs()
    wanted, settings = _wanted(asked), load_settings()
    asked = asked._replace(url=typed_address(asked.url, settings))
    _write(_remote(asked, wanted) if settings.api_url is not None else _local(asked, wanted), output)


def print_map(asked: MapAsked, output: Path | None) -> None:
    quiet_logs()
    settings = load_settings()
    asked = asked._replace(url=typed_address(asked.url, settings))
    _write("\n".join(_map_remote(asked) if settings.api_url is not None else _map_local(asked)), output)


def _write(told: str | bytes, output: Path | None) -> None:
    written = told if isinstance(told, bytes) else f"{told.rstrip()}\n".encode()
    if output is not None:
        try:
            output.write_bytes(written)
        except OSError as exc:
            raise Invalid(f"{output} cannot be written: {exc.strerror}.") from exc
    else:
        print_bytes(written)


def _wanted(asked: Asked) -> Wanted:
    try:
        return Wanted(
            formats=(PageFormat(asked.form),),
            only_main_content=not asked.whole,
            include_selectors=asked.select,
            exclude_selectors=asked.without,
        )
    except ValidationError as exc:
        raise Invalid(explain(exc)) from exc


def _remote(asked: Asked, wanted: Wanted) -> str | bytes:
    with service_client() as client:
        page = client.scrape(
            asked.url,
            formats=[asked.form],
            only_main_content=wanted.only_main_content,
            include_selectors=wanted.include_selectors,
            exclude_selectors=wanted.exclude_selectors,
            render=asked.render.value,
            max_age=asked.max_age,
            timeout=asked.timeout,
        )
    if isinstance(page, ScrapeJob):
        raise _too_slow(asked)
    return _written(asked.form, page.model_dump(mode="json"))


def _local(asked: Asked, wanted: Wanted) -> str | bytes:
    settings = load_settings()
    with (
        workers_begun(settings, 1, render=asked.render is not RenderMode.NEVER) as supervisor,
        session() as tools,
    ):
        options = ScrapeOptions(wanted, asked.render)
        scrape = tools.crawls.scrape
        known = scrape.find_seen(SINGLE_PAGES_ID, asked.url, options, timedelta(seconds=asked.max_age))
        shown = scrape.show(known or _fetch(tools, supervisor, asked, options), wanted)
        tools.judging.pool.close()
        version, shaped, picture = shown
        metadata = {
            "url": version.url,
            "title": version.title,
            "description": version.description,
            "language": version.language,
            "content_type": version.content_type,
            "http_status": version.http_status,
            "meta": shaped.meta,
        }
        image = base64.b64encode(picture).decode() if picture else None
        return _written(asked.form, {**shaped._asdict(), "metadata": metadata, "screenshot": image})


def _fetch(tools: App, supervisor: Supervisor, asked: Asked, options: ScrapeOptions) -> ScrapedVersion:
    scrape = tools.crawls.scrape
    crawl = scrape.start(SINGLE_PAGES_ID, [asked.url], options, opened=opened_for(parse(asked.url)))
    for _ in _looks(tools, supervisor, asked.timeout):
        end = scrape.find_end(crawl, asked.url)
        if end is not None:
            return scrape.version(crawl, end)
    tools.crawls.control.cancel(crawl.id)
    raise _too_slow(asked)


def _looks(tools: App, supervisor: Supervisor, seconds: float) -> Iterator[None]:
    """Until the time is over; meanwhile the workers are looked after."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        yield
        supervisor.poll()
        if tools.frontier.acquire_reconcile(tools.settings.reconcile_seconds):
            tools.crawls.reconcile()
        time.sleep(LOOK_SECONDS)


def _map_remote(asked: MapAsked) -> list[str]:
    with service_client() as client:
        found = client.map(
            asked.url,
            search=asked.search,
            include_subdomains=asked.subdomains,
            ignore_query=asked.ignore_query,
            limit=asked.limit,
            timeout=asked.timeout,
        )
    return [one.url for one in found.urls]


def _map_local(asked: MapAsked) -> list[str]:
    options = MapOptions(
        subdomains=asked.subdomains, ignore_query=asked.ignore_query, search=asked.search, limit=asked.limit
    )
    with workers_begun(load_settings(), 1, render=False) as supervisor, session() as tools:
        opened = opened_for(parse(asked.url))
        crawl = tools.crawls.map_site.start(SINGLE_PAGES_ID, asked.url, options, opened=opened)
        for _ in _looks(tools, supervisor, asked.timeout):
            if tools.store.get_crawl(crawl.id).status.is_over:
                break
        return [one.url for one in tools.crawls.map_site.list(crawl, options, None)]


def _written(form: str, page: dict[str, Any]) -> str | bytes:
    value = page[form]
    if form == PageFormat.LINKS:
        return "\n".join(value or ())
    if form == PageFormat.METADATA:
        return json.dumps(value, indent=2, ensure_ascii=False)
    if form == PageFormat.SCREENSHOT:
        if not value:
            raise Unavailable("There is no screenshot: no browser could be used.")
        return base64.b64decode(value)
    return str(value or "")


def _too_slow(asked: Asked) -> Unavailable:
    return Unavailable(f"The page did not come within {asked.timeout:g} s; try again with a longer --timeout.")
