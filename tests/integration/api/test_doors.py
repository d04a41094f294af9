"""Every way into the service keeps the same rules: keys, scopes, projects and shares."""

import re
from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from crawler.domain.api_keys import Scope
from crawler.entrypoints.firecrawl.app import PREFIX, ROUTERS
from crawler.entrypoints.http.caller_shares import MOST_AT_ONCE, MOST_WAITING
from tests.integration.api.conftest import Service

STRANGER = "testclient"


def door_routes() -> Iterator[tuple[str, str]]:
    """Method and path of each route at /v2, with ids of nothing."""
    for route in (route for module in ROUTERS for route in module.router.routes):
        if isinstance(route, APIRoute):
            path = PREFIX + re.sub(r"\{[^}]+\}", str(uuid4()), route.path)
            yield from ((method, path) for method in sorted(route.methods or ()))


def api_of(service: Service) -> FastAPI:
    app = service.client.app
    assert isinstance(app, FastAPI)
    return app


def ask(service: Service, method: str, path: str, secret: str | None = None) -> int:
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    return service.client.request(method, path, headers=headers, json={}).status_code


def test_every_route_of_the_door_keeps_strangers_out_and_readers_from_changing(service: Service) -> None:
    reader = service.as_(Scope.READ).secret
    routes = list(door_routes())
    assert len(routes) > 30
    for method, path in routes:
        assert ask(service, method, path) == 401, path
        if method != "GET":
            assert ask(service, method, path, reader) == 403, path


def test_a_limited_key_finds_nothing_of_others_behind_the_door(service: Service) -> None:
    own, other = service.project(), service.project(name="other")
    limited = service.as_(Scope.WRITE, own["id"])
    service("PUT", f"/projects/{other['id']}/schedule", json={"enabled": True, "frequency": "daily"})
    crawl = service.engine.tools.crawls.start(UUID(other["id"]))
    where = f"/v2/monitor/{other['id']}"
    for method, path in (
        ("GET", where), ("PATCH", where), ("DELETE", where), ("POST", f"{where}/run"), ("GET", f"{where}/checks"),
        ("GET", f"{where}/checks/{crawl.id}"), ("GET", f"/v2/crawl/{crawl.id}"), ("DELETE", f"/v2/crawl/{crawl.id}"),
        ("GET", f"/v2/batch/scrape/{crawl.id}/errors"),
    ):  # fmt: skip
        assert ask(service, method, path, limited.secret) == 404, path
    headers = {"Authorization": f"Bearer {limited.secret}"}
    assert service.client.get("/v2/monitor", headers=headers).json()["data"] == []
    assert service.client.get("/v2/crawl/active", headers=headers).json()["crawls"] == []


@pytest.mark.parametrize(
    ("path", "is_stranger"),
    [
        ("/api/v1/projects", False),
        ("/v2/concurrency-check", False),
        ("/feeds/crf_x.atom", True),
        ("/act/x", True),
        ("/login", True),
    ],
)
def test_who_has_too_much_under_way_is_refused_at_every_door(service: Service, path: str, is_stranger: bool) -> None:
    """All doors take their threads from the same few."""
    key = service.engine.tools.store.find_key(service.secret)
    assert key is not None
    shares, who = api_of(service).state.shares, STRANGER if is_stranger else key.id
    service.client.cookies.clear()
    held = [shares.enter(who) for _ in range(MOST_AT_ONCE + MOST_WAITING)]
    try:
        assert ask(service, "GET", path, service.secret) == 503
    finally:
        for share in held:
            shares.leave(who, share)
    assert ask(service, "GET", path, service.secret) in (200, 404)


@pytest.mark.parametrize(
    "more",
    [
        {"maxConcurrency": 10**30},
        {"scrapeOptions": {"formats": [{"type": "markdown", "modes": ["\0"]}]}},
        {"scrapeOptions": {"formats": [{"type": "markdown", "modes": ["x" * 51]}]}},
        {"unknown\0": 1},
    ],
)
def test_what_cannot_be_kept_is_refused_at_the_door(service: Service, more: dict[str, object]) -> None:
    headers = {"Authorization": f"Bearer {service.secret}"}
    answer = service.client.post("/v2/crawl", headers=headers, json={"url": "http://example.org/", **more})
    assert (answer.status_code, answer.json()["success"]) == (400, False), answer.text
