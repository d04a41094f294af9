"""What operators do over HTTP: hosts, settings, keys, health, metrics; and what callers hear when a server is gone."""

import re
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from crawler.bootstrap import build
from crawler.config import load_settings
from crawler.domain.api_keys import ApiKey, Scope
from crawler.domain.crawls.frontier import End, Lane, Outcome
from crawler.entrypoints.api.app import create_app
from tests.integration.api.conftest import Service
from tests.integration.handmade import host_of, lay
from tests.integration.live_engine import running_engine
from tests.site.client import Site


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"shift_seconds": 0.5}


# -- hosts ------------------------------------------------------------------------------------


def test_a_host_is_paused_slowed_down_and_let_go_again(service: Service) -> None:
    assert service("GET", "/hosts/example.org").status_code == 404
    changed = service("PATCH", "/hosts/EXAMPLE.org:80", json={"paused": True, "delay_seconds": 5}).json()
    assert (changed["host"], changed["paused"], changed["operator_seconds"]) == ("example.org", True, 5)
    assert service.engine.tools.frontier.host("example.org").paused
    assert service.get("/hosts/example.org")["gap_seconds"] == 5
    assert [host["host"] for host in service.get("/hosts")["hosts"]] == ["example.org"]
    changed = service("PATCH", "/hosts/example.org", json={"paused": False, "delay_seconds": 0}).json()
    assert (changed["paused"], changed["operator_seconds"]) == (False, 0)


@pytest.mark.parametrize("body", [{"delay_seconds": -1}, {"delay_seconds": 3601}, {"paused": "maybe"}, {"deny": True}])
def test_what_cannot_be_said_of_a_host_is_refused(service: Service, body: dict[str, object]) -> None:
    assert service("PATCH", "/hosts/example.org", json=body).status_code == 422


@pytest.mark.parametrize("host", ["a b", "127.1", "user@example.org", "%00", "x" * 300])
def test_what_is_no_host_is_refused(service: Service, host: str) -> None:
    assert service("GET", f"/hosts/{host}").status_code in (404, 422)
    assert service("PATCH", f"/hosts/{host}", json={"paused": True}).status_code in (404, 422)


def test_a_denied_host_is_never_asked_and_a_crawl_of_it_ends(service: Service, site: Site, redis_url: str) -> None:
    lay(site, {"/": []})
    host, engine = host_of(site), service.engine
    assert service("PATCH", f"/hosts/{host}", json={"denied": True}).json()["denied"] is True
    crawl = engine.start(engine.project(site.url()), config={"delay_seconds": 0})
    assert engine.run(crawl).status == "failed"
    assert site.requests() == []
    engine.tools.redis.flushall()
    database = engine.tools.settings.database_url
    assert database is not None
    with running_engine(database.get_secret_value(), redis_url) as other:
        other.tools.crawls.reconcile()
        left = other.tools.frontier.host(host).blocked_until_ms / 1000 - time.time()
        assert left > timedelta(days=3000).total_seconds(), "also after Redis forgot it"
    assert service("PATCH", f"/hosts/{host}", json={"denied": False}).json()["denied"] is False
    assert engine.crawl(site.url()).pages_crawled == 1


# -- settings ---------------------------------------------------------------------------------


def test_settings_stored_here_go_over_the_environment_until_they_are_taken_back(service: Service) -> None:
    before = service.get("/settings")
    assert before["stored"]["request_log_days"] is None
    assert before["in_force"]["request_log_days"] == 7
    after = service("PUT", "/settings", json={"request_log_days": 3, "user_agent": "mine/1 (+https://my.site)"}).json()
    assert (after["stored"]["request_log_days"], after["in_force"]["request_log_days"]) == (3, 3)
    assert service.get("/settings") == after
    assert service("PUT", "/settings", json={}).json() == before


