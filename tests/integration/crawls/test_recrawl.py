"""Crawling again: what stays, what changed, what is compared."""

from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, EndReason
from tests.integration.handmade import asked, lay, page
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, response, serving
from tests.site.client import Site
from tests.site.graph import build, changes


def paths(urls: list[str], site: Site) -> set[str]:
    return {url.removeprefix(site.url("")) for url in urls}


@pytest.mark.slow
@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("fault", "status", "reason"),
    [
        ({"status": 500}, "failed", "http_5xx"),
        ({"status": 404}, "skipped", "not_found"),
        ({"redirect": "/elsewhere"}, "skipped", "redirected"),
        ({"status": 200, "content_type": "application/pdf"}, "skipped", "content_type"),
    ],
)
@pytest.mark.usefixtures("without_samples")
def test_a_failed_refetch_changes_status_and_error_only(
    crawler: Engine, site: Site, fault: dict[str, Any], status: str, reason: str
) -> None:
    lay(site, {"/": ["/a"], "/a": page(title="Good", body="<h1>Good heading</h1><p>Good words.</p>")})
    first = crawler.crawl(site.url())
    before = crawler.page(first, "/a")
    number = site.set_fault("/a", **fault)
    second = crawler.again(first)
    after = crawler.page(second, "/a")
    assert (after["status"], after["reason"]) == (status, reason)
    kept = ("title", "h1", "content_text", "word_count", "content_hash", "version_id", "links_found", "last_changed_at")
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    site.mend(number)
    third = crawler.again(second)
    healed = crawler.page(third, "/a")
    assert (healed["status"], healed["error_message"], healed["http_status"]) == ("success", None, 200)
    assert crawler.ledger(third)[site.url("/a")]["http_status"] == 304


