"""Credentials over HTTP: stored, listed by origin and name, removed; a value is never in an answer."""

from typing import Any
from uuid import uuid4

import pytest
from cryptography.fernet import Fernet
from structlog.testing import capture_logs

from crawler.adapters.postgres.credential_store import CredentialStore
from crawler.adapters.postgres.secret_box import SecretBox
from crawler.domain.api_keys import Scope
from crawler.domain.hosts.credentials import MAX_ORIGINS
from tests.integration.api.conftest import Service

SECRET = "hunter2-of-the-test"
ORIGIN = "https://example.org"


def path_of(service: Service) -> str:
    return f"/projects/{service.project()['id']}/credentials"


def credential(kind: str = "header", name: str | None = "X-Key", **more: Any) -> dict[str, Any]:
    return {"origin": ORIGIN, "kind": kind, "name": name, "value": SECRET, **more}


def listed(service: Service, path: str) -> list[tuple[str, str, str]]:
    return [(one["origin"], one["kind"], one["name"]) for one in service.get(path)["items"]]


def test_they_are_set_listed_by_origin_and_name_replaced_and_removed(service: Service) -> None:
    path = path_of(service)
    assert service.get(path) == {"items": [], "next_cursor": None}
    made = service("PUT", path, json=credential(origin="https://EXAMPLE.org:443/login?next=/"))
    assert made.status_code == 200
    shown = made.json()
    assert {name: shown[name] for name in ("origin", "kind", "name")} == {
        "origin": ORIGIN, "kind": "header", "name": "X-Key",
    }  # fmt: skip
    assert set(shown) == {"origin", "kind", "name", "updated_at"}
    assert service("PUT", path, json=credential(name="x-key", value="another")).status_code == 200
    assert service("PUT", path, json=credential("cookie", "sid")).status_code == 200
    assert service("PUT", path, json=credential("basic_auth", None, value=f"me:{SECRET}")).status_code == 200
    assert service("PUT", path, json=credential("cookie", "sid", origin="http://example.org:8080")).status_code == 200
    assert listed(service, path) == [
        ("http://example.org:8080", "cookie", "sid"),
        (ORIGIN, "header", "x-key"),
        (ORIGIN, "cookie", "sid"),
        (ORIGIN, "basic_auth", "Authorization"),
    ]
    assert service("DELETE", path, params={"origin": ORIGIN, "kind": "header", "name": "X-KEY"}).status_code == 204
    assert service("DELETE", path, params={"origin": ORIGIN, "kind": "basic_auth"}).status_code == 204
    assert listed(service, path) == [("http://example.org:8080", "cookie", "sid"), (ORIGIN, "cookie", "sid")]
    assert service("DELETE", path, params={"origin": "http://example.org:8080"}).status_code == 204
    assert listed(service, path) == [(ORIGIN, "cookie", "sid")]
    for gone in (
        {"origin": "http://example.org:8080"},
        {"origin": ORIGIN, "kind": "header", "name": "X-Key"},
        {"origin": "https://other.example", "kind": "cookie", "name": "sid"},
    ):
        assert service("DELETE", path, params=gone).status_code == 404


@pytest.mark.quick(5)
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"value": f"{SECRET}\r\nX-More: 1"}, "cannot be sent"),
        ({"value": ""}, "value"),
        ({"value": SECRET * 1000}, "value"),
        ({"value": [SECRET]}, "value"),
        ({"name": "X Key"}, "its name"),
        ({"name": "Host"}, "set by the crawler itself"),
        ({"name": None}, "needs a name"),
        ({"kind": "cookie", "value": f"{SECRET}; admin=1"}, "semicolon"),
        ({"kind": "basic_auth", "value": SECRET}, "user:password"),
        ({"kind": SECRET}, "kind"),
        ({"origin": f"https://me:{SECRET}@example.org"}, "user name or password"),
        ({"origin": "example.org"}, "must begin"),
        ({"origin": "ftp://example.org"}, "http"),
        ({SECRET: 1}, "Extra"),
    ],
)
def test_what_cannot_be_stored_is_refused_without_the_value(
    service: Service, given: dict[str, Any], words: str
) -> None:
    path = path_of(service)
    with capture_logs() as logs:
        answer = service("PUT", path, json={**credential(), **given})
    assert answer.status_code == 422
    assert words in answer.text
    if SECRET not in given:  # a name of a field is told
        assert SECRET not in answer.text
    assert SECRET not in str(logs)
    assert service.get(path)["items"] == []


