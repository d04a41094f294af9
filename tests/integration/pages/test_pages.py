"""How many pages a crawl stores and how many it asks for."""

import threading
from pathlib import Path
from typing import Any

import pytest

from crawler.domain.crawls.crawl import EndReason
from crawler.errors import InvalidConfig
from tests.databases import MakeDatabase
from tests.integration.handmade import asked, lay
from tests.integration.live_engine import Engine, running_engine
from tests.site.client import Site


def test_only_stored_pages_count_and_budget_comes_back_from_those_that_are_not(crawler: Engine, site: Site) -> None:
    bad = ["/x/status/404", "/x/status/403", "/x/status/500", "/x/type/application/pdf", "/x/chain/1"]
    good = ["/1", "/2", "/3", "/4", "/5", "/6"]
    lay(site, {"/": [*bad, *good], **{path: [] for path in good}})
    crawl = crawler.crawl(site.url(), max_pages=6)
    assert (crawl.pages_crawled, crawl.end_reason) == (6, EndReason.MAX_PAGES)
    assert len(crawler.rows("SELECT 1 FROM crawled_pages WHERE status = 'success'")) == 6
    assert list(crawler.ends(crawl).values()).count("max_pages") == 2, "what is left over says why"


def test_a_site_with_exactly_max_pages_is_exhausted(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    crawl = crawler.crawl(site.url(), max_pages=2)
    assert (crawl.pages_crawled, crawl.end_reason) == (2, EndReason.EXHAUSTED)


@pytest.mark.quick(2)
@pytest.mark.parametrize("concurrency", [1, 5, 40])
def test_max_pages_is_exact_whatever_the_concurrency(crawler: Engine, tmp_path: Path, concurrency: int) -> None:
    with Site(tmp_path, hosts=4, pages=120, odd=0.3) as site:
        hosts = [f"127.0.0.{n}:{site.port}" for n in (2, 3, 4)]
        crawl = crawler.crawl(site.url(), max_pages=23, max_concurrent=concurrency, allowed_hosts=hosts)
        done = [row for row in crawler.ledger(crawl).values() if row["fetch_state"] == "done"]
        assert crawl.pages_crawled == len(done) == 23
        assert len(asked(site)) <= 3 * 23


def test_max_pages_is_exact_with_two_workers(
    crawler: Engine, site: Site, make_migrated_database: MakeDatabase, redis_url: str
) -> None:
    """A second engine on the same servers, as a second worker process would be."""
    database = crawler.tools.settings.database_url
    assert database is not None
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0, "max_pages": 17})
    with running_engine(database.get_secret_value(), redis_url) as other:
        helper = threading.Thread(target=other.shift)
        helper.start()
        ended = crawler.run(crawl)
        helper.join()
    assert ended.pages_crawled == 17
    paths = [request.path for request in site.requests()]
    assert len(paths) == len(set(paths)), "no two workers asked for the same page"


def test_retries_and_redirects_are_fetches_too(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/Up", "/Down", "/busy", "/good"], "/good": []})
    for path in ("/Up", "/Down"):
        site.set_fault(path, redirect=path.lower())
    site.set_fault("/busy", status=429, retry_after=0)
    crawl = crawler.crawl(site.url(), max_pages=2, max_concurrent=1)
    assert asked(site) == ["/", "/Up", "/up", "/Down", "/down", "/busy"]
    assert (crawl.pages_crawled, crawl.end_reason) == (1, EndReason.MAX_PAGES)
    ends = crawler.ends(crawl)
    assert (ends["/up"], ends["/busy"], ends["/good"]) == ("not_found", "max_pages", "max_pages")


def test_at_most_three_times_max_pages_are_fetched(crawler: Engine, site: Site) -> None:
    lay(site, {"/": [f"/missing/{n}" for n in range(30)]})
    crawl = crawler.crawl(site.url(), max_pages=4)
    assert crawl.pages_crawled == 1
    assert len(asked(site)) == 12
    assert crawl.end_reason is EndReason.MAX_PAGES


@pytest.mark.usefixtures("without_samples")
def test_a_page_that_did_not_change_counts_as_a_page(crawler: Engine, site: Site) -> None:
    first = crawler.crawl(site.url(), max_pages=5)
    second = crawler.again(first)
    assert (second.pages_crawled, second.end_reason) == (5, EndReason.MAX_PAGES)
    rows = [row for row in crawler.ledger(second).values() if row["fetch_state"] == "done"]
    assert sorted(row["http_status"] for row in rows) == [200, 304, 304, 304, 304], "the homepage is always asked for"
    assert {row["reason"] for row in rows} == {"unchanged"}


def test_more_than_the_ceiling_is_refused_with_a_sentence(crawler: Engine, site: Site) -> None:
    with pytest.raises(InvalidConfig, match="at most 100000 are allowed here"):
        crawler.crawl(site.url(), max_pages=100_001)


@pytest.mark.parametrize("wrong", [{"max_pages": 0}, {"max_depth": -1}, {"max_concurrent": 0}, {"delay_seconds": -1}])
def test_limits_that_make_no_sense_are_refused(crawler: Engine, site: Site, wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(InvalidConfig, match=name):
        crawler.crawl(site.url(), **wrong)