def test_a_page_that_never_answered_has_a_row_that_says_so(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/x/status/500"]})
    row = crawler.page(crawler.crawl(site.url()), "/x/status/500")
    assert (row["status"], row["http_status"], row["title"], row["content_hash"]) == ("failed", 500, None, None)


def test_the_change_summary_is_what_was_done_to_the_site(crawler: Engine, site: Site) -> None:
    first = crawler.crawl(site.url(), max_pages=100)
    assert first.change_summary is None, "there was nothing to compare with"
    before = site.graph
    site.set_version(2)
    second = crawler.again(first)
    truth = changes(before, build(site.spec))
    summary = second.change_summary
    assert summary is not None
    assert second.compared_to == first.id
    url = {page.number: site.graph.url(page, site.port) for page in site.graph.pages}
    assert set(summary["new_page_urls"]) == {url[n] for n in truth.added}
    assert set(summary["removed_page_urls"]) == {url[n] for n in truth.removed}
    assert set(summary["changed_page_urls"]) == {url[n] for n in truth.changed}
    assert summary["summary"]["unchanged_pages"] == first.pages_crawled - len(truth.removed) - len(truth.changed)


@pytest.mark.slow
def test_an_edit_far_down_the_page_is_a_change_and_hash_chars_limits_the_reach(crawler: Engine, site: Site) -> None:
    words = "word " * 400
    lay(site, {"/": page(body=f"<p>{words}</p><p>before</p>")})
    whole = crawler.crawl(site.url())
    reach = crawler.crawl(site.url(), hash_chars=1000)
    lay(site, {"/": page(body=f"<p>{words}</p><p>after</p>")})
    assert summary(crawler.again(whole))["changed_pages"] == 1
    assert summary(crawler.again(reach))["changed_pages"] == 0


def summary(crawl: CrawlJob) -> dict[str, int]:
    assert crawl.change_summary is not None
    counts: dict[str, int] = crawl.change_summary["summary"]
    return counts


def test_pages_that_failed_or_were_blocked_are_compared_with_nothing(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a", "/b", "/c"], "/a": [], "/b": [], "/c": []})
    first = crawler.crawl(site.url())
    site.set_fault("/a", status=500)
    site.set_fault("/b", status=403)
    site.remove("/c")
    change = crawler.again(first).change_summary
    assert change is not None
    assert paths(change["not_compared_urls"], site) == {"/a", "/b"}
    assert paths(change["removed_page_urls"], site) == {"/c"}
    assert change["summary"] == {"new_pages": 0, "removed_pages": 1, "changed_pages": 0, "unchanged_pages": 1}


def test_a_crawl_that_stopped_at_max_pages_calls_nothing_removed_that_it_did_not_meet(
    crawler: Engine, site: Site
) -> None:
    first = crawler.crawl(site.url(), max_pages=30)
    project = crawler.tools.store.get_project(first.project_id)
    second = crawler.run(crawler.start(project, config={"max_pages": 5}))
    assert summary(second)["removed_pages"] == 0
    assert second.compared_to == first.id


@pytest.mark.slow
def test_the_baseline_is_the_last_whole_crawl_and_never_a_fetch_only_or_failed_one(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    first = crawler.crawl(site.url())
    project = crawler.tools.store.get_project(first.project_id)
    listed = crawler.run(crawler.start(project, urls=[site.url("/a")]))
    assert listed.change_summary is None
    site.set_fault("/", status=500)
    failed = crawler.run(crawler.start(project))
    assert (failed.status, failed.change_summary) == (CrawlStatus.FAILED, None)
    site.mend()
    cancelled = crawler.start(project)
    crawler.tools.crawls.control.cancel(cancelled.id)
    last = crawler.run(crawler.start(project))
    assert (last.end_reason, last.compared_to) == (EndReason.EXHAUSTED, first.id)


@pytest.mark.slow
@pytest.mark.usefixtures("without_samples")
def test_links_that_changed_while_the_words_did_not_are_followed_and_kept(crawler: Engine, site: Site) -> None:
    """The third crawl gets a 304 for the page: it must follow the new link, not the old one."""
    lay(site, {"/": ["/list"], "/list": page(body='<a href="/old">more</a>'), "/old": [], "/new": []})
    first = crawler.crawl(site.url())
    lay(site, {"/list": page(body='<a href="/new">more</a>')})
    site.remove("/old")
    second = crawler.again(first)
    assert crawler.ends(second) == {"/": "done", "/list": "done", "/new": "done"}
    assert crawler.page(second, f"{site.port}/list")["links_found"] == [site.url("/new")]
    third = crawler.again(second)
    assert crawler.ledger(third)[site.url("/list")]["http_status"] == 304
    assert crawler.ends(third) == {"/": "done", "/list": "done", "/new": "done"}


def test_a_canonical_link_is_followed_also_from_a_page_that_did_not_change(crawler: Engine, site: Site) -> None:
    lay(site, {"/": page(head='<link rel="canonical" href="/main">'), "/main": []})
    first = crawler.crawl(site.url())
    second = crawler.again(first)
    assert crawler.ends(second) == {"/": "done", "/main": "done"}
    assert summary(second)["removed_pages"] == 0


def test_an_unchanged_page_keeps_its_version_and_a_changed_one_gets_another(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a", "/b"], "/a": [], "/b": []})
    first = crawler.crawl(site.url())
    site.edit("/b", html=page(title="/b", body="<p>new words</p>"))
    second = crawler.again(first)
    versions = {
        row["url"].removeprefix(site.url("")): row["n"]
        for row in crawler.rows(
            "SELECT p.url, count(*) AS n FROM crawled_pages p JOIN page_versions v ON v.page_id = p.id GROUP BY 1"
        )
    }
    assert versions == {"/": 1, "/a": 1, "/b": 2}
    a, b = crawler.page(second, "/a"), crawler.page(second, "/b")
    assert a["last_changed_at"] < a["last_seen_at"]
    assert b["last_changed_at"] == b["last_seen_at"]
    assert len(asked(site)) == 6


def test_a_page_sent_again_whole_with_the_same_words_is_unchanged_and_keeps_its_version(crawler: Engine) -> None:
    """The server knows no validators, and the markup around the words differs each time."""
    count = iter(range(1000))

    def respond(_: object, request: Request) -> bytes:
        if request.path != "/":
            return response(b"", "404 Not Found")
        return response(f"<body><p>The same words.</p><script>var n = {next(count)}</script></body>".encode())

    with serving(respond) as server:
        first = crawler.crawl(server.url("/"))
        second = crawler.again(first)
    assert crawler.paths(second)["/"]["reason"] == "unchanged"
    assert len(crawler.rows("SELECT id FROM page_versions")) == 1


@pytest.mark.usefixtures("without_samples")
def test_links_nobody_can_follow_are_told_again_by_a_page_that_did_not_change(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": page(body='<a href="mailto:anna@example.test">write</a>')})
    first = crawler.crawl(site.url())
    second = crawler.again(first)
    assert crawler.ledger(second)[site.url("/a")]["http_status"] == 304
    assert crawler.ledger(second)["mailto:anna@example.test"]["reason"] == "scheme"
    assert second.total_discovered == first.total_discovered
