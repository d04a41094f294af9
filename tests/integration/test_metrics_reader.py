"""What Prometheus and Grafana are told to look at is what the service tells."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from crawler.domain.frontier import Lane
from tests.integration.engine import Engine
from tests.site.client import Site

DEPLOY = Path(__file__).parents[2] / "deploy"


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
        for family in crawler.tools.metrics.collect()
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
    (family,) = [family for family in engine.tools.metrics.collect() if family.name == name]
    return {tuple(sample.labels.values()): sample.value for sample in family.samples}


def test_shifts_are_counted_with_the_share_of_time_they_worked(crawler: Engine, site: Site) -> None:
    crawler.tools.frontier.count_shift(Lane.HTTP, "idle", 4.0, 1.0)
    crawler.tools.frontier.count_shift(Lane.HTTP, "time", 6.0, 2.5)
    assert samples(crawler, "crawler_shift_seconds") == {("http",): 10, ("browser",): 0}
    assert samples(crawler, "crawler_shift_cpu_seconds") == {("http",): 3.5, ("browser",): 0}
    assert samples(crawler, "crawler_shifts") == {("http", "idle"): 1, ("http", "time"): 1}


def test_canaries_are_told_by_queue(crawler: Engine) -> None:
    now, book = crawler.tools.metrics._clock(), crawler.tools.canaries
    book.sent("fetch", now - 90, again=False)
    book.sang("fetch", now - 88)
    book.sent("render", now - 500, again=False)
    book.sent("render", now - 100, again=True)
    ages = samples(crawler, "crawler_canary_age_seconds")
    assert list(ages) == [("fetch",)]
    assert 88 <= ages["fetch",] < 100
    waits = samples(crawler, "crawler_canary_wait_seconds")
    assert 500 <= waits["render",] < 512
    assert waits["fetch",] == waits["coordinator",] == 0
