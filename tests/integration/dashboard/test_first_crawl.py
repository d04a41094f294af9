"""A new project takes an address, how often and whom to tell; the end of its crawl shows what came of it, and asks."""

import json
import re
import socket
from collections.abc import Iterator
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.dashboard.test_home import bakery, edited
from tests.integration.dashboard.test_security import Visitor, secret
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.integration.raw_server import serving_connections
from tests.integration.shared_app import shared_app
from tests.integration.urls.test_query_sites import forum, served
from tests.site.client import Site


@pytest.fixture
def client(crawler: Engine) -> Iterator[TestClient]:
    with TestClient(shared_app(crawler.tools), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def visitor(client: TestClient, crawler: Engine) -> Visitor:
    return Visitor(client, secret(crawler))


def words(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", text))


def test_the_form_has_four_controls_before_the_advanced_ones(visitor: Visitor) -> None:
    plain = visitor.get("/projects/new").text.partition('<details class="advanced"')[0]
    shown = re.findall(
        r'<(?:input|select|textarea)[^>]* name="(\w+)"', re.sub(r'<input type="hidden"[^>]*>', "", plain)
    )
    assert shown == ["website_url", "frequency", "notification_email", "channel_kind", "channel"]
    assert 'value="https://x.example/"' in visitor.get("/projects/new?url=https://x.example/").text


def test_every_advanced_control_says_its_default(visitor: Visitor) -> None:
    text = visitor.get("/projects/new").text.partition('<details class="advanced"')[2].partition("</form>")[0]
    named = set(re.findall(r'<(?:input|select|textarea)[^>]* name="(\w+)"', text)) - {"tags", "do"}
    assert len(named) > 15
    for name in named:
        help_text = re.search(rf'<p class="help" id="{name}-help">([^<]*)</p>', text)
        assert help_text, name
        assert "Default:" in help_text[1], name


@pytest.mark.slow
def test_it_is_created_scheduled_and_crawled_in_one_step(crawler: Engine, visitor: Visitor) -> None:
    fields = {"website_url": "shop.example", "frequency": "weekly", "zone": "America/Lima", "tags": "Shops"}
    fields |= {"notification_email": "me@shop.example", "channel_kind": "ntfy", "channel": "a-topic", "do": "crawl"}
    answer = visitor.post("/projects", fields)
    assert answer.status_code == 303, words(answer.text)
    crawl = crawler.tools.store.get_crawl(UUID(answer.headers["location"].split("/")[2].partition("?")[0]))
    project = crawler.tools.store.get_project(crawl.project_id)
    assert (project.name, project.website_url, project.tags) == ("shop.example", "https://shop.example/", ("shops",))
    kept = crawler.tools.notices.schedules.find(project.id)
    assert kept is not None
    assert kept.config.enabled
    assert (kept.config.frequency, kept.config.timezone) == ("weekly", "America/Lima")
    assert (kept.config.notification_email, kept.config.notify_on) == ("me@shop.example", "any")
    assert crawler.tools.notices.schedules.notification_urls(project.id) == ("ntfys://ntfy.sh/a-topic",)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"website_url": ""}, "website_url"),
        ({"notification_email": "nobody"}, "notification_email"),
        ({"channel_kind": "slack", "channel": "https://example.org/x"}, "channel"),
        ({"channel_kind": "webhook", "channel": "http://10.1.2.3/"}, "channel"),
        ({"max_pages": "many"}, "max_pages"),
        ({"tags": "x" * 60}, "tags"),
    ],
)
def test_what_is_wrong_is_said_beside_it_and_nothing_is_left_behind(
    crawler: Engine, visitor: Visitor, wrong: dict[str, str], field: str
) -> None:
    answer = visitor.post(
        "/projects", {"website_url": "https://x.example/", "frequency": "daily", "do": "crawl", **wrong}
    )
    assert answer.status_code == 422
    assert f'id="{field}-wrong"' in answer.text
    assert crawler.tools.store.list_projects(1) == []


def test_after_a_first_crawl_it_asks_how_often_and_whom(crawler: Engine, visitor: Visitor, site: Site) -> None:
    lay(site, {"/": bakery(40)})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    assert "Check it daily? Who should be told?" in visitor.get(f"/crawls/{crawl.id}").text
    path = f"/projects/{crawl.project_id}/watch"
    wrong = visitor.post(path, {"frequency": "daily", "notification_email": "nobody", "zone": "Asia/Tokyo"})
    assert wrong.status_code == 422
    assert 'value="nobody"' in wrong.text
    answer = visitor.post(path, {"frequency": "daily", "notification_email": "me@x.example", "zone": "Asia/Tokyo"})
    assert answer.status_code == 303
    kept = crawler.tools.notices.schedules.find(crawl.project_id)
    assert kept is not None
    assert (kept.config.enabled, kept.config.timezone) == (True, "Asia/Tokyo")
    assert kept.config.notify_on == "any", "one changed page of many is what they wait for"
    text = visitor.get(f"/crawls/{crawl.id}").text
    assert "Check it daily?" not in text
    assert "Who should be told" not in text
    visitor.post(path, {"channel_kind": "ntfy", "channel": "one"})
    visitor.post(path, {"channel_kind": "ntfy", "channel": "two"})
    urls = crawler.tools.notices.schedules.notification_urls(crawl.project_id)
    assert urls == ("ntfys://ntfy.sh/one", "ntfys://ntfy.sh/two"), "what was set before stays"
    again = crawler.tools.notices.schedules.find(crawl.project_id)
    assert again is not None
    assert again.config.time == kept.config.time


