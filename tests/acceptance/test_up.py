"""`crawler up`: everything runs, what dies comes back, and all of it ends when asked."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psutil
import pytest
import requests

from tests.acceptance.cli import Cli
from tests.acceptance.running import Running, eventually, free_port, until, words_of, workers
from tests.site.client import Site

WATCH = Path(__file__).parents[2] / "docs" / "examples" / "watch.py"
SERVICE = "crawler.entrypoints.api"
pytestmark = pytest.mark.timeout(300)


def get(url: str, key: str = "") -> int:
    try:
        return requests.get(url, headers={"Authorization": f"Bearer {key}"}, timeout=30).status_code
    except requests.ConnectionError:
        return 0


@pytest.mark.slow
def test_the_whole_stack_runs_heals_and_stops(tmp_path: Path) -> None:
    """One stack for all of it, because starting one takes longer than what is asked of it here."""
    data, port, flower = tmp_path / "data", free_port(), free_port()
    cli = Cli(data, CRAWLER_FLOWER_PORT=str(flower), CRAWLER_EGRESS_ALLOW="127.0.0.0/8")
    command = cli.start_cold("up", "--port", str(port))
    try:
        told = " ".join(" ".join(until(command.stdout, "Ctrl-C")).split())
        up = Running(cli, command, port, flower)
        it_says_where_everything_is(up, told)
        strangers_are_told_nothing(up)
        for name in ("control", "compare", "notify", "fetch", "render"):
            eventually(partial(workers, up.process, name), 60, f"{name} runs")
        a_killed_worker_comes_back(up)
        with Site(tmp_path, hosts=1, pages=40) as site:
            a_site_is_crawled_over_http_although_the_service_is_killed(up, site)
        only_loopback_is_listened_on(up)
        everything_stops(up)
    finally:
        if command.poll() is None:
            command.kill()
            command.communicate()


def it_says_where_everything_is(up: Running, told: str) -> None:
    data = up.cli.data_dir
    for words in (
        f"dashboard {up.address}/login#crt_",
        f"health {up.address}/api/v1/health",
        f"metrics {up.address}/api/v1/metrics",
        f"Flower {up.flower}/",
        f"key {data / 'api-key'}",
        f"logs {data / 'logs'}",
        "Ctrl-C stops everything",
    ):
        assert words in told, told
    assert "celery@" not in told, "banners go to the logs"
    assert " ready." in up.log("control")
    assert get(f"{up.address}/api/v1/health/live") == 200, "it says so when it is true"
    assert (data / "api-key").stat().st_mode & 0o777 == 0o600
    eventually(lambda: get(f"{up.flower}/") == 200, 60, "Flower answers")
    for foreign in ({"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://evil.example"}):
        assert requests.get(f"{up.flower}/", headers=foreign, timeout=30).status_code == 403, foreign


def strangers_are_told_nothing(up: Running) -> None:
    service = f"{up.address}/api/v1"
    assert get(f"{service}/health") == 401
    assert get(f"{service}/health", "wrong") == 401
    assert get(f"{service}/metrics") == 401
    assert get(f"{service}/no/such/path") == 401, "an unknown path tells a stranger nothing"
    assert get(f"{service}/health", up.key) == 200
    assert get(f"{service}/metrics", up.key) == 200


def a_killed_worker_comes_back(up: Running) -> None:
    (victim,) = workers(up.process, "fetch")
    os.kill(victim.pid, signal.SIGKILL)
    eventually(
        lambda: [p.pid for p in workers(up.process, "fetch")] not in ([], [victim.pid]), 60, "a dead worker comes back"
    )


@contextmanager
def watching(up: Running, project: str) -> "Iterator[subprocess.Popen[str]]":
    """With `docs/examples/watch.py`, from the beginning."""
    words, env = (f"ws://127.0.0.1:{up.port}", project, "0"), {**os.environ, "CRAWLER_API_KEY": up.key}
    with subprocess.Popen([sys.executable, WATCH, *words], env=env, stdout=subprocess.PIPE, text=True) as watcher:
        try:
            yield watcher
        finally:
            watcher.kill()


def a_site_is_crawled_over_http_although_the_service_is_killed(up: Running, site: Site) -> None:
    project = up("POST", "/projects", {"name": "Site", "website_url": site.url()}, status=201)["id"]
    with watching(up, project) as watcher:
        options = {"delay_seconds": 0.1, "render": "never", "max_pages": 100}
        crawl = up("POST", f"/projects/{project}/phases/crawl/run", options, status=202)["crawl_id"]
        refused = up("POST", f"/projects/{project}/phases/crawl/run", status=409)
        assert refused["crawl_id"] == crawl
        path = f"/projects/{project}/phases/crawl/status"
        eventually(lambda: up("GET", path)["pages_crawled"] > 3, 60, "it is under way")

        (service,) = [p for p in up.process.children(recursive=True) if SERVICE in words_of(p)]
        service.kill()
        eventually(lambda: get(f"{up.address}/api/v1/health/live") == 200, 60, "a dead service comes back")

        eventually(lambda: up("GET", path)["status"] == "completed", 90, "the crawl is over")
        events = [json.loads(line) for line in watcher.communicate(timeout=60)[0].splitlines()]
    done = up("GET", path)
    pages = up("GET", f"/projects/{project}/pages?limit=200&status=success")["items"]
    assert len(pages) == done["pages_crawled"] >= 30
    assert done["progress"] == 100
    assert [event["seq"] for event in events] == list(range(events[0]["seq"], events[0]["seq"] + len(events)))
    watched = [event["data"]["url"] for event in events if event["data"].get("status") == "success"]
    assert sorted(watched) == sorted(page["url"] for page in pages), "each once, although the service was killed"
    exported = up("GET", f"/crawl/{crawl}/export", format="jsonl").splitlines()
    assert {json.loads(line)["url"] for line in exported} >= {page["url"] for page in pages}
    up("POST", f"/crawl/{crawl}/cancel", status=409)
    assert f'crawler_pages_total{{reason="",status="success"}} {done["pages_crawled"]}.0' in up("GET", "/metrics")


def only_loopback_is_listened_on(up: Running) -> None:
    listening = [
        connection.laddr.ip
        for process in [up.process, *up.process.children(recursive=True)]
        if process.is_running() and process.status() != psutil.STATUS_ZOMBIE
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert set(listening) == {"127.0.0.1"}


def everything_stops(up: Running) -> None:
    everything, began = up.process.children(recursive=True), time.monotonic()
    up.command.send_signal(signal.SIGTERM)
    output, _ = up.command.communicate(timeout=45)
    assert up.command.returncode == 0, output
    assert time.monotonic() - began < 40
    _, alive = psutil.wait_procs(everything, timeout=5)
    assert not alive
    assert up.key not in output + up.cli.logs()


@pytest.mark.slow
def test_without_keys_only_a_loopback_address_is_bound(cli: Cli) -> None:
    refused = cli("up", "--no-auth", "--host", "0.0.0.0", "--port", str(free_port()))
    assert refused.returncode == 2
    assert "bind 127.0.0.1" in refused.stderr
