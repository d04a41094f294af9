"""What makes no sense at /v2 is refused in Firecrawl's shape, with its statuses, and leaves nothing behind."""

from typing import Any

import requests

from tests.integration.firecrawl.conftest import Door
from tests.site.client import Site

JOB = "01a1e455-0000-7000-8000-000000000000"
URL = "http://example.org/"
TARGET = {"type": "crawl", "url": URL}
MONITOR = {"name": "X", "schedule": {"text": "hourly"}, "targets": [TARGET]}
PAIR = [TARGET, {"type": "crawl", "url": "http://example.com/", "crawlOptions": {"maxDiscoveryDepth": 1}}]
CASES: list[tuple[str, str, Any, int]] = [
    ("POST", "/scrape", {}, 400),
    ("POST", "/scrape", [], 400),
    ("POST", "/scrape", b"{", 400),
    ("POST", "/scrape", {"url": "ftp://example.org/"}, 400),
    ("POST", "/scrape", {"url": URL, "formats": ["json"]}, 501),
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
    ("POST", "/crawl", {"url": URL, "webhook": {"url": 7}}, 400),
    ("POST", "/crawl", {"url": URL, "webhook": {"url": URL, "headers": {"Host": "x"}}}, 400),
    ("POST", "/crawl", {"url": URL, "webhook": {"url": URL, "metadata": {"x": {"y": 1}}}}, 400),
    ("POST", "/batch/scrape", {"urls": []}, 400),
    ("POST", "/batch/scrape", {"urls": ["no url"]}, 400),
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
    ("POST", "/monitor", {**MONITOR, "targets": [{"type": "search", "queries": ["x"]}]}, 501),
    ("POST", "/monitor", {**MONITOR, "schedule": {"cron": "61 * * * *"}}, 400),
    ("POST", "/monitor", {**MONITOR, "schedule": {"text": "hourly", "timezone": "Moon/Far"}}, 400),
    ("POST", "/monitor", {**MONITOR, "webhook": {"url": "ftp://example.org/"}}, 400),
    ("GET", f"/monitor/{JOB}", None, 404),
    ("GET", f"/monitor/{JOB}/checks/x", None, 404),
    ("POST", "/extract", {}, 501),
    ("GET", "/nothing", None, 404),
    ("PUT", "/scrape", {}, 405),
]


def test_each_is_refused_in_their_shape_and_leaves_nothing(door: Door, site: Site) -> None:
    headers = {"Authorization": f"Bearer {door.secret}", "Content-Type": "application/json"}
    told = []
    for method, path, body, _ in CASES:
        sent = {"data": body} if isinstance(body, bytes) else {"json": body}
        answer = requests.request(method, f"{door.address}/v2{path}", headers=headers, timeout=30, **sent)
        shape = answer.json()
        assert (shape["success"], bool(shape["error"]), bool(shape["code"])) == (False, True, True), (path, body)
        told.append((method, path, body, answer.status_code))
    assert told == CASES
    kept = "SELECT 1 FROM crawl_jobs UNION SELECT 1 FROM crawl_schedules UNION SELECT 1 FROM door_jobs"
    assert door.engine.rows(kept) == []
    assert door.engine.rows("SELECT name FROM projects WHERE name = 'X'") == []


def test_nothing_is_reachable_without_a_key(door: Door) -> None:
    for method, path, body, _ in CASES:
        sent = {} if isinstance(body, bytes) else {"json": body}
        answer = requests.request(method, f"{door.address}/v2{path}", timeout=30, **sent)
        assert (answer.status_code, answer.json()["success"]) == (401, False), path
