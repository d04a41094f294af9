"""Who may do what: every route is shut unless a key opens it, and a key opens no more than it says."""

import re
from collections.abc import Iterator
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient

from crawler.bootstrap import build
from crawler.config import load_settings
from crawler.domain.api_keys import Scope
from crawler.entrypoints.api.app import create_app
from crawler.entrypoints.http.failed_logins import (
    MOST_ADDRESSES,
    MOST_FAILURES,
    WINDOW_SECONDS,
    FailedAttempts,
)
from tests.integration.api.conftest import Service

OPEN = {("GET", "/api/v1/health/live")}
ADMIN = re.compile(r"/api/v1/(hosts|settings|keys)")


def routes(service: Service) -> Iterator[tuple[str, str]]:
    """Every route of the table, those the description leaves out and WebSockets included."""

    def walk(found: list[object], prefix: str = "") -> Iterator[tuple[str, str]]:
        for route in found:
            inner = getattr(route, "routes", None)
            if inner is None and hasattr(route, "original_router"):
                inner = route.original_router.routes
            path = prefix + getattr(route, "path", "")
            if inner is not None:
                yield from walk(inner, prefix + str(getattr(getattr(route, "include_context", None), "prefix", "")))
                continue
            for method in getattr(route, "methods", None) or {"GET"}:
                yield method, re.sub(r"\{[^}]+\}", str(uuid4()), path)

    yield from walk(list(service.client.app.router.routes))  # type: ignore[attr-defined]


def test_the_walk_over_the_route_table_finds_what_the_description_lists(service: Service) -> None:
    found = {re.sub(r"[0-9a-f-]{36}", "{}", path) for _, path in routes(service)}
    described = {re.sub(r"\{[^}]+\}", "{}", path) for path in service.get("/openapi.json")["paths"]}
    assert described <= found
    assert {"/api/v1/docs", "/api/v1/openapi.json", "/api/v1/metrics"} <= found


def test_every_route_of_the_table_refuses_a_stranger(service: Service) -> None:
    walked = 0
    for method, path in routes(service):
        answer = service.client.request(method, path)
        if (method, path) in OPEN:
            assert answer.status_code == 200
        else:
            assert answer.status_code in (401, 429), (method, path)
            assert answer.headers["content-type"] == "application/problem+json"
        walked += 1
    assert walked > 35
    assert service.client.get("/api/v1/no/such/path").status_code in (401, 429)


def test_a_reading_key_changes_nothing(service: Service) -> None:
    reader = service.as_(Scope.READ)
    for method, path in routes(service):
        if method not in ("GET", "HEAD"):
            answer = reader(method, path.removeprefix("/api/v1"), json={})
            assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), (method, path)


@pytest.mark.parametrize("limited", [False, True])
def test_what_steers_the_whole_system_needs_an_admin_of_all_projects(service: Service, limited: bool) -> None:
    project = service.project()["id"]
    caller = service.as_(Scope.ADMIN, project) if limited else service.as_(Scope.WRITE)
    steering = [(method, path) for method, path in routes(service) if ADMIN.match(path)]
    assert len(steering) > 7
    for method, path in steering:
        assert caller(method, path.removeprefix("/api/v1"), json={}).status_code == 403, (method, path)


def test_a_foreign_project_and_its_crawls_do_not_exist_for_a_limited_key(service: Service) -> None:
    mine, theirs = service.project(name="mine"), service.project(name="theirs")
    crawl = service("POST", f"/projects/{theirs['id']}/phases/crawl/run").json()["crawl_id"]
    caller = service.as_(Scope.WRITE, mine["id"])
    missing = uuid4()
    for path in (
        "/projects/{}",
        "/projects/{}/phases/crawl/status",
        "/projects/{}/pages",
        "/projects/{}/markdown",
        "/projects/{}/crawl-history",
        "/notebooks/{}/crawl",
    ):
        foreign, unknown = (caller("GET", path.format(each)) for each in (theirs["id"], missing))
        assert foreign.status_code == unknown.status_code == 404
        assert foreign.json()["detail"].replace(theirs["id"], str(missing)) == unknown.json()["detail"]
    for method, path in (("GET", ""), ("POST", "/cancel"), ("POST", "/pause"), ("GET", "/urls")):
        foreign, unknown = (caller(method, f"/crawl/{each}{path}") for each in (crawl, missing))
        assert foreign.status_code == unknown.status_code == 404
        assert foreign.json()["detail"].replace(crawl, str(missing)) == unknown.json()["detail"]
    assert caller("POST", f"/projects/{theirs['id']}/phases/crawl/run").status_code == 404
    assert caller("PATCH", f"/projects/{theirs['id']}", json={"name": "x"}).status_code == 404
    assert caller("DELETE", f"/projects/{theirs['id']}").status_code == 404
    assert [project["name"] for project in caller.get("/projects")["items"]] == ["mine"]
    assert caller("POST", "/projects", json={"name": "more"}).status_code == 403
    assert service.get(f"/crawl/{crawl}")["status"] == "pending", "nobody cancelled it"


def test_a_revoked_key_opens_nothing_from_that_moment_on(service: Service) -> None:
    made = service("POST", "/keys", json={"name": "short-lived", "scope": "read"}).json()
    caller = Service(service.client, service.engine, made["key"])
    assert caller("GET", "/projects").status_code == 200
    assert service("DELETE", f"/keys/{made['id']}").status_code == 204
    assert caller("GET", "/projects").status_code == 401
    assert made["key"] not in str(service.get("/keys"))


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer crk_wrong"},
        {"Authorization": "Basic crk_wrong"},
        {"Authorization": f"Bearer {'x' * 100_000}"},
        {"Authorization": b"Bearer \xff\xfe"},
        {"X-Api-Key": "crk_wrong"},
    ],
)
def test_a_key_that_is_none_is_refused(service: Service, headers: dict[str, str]) -> None:
    assert service.client.get("/api/v1/projects", headers=headers).status_code == 401


