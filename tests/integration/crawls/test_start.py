"""How crawls begin: seeds, lists, types, options, keys."""

from pathlib import Path

import pytest

from crawler.domain.crawls.crawl import CrawlStatus, CrawlType, EndReason
from crawler.errors import Conflict, CrawlRunning, Invalid, InvalidUrl, NotFound
from tests.integration.handmade import asked, lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site


def test_a_list_of_urls_is_fetched_and_nothing_else(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=2, pages=2) as site:
        canonical = page("/b", head='<link rel="canonical" href="/c">')
        lay(site, {"/a": canonical, "/b": [], "/c": [], "/cart": []})
        lay(site, {"/there": ["/more"]}, host=1)
        urls = (site.url("/a"), site.url("/cart"), site.url("/there", 1), site.url("/A#twice"), site.url("/missing"))
        crawl = crawler.crawl(site.url(), urls=urls, include_patterns=["nothing"], max_pages=1)
        assert (crawl.crawl_type, crawl.status) == (CrawlType.FETCH_ONLY, CrawlStatus.COMPLETED)
        assert crawler.ends(crawl) == {"/a": "done", "/cart": "done", "/there": "done", "/missing": "not_found"}
        assert set(asked(site)) == {"/a", "/cart", "/there", "/missing"}
        assert not [r for r in site.requests() if r.path == "/sitemap.xml"]
        assert {row["depth"] for row in crawler.ledger(crawl).values()} == {0}


def test_a_list_still_obeys_robots_txt_and_counts_as_completed_when_all_of_it_fails(
    crawler: Engine, site: Site
) -> None:
    crawl = crawler.crawl(site.url(), urls=(site.url("/private/a"), site.url("/x/status/500")))
    assert crawler.ends(crawl) == {"/private/a": "robots", "/x/status/500": "http_5xx"}
    assert (crawl.status, crawl.end_reason) == (CrawlStatus.COMPLETED, EndReason.EXHAUSTED)


def test_pages_can_be_fetched_again_by_a_list(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a", "/b"], "/a": [], "/b": []})
    first = crawler.crawl(site.url())
    site.edit("/a", html=page(title="New"))
    site.edit("/b", html=page(title="New too"))
    project = crawler.tools.store.get_project(first.project_id)
    crawler.run(crawler.start(project, urls=[site.url("/a")]))
    assert (crawler.page(first, "/a")["title"], crawler.page(first, "/b")["title"]) == ("New", "/b")


def test_the_first_full_crawl_is_initial_and_later_ones_are_what_was_asked(crawler: Engine, site: Site) -> None:
    project = crawler.project(site.url())
    types = []
    for asked_for in ({"urls": [site.url("/")]}, {}, {}, {"crawl_type": CrawlType.SCHEDULED}):
        crawl = crawler.start(project, config={"max_pages": 1}, **asked_for)
        crawler.tools.control_crawl.cancel(crawl.id)
        types.append(crawl.crawl_type.value)
    assert types == ["fetch_only", "initial", "manual", "scheduled"]
    scheduled = crawler.start(crawler.project(site.url()), crawl_type=CrawlType.SCHEDULED)
    assert scheduled.crawl_type is CrawlType.SCHEDULED, "also when it is the first"


def test_options_of_the_first_crawl_become_the_projects_and_later_ones_do_not(crawler: Engine, site: Site) -> None:
    project = crawler.project(site.url())
    for max_pages in (7, 9):
        crawl = crawler.start(project, config={"max_pages": max_pages})
        assert crawl.config.max_pages == max_pages
        crawler.tools.control_crawl.cancel(crawl.id)
    assert crawler.tools.store.get_project(project.id).settings.max_pages == 7
    assert crawler.start(project).config.max_pages == 7


def test_the_same_idempotency_key_is_the_same_crawl(crawler: Engine, site: Site) -> None:
    project = crawler.project(site.url())
    first = crawler.tools.start_crawl(project.id, idempotency_key="monday")
    assert crawler.tools.start_crawl(project.id, idempotency_key="monday").id == first.id
    crawler.tools.seed_crawl(first.id)
    crawler.tools.control_crawl.cancel(first.id)
    assert crawler.tools.start_crawl(project.id, idempotency_key="monday").id == first.id, "also when it is over"
    assert crawler.tools.start_crawl(project.id, idempotency_key="tuesday").id != first.id


def test_a_project_has_one_crawl_at_a_time_and_others_are_told_which(crawler: Engine, site: Site) -> None:
    project = crawler.project(site.url())
    first = crawler.start(project)
    with pytest.raises(CrawlRunning, match=str(first.id)):
        crawler.start(project)


def test_a_project_without_a_website_takes_the_scope_of_the_seed(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=2, pages=2) as site:
        lay(site, {"/start": ["/a", site.url("/b", 1)], "/a": []})
        project = crawler.project(None)
        with pytest.raises(Invalid, match="needs a seed_url"):
            crawler.start(project)
        crawl = crawler.run(crawler.start(project, seed_url=site.url("/start"), config={"delay_seconds": 0}))
        assert crawl.domain == f"127.0.0.1:{site.port}"
        assert crawler.ends(crawl) == {"/start": "done", "/a": "done"}


@pytest.mark.parametrize("seed", ["ftp://example.org/", "no url", "http://127.1/", "http://u:p@example.org/"])
def test_a_seed_that_is_no_web_address_is_refused_before_anything_is_written(crawler: Engine, seed: str) -> None:
    project = crawler.project(None)
    with pytest.raises(InvalidUrl):
        crawler.tools.start_crawl(project.id, seed_url=seed)
    assert crawler.tools.store.list_crawls(project.id) == []


def test_a_crawl_needs_a_project_that_exists_and_is_active(crawler: Engine, site: Site) -> None:
    project = crawler.project(site.url())
    crawler.tools.store.save_project(project.changed(crawler.tools.clock(), is_active=False))
    with pytest.raises(Conflict, match="is not active"):
        crawler.tools.start_crawl(project.id)
    with pytest.raises(NotFound):
        crawler.tools.start_crawl(crawler.tools.start_crawl(crawler.project(site.url()).id).id)


def test_a_crawl_that_was_never_seeded_is_started_by_the_reconciler(crawler: Engine, site: Site) -> None:
    crawl = crawler.tools.start_crawl(crawler.project(site.url()).id, config={"delay_seconds": 0, "max_pages": 2})
    crawler.rows(
        "UPDATE crawl_jobs SET created_at = created_at - interval '1 minute' WHERE id = :id RETURNING id", id=crawl.id
    )
    crawler.tools.reconcile()
    assert crawler.run(crawler.tools.store.get_crawl(crawl.id)).pages_crawled == 2


def test_the_project_tells_the_phase_of_its_latest_crawl(crawler: Engine, site: Site) -> None:
    project = crawler.project(site.url())

    def phase() -> str:
        return crawler.tools.store.get_project(project.id).phase_status

    assert phase() == "pending"
    crawl = crawler.start(project, config={"delay_seconds": 0, "max_pages": 2})
    assert phase() == "in_progress", "also after its options were saved with the project"
    crawler.run(crawl)
    assert phase() == "completed"
    site.set_fault("/", status=500)
    crawler.run(crawler.start(project))
    assert phase() == "failed"
