"""Health judges the browser by the workers that announced themselves, whatever is installed where the service runs."""

from pathlib import Path
from typing import Any

import pytest

from crawler.adapters.operating.live_workers import WorkerState
from tests.integration.api.conftest import Service


def browser(service: Service) -> dict[str, Any]:
    health = service.get("/health")
    assert health["status"] == "ok", "pages are stored as fetched without a browser"
    (found,) = [check for check in health["checks"] if check["name"] == "browser"]
    return dict(found)


def test_a_worker_elsewhere_that_can_render_is_enough(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.adapters.browser.fetcher.find_spec", lambda _: None)
    monkeypatch.setattr("crawler.entrypoints.doctor.find_chromium", lambda _: None)
    workers = service.engine.tools.operating.live_workers
    workers.announce("render@a", ["render"])
    workers.announce("render@b", ["render"], WorkerState("The browser ended at once: no library"))
    check = browser(service)
    assert (check["ok"], check["message"]) == (True, "1 of 2 render workers can render pages.")


def test_a_browser_beside_the_service_helps_nobody(service: Service, tmp_path: Path) -> None:
    check = browser(service)
    assert (check["ok"], check["required"]) == (False, False)
    assert check["message"] == "No render worker is there; pages stay as they are fetched."
    assert "-Q render" in check["fix"]


def test_workers_that_cannot_render_are_told_with_their_reason(service: Service) -> None:
    lack = WorkerState("/data belongs to user 0; run as that user or set CRAWLER_DATA_DIR to another directory.")
    service.engine.tools.operating.live_workers.announce("render@a", ["render"], lack)
    check = browser(service)
    assert not check["ok"]
    assert check["message"] == "/data belongs to user 0; pages stay as they are fetched."
    assert check["fix"] == "Run as that user or set CRAWLER_DATA_DIR to another directory."