def test_a_key_in_the_query_opens_nothing_and_stands_in_no_log(
    service: Service, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("key", "api_key", "token", "access_token"):
        answer = service.client.get("/api/v1/projects", params={name: service.secret})
        assert answer.status_code == 401
        assert service.secret not in answer.text
    service.client.get("/api/v1/projects", headers={"Authorization": "Bearer crk_secretsecret"})
    service("POST", "/projects", json={"name": "x", "website_url": "https://user:hunter2@example.org/?api_key=hunter3"})
    service("POST", "/projects", json={"name": "x", "website_url": ["https://user:hunter2@example.org/"]})
    output = "".join(capfd.readouterr())
    for word in (service.secret, "crk_secretsecret", "hunter2", "hunter3"):
        assert word not in output


def test_a_password_in_an_address_is_refused_without_being_repeated(service: Service) -> None:
    answer = service("POST", "/projects", json={"name": "x", "website_url": "https://user:hunter2@example.org/"})
    assert answer.status_code == 422
    assert "hunter2" not in answer.text


def test_who_tries_many_wrong_keys_must_wait_but_a_good_key_still_works(service: Service) -> None:
    assert service("GET", "/projects").status_code == 200
    wrong = [
        service.client.get("/api/v1/projects", headers={"Authorization": f"Bearer crk_{n}"})
        for n in range(MOST_FAILURES + 5)
    ]
    assert [answer.status_code for answer in wrong] == [401] * MOST_FAILURES + [429] * 5
    assert 0 < int(wrong[-1].headers["retry-after"]) <= 61
    assert wrong[-1].json()["code"] == "too_many_failures"
    assert service("GET", "/projects").status_code == 200, "others may share the address"
    made = service("POST", "/keys", json={"name": "new", "scope": "read"}).json()
    assert Service(service.client, service.engine, made["key"])("GET", "/projects").status_code == 200, "a new key too"


def test_requests_without_a_key_are_no_wrong_keys(service: Service) -> None:
    answers = [service.client.get("/api/v1/projects").status_code for _ in range(MOST_FAILURES + 5)]
    assert set(answers) == {401}
    wrong = service.client.get("/api/v1/projects", headers={"Authorization": "Bearer crk_wrong"})
    assert wrong.status_code == 401, "the first wrong one"


def test_failed_attempts_are_forgotten_in_time_and_never_fill_the_memory() -> None:
    now = 0.0
    attempts = FailedAttempts(lambda: now)
    for _ in range(MOST_FAILURES):
        attempts.failed("10.0.0.1")
    assert attempts.seconds_to_wait("10.0.0.1") > 0
    assert attempts.seconds_to_wait("10.0.0.2") == 0
    now = WINDOW_SECONDS + 1
    assert attempts.seconds_to_wait("10.0.0.1") == 0
    for number in range(MOST_ADDRESSES + 100):
        attempts.failed(f"address {number}")
    assert len(attempts._failures) == MOST_ADDRESSES
    for number in range(MOST_FAILURES):
        attempts.failed(f"2001:db8::{number}")
    assert attempts.seconds_to_wait("2001:db8::ffff") > 0, "one customer has many addresses"


def test_pages_of_other_sites_may_not_use_the_service_unless_a_setting_says_so(service: Service) -> None:
    asked = {"Origin": "https://my.site", "Access-Control-Request-Method": "GET"}
    closed = service.client.options("/api/v1/projects", headers=asked)
    assert closed.status_code == 401
    assert "access-control-allow-origin" not in closed.headers
    settings = service.engine.tools.settings.model_copy(update={"cors_origins": ("https://my.site",)})
    with TestClient(create_app(build(settings, store=service.engine.tools.store))) as client:
        allowed = client.options("/api/v1/projects", headers=asked)
        assert allowed.headers["access-control-allow-origin"] == "https://my.site"
        assert "access-control-allow-credentials" not in allowed.headers
        other = client.get("/api/v1/projects", headers={"Origin": "https://evil.site"})
        assert other.status_code == 401
        assert "access-control-allow-origin" not in other.headers


LINK = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.mark.parametrize(
    ("base", "headers", "status"),
    [
        ("http://127.0.0.1:8800", {}, 200),
        ("http://localhost:8800", {"Origin": "http://localhost:8800"}, 200),
        ("http://127.0.0.1:8800", {"Origin": "https://evil.site"}, 403),
        ("http://127.0.0.1:8800", {"Host": "evil.site"}, 403),
        ("http://127.0.0.1:8800", {"Origin": "http://127.0.0.1:9999"}, 403),
        ("http://127.0.0.1:8800", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ("http://127.0.0.1:8800", {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403),
        ("http://127.0.0.1:8800", {"Sec-Fetch-Site": "same-origin"}, 200),
        ("http://127.0.0.1:8800", LINK, 200),
        ("http://192.0.2.1:8800", {}, 403),
    ],
)
def test_without_keys_only_this_machine_is_served(
    service: Service, base: str, headers: dict[str, str], status: int
) -> None:
    settings = service.engine.tools.settings.model_copy(update={"no_auth": True})
    with TestClient(create_app(build(settings, store=service.engine.tools.store)), base_url=base) as client:
        assert client.get("/api/v1/projects", headers=headers).status_code == status


def test_settings_for_origins_are_origins() -> None:
    assert load_settings(cors_origins="https://a.example, http://b.example:8080").cors_origins == (
        "https://a.example",
        "http://b.example:8080",
    )
