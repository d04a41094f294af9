"""The audit says what the site's own log says."""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from crawler.adapters.operating.politeness_audit import HostAudit
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.hosts.host import HostRecord
from tests.integration.handmade import host_of, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site
from tests.site.log import READ_LATE_SECONDS


def test_the_audit_agrees_with_the_site(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=2, pages=12) as site:
        hosts = [f"127.0.0.2:{site.port}"]
        crawl = crawler.crawl(site.url(), delay_seconds=0.3, max_concurrent=4, allowed_hosts=hosts, max_pages=100)
        log = {f"{host}:{site.port}": seen for host, seen in site.politeness().items()}
    found = {host.host: host for host in crawler.tools.hosts.audit(crawl.id)}
    assert set(found) == set(log)
    for host, seen in log.items():
        assert found[host].requests == seen.requests
        assert found[host].smallest_gap_seconds == pytest.approx(seen.smallest_gap, abs=READ_LATE_SECONDS)
        assert (found[host].smallest_gap_seconds or 0) >= 0.3
        assert found[host].violations == 0
        assert seen.keeps(0.3)


def test_a_request_too_soon_is_a_violation(crawler: Engine, site: Site) -> None:
    crawl = crawler.crawl(site.url(), delay_seconds=0.05, max_pages=3)
    (row,) = crawler.rows("SELECT host, max(at) AS at FROM request_log GROUP BY host")
    crawler.rows(
        "INSERT INTO request_log (at, crawl_id, host, kind, lane) VALUES "
        "(CAST(:at AS timestamptz) - interval '10 ms', :crawl, :host, 'p', 'http') RETURNING 1",
        at=row["at"],
        crawl=crawl.id,
        host=row["host"],
    )
    (host,) = crawler.tools.hosts.audit(crawl.id)
    assert host.violations >= 1
    assert host.smallest_gap_seconds == pytest.approx(0.01, abs=0.002)


HOST = "planted.test"


def planted_crawl(crawler: Engine, **config: Any) -> CrawlJob:
    """A crawl that ran for an hour; what it asked for is planted."""
    crawl = crawler.tools.crawls.start(crawler.project(f"http://{HOST}/").id, config=config)
    crawler.rows(
        "UPDATE crawl_jobs SET status = 'completed', started_at = created_at, "
        "completed_at = created_at + interval '1 hour' WHERE id = :id RETURNING 1",
        id=crawl.id,
    )
    return crawler.tools.store.get_crawl(crawl.id)


def plant(crawler: Engine, crawl: CrawlJob, seconds: Sequence[float], **columns: Any) -> None:
    """Requests so many seconds after the crawl began."""
    row = {"host": HOST, "kind": "p", "status": 200, "elapsed_ms": 10, "certain": True, "url": None, **columns}
    began = crawl.started_at or crawl.created_at
    rows = [{**row, "crawl": crawl.id, "at": began + timedelta(seconds=at)} for at in seconds]
    with crawler.tools.database.begin() as db:
        db.execute(text(PLANT), rows)


PLANT = """
INSERT INTO request_log (at, crawl_id, host, kind, lane, status, elapsed_ms, certain, url)
VALUES (:at, :crawl, :host, :kind, 'http', :status, :elapsed_ms, :certain, :url)
"""


def audited(crawler: Engine, crawl: CrawlJob) -> HostAudit:
    (host,) = crawler.tools.hosts.audit(crawl.id)
    return host


def test_each_gap_that_is_too_short_is_a_violation_and_a_long_enough_one_is_not(crawler: Engine) -> None:
    crawl = planted_crawl(crawler, delay_seconds=1)
    plant(crawler, crawl, [0, 1.0, 1.96, 2.5, 2.5, 9])
    found = audited(crawler, crawl)
    assert (found.requests, found.owed_gap_seconds) == (6, 1)
    assert found.smallest_gap_seconds == 0
    assert found.violations == 2, "0.54 s and none at all; 0.96 s is within a twentieth"


def test_requests_open_at_once_are_counted_to_the_moment_they_end(crawler: Engine) -> None:
    crawl = planted_crawl(crawler, delay_seconds=0, max_concurrent=8)
    plant(crawler, crawl, [0, 0.2, 0.4], elapsed_ms=300)
    plant(crawler, crawl, [5, 5.1, 5.2], elapsed_ms=400)
    plant(crawler, crawl, [7, 7.1], elapsed_ms=100)
    found = audited(crawler, crawl)
    assert (found.largest_parallelism, found.allowed_parallelism, found.violations) == (3, 8, 0)


def test_each_request_sent_while_too_many_were_open_is_a_violation(crawler: Engine) -> None:
    crawl = planted_crawl(crawler, delay_seconds=0, max_concurrent=5)
    plant(crawler, crawl, [n / 100 for n in range(7)], elapsed_ms=500)
    found = audited(crawler, crawl)
    assert (found.largest_parallelism, found.allowed_parallelism, found.violations) == (7, 5, 2)


