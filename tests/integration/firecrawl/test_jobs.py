"""crawl, batch and monitor by Firecrawl's Python client."""

import time
from typing import Any
from uuid import UUID

import pytest
import requests
from firecrawl.v2.types import PaginationConfig
from firecrawl.v2.utils.error_handler import BadRequestError, FirecrawlError

from crawler.domain.api_keys import Scope
from crawler.entrypoints.firecrawl import jobs
from tests.integration.firecrawl.conftest import KETTLES, Door, issued
from tests.integration.handmade import asked, lay
from tests.integration.live_engine import Engine
from tests.integration.served import served
from tests.site.client import Site

WITH_PASSWORD = "http://user:word@example.org/"


def test_a_crawl_and_what_came_of_it(door: Door, shop: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "PAGES_AT_ONCE", 2)  # so that there are several parts
    job = door.app.crawl(shop.url(), limit=10, scrape_options={"formats": ["markdown"]}, poll_interval=1, timeout=60)
    assert (job.status, job.completed) == ("completed", 3)
    pages = {doc.metadata.source_url: doc for doc in job.data}
    assert set(pages) == {shop.url("/"), shop.url("/kettles"), shop.url("/a")}
    assert (pages[shop.url("/kettles")].markdown or "").startswith("# Kettles")
    first = door.app.get_crawl_status(job.id, PaginationConfig(auto_paginate=False))
    assert len(first.data) == 2
    rest = door.app.get_crawl_status_page(first.next)
    assert (len(rest.data), rest.next) == (1, None)
    errors = door.app.get_crawl_errors(job.id)
    assert [one.url for one in errors.errors] == [shop.url("/gone")]
    assert errors.robots_blocked == [shop.url("/private")]
    assert door.app.get_active_crawls().crawls == []
    assert door.app.cancel_crawl(job.id) is False


@pytest.mark.slow
def test_options_of_a_crawl(door: Door, shop: Site) -> None:
    job = door.app.crawl(shop.url(), include_paths=["^/$", "^/ket"], limit=5, poll_interval=1, timeout=60)
    assert {doc.metadata.source_url for doc in job.data} == {shop.url("/"), shop.url("/kettles")}
    assert "/a" not in asked(shop)
    listed = f"<urlset><url><loc>{shop.url('/a')}</loc></url></urlset>"
    shop.set_fault("/sitemap.xml", status=200, body=listed, content_type="application/xml")
    job = door.app.crawl(shop.url(), sitemap="only", limit=5, poll_interval=1, timeout=60)
    assert {doc.metadata.source_url for doc in job.data} == {shop.url("/"), shop.url("/a")}
    job = door.app.crawl(shop.url(), exclude_paths=["ettle", "a$"], limit=5, poll_interval=1, timeout=60)
    assert {doc.metadata.source_url for doc in job.data} == {shop.url("/")}
    with pytest.raises(BadRequestError):
        door.app.start_crawl(shop.url(), include_paths=["("])


@pytest.mark.slow
def test_jobs_are_cancelled_listed_and_hidden_from_others(door: Door, shop: Site) -> None:
    shop.set_fault("/", hang=20)
    started = door.app.start_crawl(shop.url(), limit=5)
    (active,) = door.app.get_active_crawls().crawls
    assert (active.id, active.url) == (started.id, shop.url("/"))
    other = door.as_(Scope.WRITE, door.engine.project(None).id)
    with pytest.raises(FirecrawlError, match="404"):
        other.get_crawl_status(started.id)
    with pytest.raises(FirecrawlError, match="404"):
        door.app.get_batch_scrape_status(started.id)
    assert door.app.cancel_crawl(started.id) is True
    assert door.app.get_crawl_status(started.id).status == "cancelled"


def batch_id(door: Door) -> str:
    (row,) = door.engine.rows("SELECT id FROM crawl_jobs")
    return str(row["id"])


