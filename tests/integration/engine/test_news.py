"""What is told of a crawl while it runs and when it is over: events, progress, statistics."""

from collections import Counter

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
from tests.site.client import Site


def events(crawler: Engine, crawl: CrawlJob, kind: str | None = None) -> list[dict[str, object]]:
    stream = crawler.tools.events.read(crawl.id)
    first = stream[0].seq if stream else 0
    assert [event.seq for event in stream] == list(range(first, first + len(stream))), "numbered without a gap"
    return [{"type": event.type, **event.data} for event in stream if kind in (None, event.type)]


def test_each_url_that_ended_is_told_once_with_what_became_of_it(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a", "/x/status/404", "/x/status/500"], "/a": []})
    crawl = crawler.crawl(site.url())
    told = {str(event.pop("url")).removeprefix(site.url("")): event for event in events(crawler, crawl, "page")}
    assert told == {
        "/": {"type": "page", "status": "success", "reason": None, "http_status": 200, "title": "/", "depth": 0},
        "/a": {"type": "page", "status": "success", "reason": None, "http_status": 200, "title": "/a", "depth": 1},
        "/x/status/404": {
            "type": "page",
            "status": "skipped",
            "reason": "not_found",
            "http_status": 404,
            "title": None,
            "depth": 1,
        },
        "/x/status/500": {
            "type": "page",
            "status": "failed",
            "reason": "http_5xx",
            "http_status": 500,
            "title": None,
            "depth": 1,
        },
    }


def test_a_crawl_is_told_from_its_start_to_its_end(crawler: Engine, site: Site) -> None:
    crawl = crawler.crawl(site.url(), max_pages=5)
    stream = events(crawler, crawl)
    assert (stream[0]["type"], stream[0]["status"]) == ("status", "in_progress")
    last = stream[-1]
    assert (last["type"], last["status"], last["end_reason"]) == ("completed", "completed", "max_pages")
    assert (last["pages_crawled"], last["progress"]) == (5, 100.0)


@pytest.mark.slow
def test_progress_never_falls_and_is_100_only_at_the_end(crawler: Engine, site: Site) -> None:
    """Slow enough for several tellings, with a site that looks small until half of it is read."""
    pages = {f"/{n}": [f"/{n + 1}"] for n in range(10)}
    lay(site, {"/": ["/0"], **pages, "/10": [f"/more/{n}" for n in range(10)]})
    lay(site, {f"/more/{n}": [] for n in range(10)})
    crawl = crawler.crawl(site.url(), delay_seconds=0.12)
    shown = [float(str(event["progress"])) for event in events(crawler, crawl, "progress")]
    assert len(shown) >= 4
    assert shown == sorted(shown)
    assert max(shown) < 100


def test_progress_is_told_at_most_twice_a_second(crawler: Engine, site: Site) -> None:
    crawl = crawler.crawl(site.url(), max_pages=100)
    assert crawl.started_at is not None
    assert crawl.completed_at is not None
    seconds = (crawl.completed_at - crawl.started_at).total_seconds()
    assert 1 <= len(events(crawler, crawl, "progress")) <= 1 + 2 * seconds


def test_statistics_are_counted_from_rows_and_agree_with_the_sites_own_log(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a", "/x/status/404", "/x/chain/1", "/private/p", "/x/status/500"], "/a": ["/b"], "/b": []})
    crawl = crawler.crawl(site.url())
    stats = crawl.stats
    rows = list(crawler.ledger(crawl).values())
    assert stats["by_status"] == Counter(row["fetch_state"] for row in rows) == {"done": 4, "skipped": 3, "failed": 1}
    assert stats["by_reason"] == {"not_found": 1, "redirected": 1, "robots": 1, "http_5xx": 1}
    assert stats["by_code"] == {"200": 4, "302": 1, "404": 1, "500": 1}
    assert stats["by_depth"] == {"0": 1, "1": 2, "2": 1}
    assert stats["requests"] == len(site.requests())
    assert stats["bytes"] == sum(row["byte_length"] or 0 for row in crawler.rows("SELECT * FROM crawled_pages"))
    assert 0 <= stats["latency_ms"]["p50"] <= stats["latency_ms"]["p95"]
    assert crawl.total_discovered == len(rows)
