"""One look at a crawl tells where it stands, and costs little however large the crawl is."""

from crawler.domain.crawls.frontier import Wait
from crawler.entrypoints.cli.screen.crawl_snapshot import SnapshotReader
from tests.integration.live_engine import Engine
from tests.site.client import Site


def test_a_look_before_the_first_request_tells_what_waits(crawler: Engine, site: Site) -> None:
    crawl = crawler.start(crawler.project(site.url()))
    seen = SnapshotReader(crawler.tools, crawl.id).glance(crawl)
    assert (seen.queued, seen.under_way, seen.percentage, seen.pages, seen.reasons) == (1, 0, 0.0, (), {})
    assert [(wait.queued, wait.why) for wait in seen.waits] == [(1, Wait.READY)]


def test_a_look_at_the_end_tells_the_last_pages_and_all_reasons(crawler: Engine, site: Site) -> None:
    crawl = crawler.start(crawler.project(site.url(), delay_seconds=0, exclude_patterns=["-1"]))
    lookout = SnapshotReader(crawler.tools, crawl.id)
    lookout.glance(crawl)
    done = crawler.run(crawl)
    seen = SnapshotReader(crawler.tools, crawl.id).glance(done)
    assert 0 < len(seen.pages) <= 12
    assert all(page["title"] and page["http_status"] == 200 for page in seen.pages)
    ends = [end for end in crawler.ends(done).values() if end != "done"]
    assert seen.reasons == {reason: ends.count(reason) for reason in set(ends)}
    assert seen.reasons["excluded"] > 0


def test_reasons_are_not_counted_at_each_look(crawler: Engine, site: Site) -> None:
    crawl = crawler.start(crawler.project(site.url()))
    asked: list[object] = []

    def counted(crawl_id: object) -> dict[str, int]:
        asked.append(crawl_id)
        return {}

    crawler.tools.crawls.reason_counts = counted  # type: ignore[assignment]
    lookout = SnapshotReader(crawler.tools, crawl.id)
    for _ in range(5):
        lookout.glance(crawl)
    assert len(asked) == 1