def outcome(visitor: Visitor, crawl: CrawlJob) -> str:
    return words(visitor.get(f"/crawls/{crawl.id}").text.partition('<div class="outcome')[2].partition("<dl")[0])


@pytest.mark.slow
def test_a_site_that_forbids_to_follow_its_links_was_not_seen_whole(
    crawler: Engine, visitor: Visitor, site: Site
) -> None:
    head = '<meta name="robots" content="index, nofollow">'
    lay(site, {"/": page("/a", "/b", head=head), "/a": [], "/b": []})
    told = outcome(visitor, crawler.crawl(site.url(), use_sitemaps=False))
    assert "The first page marks its links as nofollow (2 links), so they were not followed." in told
    assert "whole site" not in told
    seen = outcome(visitor, crawler.crawl(site.url(), use_sitemaps=False, follow_nofollow=True))
    assert "Finished: the whole site was seen." in seen
    assert "nofollow" not in seen


def test_a_first_page_without_links_is_said(crawler: Engine, visitor: Visitor, site: Site) -> None:
    lay(site, {"/": []})
    told = outcome(visitor, crawler.crawl(site.url(), use_sitemaps=False))
    assert "The first page links to no other page, as the server sends it." in told
    assert "whole site" not in told


@pytest.mark.slow
def test_what_was_found_out_about_queries_is_said(crawler: Engine, visitor: Visitor) -> None:
    with served(forum) as (url, _):
        told = outcome(visitor, crawler.crawl(url, use_sitemaps=False))
    assert "in /read tell pages apart, so they are kept" in told


@pytest.mark.slow
def test_the_comparison_arrives_by_itself_with_the_words_that_changed(
    crawler: Engine, visitor: Visitor, site: Site
) -> None:
    crawl = edited(crawler, site, 40, 45)
    part = visitor.get(f"/crawls/{crawl.id}/state").text
    assert "<ins>45</ins>" in part
    assert 'hx-trigger="every 2s"' not in part
    crawler.rows(
        "UPDATE crawl_jobs SET diffed_at = NULL, change_summary = NULL WHERE id = :id RETURNING id", id=crawl.id
    )
    waiting = visitor.get(f"/crawls/{crawl.id}/state").text
    assert 'hx-trigger="every 2s"' in waiting
    assert "Comparing it with the crawl before" in waiting
    assert "Who should be told" not in waiting, "nothing is typed where it would be replaced"


def test_a_crawl_by_hand_says_that_it_sent_nothing(crawler: Engine, visitor: Visitor, site: Site) -> None:
    crawl = edited(crawler, site, 40, 45)
    part = visitor.get(f"/crawls/{crawl.id}/state").text
    assert "No notification sent" in part
    assert "Manual crawls don&#39;t send notifications." in part
    assert "Send it now" not in part, "there is nobody to send it to"


