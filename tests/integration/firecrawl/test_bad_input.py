"""What makes no sense at /v2 is refused in Firecrawl's shape, with its statuses, and leaves nothing behind."""

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
import requests
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from crawler.domain.api_keys import Scope
from crawler.entrypoints.firecrawl.app import ROUTERS
from crawler.entrypoints.http import failed_logins
from tests.integration.firecrawl.conftest import Door, issued
from tests.site.client import Site

JOB = "01a1e455-0000-7000-8000-000000000000"
URL = "http://example.org/"
OLD = "/.."
"""Before a path that is beside /v2."""
TARGET = {"type": "crawl", "url": URL}
MONITOR = {"name": "X", "schedule": {"text": "hourly"}, "targets": [TARGET]}
PAIR = [TARGET, {"type": "crawl", "url": "http://example.com/", "crawlOptions": {"maxDiscoveryDepth": 1}}]
CASES: list[tuple[str, str, Any, int]] = [
    ("POST", "/scrape", {}, 400),
    ("POST", "/scrape", [], 400),
    ("POST", "/scrape", b"{", 400),
    ("POST", "/scrape", {"url": "ftp://example.org/"}, 400),
    ("POST", "/scrape", {"url": URL, "formats": ["json"]}, 501),
    ("POST", "/scrape", {"url": URL, "formats": ["bogus"]}, 400),
    ("POST", "/scrape", {"url": URL, "zeroDataRetention": True}, 501),
    ("POST", "/scrape", {"url": URL, "redactPII": True}, 501),
    ("POST", "/scrape", b'{"url": "%s"}' % (b"x" * 5_000_000), 413),
    ("POST", "/scrape", {"url": URL, "x": [0] * 50_001}, 413),
    ("POST", "/scrape", {"url": URL, "actions": [{"type": "click"}]}, 501),
    ("POST", "/scrape", {"url": URL, "headers": {"X": "a\r\nb"}}, 400),
    ("POST", "/map", {"url": "x" * 3000}, 400),
    ("POST", "/map", {"url": URL, "sitemap": "perhaps"}, 400),
    ("POST", "/search", {"query": " "}, 400),
    ("POST", "/search", {"query": "x", "limit": 0}, 400),
    ("POST", "/crawl", {"url": URL, "limit": -1}, 400),
    ("POST", "/crawl", {"url": URL, "includePaths": ["(?=x)"]}, 400),
    ("POST", "/crawl", {"url": URL, "allowExternalLinks": True}, 501),
    ("POST", "/crawl", {"url": URL, "ignoreRobotsTxt": True}, 501),
    ("POST", "/crawl", {"url": URL, "zeroDataRetention": True}, 501),
    ("POST", "/crawl", {"url": URL, "webhook": {"url": 7}}, 400),
    ("POST", "/crawl", {"url": URL, "webhook": {"url": URL, "events": ["bogus"]}}, 400),
    ("POST", "/crawl", {"url": URL, "webhook": {"url": URL, "headers": {"Host": "x"}}}, 400),
    ("POST", "/crawl", {"url": URL, "webhook": {"url": URL, "metadata": {"x": {"y": 1}}}}, 400),
    ("POST", "/batch/scrape", {"urls": []}, 400),
    ("POST", "/batch/scrape", {"urls": ["no url"]}, 400),
    ("POST", "/batch/scrape", {"urls": [URL], "zeroDataRetention": True}, 501),
    ("POST", "/batch/scrape", {"urls": [URL] * 1001}, 400),
    ("POST", "/batch/scrape", {"urls": [URL], "appendToId": JOB}, 501),
    ("GET", "/crawl/nobody", None, 404),
    ("GET", f"/crawl/{JOB}", None, 404),
    ("GET", f"/batch/scrape/{JOB}/errors", None, 404),
    ("DELETE", f"/crawl/{JOB}", None, 404),
    ("POST", "/monitor", {**MONITOR, "targets": []}, 400),
    ("POST", "/monitor", {**MONITOR, "targets": [{"type": "crawl"}]}, 400),
    ("POST", "/monitor", {**MONITOR, "targets": [{"type": "scrape", "urls": ["no url"]}]}, 400),
    ("POST", "/monitor", {**MONITOR, "targets": PAIR}, 400),
    ("POST", "/monitor", {**MONITOR, "targets": [{**TARGET, "scrapeOptions": {"formats": ["json"]}}]}, 501),
    ("POST", "/monitor", {**MONITOR, "targets": [{"type": "search", "queries": ["x"]}]}, 501),
    ("POST", "/monitor", {**MONITOR, "schedule": {"cron": "61 * * * *"}}, 400),
    ("POST", "/monitor", {**MONITOR, "schedule": {"text": "hourly", "timezone": "Moon/Far"}}, 400),
    ("POST", "/monitor", {**MONITOR, "webhook": {"url": "ftp://example.org/"}}, 400),
    ("GET", f"/monitor/{JOB}", None, 404),
    ("GET", f"/monitor/{JOB}/checks/x", None, 404),
    ("POST", "/extract", {}, 501),
    ("GET", "/nothing", None, 404),
    ("PUT", "/scrape", {}, 405),
    ("POST", OLD + "/v1/scrape", {"url": URL}, 501),
    ("GET", OLD + "/v1/crawl/x", None, 501),
    ("POST", OLD + "/v0/scrape", {"url": URL}, 501),
    ("GET", "", None, 404),
]


