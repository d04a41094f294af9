"""Sitemaps: read after the homepage, under the same politeness, their URLs at depth 1."""

from pathlib import Path

import pytest

from crawler.domain.crawls.crawl import CrawlStatus
from tests.integration.handmade import asked, lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

XML = "application/xml"


def sitemap(*urls: str, kind: str = "urlset") -> str:
    entry = {"urlset": "url", "sitemapindex": "sitemap"}[kind]
    inside = "".join(f"<{entry}><loc>{url}</loc></{entry}>" for url in urls)
    return f'<?xml version="1.0"?><{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{inside}</{kind}>'


def test_pages_that_only_a_compressed_sitemap_in_an_index_names_are_crawled_at_depth_1(
    crawler: Engine, tmp_path: Path
) -> None:
    with Site(tmp_path, pages=20, orphans=5, sitemap=True) as site:
        crawl = crawler.crawl(site.url(), max_pages=100)
        expected = site.expected(sitemaps_of=frozenset({0}))
        found = {key: (row["fetch_state"], row["depth"]) for key, row in crawler.ledger(crawl).items()}
        assert found == {key: (e.state, e.depth) for key, e in expected.items()}
        assert len([row for row in crawler.ledger(crawl).values() if row["source"] == "sitemap"]) >= 5
        assert crawl.pages_crawled == 25, "sitemaps are no pages"


def test_sitemaps_are_left_alone_when_they_are_not_wanted(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, pages=20, orphans=5, sitemap=True) as site:
        crawl = crawler.crawl(site.url(), max_pages=100, use_sitemaps=False)
        assert set(crawler.ledger(crawl)) == set(site.expected())
        assert not [r for r in site.requests() if "sitemap" in r.path]