def test_a_crawl_with_a_delay_is_allowed_five_at_once(crawler: Engine) -> None:
    crawl = planted_crawl(crawler, delay_seconds=0.1, max_concurrent=50)
    plant(crawler, crawl, [0, 1])
    assert audited(crawler, crawl).allowed_parallelism == 5


def test_two_crawls_at_one_host_owe_it_the_longer_delay_and_a_fast_one_nothing_to_itself(crawler: Engine) -> None:
    slow, fast = planted_crawl(crawler, delay_seconds=2), planted_crawl(crawler, delay_seconds=0)
    base = fast.started_at or fast.created_at
    shift = (base - (slow.started_at or slow.created_at)).total_seconds()
    plant(crawler, slow, [shift + 10, shift + 40])
    plant(crawler, fast, [20, 20.1, 20.2])
    assert audited(crawler, slow).violations == 0, "the fast crawl's own requests owe each other nothing"
    plant(crawler, fast, [11])
    assert audited(crawler, slow).violations == 1
    assert audited(crawler, fast).violations == 1, "whichever of the two is audited"


def test_a_delay_robots_txt_asks_for_is_owed_from_when_it_was_read(crawler: Engine) -> None:
    crawl = planted_crawl(crawler, delay_seconds=0)
    began: datetime = crawl.started_at or crawl.created_at
    record = HostRecord(200, b"User-agent: *\nCrawl-delay: 3", began + timedelta(seconds=10))
    crawler.tools.hosts.store.save_robots(HOST, record)
    plant(crawler, crawl, [0, 1, 9, 12, 13, 16])
    found = audited(crawler, crawl)
    assert (found.owed_gap_seconds, found.violations) == (3, 1)


def test_our_own_extra_requests_are_marked(crawler: Engine) -> None:
    crawl = planted_crawl(crawler, delay_seconds=0)
    plant(crawler, crawl, [0], kind="r")
    plant(crawler, crawl, [1], kind="s")
    plant(crawler, crawl, [2], kind="b")
    plant(crawler, crawl, [3, 4, 5], url="http://planted.test/a")
    plant(crawler, crawl, [6], url="http://planted.test/b")
    found = audited(crawler, crawl)
    assert (found.requests, found.extra, found.repeated) == (7, 3, 2)


def test_requests_of_dead_workers_are_counted_but_prove_nothing(crawler: Engine) -> None:
    crawl = planted_crawl(crawler, delay_seconds=1)
    plant(crawler, crawl, [0, 2, 4])
    plant(crawler, crawl, [2.1], certain=False, elapsed_ms=None, status=None)
    found = audited(crawler, crawl)
    assert (found.requests, found.uncertain, found.violations) == (4, 1, 0)
    assert found.smallest_gap_seconds == 2


def test_the_request_before_the_crawl_began_counts_for_its_first_gap_only(crawler: Engine) -> None:
    crawl = planted_crawl(crawler, delay_seconds=1)
    plant(crawler, crawl, [-0.4, 0.1, 5])
    found = audited(crawler, crawl)
    assert (found.requests, found.violations) == (2, 1)


def test_a_crawl_without_requests_has_an_empty_audit(crawler: Engine) -> None:
    assert crawler.tools.hosts.audit(planted_crawl(crawler).id) == []


def test_a_retried_page_is_marked_as_asked_for_again(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    site.set_fault("/a", times=1, status=503, retry_after=1)
    crawl = crawler.crawl(site.url())
    (found,) = crawler.tools.hosts.audit(crawl.id)
    assert (found.requests, found.extra, found.repeated) == (5, 2, 1)
    assert found.requests == len(site.requests())
    assert found.host == host_of(site)


@pytest.mark.slow
def test_fifty_thousand_requests_over_a_thousand_hosts_are_audited_in_seconds(crawler: Engine) -> None:
    """Also where Postgres still believes that the log is as small as it was before the crawl."""
    crawl = planted_crawl(crawler, delay_seconds=1)
    plant(crawler, crawl, [float(n) for n in range(20)], host="few.test")
    with crawler.tools.database.begin() as db:
        db.exec_driver_sql("ANALYZE request_log; DELETE FROM request_log")
    crawler.rows(
        "INSERT INTO request_log (at, crawl_id, host, kind, lane, status, elapsed_ms, url) "
        "SELECT CAST(:at AS timestamptz) + n * interval '1.1 s' + h * interval '1 ms', :crawl, 'h' || h || '.test', "
        "'p', 'http', 200, 100, 'http://h' || h || '.test/' || n "
        "FROM generate_series(1, 50) n, generate_series(1, 1000) h RETURNING 1",
        at=crawl.started_at or crawl.created_at,
        crawl=crawl.id,
    )
    plant(crawler, crawl, [3600 - 1, 3600 - 0.9], host="h7.test")
    began = time.monotonic()
    found = crawler.tools.hosts.audit(crawl.id)
    assert time.monotonic() - began < 20
    assert len(found) == 1000
    assert {host.host: host.violations for host in found if host.violations} == {"h7.test": 1}
    assert sum(host.requests for host in found) == 50_002
