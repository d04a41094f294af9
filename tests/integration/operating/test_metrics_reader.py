"""What Prometheus and Grafana are told to look at is what the service tells."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from crawler.adapters.frontier.redis_frontier import RedisFrontier
from crawler.adapters.operating.live_workers import GONE_SECONDS, WorkerState
from crawler.domain.crawls.frontier import Lane
from tests.integration.live_engine import Engine
from tests.site.client import Site

DEPLOY = Path(__file__).parents[3] / "deploy"


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((DEPLOY / "prometheus-alerts.yml").read_text())["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((DEPLOY / "grafana-dashboard.json").read_text())["panels"]
    return found


def named(expressions: list[str]) -> set[str]:
    return {name for text in expressions for name in re.findall(r"\bcrawler_\w+", text)}


@pytest.fixture
def told(crawler: Engine) -> set[str]:
    """As Prometheus names them: its client adds a word to counters."""
    return {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in crawler.tools.operating.metrics.collect()
    }


def test_every_alert_and_panel_asks_for_a_metric_there_is(told: set[str]) -> None:
    alerts = named([rule["expr"] for rule in rules()])
    shown = named([target["expr"] for panel in panels() for target in panel["targets"]])
    assert alerts
    assert alerts <= told
    assert shown == told, "each has its place in the dashboard"


def test_every_alert_says_what_is_wrong_and_what_to_do() -> None:
    for rule in rules():
        assert rule["annotations"]["summary"].endswith("."), rule["alert"]
        assert rule["annotations"]["todo"], rule["alert"]
        assert rule["labels"]["severity"] in {"critical", "warning"}


def samples(engine: Engine, name: str) -> dict[tuple[str, ...], float]:
    (family,) = [family for family in engine.tools.operating.metrics.collect() if family.name == name]
    return {tuple(sample.labels.values()): sample.value for sample in family.samples}


def test_shifts_are_counted_with_the_share_of_time_they_worked(crawler: Engine, site: Site) -> None:
    crawler.tools.frontier.count_shift(Lane.HTTP, "idle", 4.0, 1.0)
    crawler.tools.frontier.count_shift(Lane.HTTP, "time", 6.0, 2.5)
    assert samples(crawler, "crawler_shift_seconds") == {("http",): 10, ("browser",): 0}
    assert samples(crawler, "crawler_shift_cpu_seconds") == {("http",): 3.5, ("browser",): 0}
    assert samples(crawler, "crawler_shifts") == {("http", "idle"): 1, ("http", "time"): 1}


def test_workers_are_counted_by_queue_until_they_leave_or_fall_silent(crawler: Engine) -> None:
    workers = crawler.tools.operating.live_workers
    workers.announce("fetch-1@a", ["fetch"])
    workers.announce("all-1@a", ["fetch", "coordinator"])
    workers.announce("silent@a", ["render"])
    long_ago = round((time.time() - GONE_SECONDS - 1) * 1000)
    crawler.tools.redis.hset(workers._key("render"), "w:silent@a", f"{long_ago} able []")
    workers.announce("gone@a", ["render"])
    workers.leave("gone@a", ["render"])
    assert samples(crawler, "crawler_workers") == {
        ("coordinator",): 1, ("compare",): 0, ("notify",): 0, ("fetch",): 2, ("render",): 0, ("ingest",): 0,
    }  # fmt: skip


def test_everything_an_operator_asks_for_is_counted_and_moves_with_a_crawl(crawler: Engine, site: Site) -> None:
    """Pages by status and reason, queues, hosts, shifts, latency, token waits, renders, leases, stale acks, notices."""
    site.remove("/p/0/1")
    before = _numbers(crawler)
    first = crawler.crawl(site.url(), max_pages=6, delay_seconds=0)
    crawler.tools.frontier.count_shift(Lane.HTTP, "idle", 1.0, 0.5)
    frontier = crawler.tools.frontier
    assert isinstance(frontier, RedisFrontier)
    frontier._count("leases_expired", 1)
    frontier._count("stale_completions", 1)
    crawler.tools.hosts.control.pause("paused.example")
    crawler.start(crawler.project(site.url(), delay_seconds=30))
    crawler.shift()
    after = _numbers(crawler)
    assert first.pages_crawled == 6
    moved = {name for name, value in after.items() if value != before.get(name)}
    assert {
        "crawler_pages_total", "crawler_pages_by_method_total", "crawler_crawls", "crawler_frontier_urls",
        "crawler_waiting_urls", "crawler_later_hosts", "crawler_hosts", "crawler_requests_last_minute",
        "crawler_fetch_seconds", "crawler_shifts_total", "crawler_shift_seconds_total",
        "crawler_shift_cpu_seconds_total", "crawler_leases_expired_total", "crawler_stale_completions_total",
    } <= moved  # fmt: skip
    assert set(after) >= {"crawler_renders_total", "crawler_due_hosts", "crawler_shifts_active", "crawler_workers"}


def _numbers(engine: Engine) -> dict[str, float]:
    engine.tools.operating.metrics._read_at = 0.0
    return {
        sample.name: sum(s.value for s in family.samples if s.name == sample.name)
        for family in engine.tools.operating.metrics.collect()
        for sample in family.samples
    }


def test_canaries_are_told_by_queue(crawler: Engine) -> None:
    now, book = crawler.tools.operating.metrics._clock(), crawler.tools.operating.canaries
    book.record_sent("fetch", now - 90, again=False)
    book.record_run("fetch", now - 88)
    book.record_sent("render", now - 500, again=False)
    book.record_sent("render", now - 100, again=True)
    ages = samples(crawler, "crawler_canary_age_seconds")
    assert list(ages) == [("fetch",)]
    assert 88 <= ages["fetch",] < 100
    waits = samples(crawler, "crawler_canary_wait_seconds")
    assert 500 <= waits["render",] < 512
    assert waits["fetch",] == waits["coordinator",] == 0


def test_renders_add_up_and_render_workers_are_told_by_whether_they_can(crawler: Engine) -> None:
    counts, workers = crawler.tools.engine.render_counts, crawler.tools.operating.live_workers
    counts.add(renders=3, restarts=1, seconds=1.5)
    counts.add(renders=2, restarts=0, seconds=0.5)
    workers.announce("a@here", ["render"], WorkerState(processes=6, memory_bytes=100))
    workers.announce("b@there", ["render"], WorkerState("It ended at once: no library", processes=1, memory_bytes=20))
    assert samples(crawler, "crawler_renders") == {(): 5}
    assert samples(crawler, "crawler_render_seconds") == {(): 2}
    assert samples(crawler, "crawler_browser_restarts") == {(): 1}
    assert samples(crawler, "crawler_render_workers") == {("able",): 1, ("unable",): 1}
    assert samples(crawler, "crawler_chromium_processes") == {(): 7}
    assert samples(crawler, "crawler_chromium_memory_bytes") == {(): 120}
