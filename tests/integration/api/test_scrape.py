"""`POST /scrape`: one page now, through the engine that does all crawls."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import requests

from crawler.domain.api_keys import ApiKey, Scope
from crawler.domain.crawls.project import SINGLE_PAGES_ID
from tests.integration.handmade import asked, lay
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, response, serving
from tests.integration.served import served
from tests.integration.working import working
from tests.site.client import Site

HTML = """<!doctype html><html><head><title>Kettles</title><meta name=description content="All of them"></head><body>
<nav><a href="/">Home</a></nav><main><h1>Kettles</h1><p class=price>3 €</p><a href="/a">A</a></main></body></html>"""


class Desk(NamedTuple):
    engine: Engine
    address: str
    secret: str

    def post(self, path: str, secret: str | None = None, **body: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {secret or self.secret}"}
        return requests.post(f"{self.address}/api/v1{path}", json=body, headers=headers, timeout=60)

    def get(self, path: str) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.secret}"}
        return requests.get(f"{self.address}/api/v1{path}", headers=headers, timeout=60)

    def key(self, scope: Scope, *projects: Any) -> str:
        key, secret = ApiKey.issue(name="k", scope=scope, now=self.engine.tools.clock(), project_ids=projects or None)
        self.engine.tools.store.add_key(key)
        return secret


@pytest.fixture
def desk(crawler: Engine) -> Iterator[Desk]:
    key, secret = ApiKey.issue(name="admin", scope=Scope.ADMIN, now=crawler.tools.clock())
    crawler.tools.store.add_key(key)
    with served(crawler.tools) as address:
        yield Desk(crawler, address, secret)


def test_a_page_in_the_forms_that_are_asked_for(desk: Desk, site: Site) -> None:
    lay(site, {"/k": HTML})
    with working(desk.engine):
        answer = desk.post("/scrape", url=site.url("/k"), formats=["markdown", "links", "text", "raw_html", "metadata"])
    page = answer.json()
    assert answer.status_code == 200, answer.text
    assert page["markdown"] == f"# Kettles\n\n3 €\n\n[A]({site.url('/a')})"
    assert page["links"] == [site.url("/a")]
    assert page["text"] == "Kettles\n3 €\nA"
    assert page["raw_html"] == HTML
    assert page["html"] is None
    assert (page["metadata"]["title"], page["metadata"]["http_status"]) == ("Kettles", 200)
    assert page["metadata"]["meta"] == {"description": "All of them"}
    assert not page["from_store"]
    # The snapshot is kept, as of any crawl.
    stored = desk.engine.tools.pages.content.get_snapshot(SINGLE_PAGES_ID, page["page_id"], page["version_id"])
    assert stored.content == HTML.encode()


def test_what_is_stored_is_taken_if_it_is_young_enough(desk: Desk, site: Site) -> None:
    lay(site, {"/k": HTML})
    with working(desk.engine):
        first = desk.post("/scrape", url=site.url("/k")).json()
        again = desk.post("/scrape", url=site.url("/k"), max_age=3600).json()
        assert (again["from_store"], again["version_id"]) == (True, first["version_id"])
        assert asked(site) == ["/k"]
        lay(site, {"/k": HTML.replace("3 €", "4 €")})
        fresh = desk.post("/scrape", url=site.url("/k"), include_selectors=[".price"]).json()
    assert fresh["markdown"] == "4 €"
    assert fresh["version_id"] != first["version_id"]


def test_the_bytes_are_those_of_now_though_the_text_is_the_same(desk: Desk, site: Site) -> None:
    lay(site, {"/k": HTML})
    with working(desk.engine):
        desk.post("/scrape", url=site.url("/k"))
        lay(site, {"/k": HTML.replace('href="/a"', 'href="/b"')})
        assert desk.post("/scrape", url=site.url("/k"), formats=["links"]).json()["links"] == [site.url("/b")]


@pytest.mark.slow
def test_redirects_are_followed_and_ends_are_told(desk: Desk, site: Site) -> None:
    lay(site, {"/k": HTML, "/gone": HTML})
    site.set_fault("/old", redirect="/k")
    site.set_fault("/gone", status=404)
    with working(desk.engine):
        moved = desk.post("/scrape", url=site.url("/old"))
        assert (moved.status_code, moved.json()["url"]) == (200, site.url("/k"))
        gone = desk.post("/scrape", url=site.url("/gone"))
    assert gone.status_code == 422
    assert gone.json()["code"] == "page_not_fetched"
    assert gone.json()["reason"] == "not_found"


def test_robots_and_the_egress_rule_hold(desk: Desk, site: Site) -> None:
    site.set_robots("User-agent: *\nDisallow: /private\n")
    lay(site, {"/private": HTML})
    with working(desk.engine):
        refused = desk.post("/scrape", url=site.url("/private")).json()
        metadata = desk.post("/scrape", url="http://169.254.169.254/latest/meta-data/").json()
        local = desk.post("/scrape", url="http://[::1]:9/").json()
    assert refused["reason"] == "robots"
    assert asked(site) == []
    assert (metadata["reason"], local["reason"]) == ("egress", "egress")


def test_202_and_a_job_when_the_host_must_wait(desk: Desk, site: Site) -> None:
    lay(site, {"/k": HTML})
    tools = desk.engine.tools
    later = desk.post("/scrape", url=site.url("/k"), timeout=0.2, formats=["text"])  # nobody works yet
    assert later.status_code == 202
    crawl_id = later.json()["crawl_id"]
    assert desk.get(f"/scrape/{crawl_id}").status_code == 202
    tools.crawls.control.pause(tools.store.get_crawl(crawl_id).id)
    tools.crawls.control.resume(tools.store.get_crawl(crawl_id).id)
    desk.engine.run(tools.store.get_crawl(crawl_id))
    page = desk.get(f"/scrape/{crawl_id}")
    assert (page.status_code, page.json()["text"], page.json()["markdown"]) == (200, "Kettles\n3 €\nA", None)


def test_headers_go_to_the_urls_origin_alone_and_are_not_shared(desk: Desk) -> None:
    def elsewhere(_: object, request: Request) -> bytes:
        return response(HTML.encode()) if request.path == "/k" else response(b"", "404 Not Found")

    with serving(elsewhere, host="127.0.0.2") as other:
        target = f"http://{other.host}:{other.port}/k"

        def here(_: object, request: Request) -> bytes:
            moved = {"/moved": target}.get(request.path)
            return response(b"", "302 Found", f"Location: {moved}") if moved else elsewhere(_, request)

        with serving(here) as server, working(desk.engine):
            start = f"http://{server.host}:{server.port}"
            for path in ("/k", "/moved"):
                answer = desk.post("/scrape", url=start + path, headers={"X-Secret": "s3cret"})
                assert answer.status_code == 200, answer.text
            assert not desk.post("/scrape", url=start + "/k", max_age=3600).json()["from_store"]
            told = [one.path for one in server.requests if "s3cret" in str(one.headers)]
            assert told == ["/k", "/moved"]
            assert not [one for one in other.requests if "s3cret" in str(one.headers)]
    kept = desk.engine.rows("SELECT scope::text AS scope, config::text AS config FROM crawl_jobs")
    assert not any("s3cret" in text for row in kept for text in row.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "ftp://example.org/"},
        {"url": "no url"},
        {"formats": []},
        {"formats": ["pdf"]},
        {"include_selectors": ["p:contains(x)"]},
        {"headers": {"Host": "other.example"}},
        {"headers": {"X": "a\nb"}},
        {"timeout": 0},
        {"timeout": 1e9},
        {"wait_for": 11},
        {"unknown": 1},
        {"render": "never", "formats": ["screenshot"]},
    ],
)
def test_what_cannot_be_done_is_refused_at_once(desk: Desk, wrong: dict[str, Any]) -> None:
    answer = desk.post("/scrape", **{"url": "http://example.org/", **wrong})
    assert answer.status_code == 422, answer.text
    assert desk.engine.rows("SELECT 1 FROM crawl_jobs") == []


def test_keys_and_scopes(desk: Desk, site: Site) -> None:
    lay(site, {"/k": HTML})
    mine, other = desk.engine.project(None), desk.engine.project(None)
    url = site.url("/k")
    assert requests.post(f"{desk.address}/api/v1/scrape", json={"url": url}, timeout=30).status_code == 401
    assert desk.post("/scrape", desk.key(Scope.READ), url=url).status_code == 403
    assert desk.post("/scrape", desk.key(Scope.WRITE, mine.id, other.id), url=url).status_code == 403
    only_mine = desk.key(Scope.WRITE, mine.id)
    assert desk.post("/scrape", only_mine, url=url, project_id=str(other.id)).status_code == 404
    with working(desk.engine):
        page = desk.post("/scrape", only_mine, url=url).json()
    assert page["project_id"] == str(mine.id)


def test_many_at_once_wait_without_a_thread_each(desk: Desk, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.entrypoints.http.page_waits.MOST_PER_KEY", 0)
    answer = desk.post("/scrape", url=site.url("/k"))
    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_waiting")
    assert int(answer.headers["Retry-After"]) > 0
