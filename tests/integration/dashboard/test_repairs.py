"""Small things that people stumbled over: lists, titles, searches, sessions that end while somebody types."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient

from crawler.domain.api_keys import ApiKey, Scope
from crawler.entrypoints.dashboard.pages import system_keys
from crawler.entrypoints.dashboard.views.system_state import _flow
from crawler.entrypoints.http.cookie_session import csrf_token, is_csrf
from tests.integration.dashboard.test_home import edited
from tests.integration.dashboard.test_security import Visitor, secret
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.integration.shared_app import shared_app
from tests.site.client import Site

PART = {"HX-Request": "true"}


@pytest.fixture
def client(crawler: Engine) -> Iterator[TestClient]:
    with TestClient(shared_app(crawler.tools), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def visitor(client: TestClient, crawler: Engine) -> Visitor:
    return Visitor(client, secret(crawler))


def test_a_form_that_is_sent_too_late_comes_back_to_its_page(client: TestClient) -> None:
    stranger = Visitor(client)
    form = "/projects/new?url=x.example"
    answer = stranger.post("/projects", {"website_url": "x"}, Referer=f"http://testserver{form}")
    assert answer.headers["location"] == "/login?next=%2Fprojects%2Fnew%3Furl%3Dx.example"
    elsewhere = stranger.post("/projects", {"website_url": "x"}, Referer="https://evil.example/projects/new")
    assert elsewhere.headers["location"] == "/login"


def test_pages_are_found_by_parts_of_words_and_of_their_url(crawler: Engine, visitor: Visitor, site: Site) -> None:
    links = ["/one", "/two-100%", "/three"]
    lay(site, {"/": links, "/one": page(title="The VACUUM command"), "/three": page(title="Other")})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)

    def found(words: str) -> list[str]:
        text = visitor.client.get(f"/projects/{crawl.project_id}/pages", params={"q": words}, headers=PART).text
        return re.findall(r"/projects/[0-9a-f-]+/pages/[0-9a-f-]+", text)

    assert len(set(found("vacu"))) == 1
    assert len(set(found("cuum com"))) == 1
    assert len(set(found("/thre"))) == 1
    assert found("%") == found("100%"), "taken as it stands"
    assert found("nothing like it") == []
    assert "Other" in visitor.get(f"/find?q=oth&project={crawl.project_id}", **PART).text


@pytest.mark.slow
def test_titles_name_the_tab(crawler: Engine, visitor: Visitor, site: Site) -> None:
    crawl = edited(crawler, site, 40)

    def title(path: str) -> str:
        found = re.search("<title>(.*?)</title>", visitor.get(path).text)
        assert found
        return found[1]

    paths = [f"/projects/{crawl.project_id}{tab}" for tab in ("", "/changes", "/pages", "/schedule", "/noise", "/edit")]
    paths += [f"/crawls/{crawl.id}{tab}" for tab in ("", "/changes", "/urls", "/report")]
    titles = [title(path) for path in paths]
    assert len(set(titles)) == len(titles), titles
    assert titles[2].startswith("Pages · ")


def test_long_urls_are_cut_in_the_middle_and_copied_whole(crawler: Engine, visitor: Visitor, site: Site) -> None:
    long = "/" + "a" * 150 + "/the-end-that-matters"
    lay(site, {"/": [long], long: page(title="Long")})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    text = visitor.get(f"/crawls/{crawl.id}/urls").text
    assert "the-end-that-matters</bdi>" in text
    assert f'{long}"' in text, "whole on hover and for a copy"


def test_pages_come_compressed_and_tokens_differ_each_time(visitor: Visitor) -> None:
    answer = visitor.client.get("/", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    one, other = csrf_token("session"), csrf_token("session")
    assert one != other, "or the length of a compressed page would tell it"
    assert is_csrf("session", one)
    assert is_csrf("session", other)
    assert not is_csrf("another", one)
    assert not is_csrf("session", one[:-2])
    assert not is_csrf("session", "")
    assert not is_csrf("session", "ü" * 43)


def test_pages_that_are_not_there_are_no_refusals() -> None:
    requests = "crawler_requests_last_minute"
    flow = _flow({(requests, ("a", "2xx")): 5.0, (requests, ("a", "4xx")): 3.0, (requests, ("a", "5xx")): 1.0})
    assert (flow["requests"], flow["missing"], flow["failed"]) == (9, 3, 1)


@pytest.mark.slow
def test_keys_and_rooms_are_explained_by_the_product_itself(crawler: Engine, visitor: Visitor) -> None:
    project = crawler.project("http://example.org/")
    text = visitor.get("/help").text
    for key in ("/", "Ctrl-K", "j", "k", "?"):
        assert f"<kbd>{key}</kbd>" in text
    for here in ("overview", "changes", "pages", "schedule", "noise", "settings", "progress", "urls", "report"):
        assert f'id="{here}"' in text
    assert 'href="/help#schedule"' in visitor.get(f"/projects/{project.id}/schedule").text
    assert "−</span> removed" in text, "what the signs mean"
    chapters = set(re.findall(r'href="/help/([^"#]+)"', text))
    assert {"index", "how-to/silence-noise", "explanation/changes"} <= chapters
    for path in chapters:
        assert "<h1 id=" in visitor.get(f"/help/{path}").text, path
    assert visitor.get("/help/images/live.png").headers["content-type"] == "image/png"
    assert visitor.get("/help/how-to/nowhere").status_code == 404


def test_of_very_many_keys_the_newest_that_are_in_use_are_shown(
    crawler: Engine, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system_keys, "MOST_SHOWN", 3)
    now = crawler.tools.clock()
    for minutes in range(1, 6):
        at = now + timedelta(minutes=minutes)
        key, _ = ApiKey.issue(name=f"key number {minutes}", scope=Scope.READ, now=at, project_ids=None)
        crawler.tools.store.add_key(key)
    crawler.tools.store.revoke_key(key.id, now)
    text = visitor.get("/system/keys").text
    assert [number for number in range(1, 6) if f"key number {number}" in text] == [2, 3, 4]
    assert "3 more keys" in text, "the first, the one that is revoked, and the visitor's own"


def test_commands_are_those_the_key_may_use(crawler: Engine, visitor: Visitor, client: TestClient) -> None:
    project = crawler.project("http://example.org/")
    text = visitor.get(f"/find?q=&project={project.id}", **PART).text
    assert f"/projects/{project.id}/schedule" in text
    assert "/projects/new" in visitor.get("/find?q=new", **PART).text
    assert "/system/keys" in visitor.get("/find?q=keys", **PART).text
    limited = Visitor(client, secret(crawler, Scope.READ, project.id))
    found = limited.get("/find?q=e", **PART).text
    assert "/system" not in found
    assert "/projects/new" not in found
    other = crawler.project("http://other.example/")
    assert other.name not in limited.get(f"/find?q={other.name}&project={other.id}", **PART).text


def test_pages_of_the_only_project_are_found_from_anywhere(crawler: Engine, visitor: Visitor, site: Site) -> None:
    lay(site, {"/": ["/post"], "/post": page(title="Shipping and returns")})
    crawler.crawl(site.url(), use_sitemaps=False)
    assert "Shipping and returns" in visitor.get("/find?q=shipp", **PART).text
    crawler.project("http://other.example/")
    found = visitor.get("/find?q=shipp", **PART).text
    assert "Shipping and returns" not in found
    assert "Pages are found inside a project" in found


def prices(rye: str) -> str:
    goods = (("Rye loaf", rye), ("Plum cake", "9.10"), ("Seed roll", "1.20"))
    return page(body="".join(f'<h2>{name}</h2><p class="cost">{cost}</p>' for name, cost in goods))


@pytest.mark.slow
def test_a_bare_value_stands_beside_what_it_is_a_value_of(crawler: Engine, visitor: Visitor, site: Site) -> None:
    lay(site, {"/": prices("4.00")})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/": prices("4.50")})
    second = crawler.again(first)
    lines = visitor.get(f"/crawls/{second.id}/changes/lines", **PART).text
    assert "Rye loaf" in lines
    assert "Plum cake" not in lines
    compared = visitor.client.get(f"/crawls/{second.id}/changes/page", params={"url": site.url()}).text
    assert "<strong><bdi>Rye loaf</bdi></strong>" in compared
    link = re.search(r'href="(/projects/[^"]*/noise/new[^"]*)"', compared)
    assert link
    asked = visitor.get(link[1].replace("&amp;", "&")).text
    assert "ignores 3 lines of this page, not this one alone" in asked


@pytest.mark.slow
def test_a_rule_that_is_tried_shows_the_lines_it_leaves_out(crawler: Engine, visitor: Visitor, site: Site) -> None:
    def shop(price: int, offer: str) -> str:
        return page(body=f"<p>Rye loaf {price} coins</p><p class=offer>{offer}</p><p>Open daily, all year round.</p>")

    lay(site, {"/": shop(4, "Cakes of the week: plum <b>and</b> apple")})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/": shop(5, "Cakes of the week: cherry &lt;i&gt;")})
    second = crawler.again(first)

    def tried(kind: str, value: str = "") -> str:
        path = f"/projects/{second.project_id}/noise/trial"
        return visitor.client.get(path, params={"kind": kind, "value": value}, headers=PART).text

    text = tried("selector", ".offer")
    lines = text[text.index("Changes it ignores") :]
    assert re.search("<ins>cherry", lines)
    assert "&lt;i&gt;" in lines
    assert "<i>" not in lines
    assert "Rye" not in lines, "what still counts is not among them"
    assert "Rye" in tried("numbers")
    assert "Changes it ignores" not in tried("regex", "no such words")
    assert "leaves out no line" in tried("regex", "no such words")
