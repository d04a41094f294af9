"""Credentials of a project go with its single pages, maps and jobs to their origin, and nowhere else."""

import json
from typing import Any

import pytest
import requests

from crawler.domain.api_keys import Scope
from tests.integration.api.test_scrape import Desk, desk
from tests.integration.handmade import page
from tests.integration.hosts.test_credentials import Pages, asked, give, moved, place, sitemap, text, told
from tests.integration.working import working

__all__ = ["desk"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v1/scrape", {}),
        ("/api/v1/map", {}),
        ("/v2/scrape", {"maxAge": 0}),
        ("/v2/map", {}),
        ("/mcp", {"name": "scrape_page"}),
    ],
)
def test_every_door_takes_them_to_their_origin_only(desk: Desk, path: str, body: dict[str, Any]) -> None:
    here: Pages = {}
    strange: Pages = {}
    with place(here) as own, place(strange, "127.0.0.2") as other:
        here |= {"/": page("/a"), "/a": page(), "/out": moved(other.url("/landed"))}
        here["/robots.txt"] = text(f"Sitemap: {own.url('/s.xml')}\nSitemap: {other.url('/s.xml')}\n")
        here["/s.xml"] = strange["/s.xml"] = sitemap(own.url("/a"), other.url("/landed"))
        strange |= {"/": page(own.url("/a")), "/landed": page(own.url("/a"))}
        project = desk.engine.project(own.url(), delay_seconds=0)
        give(desk.engine, project.id, own.url())
        secret = desk.key(Scope.WRITE, project.id)
        with working(desk.engine):
            for url in (own.url(), own.url("/out"), other.url()):
                ask(desk, path, secret, {**body, "url": url})
    assert told(own) == asked(own) != []
    assert asked(other) != []
    assert told(other) == []


def ask(desk: Desk, path: str, secret: str, body: dict[str, Any]) -> None:
    headers = {"Authorization": f"Bearer {secret}"}
    if path == "/mcp":
        headers["Accept"] = "application/json, text/event-stream"
        given = {"name": body.pop("name"), "arguments": body}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": given}
    answer = requests.post(f"{desk.address}{path}", json=body, headers=headers, timeout=60)
    assert answer.status_code in (200, 422), answer.text
    assert "hunter2" not in json.dumps(answer.json())