def test_the_request_log_is_kept_as_long_as_the_setting_says(service: Service) -> None:
    engine = service.engine
    now = engine.tools.clock()
    with engine.tools.database.begin() as db:
        for days in (1, 4, 6):
            db.execute(
                text(
                    "INSERT INTO request_log (at, crawl_id, host, kind, lane) "
                    "VALUES (:at, gen_random_uuid(), 'h', 'p', 'http')"
                ),
                {"at": now - timedelta(days=days)},
            )
    assert engine.tools.operating.pruner.requests(now) == 0
    service("PUT", "/settings", json={"request_log_days": 3})
    assert engine.tools.operating.pruner.requests(now) == 2


@pytest.mark.parametrize(
    "body", [{"request_log_days": 0}, {"user_agent": "two\nlines"}, {"colour": "red"}, {"keep_versions": -1}]
)
def test_a_setting_that_is_none_is_refused(service: Service, body: dict[str, object]) -> None:
    assert service("PUT", "/settings", json=body).status_code == 422


# -- metrics and health -----------------------------------------------------------------------


def metric(text: str, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    assert found, f"{name} is not in\n{text}"
    return float(found[1])


@pytest.mark.slow
def test_metrics_count_what_all_processes_did(service: Service, site: Site) -> None:
    lay(site, {"/": ["/a", "/missing"], "/a": []})
    engine = service.engine
    engine.crawl(site.url())
    waiting = engine.start(engine.project("http://example.org/"))
    told = service("GET", "/metrics")
    assert told.headers["content-type"].startswith("text/plain")
    for name, value in {
        'crawler_up{server="postgres"}': 1,
        'crawler_up{server="redis"}': 1,
        'crawler_up{server="broker"}': 1,
        'crawler_pages_total{reason="",status="success"}': 2,
        'crawler_pages_total{reason="not_found",status="skipped"}': 1,
        'crawler_pages_by_method_total{method="lightweight"}': 2,
        'crawler_crawls{status="completed"}': 1,
        'crawler_crawls{status="in_progress"}': 1,
        'crawler_frontier_urls{state="queued"}': 1,
        'crawler_due_hosts{lane="http"}': 1,
        'crawler_queue_messages{queue="fetch"}': 0,
        "crawler_leases_expired_total": 0,
        "crawler_stale_completions_total": 0,
        'crawler_hosts{state="paused"}': 0,
    }.items():
        assert metric(told.text, name) == value, name
    assert metric(told.text, 'crawler_fetch_seconds{lane="http",quantile="0.99"}') > 0
    assert metric(told.text, 'crawler_requests_last_minute{answer="2xx",lane="http"}') >= 2
    assert str(waiting.id) not in told.text


def test_a_lease_that_runs_out_and_its_late_worker_are_counted(service: Service, site: Site) -> None:
    engine, frontier = service.engine, service.engine.tools.frontier
    crawl = engine.start(engine.project("http://example.org/", respect_robots_txt=False))
    pairs, _ = frontier.due(Lane.HTTP, 10)
    (lease,) = frontier.claim(Lane.HTTP, pairs, 1, 0.01)
    time.sleep(0.05)
    frontier.reap(crawl.id)
    frontier.complete(crawl.id, [Outcome(lease, End.STORED)])
    told = service("GET", "/metrics").text
    assert metric(told, "crawler_leases_expired_total") == 1
    assert metric(told, "crawler_stale_completions_total") == 1


def test_health_names_each_server(service: Service) -> None:
    health = service.get("/health")
    assert health["status"] == "ok"
    assert {check["name"] for check in health["checks"]} >= {"postgres", "schema", "redis", "broker"}


def test_the_documentation_needs_nothing_from_elsewhere_and_runs_nothing(service: Service) -> None:
    page = service("GET", "/docs")
    assert page.status_code == 200
    for path in service.get("/openapi.json")["paths"]:
        assert path in page.text
    assert "<script" not in page.text
    assert not re.search(r"(?:src|href)=", page.text)
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_the_description_documents_every_error_and_names_every_route(service: Service) -> None:
    spec = service.get("/openapi.json")
    assert spec["components"]["schemas"]["Problem"]
    for path, methods in spec["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
            assert {"401", "422", "500", "503"} <= set(operation["responses"]), (method, path)
    text = str(spec)
    assert "HTTPValidationError" not in text


def test_every_schema_has_a_name_of_its_own_as_generators_of_clients_want_it(service: Service) -> None:
    schemas = service.get("/openapi.json")["components"]["schemas"]
    titles = [schema["title"] for schema in schemas.values() if "title" in schema]
    assert sorted(titles) == sorted(set(titles))
    assert [name for name in schemas if "-" in name or "__" in name] == []


# -- when a server is gone --------------------------------------------------------------------


@pytest.fixture
def without_redis(service: Service) -> Iterator[Service]:
    """The same database, and a Redis where nobody listens."""
    database = service.engine.tools.settings.database_url
    assert database is not None
    tools = build(load_settings(database_url=database.get_secret_value(), redis_url="redis://127.0.0.1:1/0"))
    with TestClient(create_app(tools), raise_server_exceptions=False) as client:
        yield Service(client, service.engine, service.secret)
    tools.database.dispose()


@pytest.mark.slow
def test_without_redis_reading_goes_on_and_starting_says_so_in_time(without_redis: Service, service: Service) -> None:
    project = service.project()
    began = time.monotonic()
    answer = without_redis("POST", f"/projects/{project['id']}/phases/crawl/run", headers={"Idempotency-Key": "k"})
    assert time.monotonic() - began < 20
    assert (answer.status_code, answer.json()["code"]) == (503, "redis_unavailable")
    assert int(answer.headers["retry-after"]) > 0
    assert without_redis.get(f"/projects/{project['id']}/crawl-history")["items"] == [], "nothing was begun"
    assert without_redis.get("/projects")["items"]
    assert without_redis("PATCH", "/hosts/example.org", json={"paused": True}).status_code == 503
    health = without_redis("GET", "/health")
    assert (health.status_code, health.json()["status"]) == (503, "failing")
    told = without_redis("GET", "/metrics").text
    assert metric(told, 'crawler_up{server="redis"}') == 0
    assert metric(told, 'crawler_up{server="postgres"}') == 1
    again = service("POST", f"/projects/{project['id']}/phases/crawl/run", headers={"Idempotency-Key": "k"})
    assert again.status_code == 202, "the failure was not remembered"


def test_a_database_that_hangs_up_is_missed_only_once(service: Service) -> None:
    engine = service.engine.tools.database
    assert service("GET", "/projects").status_code == 200
    with engine.connect() as db:
        db.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    answers = [service("GET", "/projects") for _ in range(4)]
    assert {answer.status_code for answer in answers} <= {200, 503}
    assert answers[-1].status_code == 200, "it recovers by itself"


def test_an_error_nobody_foresaw_tells_nothing_of_itself(
    service: Service, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret words")

    monkeypatch.setattr(type(service.engine.tools.store), "list_projects", breaks)
    answer = service("GET", "/projects")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert answer.headers["content-type"] == "application/problem+json"
    assert "secret" not in answer.text
    assert "ZeroDivision" not in answer.text


def test_a_limited_key_of_scope_admin_is_made_for_projects_that_exist(service: Service) -> None:
    project = service.project()
    made = service("POST", "/keys", json={"name": "k", "scope": "read", "project_ids": [project["id"]]})
    assert made.status_code == 201
    unknown = service("POST", "/keys", json={"name": "k", "project_ids": ["00000000-0000-0000-0000-000000000001"]})
    assert unknown.status_code == 404
    key, _ = ApiKey.issue(name="x", scope=Scope.READ, now=service.engine.tools.clock())
    assert service("DELETE", f"/keys/{key.id}").status_code == 404
