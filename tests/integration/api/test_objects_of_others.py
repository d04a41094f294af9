"""What belongs to one project cannot be read or changed by way of another, whoever knows its id."""

from typing import Any

import pytest

from crawler.domain.api_keys import Scope
from tests.integration.api.conftest import Service
from tests.site.client import Site

MADE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "noise-rules": ({"kind": "numbers"}, {"PATCH": {"enabled": False}, "DELETE": None}),
    "watch-rules": (
        {"products": True},
        {"GET": None, "PUT": {"watch": ["h1"]}, "PATCH": {"enabled": False}, "DELETE": None},
    ),
    "recipients": (
        {"channel": "email", "address": "theirs@example.org"},
        {"GET": None, "PUT": {"channel": "email", "address": "mine@example.org"}, "DELETE": None},
    ),
    "mutes": ({"page": "https://example.org/news", "until": "2036-01-01T00:00:00Z"}, {"DELETE": None}),
}


@pytest.mark.parametrize("kind", MADE)
def test_an_id_of_another_project_is_as_unknown_as_any(service: Service, kind: str) -> None:
    mine, theirs = service.project(name="Mine")["id"], service.project(name="Theirs")["id"]
    body, requests = MADE[kind]
    made = service("POST", f"/projects/{theirs}/{kind}", json=body)
    assert made.status_code == 201, made.text
    caller = service.as_(Scope.WRITE, mine)
    for method, sent in requests.items():
        for project in (mine, theirs):
            answer = caller(method, f"/projects/{project}/{kind}/{made.json()['id']}", json=sent)
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), (method, project)
    assert service.get(f"/projects/{theirs}/{kind}")["items"] == [made.json()], "it is as it was"


def test_a_page_and_a_crawl_of_another_project_are_as_unknown_as_any(service: Service, site: Site) -> None:
    mine, crawl = service.project(name="Mine")["id"], service.engine.crawl(site.url(), max_pages=2)
    page = service.get(f"/projects/{crawl.project_id}/pages")["items"][0]["id"]
    caller = service.as_(Scope.WRITE, mine)
    for part in ("", "/versions", "/diff", "/markdown", "/snapshot", "/screenshot"):
        assert caller("GET", f"/projects/{mine}/pages/{page}{part}").status_code == 404, part
    assert caller("GET", f"/projects/{mine}/crawl-history/{crawl.id}/changes").status_code == 404