@pytest.mark.slow
def test_a_batch(door: Door, shop: Site) -> None:
    urls = [shop.url("/kettles"), shop.url("/a"), shop.url("/gone")]
    job = door.app.batch_scrape(urls, formats=["markdown", "links"], poll_interval=1, wait_timeout=60)
    assert (job.status, {doc.metadata.source_url for doc in job.data}) == ("completed", set(urls[:2]))
    assert all(doc.links is not None for doc in job.data)
    assert [one.url for one in door.app.get_batch_scrape_errors(batch_id(door)).errors] == [shop.url("/gone")]
    other = door.app.start_batch_scrape([urls[0], WITH_PASSWORD], ignore_invalid_urls=True)
    assert other.invalid_urls == [WITH_PASSWORD]
    with pytest.raises(BadRequestError):
        door.app.start_batch_scrape([WITH_PASSWORD])


def test_a_job_with_a_key_of_its_own_is_begun_once(door: Door, shop: Site) -> None:
    batch = [door.app.start_batch_scrape([shop.url("/a")], idempotency_key="a-1") for _ in range(2)]
    assert batch[0] == batch[1]
    assert len(door.engine.rows("SELECT 1 FROM crawl_jobs")) == 1
    with pytest.raises(BadRequestError, match="used for another"):
        door.app.start_batch_scrape([shop.url("/kettles")], idempotency_key="a-1")
    headers = {"Authorization": f"Bearer {door.secret}", "x-idempotency-key": "a-1"}
    crawls = [
        requests.post(f"{door.address}/v2/crawl", json={"url": shop.url("/a"), "limit": 1}, headers=headers, timeout=30)
        for _ in range(2)
    ]
    assert crawls[0].json() == crawls[1].json()
    assert crawls[0].json()["id"] != batch[0].id


@pytest.mark.slow
def test_a_crawl_is_watched_by_websocket(door: Door, shop: Site) -> None:
    started = door.app.start_crawl(shop.url(), limit=10)
    watcher = door.app.watcher(started.id, kind="crawl", poll_interval=30, timeout=60)
    seen: list[str] = []
    ended: list[dict[str, Any]] = []
    watcher.add_event_listener("document", lambda told: seen.append(told["data"]["metadata"]["sourceURL"]))
    watcher.add_event_listener("done", ended.append)
    watcher.start()
    until = time.monotonic() + 60
    while not ended and time.monotonic() < until:
        time.sleep(0.05)
    watcher.stop()
    assert ended
    assert sorted(seen) == sorted([shop.url("/"), shop.url("/kettles"), shop.url("/a")])


@pytest.mark.slow
def test_a_monitor_from_its_creation_to_its_end(door: Door, shop: Site) -> None:
    target = {"type": "crawl", "url": shop.url(), "crawlOptions": {"limit": 10}}
    made = door.app.create_monitor(name="Shop", schedule={"text": "daily at 9:00"}, targets=[target])
    assert (made.status, made.schedule.cron, made.targets[0]["url"]) == ("active", "0 9 * * *", shop.url("/"))
    assert made.next_run_at
    assert [one.id for one in door.app.list_monitors()] == [made.id]
    first = checked(door, made.id)
    assert (first.summary.new, first.summary.changed) == (3, 0)
    lay(shop, {"/kettles": KETTLES.replace("3 €", "4 € now"), "/": ["/kettles", "/private", "/new"], "/new": "<p>New"})
    shop.remove("/a")
    second = checked(door, made.id)
    kinds = {page.url.removeprefix(shop.url("")): page.status for page in second.pages}
    assert kinds == {"/": "changed", "/kettles": "changed", "/new": "new", "/a": "removed"}
    (kettles,) = [page for page in second.pages if page.url == shop.url("/kettles")]
    assert "+4 € now" in kettles.diff.text
    assert [check.id for check in door.app.list_monitor_checks(made.id)] == [second.id, first.id]
    only = door.app.get_monitor_check(made.id, second.id, limit=1, status="changed")
    assert {page.status for page in only.pages} == {"changed"}
    assert len(only.pages) == 2
    paused = door.app.update_monitor(made.id, status="paused", name="The shop")
    assert (paused.status, paused.name, paused.next_run_at) == ("paused", "The shop", None)
    assert door.app.get_monitor(made.id).last_check_summary.removed == 1
    assert door.app.delete_monitor(made.id) is True
    with pytest.raises(FirecrawlError, match="404"):
        door.app.get_monitor(made.id)


