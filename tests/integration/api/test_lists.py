"""Lists have one shape: `items`, and a cursor that leads through all of them."""

from typing import Any

import pytest

from crawler.domain.api_keys import Scope
from crawler.entrypoints.http.cursors import encode
from tests.integration.api.conftest import Service


def walk(service: Service, path: str) -> list[dict[str, Any]]:
    found, cursor = [], None
    while True:
        part = service.get(path, limit=1, **({"cursor": cursor} if cursor else {}))
        assert len(part["items"]) <= 1
        found += part["items"]
        if (cursor := part["next_cursor"]) is None:
            return found


def furnish(service: Service) -> dict[str, str]:
    """Three of everything; paths of lists by the name their items had before."""
    project = service.project()["id"]
    for n in range(3):
        service.as_(Scope.READ)
        service("PUT", f"/categories/c{n}", json={})
        service("PATCH", f"/hosts/h{n}.example", json={"paused": True})
        service("POST", f"/projects/{project}/noise-rules", json={"kind": "selector", "value": f".n{n}"})
    rules = f"/projects/{project}/noise-rules"
    return {"keys": "/keys", "categories": "/categories", "hosts": "/hosts", "rules": rules}


def test_a_cursor_leads_through_every_list(service: Service) -> None:
    for old_name, path in furnish(service).items():
        whole = service.get(path)
        assert len(whole["items"]) >= 3, path
        assert whole["next_cursor"] is None
        assert whole[old_name] == whole["items"], "the old name stays for a release"
        assert walk(service, path) == whole["items"], path


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/keys", "/categories", "/hosts"])
def test_a_cursor_of_another_list_is_refused(service: Service, path: str) -> None:
    furnish(service)
    others = {"/keys": "/categories", "/categories": "/hosts", "/hosts": "/keys"}
    cursor = service.get(others[path], limit=1)["next_cursor"]
    answer = service("GET", path, params={"cursor": cursor})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_cursor")


@pytest.mark.parametrize("offset", ["+16:00", "-23:59", "+23:59:59.999999"])
def test_a_cursor_with_a_moment_that_postgres_cannot_read_is_refused(service: Service, offset: str) -> None:
    project = service.project()["id"]
    cursor = encode("versions", f"2026-01-01T00:00:00{offset}", project)
    answer = service("GET", f"/projects/{project}/pages/{project}/versions", params={"cursor": cursor})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_cursor")


def test_every_list_has_items_and_a_cursor(service: Service) -> None:
    description = service.get("/openapi.json")
    for path, operations in description["paths"].items():
        operation = operations.get("get")
        if operation is None or not operation["operationId"].startswith("list_"):
            continue
        shape = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        assert {"items", "next_cursor"} <= set(description["components"]["schemas"][shape]["required"]), path