def test_a_single_page_is_no_whole_site(crawler: Engine, visitor: Visitor, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    told = outcome(visitor, crawler.crawl(site.url(), use_sitemaps=False, max_pages=1))
    assert "whole site" not in told


def test_recent_pages_stay_and_are_links(crawler: Engine, visitor: Visitor, site: Site) -> None:
    crawl = edited(crawler, site, 40)
    link = f'href="/crawls/{crawl.id}/explain?url='
    assert link in visitor.get(f"/crawls/{crawl.id}").text
    crawler.tools.redis.flushall()
    visitor = Visitor(visitor.client, secret(crawler))
    assert link in visitor.get(f"/crawls/{crawl.id}").text, "also when no events are kept any more"


def test_the_percentage_is_that_of_the_numbers_beside_it(crawler: Engine, visitor: Visitor, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    crawl = crawler.start(crawler.project(site.url(), use_sitemaps=False))
    crawler.tools.crawls.control.pause(crawl.id)
    crawler.tools.events.highest(crawl.id, 42.0)  # shown before more links were found
    text = words(visitor.get(f"/crawls/{crawl.id}").text)
    assert " 0 %" in text
    assert "42 %" not in text


def test_a_host_that_does_not_exist_is_told_beside_the_field_before_anything_is_made(
    crawler: Engine, visitor: Visitor
) -> None:
    pasted = visitor.post("/start", {"url": "shpo.invalid/news", "what": "page"})
    assert pasted.status_code == 422
    assert "There is no host shpo.invalid; check its spelling" in words(pasted.text)
    filled = visitor.post("/projects", {"website_url": "https://shpo.invalid/", "do": "crawl"})
    assert filled.status_code == 422
    assert 'id="website_url-wrong"' in filled.text
    assert crawler.rows("SELECT 1 FROM projects WHERE website_url LIKE '%shpo%'") == []


def test_a_first_crawl_that_stored_nothing_says_what_to_do_and_offers_another_address_or_to_delete_it(
    crawler: Engine, visitor: Visitor, site: Site
) -> None:
    address = site.url("/nwes")
    typo = crawler.tools.projects.manage.create(name=address.partition("://")[2], website_url=address)
    site.edit("/nwes", status=404)
    crawl = crawler.run(crawler.start(typo))
    text = visitor.get(f"/crawls/{crawl.id}").text
    assert "has no such page: check the path" in words(text)
    assert f'href="/projects/{typo.id}/edit#website_url"' in text
    assert f'action="/projects/{typo.id}/delete"' in text
    visitor.post(f"/projects/{typo.id}/edit", {"name": typo.name, "website_url": site.url("/news"), "is_active": "on"})
    assert crawler.tools.store.get_project(typo.id).name.endswith("/news"), "a name nobody chose goes with the address"
    lay(site, {"/news": []})
    assert "Correct the address" not in visitor.get(f"/crawls/{crawler.again(crawl).id}").text
    assert "Correct the address" not in visitor.get(f"/crawls/{crawl.id}").text, "the project has pages now"


def test_https_where_a_server_speaks_http_is_said_with_the_address_to_try(crawler: Engine, visitor: Visitor) -> None:
    def answer(connection: socket.socket) -> None:
        connection.recv(1)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

    with serving_connections(answer) as server:
        plain = server.url("/")
        crawl = crawler.crawl(plain.replace("http://", "https://"))
    text = words(visitor.get(f"/crawls/{crawl.id}").text)
    assert f"This server does not answer in https here; try {plain}" in text


def test_ticked_projects_are_deleted_after_a_page_that_names_them(crawler: Engine, visitor: Visitor) -> None:
    kept, gone = (crawler.project(f"http://{name}.example/") for name in ("kept", "gone"))
    asked = visitor.post("/projects/bulk", {"action": "delete", "id": str(gone.id)})
    assert "Delete 1 project?" in words(asked.text)
    assert gone.name in asked.text
    assert kept.name not in asked.text
    assert crawler.tools.store.get_project(gone.id) == gone, "only asked"
    sure = visitor.post("/projects/bulk", {"action": "delete", "id": str(gone.id), "confirmed": "on"})
    assert sure.headers["location"] == "/?said=projects-delete&n=1"
    left = crawler.rows("SELECT id FROM projects WHERE website_url LIKE '%.example/'")
    assert [row["id"] for row in left] == [kept.id]


def test_an_address_that_is_too_long_is_refused_and_not_cut(crawler: Engine, visitor: Visitor) -> None:
    long = f"https://x.example/{'a' * 2100}"
    for path, field in (("/start", "url"), ("/projects", "website_url")):
        refused = visitor.post(path, {field: long, "what": "page"})
        assert refused.status_code == 422
        assert f'id="{field}-wrong"' in refused.text
    for path, field in (("/", "url"), ("/projects/new", "website_url")):
        shown = re.search(rf'<input id="{field}"[^>]*>', visitor.get(path).text)
        assert shown
        assert "maxlength" not in shown[0]


def test_who_names_nobody_is_not_asked_to_send_a_test(crawler: Engine, visitor: Visitor) -> None:
    path = f"/projects/{crawler.project('http://example.org/').id}/watch"
    alone = visitor.post(path, {"frequency": "daily"}).headers["location"]
    assert "Nobody is told of changes yet" in words(visitor.get(alone).text)
    told = visitor.post(path, {"notification_email": "me@x.example"}).headers["location"]
    assert "Send a test" in words(visitor.get(told).text)


def test_a_sign_in_link_that_was_used_says_so(crawler: Engine, client: TestClient) -> None:
    visitor = Visitor(client, secret(crawler))
    (row,) = crawler.rows("SELECT id FROM api_keys LIMIT 1")
    ticket = crawler.tools.operating.sessions.ticket(row["id"])
    assert visitor.post("/login", {"key": ticket}).status_code == 303
    assert "This link was used already" in words(visitor.post("/login", {"key": ticket}).text)


def test_what_is_accepted_is_no_longer_counted_as_unread(crawler: Engine, visitor: Visitor, site: Site) -> None:
    crawl = edited(crawler, site, 40)
    lay(site, {"/": bakery(45)})
    crawl = crawler.again(crawl)
    assert f'data-unread="{crawl.project_id}"' in visitor.get("/").text
    answer = visitor.post(f"/feed/{crawl.id}/accept", {}, **{"HX-Request": "true"})
    told = json.loads(answer.headers["HX-Trigger"])["unread"]
    assert (told["project"], told["own"]) == (str(crawl.project_id), 0)
    assert told["all"] == crawler.tools.changes.feed.count_unread()
