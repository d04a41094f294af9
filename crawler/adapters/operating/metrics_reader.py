"""Prometheus metrics of the whole system, read from Postgres, Redis and the broker at each scrape.

Workers are other processes on other machines, so their numbers are read from the servers. Each read is bounded (a
minute of the request log, the first so many open crawls, two seconds a query) and cached for a moment, so that many
scrapers cost no more than one. What cannot be read now is left out, and `crawler_up` says so.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from crawler import telemetry
from crawler.adapters.acquisition.field_fills import FieldFills
from crawler.adapters.browser.render_counts import RenderCounts
from crawler.adapters.frontier.sharded_frontier import AnyFrontier
from crawler.adapters.operating.canary_book import CanaryBook
from crawler.adapters.operating.celery_queue import CeleryQueue
from crawler.adapters.operating.live_workers import RENDER, LiveWorkers
from crawler.adapters.operating.queues import QUEUES
from crawler.adapters.postgres.database import transaction
from crawler.domain.crawls.frontier import Lane, Wait
from crawler.errors import Unavailable

log = telemetry.logger(__name__)

REMEMBERED_SECONDS = 5.0
MOST_CRAWLS = 200
MOST_HOSTS = 50
_QUANTILES = ("0.5", "0.95", "0.99")


class MetricsReader:
    """A collector for a Prometheus registry."""

    def __init__(
        self,
        engine: Engine,
        frontier: AnyFrontier,
        renders: RenderCounts,
        canaries: CanaryBook,
        workers: LiveWorkers,
        hints: CeleryQueue,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._engine = engine
        self._frontier = frontier
        self._renders = renders
        self._canaries = canaries
        self._workers = workers
        self._hints = hints
        self._clock = clock
        self._lock = threading.Lock()
        self._read_at = 0.0
        self._last: list[Metric] = []

    def collect(self) -> Iterable[Metric]:
        with self._lock:  # one of several scrapers reads, the others get the same numbers
            if self._clock() - self._read_at > REMEMBERED_SECONDS:
                self._last = list(self._read())
                self._read_at = self._clock()
            return self._last

    def _read(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("crawler_up", "Whether this server could be read", labels=["server"])
        parts = {"postgres": self._of_postgres, "redis": self._of_redis, "broker": self._of_broker}
        for server, part in parts.items():
            try:
                found = list(part())
            except (Unavailable, DBAPIError) as exc:
                log.warning("metrics_missing", server=server, error=str(exc))
                up.add_metric([server], 0)
                continue
            up.add_metric([server], 1)
            yield from found
        yield up

    # -- Postgres ---------------------------------------------------------------------------

    def _of_postgres(self) -> Iterator[Metric]:
        with transaction(self._engine) as db:
            db.execute(text("SET LOCAL statement_timeout = 2000"))
            totals = db.execute(text(_TOTALS)).one()
            reasons = db.execute(text(_REASONS)).all()
            states = db.execute(text(_STATES)).all()
            requests = db.execute(text(_REQUESTS)).all()
            hosts = db.execute(text(_HOSTS)).one()
            told = db.execute(text(_NOTIFICATIONS)).all()
            entries = db.execute(text(_ENTRIES)).all()
            handed = db.execute(text(_UNSENT)).scalar_one()
        yield from _pages(totals, reasons)
        yield _gauge("crawler_crawls", "Crawls by status", ["status"], [((row.status,), row.n) for row in states])
        yield from _requests(requests)
        states_of = [((name,), getattr(hosts, name)) for name in ("blocked", "paused", "denied", "slowed")]
        yield _gauge("crawler_hosts", "Hosts that are not asked as usual", ["state"], states_of)
        yield from self._of_extraction(entries, handed)
        ends = [((row.channel, row.status), row.n) for row in told]
        yield _gauge("crawler_notifications", "Mails and webhooks by what became of them", ["channel", "status"], ends)

    def _of_extraction(self, entries: Iterable[Any], unsent: int) -> Iterator[Metric]:
        states = [((row.status,), row.n) for row in entries]
        yield _gauge("crawler_queue_entries", "Entries of the acquisition queue", ["status"], states)
        yield GaugeMetricFamily("crawler_hand_off_waiting", "Extractions not yet sent to be classified", unsent)
        fills = [((name, one.field), one) for name, fields in FieldFills(self._engine).of().items() for one in fields]
        labels = ["category", "field"]
        shares = [(place, one.share) for place, one in fills]
        yield _gauge("crawler_field_fill", "Of the newest extractions, those with a value", labels, shares)
        dropped = [(place, float(one.dropped)) for place, one in fills]
        yield _gauge("crawler_field_fill_dropped", "Whether that fell below what is usual", labels, dropped)

    # -- Redis ------------------------------------------------------------------------------

    def _of_redis(self) -> Iterator[Metric]:
        counts = self._frontier.counts()
        yield CounterMetricFamily("crawler_leases_expired", "Leases whose worker went silent", counts.leases_expired)
        yield CounterMetricFamily("crawler_stale_completions", "Late workers refused", counts.stale_completions)
        now_ms = int(self._clock() * 1000)
        loads = {lane: self._frontier.lane_load(lane, now_ms) for lane in Lane}
        shifts = [((lane.value,), load.shifts) for lane, load in loads.items()]
        yield _gauge("crawler_shifts_active", "Fetch tasks at work", ["lane"], shifts)
        due = [((lane.value,), load.due) for lane, load in loads.items()]
        yield _gauge("crawler_due_hosts", "Hosts that may be asked now", ["lane"], due)
        later = [((lane.value,), load.waiting) for lane, load in loads.items()]
        yield _gauge("crawler_later_hosts", "Hosts whose time has not come", ["lane"], later)
        yield from self._of_shifts()
        yield from self._of_canaries()
        present = [((queue,), n) for queue, n in self._workers.counts(QUEUES).items()]
        yield _gauge("crawler_workers", "Workers that take messages from the queue", ["queue"], present)
        yield from self._of_browsers()
        yield from self._of_open_crawls()

    def _of_shifts(self) -> Iterator[Metric]:
        """Shift metrics. rate(cpu) / rate(seconds) is near 1 where machines are the limit, near 0 where hosts are."""
        seconds = CounterMetricFamily("crawler_shift_seconds", "Time spent in fetch tasks", labels=["lane"])
        cpu = CounterMetricFamily("crawler_shift_cpu_seconds", "Of it, time spent computing", labels=["lane"])
        ended = CounterMetricFamily("crawler_shifts", "Fetch tasks by why they ended", labels=["lane", "ended"])
        for lane in Lane:
            totals = self._frontier.shift_totals(lane)
            seconds.add_metric([lane.value], totals.seconds)
            cpu.add_metric([lane.value], totals.cpu_seconds)
            for why, number in totals.ended.items():
                ended.add_metric([lane.value, why], number)
        yield from (seconds, cpu, ended)

    def _of_canaries(self) -> Iterator[Metric]:
        now = self._clock()
        canaries = self._canaries.read(QUEUES)
        ages = [((queue,), age) for queue, canary in canaries.items() if (age := canary.age(now)) is not None]
        yield _gauge("crawler_canary_age_seconds", "Since the queue was seen to be consumed", ["queue"], ages)
        waits = [((queue,), canary.waits(now)) for queue, canary in canaries.items()]
        yield _gauge("crawler_canary_wait_seconds", "For which a canary has not been taken", ["queue"], waits)

    def _of_browsers(self) -> Iterator[Metric]:
        """Metrics of browsers: totals of all ended shifts, and what workers announced a few seconds ago."""
        counts, workers = self._renders.read(), self._workers.of(RENDER).values()
        yield CounterMetricFamily("crawler_renders", "Pages rendered", counts["renders"])
        seconds = counts["milliseconds"] / 1000
        yield CounterMetricFamily("crawler_render_seconds", "Time of visits to pages, in all tabs", seconds)
        yield CounterMetricFamily("crawler_browser_restarts", "Browsers replaced by fresh ones", counts["restarts"])
        able = sum(not told.lack for told in workers)
        states = [(("able",), able), (("unable",), len(workers) - able)]
        yield _gauge("crawler_render_workers", "Render workers, by whether their browser starts", ["state"], states)
        processes, memory = sum(told.processes for told in workers), sum(told.memory_bytes for told in workers)
        yield GaugeMetricFamily("crawler_chromium_processes", "Of all browsers", processes)
        yield GaugeMetricFamily("crawler_chromium_memory_bytes", "Of all browsers", memory)

    def _of_open_crawls(self) -> Iterator[Metric]:
        urls: Counter[str] = Counter()
        waits: Counter[str] = Counter({why.value: 0 for why in Wait})
        for crawl_id in self._frontier.open_crawls()[:MOST_CRAWLS]:
            stats = self._frontier.stats(crawl_id)
            if stats is not None:
                urls += Counter(queued=stats.queued, leased=stats.leased, in_flight=stats.in_flight)
                for wait in self._frontier.waiting(crawl_id, MOST_HOSTS):
                    waits[wait.why.value] += wait.queued
        states = [((name,), urls[name]) for name in ("queued", "leased", "in_flight")]
        yield _gauge("crawler_frontier_urls", "URLs of open crawls", ["state"], states)
        waiting = [((why,), n) for why, n in waits.items()]
        yield _gauge("crawler_waiting_urls", "URLs by what their host waits for (gap: its token)", ["why"], waiting)

    # -- the broker -------------------------------------------------------------------------

    def _of_broker(self) -> Iterator[Metric]:
        lengths = [((queue,), length) for queue, length in self._hints.lengths().items()]
        yield _gauge("crawler_queue_messages", "Celery messages that wait", ["queue"], lengths)


def _pages(totals: Any, reasons: Iterable[Any]) -> Iterator[Metric]:
    known: Counter[tuple[str, str]] = Counter()
    for row in reasons:
        known[row.state, row.reason] += int(row.n)
    ended = {"success": totals.pages, "failed": totals.failed, "skipped": totals.skipped}
    pages = CounterMetricFamily("crawler_pages", "URLs that reached an end", labels=["status", "reason"])
    for status, number in ended.items():
        named = sum(n for (state, _), n in known.items() if state == status) if status != "success" else 0
        # Reasons are not summed up for running and cancelled crawls: their URLs count without one.
        pages.add_metric([status, ""], max(0, number - named))
    for (state, reason), number in known.items():
        pages.add_metric([state, reason], number)
    yield pages
    methods = CounterMetricFamily("crawler_pages_by_method", "Stored pages by how they were fetched", labels=["method"])
    methods.add_metric(["lightweight"], totals.lightweight)
    methods.add_metric(["crawl4ai"], totals.rendered)
    yield methods


def _requests(rows: Iterable[Any]) -> Iterator[Metric]:
    rate = GaugeMetricFamily("crawler_requests_last_minute", "Requests sent", labels=["lane", "answer"])
    latency = GaugeMetricFamily("crawler_fetch_seconds", "Request to answer, last minute", labels=["lane", "quantile"])
    for row in rows:
        if row.answer is not None:
            rate.add_metric([row.lane, row.answer], row.n)
        elif row.p50 is not None:
            for quantile, value in zip(_QUANTILES, (row.p50, row.p95, row.p99), strict=True):
                latency.add_metric([row.lane, quantile], value / 1000)
    yield rate
    yield latency


def _gauge(name: str, words: str, labels: list[str], values: Iterable[tuple[tuple[str, ...], float]]) -> Metric:
    family = GaugeMetricFamily(name, words, labels=labels)
    for label, value in values:
        family.add_metric(label, value)
    return family


_TOTALS = """
SELECT coalesce(sum(pages_crawled), 0) AS pages, coalesce(sum(pages_failed), 0) AS failed,
       coalesce(sum(pages_skipped), 0) AS skipped, coalesce(sum(lightweight), 0) AS lightweight,
       coalesce(sum(rendered), 0) AS rendered
