"""Every public method of Firecrawl's two Python clients, against the door: those that are offered by their values, all
others by a clear 501. A method that a newer client brings and nobody looked at fails here."""

import asyncio
import inspect
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from firecrawl import AsyncFirecrawl, Firecrawl
from firecrawl.v2.client import FirecrawlClient
from firecrawl.v2.client_async import AsyncFirecrawlClient
from firecrawl.v2.types import PaginationConfig
from firecrawl.v2.utils.error_handler import FirecrawlError

from tests.integration.firecrawl.conftest import KETTLES, Door
from tests.integration.handmade import lay
from tests.site.client import Site

JOB = "01a1e455-0000-7000-8000-000000000000"
NOT_OFFERED: dict[str, tuple[Any, ...]] = {
    "crawl_params_preview": ("http://example.org/", "all"),
    "start_extract": (["http://example.org/"],),
    "extract": (["http://example.org/"],),
    "get_extract_status": (JOB,),
    "start_agent": (None,),
    "agent": (None,),
    "get_agent_status": (JOB,),
    "cancel_agent": (JOB,),
    "list_agents": (),
    "get_agent_thread": (JOB,),
    "get_agent_trace": (JOB,),
    "get_agent_snapshot": (JOB, "1"),
    "browser": (),
    "browser_execute": (JOB, "1"),
    "delete_browser": (JOB,),
    "list_browsers": (),
    "interact": (JOB, "1"),
    "scrape_execute": (JOB, "1"),
    "stop_interaction": (JOB,),
    "stop_interactive_browser": (JOB,),
    "delete_scrape_browser": (JOB,),
    "get_parse_formats": (),
    "parse": (b"%PDF-1.4",),
    "developer_search": ("kettles",),
    "gov_search": ("kettles",),
    "search_papers": ("kettles",),
    "inspect_paper": ("1",),
    "read_paper": ("1", "kettles"),
    "related_papers": ("1", "kettles"),
    "search_github": ("kettles",),
    "scrape_alexandria": ({"provider": "x", "capability": "y"},),
    "find_tools": (),
    "get_credit_usage": (),
    "get_token_usage": (),
    "get_credit_usage_historical": (),
    "get_token_usage_historical": (),
}
MORE = {"start_agent": {"prompt": "x"}, "agent": {"prompt": "x"}, "parse": {"filename": "a.pdf"}}


class Client:
    """A client whose calls are noted; those of the asynchronous one are waited for."""

    def __init__(self, app: Any, runner: asyncio.Runner) -> None:
        self.app = app
        self.runner = runner
        self.called: set[str] = set()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        self.called.add(name)
        method = getattr(self.app, name, None) or getattr(self.app._v2_client, name)  # it hands not all of them on

        def call(*args: Any, **options: Any) -> Any:
            found = method(*args, **options)
            return self.runner.run(found) if inspect.iscoroutine(found) else found

        return call

    def watched(self, job_id: str) -> list[str]:
        """The statuses that a watcher tells."""
        watcher = self.watcher(job_id, kind="crawl", poll_interval=1, timeout=60)
        if hasattr(watcher, "__aiter__"):

            async def follow() -> list[str]:
                return [snapshot.status async for snapshot in watcher]

            return self.runner.run(follow())
        ends: list[str] = []
        watcher.add_event_listener("done", lambda told: ends.append(told["status"]))
        watcher.start()
        until = time.monotonic() + 60
        while not ends and time.monotonic() < until:
            time.sleep(0.05)
        watcher.stop()
        return ends


def public(kind: type) -> set[str]:
    return {name for name, one in inspect.getmembers(kind, callable) if not name.startswith("_")}


@pytest.fixture(params=[(Firecrawl, FirecrawlClient), (AsyncFirecrawl, AsyncFirecrawlClient)], ids=["sync", "async"])
def client(request: pytest.FixtureRequest, door: Door) -> Iterator[tuple[Client, set[str]]]:
    made, kind = request.param
    with asyncio.Runner() as runner:
        yield Client(made(api_key=door.secret, api_url=door.address), runner), public(kind)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_what_is_not_offered_is_501(client: tuple[Client, set[str]]) -> None:
    app, _ = client
    for name, args in NOT_OFFERED.items():
        assert refused(app, name, *args), name


def refused(app: Client, name: str, *args: Any) -> bool:
    """Some methods of the asynchronous client raise nothing and hand on the answer."""
    try:
        told = getattr(app, name)(*args, **MORE.get(name, {}))
    except FirecrawlError as exc:
        return bool(exc.status_code == 501)
    except AttributeError as exc:  # and some stumble over any answer
        return exc.name == "ok"
    return told is False or bool(told.success is False and "language model" in told.error)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_other_method(door: Door, shop: Site, client: tuple[Client, set[str]]) -> None:
    app, methods = client
    pages_are_told(app, shop)
    crawls_are_told(app, shop)
    batches_are_told(app, shop)
    monitors_are_told(app, shop)
    search_is_over_documents(app, door, shop)
    assert methods - app.called - NOT_OFFERED.keys() == set()