@pytest.mark.slow
def test_no_answer_of_the_service_has_a_value(service: Service) -> None:
    project = service.project()
    path = f"/projects/{project['id']}/credentials"
    with capture_logs() as logs:
        answers = [
            service("PUT", path, json=credential()),
            service("PUT", path, json=credential("cookie", "sid")),
            service("GET", path),
            service("GET", f"/projects/{project['id']}"),
            service("GET", "/projects"),
            service("PATCH", f"/projects/{project['id']}", json={"website_url": "https://other.example/"}),
            service("GET", path),
            service("GET", "/openapi.json"),
        ]
    assert {answer.status_code for answer in answers} == {200}
    assert SECRET not in "".join(answer.text for answer in answers)
    assert SECRET not in str(logs)
    assert listed(service, path) == [(ORIGIN, "header", "X-Key"), (ORIGIN, "cookie", "sid")], "they did not move"


def test_a_header_is_not_sent_twice(service: Service) -> None:
    path = path_of(service)
    for one, other in (
        (credential(name="Authorization"), credential("basic_auth", None, value="me:x")),
        (credential("cookie", "sid"), credential(name="cookie")),
    ):
        assert service("PUT", path, json=one).status_code == 200
        refused = service("PUT", path, json=other)
        assert refused.status_code == 409
        assert "exclude each other" in refused.text


def test_origins_are_limited(service: Service) -> None:
    path = path_of(service)
    for n in range(MAX_ORIGINS):
        assert service("PUT", path, json=credential(origin=f"https://{n}.example")).status_code == 200
    assert service("PUT", path, json=credential(origin="https://more.example")).status_code == 409
    assert service("PUT", path, json=credential("cookie", "sid", origin="https://1.example")).status_code == 200


def test_foreign_projects_and_readers_cannot_change_them(service: Service) -> None:
    mine, other = service.project(name="Mine")["id"], service.project(name="Other")["id"]
    reader, writer = service.as_(Scope.READ, mine), service.as_(Scope.WRITE, mine)
    own, foreign = f"/projects/{mine}/credentials", f"/projects/{other}/credentials"
    assert reader("PUT", own, json=credential()).status_code == 403
    assert reader("DELETE", own, params={"origin": ORIGIN}).status_code == 403
    assert writer("PUT", own, json=credential()).status_code == 200
    assert listed(reader, own) == [(ORIGIN, "header", "X-Key")]
    for method, options in (("GET", {}), ("PUT", {"json": credential()}), ("DELETE", {"params": {"origin": ORIGIN}})):
        assert writer(method, foreign, **options).status_code == 404
        assert service(method, f"/projects/{uuid4()}/credentials", **options).status_code == 404


def test_those_of_another_key_are_listed_as_such_and_can_only_be_removed(service: Service) -> None:
    path, tools = path_of(service), service.engine.tools
    assert service("PUT", path, json=credential()).status_code == 200
    other = SecretBox(Fernet.generate_key().decode())
    tools.projects.credentials._store = CredentialStore(tools.database, lambda: other)
    (item,) = service.get(path)["items"]
    assert (item["origin"], item["kind"], item["name"]) == (ORIGIN, None, "")
    refused = service("PUT", path, json=credential("cookie", "sid"))
    assert refused.status_code == 409
    assert "another key" in refused.text
    assert service("DELETE", path, params={"origin": ORIGIN}).status_code == 204
    assert service("PUT", path, json=credential("cookie", "sid")).status_code == 200
