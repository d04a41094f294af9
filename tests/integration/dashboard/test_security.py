"""Nobody gets in who may not, nothing changes that should not, and what was crawled stays text."""

import re
from collections.abc import Iterator
from http.cookies import SimpleCookie
from uuid import UUID, uuid4

import pytest
import requests
from fastapi.testclient import TestClient
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from crawler.adapters.operating.session_store import IDLE_SECONDS, LONGEST_SECONDS, SessionStore
from crawler.bootstrap import build
from crawler.domain.api_keys import ApiKey, Scope
from crawler.entrypoints.api.app import create_app
from crawler.entrypoints.dashboard.app import create_dashboard
from crawler.entrypoints.dashboard.pages.login import local
from crawler.entrypoints.http.caller_shares import CallerShares
from crawler.entrypoints.http.cookie_session import COOKIE
from crawler.entrypoints.http.failed_logins import MOST_FAILURES, FailedAttempts
from tests.integration.api.live_server import served
from tests.integration.live_engine import Engine
from tests.integration.shared_app import shared_app

OPEN = {"/act/{token}", "/feeds/{token}.atom", "/login", "/static/{name:path}", "/favicon.ico", "/robots.txt"}
LEADING_ON = {"/projects/{project_id}/pick"}
"""Whose GET leads to another page of ours."""
PAGE = {"Sec-Fetch-Site": "same-origin"}


class Visitor:
    """Somebody with a browser's cookies, but without its scripts."""

    def __init__(self, client: TestClient, secret: str | None = None) -> None:
        self.client = client
        self.client.cookies.clear()
        self.csrf = ""
        if secret:
            answer = self.post("/login", {"key": secret})
            assert (answer.status_code, answer.headers["location"]) == (303, "/"), answer.text
            found = re.search(r"X-CSRF-Token\": \"([\w-]+)\"", self.get("/").text.replace("&#34;", '"'))
            assert found
            self.csrf = found[1]

    def get(self, path: str, **headers: str) -> requests.Response:
        return self.client.get(path, headers=headers, follow_redirects=False)  # type: ignore[return-value]

    def post(self, path: str, fields: dict[str, str] | None = None, **headers: str) -> requests.Response:
        given = {"csrf": self.csrf, **(fields or {})}
        return self.client.post(path, data=given, headers={**PAGE, **headers}, follow_redirects=False)  # type: ignore[return-value]


@pytest.fixture
def client(crawler: Engine) -> Iterator[TestClient]:
    with TestClient(shared_app(crawler.tools), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def visitor(client: TestClient, crawler: Engine) -> Visitor:
    return Visitor(client, secret(crawler))


def secret(crawler: Engine, scope: Scope = Scope.ADMIN, *projects: UUID) -> str:
    key, made = ApiKey.issue(name="a key", scope=scope, now=crawler.tools.clock(), project_ids=projects or None)
    crawler.tools.store.add_key(key)
    return made


def routes(crawler: Engine) -> list[tuple[str, str]]:
    """Every route of every room, ids made up."""
    app = create_dashboard(crawler.tools, FailedAttempts(), CallerShares())
    found = [
        (method, route.path)
        for included in app.router.routes  # type: ignore[attr-defined]
        for route in getattr(getattr(included, "original_router", None), "routes", [included])
        for method in getattr(route, "methods", ())
    ]
    assert len(found) > 20
    return [(method, path) for method, path in found if path not in OPEN]


def filled(path: str) -> str:
    return re.sub(r"\{\w+(:\w+)?\}", str(uuid4()), path)


def test_every_room_sends_a_stranger_to_the_sign_in(crawler: Engine, client: TestClient) -> None:
    stranger = Visitor(client)
    for method, path in routes(crawler):
        answer = stranger.client.request(method, filled(path), headers=PAGE, follow_redirects=False)
        assert answer.status_code == 303, (method, path)
        assert answer.headers["location"].startswith("/login"), (method, path)
        part = stranger.client.request(method, filled(path), headers={**PAGE, "HX-Request": "true"})
        assert part.status_code == 401, (method, path)
        assert part.headers["hx-redirect"].startswith("/login")
    assert stranger.get("/no/such/page").status_code == 303, "an unknown path tells a stranger nothing"
    assert stranger.get("/projects/1?x=2").headers["location"] == "/login?next=%2Fprojects%2F1%3Fx%3D2"


def test_every_change_needs_the_pages_own_token(crawler: Engine, visitor: Visitor) -> None:
    changes = [(method, path) for method, path in routes(crawler) if method not in ("GET", "HEAD")]
    assert len(changes) > 8
    for method, path in changes:
        for token in ("", "x" * 43, visitor.csrf[:-1]):
            answer = visitor.client.request(method, filled(path), data={"csrf": token}, headers=PAGE)
            assert answer.status_code == 403, (method, path)
            assert "too old" in answer.text, (method, path)
        answer = visitor.client.request(method, filled(path), headers={"X-CSRF-Token": "x", **PAGE})
        assert answer.status_code == 403, (method, path)


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://testserver:8080"},
    ],
)
def test_a_page_of_another_site_changes_nothing_even_with_the_token(visitor: Visitor, headers: dict[str, str]) -> None:
    fields = {"csrf": visitor.csrf, "name": "x", "website_url": "http://example.org/"}
    answer = visitor.client.post("/projects", data=fields, headers=headers)
    assert answer.status_code == 403
    assert "another site" in answer.text
    assert visitor.client.post("/login", data={"key": "x"}, headers=headers).status_code == 403