def pages_are_told(app: Client, shop: Site) -> None:
    text = f"# Kettles\n\n3 €\n\n[A]({shop.url('/a')})"
    assert app.scrape(shop.url("/kettles"), formats=["markdown"]).markdown == text
    assert app.scrape_url(shop.url("/kettles")).markdown == text
    for mapped in (app.map(shop.url()), app.map_url(shop.url())):
        assert {shop.url("/"), shop.url("/a"), shop.url("/kettles")} <= {link.url for link in mapped.links}
    assert app.get_concurrency().max_concurrency > 0
    assert app.get_queue_status().jobs_in_queue >= 0


def crawls_are_told(app: Client, shop: Site) -> None:
    every = {shop.url("/"), shop.url("/a"), shop.url("/kettles")}
    job = app.crawl(url=shop.url(), limit=10, poll_interval=1, timeout=60)
    assert {doc.metadata.source_url for doc in job.data} == every
    old = app.crawl_url(url=shop.url(), params={"limit": 10}, poll_interval=1)
    assert (old.status, old.completed) == ("completed", 3)
    started = app.start_crawl(shop.url(), limit=10)
    assert app.wait_crawl(started.id, poll_interval=1, timeout=60).completed == 3
    assert app.watched(started.id)[-1] == "completed"
    whole = app.get_crawl_status(started.id)
    assert {doc.metadata.source_url for doc in whole.data} == every
    part = app.get_crawl_status_page(f"{app.app.api_url}/v2/crawl/{started.id}?skip=2")
    assert (len(part.data), part.next) == (1, None)
    for errors in (app.get_crawl_errors(started.id), app.check_crawl_errors(started.id)):
        assert [one.url for one in errors.errors] == [shop.url("/gone")]
    assert app.check_crawl_status(started.id).status == "completed"
    shop.set_fault("/", hang=4, times=1)
    long = app.async_crawl_url(shop.url(), params={"limit": 3})
    assert [one.id for one in app.get_active_crawls().crawls] == [long.id]
    assert [one.id for one in app.active_crawls().crawls] == [long.id]
    assert app.cancel_crawl(long.id) is True


def batches_are_told(app: Client, shop: Site) -> None:
    urls = [shop.url("/kettles"), shop.url("/a")]
    job = app.batch_scrape(urls, formats=["markdown"], poll_interval=1, wait_timeout=60)
    assert {doc.metadata.source_url for doc in job.data} == set(urls)
    assert app.batch_scrape_urls(urls, params={"formats": ["links"]}).completed == 2
    started = app.start_batch_scrape([*urls, shop.url("/gone")])
    if hasattr(app.app._v2_client, "wait_batch_scrape"):
        app.wait_batch_scrape(started.id, poll_interval=1, timeout=60)
    while app.check_batch_scrape_status(started.id).status == "scraping":
        time.sleep(0.05)
    assert app.get_batch_scrape_status(started.id, PaginationConfig(auto_paginate=False)).completed == 2
    assert len(app.get_batch_scrape_status_page(f"{app.app.api_url}/v2/batch/scrape/{started.id}?skip=1").data) == 1
    for errors in (app.get_batch_scrape_errors(started.id), app.check_batch_scrape_errors(started.id)):
        told = errors["errors"] if isinstance(errors, dict) else [one.model_dump() for one in errors.errors]
        assert [one["url"] for one in told] == [shop.url("/gone")]
    shop.set_fault("/a", hang=4, times=1)
    assert app.cancel_batch_scrape(app.async_batch_scrape_urls([shop.url("/a")]).id) is True


def monitors_are_told(app: Client, shop: Site) -> None:
    targets = [{"type": "scrape", "urls": [shop.url("/kettles"), shop.url("/a")]}]
    made = app.create_monitor(name="Shop", schedule={"cron": "0 9 * * *"}, targets=targets)
    assert app.get_monitor(made.id).targets[0]["urls"] == targets[0]["urls"]
    assert [one.id for one in app.list_monitors(limit=5)] == [made.id]
    assert checked(app, made.id) == {"/kettles": "new", "/a": "new"}
    lay(shop, {"/kettles": KETTLES.replace("3 €", "4 € now")})
    assert checked(app, made.id) == {"/kettles": "changed", "/a": "same"}
    assert len(app.list_monitor_checks(made.id, limit=5)) == 2
    assert app.update_monitor(made.id, status="paused").status == "paused"
    assert app.delete_monitor(made.id) is True


def checked(app: Client, monitor_id: str) -> dict[str, str]:
    check = app.run_monitor(monitor_id)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = app.get_monitor_check(monitor_id, check.id)
        if found.status not in ("queued", "running"):
            return {"/" + page.url.rpartition("/")[2]: page.status for page in found.pages}
        time.sleep(0.1)
    raise AssertionError("the check did not end")


def search_is_over_documents(app: Client, door: Door, shop: Site) -> None:
    project = door.engine.project(shop.url("/"), ingest=True)
    crawl = door.engine.tools.crawls.start(project.id)
    until = time.monotonic() + 60
    while not door.engine.tools.store.is_diffed(crawl.id):
        assert time.monotonic() < until
        time.sleep(0.05)
    door.engine.tools.documents.ingest()
    found = app.search("kettles", limit=1).web
    assert [one.url for one in found] == [shop.url("/kettles")]
    assert "Kettles" in found[0].title
    assert "4 € now" in found[0].description
    assert app.search("zeppelins").web == []
