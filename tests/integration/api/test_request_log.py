"""A line for each request, with ids by which it is found again, and nothing secret in it."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from crawler.telemetry import configure_logs
from tests.integration.api.conftest import Service


@pytest.fixture
def logged(service: Service) -> Iterator[io.StringIO]:
    """What the service's own loggers write; the test's HTTP client has one, too."""
    root, text = logging.getLogger(), io.StringIO()
    handlers, level = root.handlers[:], root.level
    configure_logs("info", as_json=True)
    (ours,) = root.handlers
    assert isinstance(ours, logging.StreamHandler)
    ours.setStream(text)
    ours.addFilter(lambda record: record.name.startswith("crawler"))
    logging.getLogger("crawler").setLevel("DEBUG")
    yield text
    logging.getLogger("crawler").setLevel("NOTSET")
    root.handlers[:] = handlers
    root.setLevel(level)


def lines(text: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.getvalue().splitlines()]


def test_each_request_is_logged_with_its_id_and_what_it_names(service: Service, logged: io.StringIO) -> None:
    project, crawl = service.project()["id"], uuid4()
    logged.truncate(0)
    logged.seek(0)
    answer = service("GET", f"/projects/{project}", headers={"X-Request-Id": "mine-1"})
    assert answer.headers["x-request-id"] == "mine-1"
    assert service("GET", f"/crawl/{crawl}/urls").status_code == 404
    first, second = [line for line in lines(logged) if line["event"] == "request"]
    assert (first["request_id"], first["project_id"], first["status"]) == ("mine-1", project, 200)
    assert (first["method"], first["path"], first["level"]) == ("GET", f"/api/v1/projects/{project}", "info")
    assert first["ms"] > 0
    assert (second["crawl_id"], second["status"]) == (str(crawl), 404)
    assert second["request_id"] not in ("mine-1", "")


def test_what_is_logged_on_the_way_carries_the_same_ids(service: Service, logged: io.StringIO) -> None:
    stranger = Service(service.client, service.engine, "crk_wrong")
    answer = stranger("GET", f"/crawl/{(crawl := uuid4())}")
    (refused,) = [line for line in lines(logged) if line["event"] == "key_refused"]
    assert (refused["request_id"], refused["crawl_id"]) == (answer.headers["x-request-id"], str(crawl))


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, "a\tb", "<script>"])
def test_an_id_that_could_spoil_a_log_is_replaced(service: Service, given: str) -> None:
    answer = service("GET", "/projects", headers={"X-Request-Id": given})
    assert len(answer.headers["x-request-id"]) == 32


def test_neither_queries_nor_keys_are_logged_and_machines_that_poll_only_for_debugging(
    service: Service, logged: io.StringIO
) -> None:
    service("GET", "/projects", params={"cursor": "hunter2", "key": service.secret})
    service("GET", "/health/live")
    text = logged.getvalue()
    assert service.secret not in text
    assert "hunter2" not in text
    polled = [json.loads(line) for line in text.splitlines() if "/health/live" in line]
    assert [line["level"] for line in polled] == ["debug"]


@pytest.mark.parametrize("path", ["/act/{}", "/feeds/{}.atom", "/feeds/{}/more"])
def test_an_address_that_opens_something_is_logged_without_what_opens_it(
    service: Service, logged: io.StringIO, path: str
) -> None:
    service.client.get(path.format("crf_opens-something"), headers={"Authorization": ""})
    (line,) = [line for line in lines(logged) if line["event"] == "request"]
    assert line["path"] == path.partition("{")[0] + "…"
    assert "opens-something" not in logged.getvalue()
