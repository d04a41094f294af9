"""What a crawl found changed names every page of a site: lists of crawls have only counts."""

import tracemalloc
from collections.abc import Callable
from uuid import UUID

import pytest

from crawler.domain.crawls.crawl import CrawlType
from tests.integration.api.conftest import Service
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

CRAWLS = 12
SHORT = {"compared_to", "summary", "is_significant", "moved_pages", "coverage"}


@pytest.fixture
def large(service: Service) -> UUID:
    """A project of which every crawl has a summary of about a megabyte."""
    tools, project = service.engine.tools, UUID(service.project()["id"])
    tools.notices.set_schedule(project, {"enabled": True, "frequency": "daily"})
    urls = [f"http://example.org/a/long/way/down/to/the/page/{number:06}.html" for number in range(20_000)]
    counts = {"new_pages": len(urls), "changed_pages": 0, "removed_pages": 0, "unchanged_pages": 0}
    for _ in range(CRAWLS):
        crawl = tools.crawls.start(project, crawl_type=CrawlType.SCHEDULED)
        service.engine.rows("UPDATE crawl_jobs SET status = 'completed' WHERE id = :id RETURNING id", id=crawl.id)
        lists = {"removed_page_urls": [], "changed_page_urls": [], "new_page_urls": urls}
        found = {"compared_to": str(crawl.id), "summary": counts, "is_significant": True, **lists}
        tools.store.save_diff(crawl.id, found, None)
    return project


def peak(work: Callable[[], object]) -> int:
    """Memory that Python needs for it at once, in MB."""
    work()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] >> 20
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_lists_of_crawls_are_small_however_much_changed(service: Service, large: UUID) -> None:
    store = service.engine.tools.store
    (newest,) = store.list_crawls(large, 1)
    assert peak(lambda: store.list_crawls(large, CRAWLS)) < 3
    assert peak(lambda: store.newest_crawls(CRAWLS)) < 3
    assert peak(lambda: store.earlier_crawls(newest)) < 3
    history = service.get(f"/projects/{large}/crawl-history", limit=CRAWLS)
    assert [one["change_summary"]["summary"]["new_pages"] for one in history["items"]] == [20_000] * CRAWLS
    whole = service.get(f"/projects/{large}/crawl-history/{newest.id}/changes")
    assert len(whole["new_page_urls"]) == 20_000


@pytest.mark.slow
def test_checks_of_a_monitor_are_read_in_parts(service: Service, large: UUID) -> None:
    tools = service.engine.tools
    batch = tools.crawls.start(large, urls=["http://example.org/x"], crawl_type=CrawlType.FETCH_ONLY)
    service.engine.rows("UPDATE crawl_jobs SET from_queue = true WHERE id = :id RETURNING id", id=batch.id)
    headers = {"Authorization": f"Bearer {service.secret}"}

    def checks(offset: int) -> list[str]:
        answer = service.client.get(f"/v2/monitor/{large}/checks?limit=3&offset={offset}", headers=headers)
        return [one["id"] for one in answer.json()["data"]]

    known = [str(crawl.id) for crawl in tools.store.list_crawls(large, CRAWLS, everything=False)]
    assert (checks(0), checks(CRAWLS - 2)) == (known[:3], known[-2:])


def test_a_list_knows_the_counts_of_a_real_comparison_and_nothing_else(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": page(title="One")})
    first = crawler.crawl(site.url())
    lay(site, {"/a": page(title="Two")})
    crawl = crawler.again(first)
    (listed, *_) = crawler.tools.store.list_crawls(crawl.project_id)
    whole = crawler.tools.store.get_crawl(crawl.id).change_summary or {}
    assert listed.change_summary == {name: whole[name] for name in SHORT}
    assert whole["changed_page_urls"] != []
