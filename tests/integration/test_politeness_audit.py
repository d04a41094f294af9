"""The audit says what the site's own log says."""

from pathlib import Path

import pytest

from tests.integration.engine import Engine
from tests.site.client import Site


def test_the_audit_agrees_with_the_site(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=2, pages=24) as site:
        hosts = [f"127.0.0.2:{site.port}"]
        crawl = crawler.crawl(site.url(), delay_seconds=0.1, max_concurrent=4, allowed_hosts=hosts, max_pages=100)
        log = {f"{host}:{site.port}": seen for host, seen in site.politeness().items()}
    found = {host.host: host for host in crawler.tools.audit(crawl.id)}
    assert set(found) == set(log)
    for host, seen in log.items():
        assert found[host].requests == seen.requests
        assert found[host].smallest_gap_seconds == pytest.approx(seen.smallest_gap, abs=0.03)
        assert found[host].violations == 0
        assert seen.smallest_gap >= 0.095


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
    (host,) = crawler.tools.audit(crawl.id)
    assert host.violations >= 1
    assert host.smallest_gap_seconds == pytest.approx(0.01, abs=0.002)