@pytest.mark.slow
def test_other_targets_leave_nothing_of_those_before(door: Door) -> None:
    pages = {"type": "scrape", "urls": ["http://a.example/1", "http://b.example/2"], "scrapeOptions": {"waitFor": 500}}
    only = {"sitemap": "only", "excludePaths": ["x"], "allowSubdomains": True}
    site = {"type": "crawl", "url": "http://c.example/shop", "crawlOptions": only}
    last = {"type": "scrape", "urls": ["http://d.example/"]}
    made = door.app.create_monitor(name="Shop", schedule={"text": "hourly"}, targets=[pages])
    for targets in ([site], [pages, site], [last]):
        door.app.update_monitor(made.id, targets=targets)
        changed = door.engine.tools.store.get_project(UUID(made.id))
        fresh = door.app.create_monitor(name="Fresh", schedule={"text": "hourly"}, targets=targets)
        expected = door.engine.tools.store.get_project(UUID(fresh.id))
        assert (changed.website_url, changed.settings) == (expected.website_url, expected.settings)
        door.app.delete_monitor(fresh.id)


def checked(door: Door, monitor_id: str) -> Any:
    check = door.app.run_monitor(monitor_id)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = door.app.get_monitor_check(monitor_id, check.id)
        if found.status not in ("queued", "running"):
            assert found.status == "completed", found.error
            return found
        time.sleep(0.1)
    raise AssertionError("the check did not end")


@pytest.mark.slow
def test_monitors_that_cannot_be(door: Door, shop: Site) -> None:
    target = {"type": "scrape", "urls": [shop.url("/kettles")]}
    with pytest.raises(BadRequestError):
        door.app.create_monitor(name="X", schedule={"text": "whenever"}, targets=[target])
    with pytest.raises(BadRequestError):
        door.app.create_monitor(name="X", schedule={"cron": "nonsense"}, targets=[target])
    with pytest.raises(FirecrawlError, match="501"):
        door.app.create_monitor(
            name="X", schedule={"text": "hourly"}, targets=[{"type": "search", "queries": ["kettles"]}]
        )
    assert door.app.list_monitors() == []
    one_page = door.app.create_monitor(name="X", schedule={"text": "hourly"}, targets=[target])
    assert [page.url for page in checked(door, one_page.id).pages] == [shop.url("/kettles")]


@pytest.mark.slow
def test_a_check_is_not_complete_before_its_pages_were_compared(
    crawler: Engine, shop: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison ends while somebody asks: either all of the answer is from before, or all from after it."""
    tools = crawler.tools
    project = crawler.project(shop.url())
    tools.notices.set_schedule(project.id, {"enabled": True, "frequency": "daily"})
    crawler.run(crawler.start(project))
    crawl = crawler.start(project)
    while not crawl.status.is_over:
        crawler.shift()
        crawl = tools.crawls.finish(crawl.id)
    list_done = tools.crawls.scraped_pages.list_done

    def compared_meanwhile(*asked: Any) -> Any:
        if not tools.store.is_diffed(crawl.id):
            tools.changes.diff_crawl(crawl.id)
        return list_done(*asked)

    monkeypatch.setattr(tools.crawls.scraped_pages, "list_done", compared_meanwhile)
    headers = {"Authorization": f"Bearer {issued(crawler, Scope.READ)}"}
    with served(tools) as address:
        url = f"{address}/v2/monitor/{project.id}/checks/{crawl.id}"
        first, second = (requests.get(url, headers=headers, timeout=30).json()["data"] for _ in range(2))
    assert first["status"] == "running"
    assert (second["status"], {page["status"] for page in second["pages"]}) == ("completed", {"same"})