def test_only_pages_of_sitemaps_when_links_are_not_wanted(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/linked"], "/linked": [], "/listed": ["/below"], "/below": []})
    site.set_fault("/sitemap.xml", status=200, body=sitemap(site.url("/listed")), content_type=XML)
    first = crawler.crawl(site.url(), follow_links=False)
    assert crawler.ends(first) == {"/": "done", "/listed": "done"}
    assert crawler.ends(crawler.again(first)) == {"/": "done", "/listed": "done"}, "nor links that were stored"
    assert set(asked(site)) == {"/", "/listed"}


def test_a_sitemap_lowers_the_depth_of_pages_found_deeper_and_obeys_max_depth_and_scope(
    crawler: Engine, site: Site
) -> None:
    lay(site, {"/": ["/1"], "/1": ["/2"], "/2": ["/3"], "/3": ["/4"], "/4": [], "/only": ["/below"], "/below": []})
    listed = [site.url("/3"), site.url("/only"), site.url("/secret/x"), "https://elsewhere.example/page"]
    site.set_fault("/sitemap.xml", status=200, body=sitemap(*listed), content_type=XML)
    crawl = crawler.crawl(site.url(), max_depth=2, exclude_patterns=["/secret/"])
    assert {path: (row["depth"]) for path, row in _by_path(crawler.ledger(crawl)).items()} == {
        "/": 0,
        "/1": 1,
        "/2": 2,
        "/3": 1,
        "/4": 2,
        "/only": 1,
        "/below": 2,
        "/secret/x": 1,
    }
    ends = crawler.ends(crawl)
    assert (ends.pop("/secret/x"), set(ends.values())) == ("excluded", {"done"})


def _by_path(ledger: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    return {"/" + key.split("/", 3)[3]: row for key, row in ledger.items()}


@pytest.mark.slow
def test_the_sitemaps_robots_txt_names_are_read_however_they_are_written(crawler: Engine, site: Site) -> None:
    """Relative ones too; something unusable among them stops nobody."""
    lay(site, {"/": [], "/a": [], "/b": []})
    site.set_robots(f"Sitemap: /relative.xml\nSitemap: {site.url('/absolute.txt')}\nSitemap: http://\nSitemap: x y")
    site.set_fault("/relative.xml", status=200, body=sitemap(site.url("/a")), content_type=XML)
    site.set_fault("/absolute.txt", status=200, body=site.url("/b"), content_type="text/plain")
    crawl = crawler.crawl(site.url())
    assert crawler.ends(crawl) == {"/": "done", "/a": "done", "/b": "done"}
    assert "/sitemap.xml" not in [r.path for r in site.requests()], "only where none is named it is guessed"


def test_a_sitemap_that_redirects_is_found_and_keeps_the_hosts_gap(crawler: Engine, site: Site) -> None:
    lay(site, {"/": [], "/a": []})
    site.set_fault("/sitemap.xml", redirect="/wp-sitemap.xml")
    site.set_fault("/wp-sitemap.xml", body=sitemap(site.url("/part.xml"), kind="sitemapindex"), content_type=XML)
    site.set_fault("/part.xml", status=200, body=sitemap(site.url("/a")), content_type=XML)
    crawl = crawler.crawl(site.url(), delay_seconds=0.1)
    assert crawler.ends(crawl) == {"/": "done", "/a": "done"}
    assert site.politeness()["127.0.0.1"].keeps(0.1)


def test_a_sitemap_that_answers_busy_blocks_the_host_and_is_asked_again(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/b"], "/a": [], "/b": []})
    site.set_fault("/sitemap.xml", times=1, status=503, retry_after=1)
    site.set_fault("/sitemap.xml", status=200, body=sitemap(site.url("/a")), content_type=XML)
    crawl = crawler.crawl(site.url())
    assert crawler.ends(crawl) == {"/": "done", "/a": "done", "/b": "done"}
    busy, *later = [r.arrived for r in site.requests() if r.path in {"/sitemap.xml", "/a"}]
    assert min(later) - busy >= 1


@pytest.mark.slow
@pytest.mark.quick(2)
@pytest.mark.parametrize("name", ["laughs.xml", "entity.xml", "cycle.xml", "bomb.xml.gz", "broken.xml"])
def test_a_hostile_sitemap_costs_the_crawl_nothing(crawler: Engine, site: Site, name: str) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    site.set_robots(f"Sitemap: {site.url(f'/x/sitemap/{name}')}")
    crawl = crawler.crawl(site.url())
    assert crawl.status is CrawlStatus.COMPLETED
    assert crawler.ends(crawl) == {"/": "done", "/a": "done"}
    assert len([r for r in site.requests() if "/x/sitemap/" in r.path]) == 1


def test_robots_txt_may_forbid_the_sitemap(crawler: Engine, site: Site) -> None:
    lay(site, {"/": page()})
    site.set_robots("User-agent: *\nDisallow: /sitemap.xml")
    crawler.crawl(site.url())
    assert asked(site) == ["/"]
    assert "/sitemap.xml" not in [r.path for r in site.requests()]


def test_what_a_damaged_sitemap_lost_is_told_with_the_crawl(crawler: Engine, site: Site) -> None:
    lay(site, {"/": [], "/a": [], "/b": []})
    body = sitemap(site.url("/a"), site.url("/lost&nbsp;"), site.url("/b"))
    site.set_fault("/sitemap.xml", status=200, body=body, content_type=XML)
    crawl = crawler.crawl(site.url())
    assert crawler.ends(crawl) == {"/": "done", "/a": "done", "/b": "done"}
    (told,) = crawl.stats["damaged_sitemaps"]
    assert (told["url"], told["urls"]) == (site.url("/sitemap.xml"), 2)
    assert told["error"].endswith("1 of its URLs could not be read.")


@pytest.mark.quick(2)
@pytest.mark.parametrize("body", ["<!doctype html><p>Not found", "<html>&</html>", "nothing", sitemap()])
def test_what_is_no_sitemap_or_whole_is_no_loss(crawler: Engine, site: Site, body: str) -> None:
    lay(site, {"/": []})
    site.set_fault("/sitemap.xml", status=200, body=body, content_type=XML)
    assert crawler.crawl(site.url()).stats["damaged_sitemaps"] == []