@pytest.mark.parametrize("cookie", [{}, {"Cookie": f"{COOKIE}=of-no-session"}])
def test_a_stranger_has_one_share_of_the_threads_whatever_cookie_is_sent(
    crawler: Engine, cookie: dict[str, str]
) -> None:
    """Links in mails and feeds may take long: who has one must not have all threads and judges."""
    full = TestClient(create_dashboard(crawler.tools, FailedAttempts(), CallerShares(at_once=0, waiting=0)))
    for path in ("/act/x", "/feeds/x.atom", "/login"):
        assert full.get(path, headers=cookie).status_code == 503, path


@pytest.mark.slow
def test_no_get_changes_anything(crawler: Engine, visitor: Visitor) -> None:
    project = crawler.project("http://127.0.0.1:9/")
    crawl = crawler.tools.crawls.start(project.id)
    tables = ("projects", "crawl_jobs", "crawl_discovered_urls", "api_keys", "settings", "crawl_schedules")

    def state() -> list[object]:
        return [crawler.rows(f"SELECT * FROM {table} ORDER BY 1") for table in tables]

    before = state()
    for method, path in routes(crawler):
        named = path.replace("{project_id}", str(project.id)).replace("{crawl_id}", str(crawl.id))
        named = named.replace("{kind}", "broken_link")
        answer = visitor.get(filled(named) + "?csrf=" + visitor.csrf)
        changing, known = method not in ("GET", "HEAD"), "{" not in named
        allowed: tuple[int, ...] = (405, 200, 404) if changing else (200, 409) if known else (200, 404, 409)
        allowed += (303,) if path in LEADING_ON else ()
        assert answer.status_code in allowed, (method, path, answer.text)
        assert answer.status_code != 405 or method in answer.headers["Allow"].split(", "), (method, path)
    assert state() == before


def test_a_key_that_may_only_read_sees_everything_and_changes_nothing(crawler: Engine, client: TestClient) -> None:
    project = crawler.project("http://127.0.0.1:9/")
    crawler.tools.acquisition.manage_categories.set("hotel", {"fields": {"name": "h1"}})
    reader = Visitor(client, secret(crawler, Scope.READ))
    assert "Start the first crawl" not in reader.get(f"/projects/{project.id}").text
    form = reader.get(f"/projects/{project.id}/edit").text
    assert "hx-post" not in form, "nothing is asked for that would be refused"
    assert form.count("<fieldset") == form.count(" disabled>") > 0
    assert "Remove" not in reader.get("/queue/category?name=hotel").text
    for method, path in routes(crawler):
        if method not in ("GET", "HEAD") and path != "/logout":
            answer = reader.post(filled(path.replace("{project_id}", str(project.id))))
            assert answer.status_code == 403, (method, path)
            assert "may only read" in answer.text


def test_a_limited_key_sees_only_its_projects(crawler: Engine, client: TestClient) -> None:
    mine, theirs = crawler.project("http://mine.example/"), crawler.project("http://theirs.example/")
    crawl = crawler.tools.crawls.start(theirs.id)
    limited = Visitor(client, secret(crawler, Scope.ADMIN, mine.id))
    assert str(mine.id) in limited.get("/").text
    assert str(theirs.id) not in limited.get("/").text
    for method, path in routes(crawler):
        named = path.replace("{project_id}", str(theirs.id)).replace("{crawl_id}", str(crawl.id))
        named = named.replace("{kind}", "broken_link")
        if named != path:
            answer = limited.get(filled(named)) if method in ("GET", "HEAD") else limited.post(filled(named))
            assert answer.status_code == 404, (method, path)
            assert theirs.name not in answer.text
    assert limited.post("/projects", {"website_url": "http://x.example/"}).status_code == 403
    assert crawler.tools.store.get_crawl(crawl.id).status == "pending"


