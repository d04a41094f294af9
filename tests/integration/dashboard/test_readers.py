"""What the pages are made of: lists that go on, plots that add up, previews that are true."""

from datetime import timedelta

import pytest

from crawler.adapters.pages.sample import PageSample
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.project import ACQUISITION_ID
from crawler.errors import RedisUnavailable
from tests.integration.dashboard.test_security import Visitor, client, secret, visitor  # noqa: F401 - fixtures
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
from tests.site.client import Site


def named(crawler: Engine, *names: str) -> None:
    for name in names:
        crawler.tools.projects.manage.create(name=name, website_url="http://site.example/")


def crawled(crawler: Engine, site: Site) -> CrawlJob:
    lay(
        site,
        {"/": ["/a", "/b", "/cart/1", "/missing", "/broken"], "/a": ["/a/1", "/a/2"], "/b": [], "/a/1": [], "/a/2": []},
    )
    site.edit("/broken", status=500)
    return crawler.crawl(site.url(), exclude_patterns=["/cart/"], use_sitemaps=False)


def test_projects_are_listed_by_name_and_the_list_goes_on_where_it_ended(crawler: Engine) -> None:
    named(crawler, *(f"P{n:03}" for n in range(7)))
    first = crawler.tools.projects.overview(limit=4)
    rest = crawler.tools.projects.overview(limit=4, after=first[-1].name)
    assert [line.name for line in (*first, *rest)] == [f"P{n:03}" for n in range(7)]
    assert crawler.tools.projects.overview(limit=4, after=rest[-1].name) == []


@pytest.mark.parametrize(
    ("search", "found"), [("100%", ["100% Shop"]), ("p_q", ["p_q"]), ("SHOP", ["100% Shop"]), ("%", ["100% Shop"])]
)
def test_a_search_takes_every_sign_as_itself(crawler: Engine, search: str, found: list[str]) -> None:
    named(crawler, "100% Shop", "p_q", "pxq")
    assert [line.name for line in crawler.tools.projects.overview(search=search)] == found


@pytest.mark.slow
def test_projects_are_told_with_their_latest_crawl_and_what_it_changed(crawler: Engine, site: Site) -> None:
    before = crawled(crawler, site)
    site.edit("/b", html="<title>other</title><p>Something else entirely stands here now, in many words.</p>")
    latest = crawler.again(before)
    crawler.tools.projects.manage.change(before.project_id, {"flagged_for_review": True})
    (line,) = crawler.tools.projects.overview()
    assert (line.crawl_id, line.crawl_status, line.pages_crawled) == (latest.id, "completed", latest.pages_crawled)
    assert line.changes
    assert line.changes_crawl_id == latest.id
    assert line.changes["changed_pages"] == 1
    assert [row.id for row in crawler.tools.projects.overview(state="review")] == [before.project_id]
    assert crawler.tools.projects.overview(state="failed") == crawler.tools.projects.overview(state="running") == []
    assert crawler.tools.projects.overview(only=[]) == []
    assert ACQUISITION_ID not in {row.id for row in crawler.tools.projects.overview()}


def test_a_plot_and_its_answers_add_up_to_the_crawl(crawler: Engine, site: Site) -> None:
    crawl = crawled(crawler, site)
    assert crawl.started_at
    assert crawl.completed_at
    pace = crawler.tools.crawls.pace(crawl.id, crawl.started_at, crawl.completed_at + timedelta(hours=1))
    assert pace.step_seconds == 30
    assert sum(done for _, done, _ in pace.points) == crawl.pages_crawled
    assert sum(failed for _, _, failed in pace.points) == crawl.pages_failed == 1
    assert pace.answers == {"200": 5, "404": 1, "500": 1}


def test_other_rules_are_tried_on_stored_pages_and_on_what_was_left_out(crawler: Engine, site: Site) -> None:
    crawl = crawled(crawler, site)

    def effect(*exclude: str) -> tuple[int, set[str], int, set[str]]:
        found = crawler.tools.projects.preview_settings(
            crawl.project_id, {"exclude_patterns": exclude}, seed_url=None, last_crawl=crawl.id
        )
        dropped, let_in = ({row.url.removeprefix(site.url()) for row in rows} for rows in (found.dropped, found.let_in))
        return found.pages, dropped, found.left_out, let_in

    assert effect("/cart/") == (5, set(), 1, set())
    assert effect("/a/") == (5, {"a/1", "a/2"}, 1, {"cart/1"})
    assert effect("/") == (5, {"a", "b", "a/1", "a/2"}, 1, set()), "the homepage is always crawled"


def test_of_many_pages_an_even_choice_is_looked_at(crawler: Engine, site: Site) -> None:
    crawl = crawled(crawler, site)
    sample = PageSample(crawler.tools.database)
    assert sample(crawl.project_id, 10).total == len(sample(crawl.project_id, 10).urls) == 5
    few = sample(crawl.project_id, 2)
    assert few.total == 5
    assert [url.removeprefix(site.url().rstrip("/")) for url in few.urls] == ["/", "/a/2"]


def test_more_projects_than_fit_are_shown_by_asking_for_more(crawler: Engine, visitor: Visitor) -> None:  # noqa: F811
    named(crawler, *(f"P{n:03}" for n in range(53)))
    page = visitor.get("/").text
    assert page.count("<tr>") == 51
    assert "P049" in page
    assert "P050" not in page
    address = page.split('class="button" href="/?cursor=')[1].split('"')[0]
    rest = visitor.get(f"/?cursor={address}", **{"HX-Request": "true"}).text
    assert "P052" in rest
    assert "<html" not in rest
    assert "Show more" not in rest
    assert visitor.get("/?cursor=nonsense").status_code == 422


def test_a_missing_server_is_told_as_a_page(
    crawler: Engine,
    visitor: Visitor,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def gone(_: str) -> None:
        raise RedisUnavailable

    monkeypatch.setattr(crawler.tools.operating.sessions, "find", gone)
    answer = visitor.get("/")
    assert answer.status_code == 503
    assert answer.headers["content-type"].startswith("text/html")
    assert "Redis does not answer" in answer.text
    assert visitor.get("/static/app.js").status_code == 200


def test_what_a_damaged_sitemap_lost_stands_on_the_page_of_its_crawl(
    crawler: Engine,
    site: Site,
    visitor: Visitor,  # noqa: F811 - a fixture
) -> None:
    lay(site, {"/": [], "/a": []})
    body = f"<urlset><url><loc>{site.url('/a')}</loc></url><url><loc>{site.url('/<b')}</loc></url></urlset>"
    site.set_fault("/sitemap.xml", status=200, body=body, content_type="application/xml")
    crawl = crawler.crawl(site.url())
    assert "1 of its URLs could not be read." in visitor.get(f"/crawls/{crawl.id}").text