FROM crawl_jobs
"""
# From the sums that each crawl stored at its end: the ledger itself may have millions of rows.
_REASONS = """
SELECT r.key AS reason, sum(CAST(r.value AS bigint)) AS n,
       CASE WHEN r.key = ANY (ARRAY['timeout', 'connect', 'dns', 'tls', 'protocol', 'too_large', 'redirect_loop',
                                    'http_5xx', 'rate_limited', 'poison', 'parse']) THEN 'failed'
            WHEN r.key IN ('unchanged', 'render_unavailable', 'render_failed', 'render_off') THEN 'note'
            ELSE 'skipped' END AS state
FROM crawl_jobs c CROSS JOIN LATERAL jsonb_each_text(coalesce(c.stats -> 'by_reason', '{}')) AS r
GROUP BY 1
"""
_STATES = "SELECT status, count(*) AS n FROM crawl_jobs GROUP BY 1"
# One pass over the last minute; rows without a status are those of a whole lane.
_REQUESTS = """
SELECT lane, answer, count(*) AS n, percentile_disc(0.5) WITHIN GROUP (ORDER BY elapsed_ms) AS p50,
       percentile_disc(0.95) WITHIN GROUP (ORDER BY elapsed_ms) AS p95,
       percentile_disc(0.99) WITHIN GROUP (ORDER BY elapsed_ms) AS p99
FROM (SELECT lane, elapsed_ms, CASE WHEN status IS NULL THEN 'none' ELSE CAST(status / 100 AS text) || 'xx' END
      FROM request_log WHERE at > now() - interval '1 minute') AS sent(lane, elapsed_ms, answer)
GROUP BY GROUPING SETS ((lane, answer), (lane))
"""
_HOSTS = """
SELECT count(*) FILTER (WHERE blocked_until > now() AND NOT denied) AS blocked,
       count(*) FILTER (WHERE paused) AS paused,
       count(*) FILTER (WHERE denied) AS denied, count(*) FILTER (WHERE learned_seconds > 0 AND NOT denied) AS slowed
FROM hosts
"""
_ENTRIES = "SELECT status, count(*) AS n FROM crawl_queue GROUP BY 1"
_UNSENT = "SELECT count(*) FROM outbox WHERE sent_at IS NULL"
_NOTIFICATIONS = "SELECT channel, status, count(*) AS n FROM notifications GROUP BY 1, 2"