def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(client: TestClient, crawler: Engine) -> None:
    made = secret(crawler)
    for base, secure in (("http://testserver", False), ("https://testserver", True)):
        client.cookies.clear()
        answer = client.post(f"{base}/login", data={"key": made}, headers=PAGE, follow_redirects=False)
        cookie = SimpleCookie(answer.headers["set-cookie"])["crawler_session"]
        assert cookie["httponly"]
        assert cookie["samesite"] == "lax"
        assert cookie["path"] == "/"
        assert bool(cookie["secure"]) is secure
        assert made not in answer.headers["set-cookie"]
        assert made not in str(crawler.tools.redis.keys("cr:session:*"))


def test_sign_out_expiry_and_a_revoked_key_end_the_session(client: TestClient, crawler: Engine) -> None:
    visitor = Visitor(client, secret(crawler))
    token = client.cookies["crawler_session"]
    assert visitor.post("/logout").headers["location"] == "/login?said=signed-out"
    client.cookies.set("crawler_session", token)
    assert visitor.get("/").status_code == 303, "a copy of the cookie is worth nothing afterwards"
    made = secret(crawler)
    visitor = Visitor(client, made)
    key = crawler.tools.store.find_key(made)
    assert key
    crawler.tools.store.revoke_key(key.id, crawler.tools.clock())
    assert visitor.get("/").status_code == 303


def test_a_session_lives_as_long_as_it_is_used_but_not_for_ever(crawler: Engine) -> None:
    now = 1_000_000.0
    sessions = SessionStore(crawler.tools.redis, lambda: now)
    key = uuid4()
    token = sessions.open(key)
    assert 0 < crawler.tools.redis.ttl(sessions._name("session", token)) <= IDLE_SECONDS
    assert sessions.find(token) == key
    now += LONGEST_SECONDS + 1
    assert sessions.find(token) is None
    now -= LONGEST_SECONDS
    assert sessions.find(token) is None, "and it does not come back"


def test_wrong_keys_are_limited_as_they_are_at_the_api_and_together_with_it(client: TestClient) -> None:
    stranger = Visitor(client)
    wrong = [stranger.post("/login", {"key": f"crk_{n}"}).status_code for n in range(MOST_FAILURES - 5)]
    wrong += [stranger.post("/login", {"key": f"crt_{n}"}).status_code for n in range(5)]
    assert set(wrong) == {401}
    answer = stranger.post("/login", {"key": "crk_more"})
    assert answer.status_code == 429
    assert "Too many wrong keys" in answer.text
    assert stranger.post("/login", {"key": "crt_more"}).status_code == 429
    assert client.get("/api/v1/projects", headers={"Authorization": "Bearer crk_x"}).status_code == 429


@pytest.mark.parametrize("key", ["", "   ", "é", "x" * 10_000, "crk_" + "a" * 43, "\x1b[31m"])
def test_what_is_no_key_is_refused_without_being_repeated(client: TestClient, key: str) -> None:
    answer = Visitor(client).post("/login", {"key": key})
    assert answer.status_code == 401
    assert not key.strip() or key not in answer.text


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("/crawls/1?x=2", "/crawls/1?x=2"),
        ("http://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("\\\\evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/login?next=/login", "/"),
        ("/api/v1/projects", "/"),
        ("http://[", "/"),
        ("/\r\nSet-Cookie: x=y", "/"),
        ("", "/"),
    ],
)
def test_after_the_sign_in_only_pages_of_ours_follow(given: str, path: str) -> None:
    assert local(given) == path


def test_every_page_forbids_foreign_code_frames_and_sniffing(visitor: Visitor) -> None:
    for path in ("/", "/login", "/no/such/page", "/static/app.js", "/projects/new"):
        headers = visitor.get(path).headers
        policy = headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
    assert visitor.get("/").headers["cache-control"] == "no-store"
    assert "immutable" in visitor.get("/static/app.js").headers["cache-control"]