@pytest.mark.slow
def test_each_is_refused_in_their_shape_and_leaves_nothing(door: Door, site: Site) -> None:
    headers = {"Authorization": f"Bearer {door.secret}", "Content-Type": "application/json"}
    told = []
    for method, path, body, _ in CASES:
        sent = {"data": body} if isinstance(body, bytes) else {"json": body}
        url = door.address + f"/v2{path}".replace(f"/v2{OLD}", "")
        answer = requests.request(method, url, headers=headers, timeout=30, **sent)
        shape = answer.json()
        assert (shape["success"], bool(shape["error"]), bool(shape["code"])) == (False, True, True), (path, body)
        told.append((method, path, body, answer.status_code))
    assert told == CASES
    kept = "SELECT 1 FROM crawl_jobs UNION SELECT 1 FROM crawl_schedules UNION SELECT 1 FROM door_jobs"
    assert door.engine.rows(kept) == []
    assert door.engine.rows("SELECT name FROM projects WHERE name = 'X'") == []


def every_route() -> Iterator[tuple[str, str]]:
    """All that the door offers, by its own list; a route that is added later is tried, too."""
    for module in ROUTERS:
        for route in module.router.routes:
            path = re.sub(r"\{[^}]*\}", JOB, route.path)
            yield min(getattr(route, "methods", None) or {"WS"}), path


def test_nothing_is_reachable_without_a_key(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failed_logins, "MOST_FAILURES", 1000)
    reader = issued(door.engine, Scope.READ)
    gone = issued(door.engine, Scope.WRITE)
    door.engine.tools.store.revoke_key(key_id(door, gone), door.engine.tools.clock())
    tried = 0
    for method, path in every_route():
        url = f"{door.address}/v2{path}"
        if method == "WS":
            for secret in (None, "crk_wrong", gone):
                assert socket_status(url, secret) == 401, path
            continue
        for key in (
            {},
            {"Authorization": "Bearer crk_wrong"},
            {"Authorization": f"Bearer {gone}"},
            {"X-Api-Key": gone},
        ):
            answer = requests.request(method, url, headers=key, timeout=30)
            assert (answer.status_code, answer.json()["success"]) == (401, False), path
        answer = requests.request(method, url, headers={"Authorization": f"Bearer {reader}"}, json={}, timeout=30)
        assert (answer.status_code == 403) == (method not in ("GET", "HEAD")), (method, path)
        tried += 1
    assert tried > 35


def socket_status(url: str, secret: str | None) -> int:
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    try:
        connect(url.replace("http", "ws", 1), additional_headers=headers, proxy=None).close()
    except InvalidStatus as exc:
        return exc.response.status_code
    return 101


def key_id(door: Door, secret: str) -> UUID:
    key = door.engine.tools.store.find_key(secret)
    assert key is not None
    return key.id
