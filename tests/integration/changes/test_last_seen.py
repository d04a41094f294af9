"""What one crawl could not see is told of by the next: no change is lost because a page failed in between."""

from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlJob, EndReason
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

PROSE = "".join(f"<p>Sentence number {n} of a page about apples, pears and the weather.</p>" for n in range(30))
WALL = page(title="Just a moment...", body="<h1>Just a moment...</h1><p>Verify you are human to continue.</p>")


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"http_timeout_seconds": 1}


def told(crawl: CrawlJob) -> dict[str, Any]:
    assert crawl.change_summary is not None
    return crawl.change_summary


def first_crawl(crawler: Engine, site: Site) -> CrawlJob:
    lay(site, {"/": ["/a", "/b"], "/a": page(title="A", body=PROSE), "/b": page(title="B", body=PROSE)})
    return crawler.crawl(site.url())


def edit(site: Site) -> None:
    lay(site, {"/a": page(title="A", body=f"{PROSE}<p>Opening hours are from nine to five now.</p>")})


def test_an_edit_made_while_the_page_failed_is_told_when_it_is_back(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    fault = site.set_fault("/a", status=500)
    second = crawler.again(first)
    assert told(second)["summary"]["changed_pages"] == 0
    site.mend(fault)
    edit(site)
    third = crawler.again(second)
    assert told(third)["changed_page_urls"] == [site.url("/a")]
    assert told(crawler.again(third))["summary"]["changed_pages"] == 0, "once"


@pytest.mark.slow
def test_a_page_that_failed_and_is_the_same_again_is_unchanged(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    fault = site.set_fault("/a", status=500)
    second = crawler.again(first)
    site.mend(fault)
    found = told(crawler.again(second))
    assert (found["changed_page_urls"], found["new_page_urls"], found["not_compared_urls"]) == ([], [], [])


@pytest.mark.slow
def test_an_edit_made_behind_a_wall_is_told_when_the_wall_is_gone(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    lay(site, {"/a": WALL})
    second = crawler.again(first)
    assert told(second)["summary"]["changed_pages"] == 0
    edit(site)
    assert told(crawler.again(second))["changed_page_urls"] == [site.url("/a")]


@pytest.mark.slow
def test_a_page_that_is_the_same_behind_a_wall_is_unchanged(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    lay(site, {"/a": WALL})
    second = crawler.again(first)
    lay(site, {"/a": page(title="A", body=PROSE)})
    found = told(crawler.again(second))
    assert found["changed_page_urls"] == []
    assert found["not_compared_urls"] == []


@pytest.mark.slow
def test_a_page_that_failed_when_it_was_first_met_is_new_when_it_is_there(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    lay(site, {"/": ["/a", "/b", "/c"], "/c": page(title="C", body=PROSE)})
    fault = site.set_fault("/c", status=500)
    second = crawler.again(first)
    assert told(second)["summary"]["new_pages"] == 0
    site.mend(fault)
    assert told(crawler.again(second))["new_page_urls"] == [site.url("/c")]


@pytest.mark.slow
@pytest.mark.parametrize("crawls_in_vain", [1, 2])
def test_a_page_that_failed_in_the_first_crawl_is_not_new_when_it_is_there_nor_is_what_only_it_links_to(
    crawler: Engine, site: Site, crawls_in_vain: int
) -> None:
    """Nobody knows when they were made; a page that is linked since then is new."""
    pages = {"/": ["/a", "/b"], "/a": page(title="A", body=PROSE), "/b": ["/below"]}
    lay(site, {**pages, "/below": page(title="Below", body=PROSE)})
    fault = site.set_fault("/b", status=500)
    crawl = crawler.crawl(site.url())
    for _ in range(crawls_in_vain - 1):
        crawl = crawler.again(crawl)
    site.mend(fault)
    lay(site, {"/": ["/a", "/b", "/c"], "/c": page(title="C", body=PROSE)})
    third = crawler.again(crawl)
    assert told(third)["new_page_urls"] == [site.url("/c")]
    assert told(third)["not_compared_urls"] == [site.url("/b"), site.url("/below")]
    lay(site, {"/below": page(title="Below", body=PROSE + " And more of it.")})
    assert told(crawler.again(third))["changed_page_urls"] == [site.url("/below")]


@pytest.mark.slow
def test_a_removal_no_probe_could_verify_is_told_when_a_crawl_meets_the_page_gone(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    lay(site, {"/": ["/b"]})
    fault = site.set_fault("/a", status=500)
    second = crawler.again(first)
    assert told(second)["summary"]["removed_pages"] == 0
    site.mend(fault)
    lay(site, {"/": ["/a", "/b"]})
    site.remove("/a", status=404)
    assert told(crawler.again(second))["removed_page_urls"] == [site.url("/a")]


@pytest.mark.slow
def test_a_crawl_that_ended_early_swallows_no_change_and_no_removal(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    project = crawler.tools.store.get_project(first.project_id)
    config = {"delay_seconds": 0, "max_concurrent": 8}
    second = crawler.run(crawler.start(project, config={**config, "max_pages": 1}))
    assert second.end_reason is EndReason.MAX_PAGES
    edit(site)
    lay(site, {"/": ["/a"]})
    site.remove("/b", status=404)
    third = crawler.run(crawler.start(project, config=config))
    assert site.url("/a") in told(third)["changed_page_urls"]
    assert told(third)["removed_page_urls"] == [site.url("/b")]


# ---- pages that failed before they were gone


def crawls(crawler: Engine, first: CrawlJob, count: int) -> list[list[str]]:
    """What each of so many further crawls tells as removed."""
    found, crawl = [], first
    for _ in range(count):
        crawl = crawler.again(crawl)
        found.append(told(crawl)["removed_page_urls"])
    return found


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("failing", [1, 2, 4], ids="failed in {} crawls".format)
@pytest.mark.parametrize("linked", [True, False], ids=["still linked", "unlinked"])
def test_a_page_that_failed_and_is_gone_then_is_told_as_removed_once(
    crawler: Engine, site: Site, linked: bool, failing: int
) -> None:
    crawl = first_crawl(crawler, site)
    fault = site.set_fault("/a", status=500)
    for _ in range(failing):
        crawl = crawler.again(crawl)
        assert told(crawl)["removed_page_urls"] == []
    site.mend(fault)
    site.remove("/a", status=404)
    if not linked:
        lay(site, {"/": ["/b"]})
    assert crawls(crawler, crawl, 3) == [[site.url("/a")], [], []]


@pytest.mark.slow
def test_a_page_that_failed_and_redirects_then_is_told_once(crawler: Engine, site: Site) -> None:
    crawl = first_crawl(crawler, site)
    fault = site.set_fault("/a", status=500)
    crawl = crawler.again(crawl)
    site.mend(fault)
    site.set_fault("/a", redirect="/b")
    assert crawls(crawler, crawl, 2) == [[site.url("/a")], []]


@pytest.mark.slow
def test_a_page_that_was_told_as_removed_is_not_told_again_when_it_fails_in_between(
    crawler: Engine, site: Site
) -> None:
    crawl = first_crawl(crawler, site)
    site.remove("/a", status=404)
    crawl = crawler.again(crawl)
    assert told(crawl)["removed_page_urls"] == [site.url("/a")]
    fault = site.set_fault("/a", status=500)
    crawl = crawler.again(crawl)
    assert told(crawl)["removed_page_urls"] == []
    site.mend(fault)
    assert crawls(crawler, crawl, 2) == [[], []]


@pytest.mark.slow
def test_a_page_that_failed_was_removed_and_is_back_is_new_once(crawler: Engine, site: Site) -> None:
    crawl = first_crawl(crawler, site)
    fault = site.set_fault("/a", status=500)
    crawl = crawler.again(crawl)
    site.mend(fault)
    site.remove("/a", status=404)
    crawl = crawler.again(crawl)
    lay(site, {"/a": page(title="A", body=PROSE)})
    back = crawler.again(crawl)
    assert (told(back)["new_page_urls"], told(back)["removed_page_urls"]) == ([site.url("/a")], [])
    assert told(crawler.again(back))["new_page_urls"] == []
