"""Health tells whether queues are consumed, and calls the service itself well all the same."""

import time
from typing import Any

from tests.integration.api.conftest import Service


def checks(service: Service) -> dict[str, dict[str, Any]]:
    health = service.get("/health")
    assert health["status"] == "ok", "no worker elsewhere makes this service ill"
    return {check["name"]: check for check in health["checks"]}


def test_a_queue_that_is_consumed_says_since_when(service: Service) -> None:
    book, now = service.engine.tools.operating.canaries, time.time()
    book.record_sent("fetch", now - 3, again=False)
    book.record_run("fetch", now - 2)
    check = checks(service)["queue fetch"]
    assert check["ok"]
    assert "consumed" in check["message"]


def test_a_queue_that_nobody_consumes_is_named_with_its_remedy(service: Service) -> None:
    book, now = service.engine.tools.operating.canaries, time.time()
    book.record_run("render", now - 1000)
    book.record_sent("render", now - 300, again=False)
    book.record_sent("render", now - 10, again=True)
    check = checks(service)["queue render"]
    assert not check["ok"]
    assert "for 300 s" in check["message"] or "for 301 s" in check["message"]
    assert "-Q render" in check["fix"]


def test_without_a_coordinator_nobody_knows(service: Service) -> None:
    book, now = service.engine.tools.operating.canaries, time.time()
    book.record_sent("fetch", now - 1000, again=False)
    book.record_run("fetch", now - 999)
    for queue in ("fetch", "ingest"):
        check = checks(service)[f"queue {queue}"]
        assert not check["ok"]
        assert "coordinator" in check["fix"]


def test_a_first_canary_on_its_way_alarms_nobody(service: Service) -> None:
    service.engine.tools.operating.canaries.record_sent("fetch", time.time() - 5, again=False)
    assert checks(service)["queue fetch"]["ok"]
