"""What goes when it is old, and what never goes."""

from datetime import timedelta

from crawler.adapters.postgres.retention import Pruner, Retention
from tests.integration.live_engine import Engine
from tests.site.client import Site

EVERYTHING = Retention(request_log_days=1, keep_versions=1, keep_crawl_days=1)


def counts(crawler: Engine) -> dict[str, int]:
    tables = ("request_log", "page_versions", "snapshots", "crawl_discovered_urls", "crawled_pages")
    return {name: crawler.rows(f"SELECT count(*) AS n FROM {name}")[0]["n"] for name in tables}


def test_only_what_is_older_than_it_is_kept_goes(crawler: Engine, site: Site) -> None:
    first = crawler.crawl(site.url(), max_pages=1000)
    path = next(key for key in crawler.ends(first) if key != "/")
    site.edit(path, append="something quite new")
    crawler.again(first)
    third = crawler.again(first)
    before = counts(crawler)
    now = crawler.tools.clock()
    keep_all = Retention(request_log_days=1, keep_versions=0, keep_crawl_days=0)
    assert sum(Pruner(crawler.tools.database, keep_all)(now)) == 0
    later = now + timedelta(days=2)
    prune = Pruner(crawler.tools.database, EVERYTHING)
    would = prune(later, dry_run=True)
    assert counts(crawler) == before, "a dry run keeps everything"
    assert prune(later) == would
    assert would.requests == before["request_log"]
    assert (would.versions, would.snapshots) == (1, 1), "the edited page's old version"
    assert would.urls == first.total_discovered, "the oldest of three crawls"
    after = counts(crawler)
    assert after["crawled_pages"] == before["crawled_pages"]
    again = crawler.again(third)
    assert again.change_summary is not None
    assert again.change_summary["summary"]["unchanged_pages"] == again.pages_crawled
