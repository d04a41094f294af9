"""Data for the system page: servers, queues, workers and current throughput."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Any, NamedTuple

from prometheus_client.core import Metric

from crawler.adapters.operating.live_workers import RENDER, WorkerState
from crawler.adapters.operating.queues import QUEUES
from crawler.bootstrap import App
from crawler.config import Settings
from crawler.domain.canaries import PATIENCE_SECONDS
from crawler.entrypoints.doctor import Check, diagnose
from crawler.errors import CrawlerError

PURPOSES = {
    "coordinator": "starts and ends crawls",
    "compare": "compares crawls",
    "notify": "sends mails and webhooks",
    "fetch": "fetches pages",
    "render": "renders pages in a browser",
    "ingest": "extracts, makes documents",
}
TITLES = {"postgres": "Postgres", "redis": "Redis", "user_agent": "User agent"}
Figures = Mapping[tuple[str, tuple[str, ...]], float]


class QueueLine(NamedTuple):
    name: str
    purpose: str
    workers: tuple[str, ...]
    messages: int | None
    consumed_seconds: float | None
    """Seconds since a worker last took a message from the queue."""
    neglected: bool
    """Whether no worker took the test message for too long."""


class WorkerLine(NamedTuple):
    name: str
    queues: tuple[str, ...]
    browser: WorkerState | None


def state(tools: App) -> dict[str, Any]:
    checks = diagnose(tools, start_browser=False)
    figures = _figures(tools.operating.metrics.collect())
    reachable = all(check.ok for check in checks if check.name == "redis")
    queues, workers = _queues(tools, figures) if reachable else ([], [])
    return {
        "checks": [*checks, *(_beat(tools) if reachable else [])],
        "titles": TITLES,
        "queues": queues,
        "workers": workers,
        "flow": _flow(figures),
    }


def _beat(tools: App) -> list[Check]:
    try:
        beats = tools.notices.beat_entries.is_beating()
    except CrawlerError as exc:
        return [Check("beat", ok=False, message=exc.message, required=False)]
    if beats:
        return [Check("beat", ok=True, message="Beat keeps time: schedules and periodic work.", required=False)]
    remedy = "'crawler up' starts one; until then the coordinator starts what is due."
    return [Check("beat", ok=False, message="No beat keeps time.", fix=remedy, required=False)]


def _queues(tools: App, figures: Figures) -> tuple[list[QueueLine], list[WorkerLine]]:
    now = time.time()
    try:
        there = {queue: tools.operating.live_workers.of(queue) for queue in QUEUES}
        canaries = tools.operating.canaries.read(QUEUES)
    except CrawlerError:
        return [], []
    lines = []
    for queue in QUEUES:
        waiting = figures.get(("crawler_queue_messages", (queue,)))
        age, owes = canaries[queue].age(now), canaries[queue].waits(now)
        messages = None if waiting is None else int(waiting)
        line = QueueLine(queue, PURPOSES[queue], tuple(there[queue]), messages, age, owes > PATIENCE_SECONDS)
        lines.append(line)
    return lines, _workers(there)


def _workers(there: Mapping[str, Mapping[str, WorkerState]]) -> list[WorkerLine]:
    queues: dict[str, list[str]] = {}
    for queue, names in there.items():
        for name in names:
            queues.setdefault(name, []).append(queue)
    return [WorkerLine(name, tuple(taken), there[RENDER].get(name)) for name, taken in sorted(queues.items())]


def _figures(families: Iterable[Metric]) -> Figures:
    return {
        (sample.name, tuple(sample.labels.values())): sample.value for family in families for sample in family.samples
    }


def _flow(figures: Figures) -> dict[str, Any]:
    """Current load: crawls, queued URLs, requests of the last minute, fetch times, browser memory."""
    totals: Counter[str] = Counter()
    for (name, labels), value in figures.items():
        if name == "crawler_requests_last_minute":
            totals["requests"] += int(value)
            totals["missing"] += int(value) if labels[1] == "4xx" else 0
            totals["failed"] += int(value) if labels[1] in ("5xx", "none") else 0
    crawls = ("pending", "in_progress")
    return {
        "running": sum(int(figures.get(("crawler_crawls", (status,)), 0)) for status in crawls),
        "waiting": int(figures.get(("crawler_frontier_urls", ("queued",)), 0)),
        "under_way": int(figures.get(("crawler_frontier_urls", ("in_flight",)), 0)),
        "requests": totals["requests"],
        "missing": totals["missing"],
        "failed": totals["failed"],
        "p95": figures.get(("crawler_fetch_seconds", ("http", "0.95"))),
        "browsers_memory": int(figures.get(("crawler_chromium_memory_bytes", ()), 0)),
    }


def flower_url(settings: Settings, host: str) -> str:
    """Flower's URL as `crawler up` serves it. If it listens on all addresses, the dashboard's own host is used."""
    bound = settings.flower_host
    try:
        everywhere = ip_address(bound).is_unspecified
    except ValueError:
        everywhere = False
    name = host if everywhere else bound
    return f"http://{f'[{name}]' if ':' in name else name}:{settings.flower_port}/"
