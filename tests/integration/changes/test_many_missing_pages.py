"""More missing pages than one crawl asks for. Without short timeouts: none may be asked for twice."""

import pytest

from tests.integration.handmade import asked, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site

NEAR = [f"/p/{n}" for n in range(300)]


@pytest.mark.slow
def test_at_most_five_hundred_missing_pages_are_asked_for_and_the_next_crawl_goes_on(
    crawler: Engine, site: Site
) -> None:
    lay(site, {"/": NEAR, "/p/0": [f"/q/{n}" for n in range(300)]})
    lay(site, {path: [] for path in [*NEAR[1:], *(f"/q/{n}" for n in range(300))]})
    first = crawler.crawl(site.url(), max_pages=1000, max_concurrent=64, use_sitemaps=False)
    assert first.pages_crawled == 601
    lay(site, {"/": []})
    site.set_fault("/?/*", status=404)
    before = len(asked(site))
    second = crawler.again(first, seconds=60)
    assert len(asked(site)[before:]) == 501
    summary = second.change_summary
    assert summary is not None
    assert summary["summary"]["removed_pages"] == 500
    assert summary["removal_counts"] == {
        "gone": 500, "moved": 0, "alive": 0, "blocked": 0, "excluded": 0, "not_reached": 100,
    }  # fmt: skip
    third = crawler.again(second).change_summary
    assert third is not None
    assert third["summary"]["removed_pages"] == 100
