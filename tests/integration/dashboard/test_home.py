"""Home: a pasted address becomes a crawl at once, and what changed over all projects is read there."""

import re
from collections.abc import Iterator
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from crawler.domain.api_keys import Scope
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.project import Project
from tests.integration.dashboard.test_security import Visitor, secret
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
from tests.integration.shared_app import shared_app
from tests.site.client import Site

PART = {"HX-Request": "true"}
HARM = "<script>window.owned=1</script>"


@pytest.fixture
def client(crawler: Engine) -> Iterator[TestClient]:
    with TestClient(shared_app(crawler.tools), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def visitor(client: TestClient, crawler: Engine) -> Visitor:
    return Visitor(client, secret(crawler))


def bakery(price: int, word: str = "rolls") -> str:
    return f"<html><title>Bakery</title><body><p>Our {word} cost {price} cents each, all day long.</p></body></html>"


def edited(crawler: Engine, site: Site, *prices: int) -> CrawlJob:
    """A site that was crawled with each of these prices."""
    lay(site, {"/": bakery(prices[0])})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    for price in prices[1:]:
        lay(site, {"/": bakery(price)})
        crawl = crawler.again(crawl)
    return crawl


def test_an_empty_home_asks_for_one_address(visitor: Visitor) -> None:
    text = visitor.get("/").text
    assert 'name="url"' in text
    assert "Watch this page" in text
    assert "Crawl this site" in text


def test_a_pasted_page_is_crawled_at_once_and_watched_daily(crawler: Engine, visitor: Visitor, site: Site) -> None:
    lay(site, {"/a": bakery(40), "/b": "<p>b</p>"})
    address = site.url("/a").removeprefix("http://")
    answer = visitor.post("/start", {"url": f"  {address} ", "what": "page", "zone": "Asia/Tokyo"})
    assert answer.status_code == 303
    crawl_id = UUID(answer.headers["location"].split("/")[2].partition("?")[0])
    crawl = crawler.tools.store.get_crawl(crawl_id)
    assert crawl.seed_url == site.url("/a"), "this machine has no certificate"
    assert (crawl.config.max_pages, crawl.config.max_depth) == (1, 0)
    schedule = crawler.tools.notices.schedules.find(crawl.project_id)
    assert schedule is not None
    assert (schedule.config.enabled, schedule.config.frequency, schedule.config.timezone) == (
        True,
        "daily",
        "Asia/Tokyo",
    )
    assert schedule.config.notify_on == "any"
    again = visitor.post("/start", {"url": address, "what": "page"})
    assert again.headers["location"].startswith(f"/projects/{crawl.project_id}"), "no second project, no second crawl"


def test_a_site_is_taken_as_https_and_has_no_schedule_yet(crawler: Engine, visitor: Visitor) -> None:
    answer = visitor.post("/start", {"url": "bakery.example/menu", "what": "site"})
    crawl = crawler.tools.store.get_crawl(UUID(answer.headers["location"].split("/")[2].partition("?")[0]))
    assert crawl.seed_url == "https://bakery.example/menu"
    assert crawl.config.max_pages > 1
    assert crawler.tools.notices.schedules.find(crawl.project_id) is None
    assert crawler.tools.store.get_project(crawl.project_id).name == "bakery.example/menu"


@pytest.mark.parametrize("typed", ["", "ftp://x.example/", "http://", "two words", "http://10.1.2.3/", "x" * 3000])
def test_what_is_no_address_is_said_beside_the_field_and_kept(crawler: Engine, visitor: Visitor, typed: str) -> None:
    answer = visitor.post("/start", {"url": typed, "what": "page"})
    assert answer.status_code == 422
    assert 'id="url-wrong"' in answer.text
    assert f'value="{typed[:100]}' in answer.text
    assert crawler.tools.store.list_projects(1) == []


def test_changes_of_all_projects_stand_above_the_list_with_their_words(
    crawler: Engine, visitor: Visitor, site: Site
) -> None:
    crawl = edited(crawler, site, 40, 45)
    text = visitor.get("/").text
    assert text.index('id="feed"') < text.index('id="rows"')
    shown = text[text.index(f"entry-{crawl.id}") :]
    assert "<del>40</del>" in shown
    assert "<ins>45</ins>" in shown
    assert "1 unread" in text


def test_a_quiet_crawl_hides_no_unseen_change(crawler: Engine, visitor: Visitor, site: Site) -> None:
    changed = edited(crawler, site, 40, 45)
    crawler.again(changed)
    text = visitor.get("/").text
    assert f"entry-{changed.id}" in text
    row = text[text.index('id="rows"') :]
    assert f"/crawls/{changed.id}/changes" in row
    assert "nothing changed" not in row
    visitor.post(f"/feed/{changed.id}/read")
    row = visitor.get("/").text.partition('id="rows"')[2]
    assert "nothing changed" in row, "once it was read, the newest crawl counts"


def test_entries_are_read_unread_and_accepted(crawler: Engine, visitor: Visitor, site: Site) -> None:
    changed = edited(crawler, site, 40, 45, 50)
    first, second = (entry.crawl_id for entry in reversed(crawler.tools.changes.feed.entries(5)))
    assert second == changed.id
    assert visitor.post(f"/feed/{first}/read", None, **PART).text.count("Mark as unread") == 1
    assert f"entry-{first}" not in visitor.get("/?feed=unread").text
    assert f"entry-{first}" in visitor.get("/?feed=all").text
    visitor.post(f"/feed/{first}/read", {"unread": "on"})
    assert f"entry-{first}" in visitor.get("/?feed=unread").text
    crawler.tools.projects.manage.change(changed.project_id, {"flagged_for_review": True})
    assert "Accepted" in visitor.post(f"/feed/{second}/accept", None, **PART).text
    assert not crawler.tools.store.get_project(changed.project_id).flagged_for_review
    assert crawler.tools.changes.feed.count_unread() == 0, "those before it are accepted with it"
    page = visitor.get(f"/crawls/{first}/changes").text
    assert f'href="/crawls/{second}/changes"' in page, "the newer change beside it"


def test_all_are_marked_as_read(crawler: Engine, visitor: Visitor, site: Site) -> None:
    edited(crawler, site, 40, 45)
    visitor.post("/feed/read")
    assert crawler.tools.changes.feed.count_unread() == 0
    assert "Nothing unread" in visitor.get("/?feed=unread").text


@pytest.mark.slow
def test_a_comparison_that_is_repeated_leaves_what_was_read(crawler: Engine, visitor: Visitor, site: Site) -> None:
    changed = edited(crawler, site, 40, 45)
    visitor.post(f"/feed/{changed.id}/read")
    crawler.tools.changes.diff_crawl(changed.id)
    (entry,) = crawler.tools.changes.feed.entries(5)
    assert entry.read_at is not None


def test_a_limited_key_reads_only_its_projects(crawler: Engine, client: TestClient, site: Site) -> None:
    changed = edited(crawler, site, 40, 45)
    other = crawler.project("https://other.example/")
    limited = Visitor(client, secret(crawler, Scope.WRITE, other.id))
    text = limited.get("/").text
    assert str(changed.id) not in text
    assert 'action="/start"' not in text
    assert limited.post("/start", {"url": "x.example", "what": "site"}).status_code == 403
    assert limited.post(f"/feed/{changed.id}/accept").status_code == 404
    limited.post("/feed/read")
    assert crawler.tools.changes.feed.count_unread() == 1
    limited.post("/projects/bulk", {"action": "pause", "id": str(changed.project_id)})
    assert crawler.tools.store.get_project(changed.project_id).is_active
    own = Visitor(client, secret(crawler, Scope.READ, changed.project_id))
    assert f"entry-{changed.id}" in own.get("/").text
    assert "Accept" not in own.get("/").text.partition('id="feed"')[2].partition('id="rows"')[0]


def test_text_of_pages_in_the_feed_stays_text(crawler: Engine, visitor: Visitor, site: Site) -> None:
    lay(site, {"/": bakery(40)})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/": bakery(40, "&lt;script&gt;window.owned=1&lt;/script&gt; \u202e rolls")})
    crawler.again(crawl)
    text = visitor.get("/").text
    assert "window.owned=1" in text
    assert HARM not in text
    assert "\u202e" not in text


def test_several_projects_are_changed_at_once(crawler: Engine, visitor: Visitor) -> None:
    ids = [str(crawler.project(f"https://{name}.example/").id) for name in ("a", "b")]

    def bulk(action: str, **more: str) -> str:
        # Two fields of one name: a list of values.
        answer = visitor.client.post(
            "/projects/bulk",
            data={"csrf": visitor.csrf, "action": action, "id": ids, **more},
            headers={"Sec-Fetch-Site": "same-origin"},
            follow_redirects=False,
        )
        return str(answer.headers.get("location", answer.status_code))

    def projects() -> list[Project]:
        return [crawler.tools.store.get_project(UUID(one)) for one in ids]

    assert bulk("pause") == "/?said=projects-pause&n=2"
    assert not any(one.is_active for one in projects())
    assert bulk("crawl") == "/?said=projects-same", "paused ones are not crawled"
    bulk("resume")
    bulk("mute")
    assert all(one.is_muted(crawler.tools.clock()) for one in projects())
    bulk("unmute")
    assert not any(one.is_muted(crawler.tools.clock()) for one in projects())
    bulk("tag", tag=" Shops, eu ")
    assert [one.tags for one in projects()] == [("eu", "shops")] * 2
    assert visitor.get("/?tag=shops").text.count('name="id"') == 2
    assert visitor.get("/?tag=none").text.count('name="id"') == 0
    bulk("untag", tag="eu")
    assert projects()[0].tags == ("shops",)
    assert bulk("crawl") == "/?said=projects-crawl&n=2"
    assert bulk("tag", tag="") == "422"
    assert bulk("nothing") == "422"


def test_a_list_is_imported_and_rejects_show_their_value(crawler: Engine, visitor: Visitor) -> None:
    urls = "one.example/prices\nhttps://two.example/\nnot an address\none.example/prices\n"
    answer = visitor.post("/import", {"urls": urls, "what": "page", "tags": "News"})
    assert answer.status_code == 200
    assert "2 projects started, 1 line not" in re.sub(r"\s+", " ", answer.text)
    assert "not an address" in answer.text
    made = crawler.tools.store.list_projects(5)
    assert sorted(one.name for one in made) == ["one.example/prices", "two.example"]
    assert all(one.tags == ("news",) for one in made)
    assert visitor.post("/import", {"urls": " "}).status_code == 422


def test_where_nothing_was_compared_yet_a_crawl_can_be_started(crawler: Engine, visitor: Visitor, site: Site) -> None:
    project = crawler.project(site.url())
    empty = visitor.get(f"/projects/{project.id}/changes").text
    assert "Nothing to compare yet" in empty
    assert f'action="/projects/{project.id}/crawl"' in empty


@pytest.mark.slow
def test_changes_are_listed_by_how_long_ago_they_were_found(crawler: Engine, visitor: Visitor, site: Site) -> None:
    crawl = edited(crawler, site, 40, 45)
    changes = f"/projects/{crawl.project_id}/changes"
    assert "<ins>45</ins>" in visitor.get(changes).text, "what changed, not only how much"
    for past, periods in (("2 days", {"day": False, "week": True}), ("20 days", {"week": False, "month": True})):
        crawler.rows(
            f"UPDATE crawl_jobs SET created_at = now() - interval '{past}' WHERE id = :id RETURNING id", id=crawl.id
        )
        crawler.rows(
            f"UPDATE change_feed SET at = now() - interval '{past}' WHERE crawl_id = :id RETURNING crawl_id",
            id=crawl.id,
        )
        for period, is_shown in periods.items():
            assert (f"entry-{crawl.id}" in visitor.get(f"/?feed=all&period={period}").text) is is_shown
            assert (f"/crawls/{crawl.id}/changes" in visitor.get(f"{changes}?period={period}").text) is is_shown
    assert f"entry-{crawl.id}" in visitor.get("/?feed=all").text


def test_a_crawl_that_read_nothing_says_nothing_about_the_site(crawler: Engine, visitor: Visitor, site: Site) -> None:
    site.set_fault("/", status=404)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    report = visitor.get(f"/crawls/{crawl.id}/report").text
    assert "Nothing is wrong with this site" not in report


@pytest.mark.parametrize("typed", ["10.0.0.7:8080/shop", "http://10.0.0.7:8080/"])
def test_an_address_that_may_not_be_reached_is_refused_where_it_is_pasted_with_what_opens_it(
    crawler: Engine, visitor: Visitor, typed: str
) -> None:
    for path, fields in (
        ("/start", {"url": typed, "what": "page"}),
        ("/projects", {"website_url": typed, "name": "Shop", "do": "crawl"}),
    ):
        answer = visitor.post(path, fields)
        assert answer.status_code == 422
        assert "10.0.0.7:8080 may not be reached from here" in answer.text
        assert "with CRAWLER_EGRESS_ALLOW=127.0.0.0/8,10.0.0.7:8080" in answer.text
        assert 'url-wrong"' in answer.text, "beside the field"
    imported = visitor.post("/import", {"urls": typed, "what": "page"})
    assert "CRAWLER_EGRESS_ALLOW=127.0.0.0/8,10.0.0.7:8080" in imported.text
    assert crawler.tools.store.list_projects(5) == []


def test_a_project_can_be_crawled_from_its_row(crawler: Engine, visitor: Visitor) -> None:
    project = crawler.project("https://row.example/")
    assert f'formaction="/projects/{project.id}/crawl"' in visitor.get("/").text
    answer = visitor.post(f"/projects/{project.id}/crawl", {"action": "tag", "id": str(project.id)})
    assert answer.headers["location"].startswith("/crawls/")


@pytest.mark.slow
def test_the_feed_goes_on_below(crawler: Engine, visitor: Visitor, site: Site) -> None:
    edited(crawler, site, *range(40, 48))
    text = visitor.get("/").text
    assert text.count("data-entry") == 5
    more = re.search(r'hx-get="(/feed\?[^"]+)"', text)
    assert more
    part = visitor.get(more[1].replace("&amp;", "&"), **PART).text
    assert part.count("data-entry") == 2
    assert "<html" not in part
    assert visitor.get("/feed?view=all").text.count("data-entry") == 5
    assert visitor.get("/feed?cursor=x").status_code == 422


@pytest.mark.slow
def test_pages_of_which_a_picture_is_kept_show_it_in_the_feed(crawler: Engine, visitor: Visitor, site: Site) -> None:
    crawl = edited(crawler, site, 40, 45)
    assert "thumbnail=true" not in visitor.get("/").text, "no picture, no gap"
    (version,) = crawler.rows("SELECT id, page_id FROM page_versions WHERE crawl_id = :id", id=crawl.id)
    crawler.rows(
        "INSERT INTO screenshots (version_id, image, thumbnail) VALUES (:v, 'large', 'small') RETURNING 1",
        v=version["id"],
    )
    (source,) = re.findall(r'src="(/api/v1/[^"]*thumbnail=true)"', visitor.get("/").text)
    assert str(version["page_id"]) in source
    shown = visitor.get(source.replace("&amp;", "&"))
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