def test_a_mistake_of_ours_is_a_page_like_every_other(
    visitor: Visitor, crawler: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("a mistake")

    project = crawler.project("http://127.0.0.1:9/")
    usual = visitor.get("/projects/new").headers
    monkeypatch.setattr(crawler.tools.notices.schedules, "find", fails)
    answer = visitor.get(f"/projects/{project.id}")
    assert answer.status_code == 500
    assert "Our mistake" in answer.text
    assert "a mistake" not in answer.text
    for name in ("content-security-policy", "x-frame-options", "referrer-policy", "cache-control"):
        assert answer.headers[name] == usual[name]
    part = visitor.get(f"/projects/{project.id}", **{"HX-Request": "true"})
    assert (part.status_code, part.headers["hx-retarget"]) == (500, "#toasts")


def test_the_live_page_asks_no_more_when_the_crawl_is_over_and_promises_nothing(
    visitor: Visitor, crawler: Engine
) -> None:
    crawl = crawler.tools.crawls.start(crawler.project("http://127.0.0.1:9/").id)
    assert visitor.get(f"/crawls/{crawl.id}/hosts").status_code == 200
    assert "shown when the crawl is over" in visitor.get(f"/crawls/{crawl.id}/changes").text
    assert "shown when it is over" in visitor.get(f"/projects/{crawl.project_id}").text
    crawler.tools.crawls.control.cancel(crawl.id)
    crawler.rows("UPDATE crawl_jobs SET status = 'cancelled' WHERE id = :id RETURNING id", id=crawl.id)
    answer = visitor.get(f"/crawls/{crawl.id}/hosts")
    assert (answer.status_code, answer.headers["hx-trigger"]) == (286, "crawl-over")
    assert "Only completed crawls are compared" in visitor.get(f"/crawls/{crawl.id}/changes").text
    assert "not compared" in visitor.get(f"/projects/{crawl.project_id}").text


def test_files_outside_are_not_served(visitor: Visitor) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/static/vendor", "/static/"):
        assert visitor.get(path).status_code in (303, 404), path


def test_the_session_reads_the_api_but_changes_nothing_there_without_the_token(
    visitor: Visitor, crawler: Engine
) -> None:
    assert visitor.get("/api/v1/projects").status_code == 200
    made = {"name": "x", "website_url": "http://example.org/"}
    assert visitor.client.post("/api/v1/projects", json=made).status_code == 403
    evil = {"X-CSRF-Token": visitor.csrf, "Origin": "https://evil.example"}
    assert visitor.client.post("/api/v1/projects", json=made, headers=evil).status_code == 403
    assert visitor.client.post("/api/v1/projects", json=made, headers={"X-CSRF-Token": visitor.csrf}).status_code == 201
    visitor.client.cookies.clear()
    visitor.client.cookies.set("crawler_session", "made-up")
    assert visitor.get("/api/v1/projects").status_code == 401


def test_without_keys_this_machine_is_served_and_changes_still_need_the_token(crawler: Engine) -> None:
    settings = crawler.tools.settings.model_copy(update={"no_auth": True})
    tools = build(settings, store=crawler.tools.store, hints=crawler.tools.hints)
    tools.crawls.check_known = crawler.tools.crawls.check_known
    with TestClient(create_app(tools), base_url="http://127.0.0.1:8800") as client:
        page = client.get("/projects/new")
        assert page.status_code == 200
        assert "Sign out" not in page.text
        fields = {"website_url": "http://example.org/"}
        assert client.post("/projects", data=fields, headers=PAGE).status_code == 403
        token = re.search(r'name="csrf" value="([\w-]+)"', page.text)
        assert token
        answer = client.post("/projects", data={**fields, "csrf": token[1]}, headers=PAGE, follow_redirects=False)
        assert answer.status_code == 303
        assert client.get("/", headers={"Host": "evil.example"}).status_code == 403
    tools.redis.close()
    tools.database.dispose()


def test_a_form_that_is_no_form_is_refused_with_a_sentence(visitor: Visitor) -> None:
    raw = {**PAGE, "Content-Type": "application/x-www-form-urlencoded", "X-CSRF-Token": visitor.csrf}
    for body in (b"name=%ff%fe", b"name=a%00b", b"&".join(b"a=%d" % n for n in range(5000))):
        answer = visitor.client.post("/projects", content=body, headers=raw)
        assert answer.status_code == 422, body[:20]
    assert visitor.client.post("/projects", content=b"x" * 5_000_000, headers=raw).status_code == 413


@pytest.mark.slow
def test_a_browser_watches_with_its_cookie_and_only_from_our_own_pages(crawler: Engine) -> None:
    project = crawler.project("http://127.0.0.1:9/")
    key = crawler.tools.store.find_key(secret(crawler))
    assert key
    token = crawler.tools.operating.sessions.open(key.id)
    with served(create_app(crawler.tools)) as port:
        url = f"ws://127.0.0.1:{port}/api/v1/projects/{project.id}/ws"
        cookie = {"Cookie": f"crawler_session={token}"}
        with connect(url, additional_headers=cookie, origin=Origin(f"http://127.0.0.1:{port}")) as socket:
            socket.ping()
            crawler.tools.operating.sessions.close(token)
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(timeout=20)
            assert closed.value.rcvd
            assert closed.value.rcvd.code == 4401, "it ends with the sign-out"
        token = crawler.tools.operating.sessions.open(key.id)
        cookie = {"Cookie": f"crawler_session={token}"}
        for origin, status in ((Origin("https://evil.example"), 403), (Origin(f"http://127.0.0.1:{port + 1}"), 403)):
            with pytest.raises(InvalidStatus) as refused, connect(url, additional_headers=cookie, origin=origin):
                pass
            assert refused.value.response.status_code == status
        with (
            pytest.raises(InvalidStatus) as stranger,
            connect(url, additional_headers={"Cookie": "crawler_session=x"}, origin=Origin(f"http://127.0.0.1:{port}")),
        ):
            pass
        assert stranger.value.response.status_code == 401
