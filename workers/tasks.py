"""All Celery tasks, each with one handler call. Names and arguments are a public contract: docs/reference/tasks.md.

Which queue each goes through: `crawler/adapters/operating/queues.py`.
"""

import time
from contextlib import suppress
from typing import Any
from uuid import UUID

from celery.exceptions import Ignore, SoftTimeLimitExceeded
from structlog.contextvars import bind_contextvars

from crawler import telemetry
from crawler.adapters.browser.fetcher import why_unavailable
from crawler.adapters.operating.live_workers import RENDER, WorkerState
from crawler.bootstrap import App
from crawler.domain.changes.compare_turns import Start
from crawler.domain.crawls.frontier import Lane
from crawler.errors import Conflict, CrawlerError, ForeignSecretKey, RedisUnavailable, Unavailable
from crawler.handlers.engine.work_shift import WorkShift
from crawler.handlers.operating.look_for_lost import GLANCE_SECONDS, LOOK_SECONDS
from crawler.handlers.operating.send_canaries import send_canaries
from workers.app import app, container, is_stopping
from workers.places import EMBED, REPORT, places
from workers.task_arguments import (
    StartOrder,
    comparison_of,
    crawl_of,
    document_of,
    lane_named,
    notice_of,
    project_of,
    queue_named,
    start_order,
)
from workers.task_contract import ContractTask

log = telemetry.logger(__name__)

LONG_SECONDS = 2400
"""For what is done over all URLs of the largest sites. Judging has narrower limits of its own."""
AGAIN_SECONDS = 10
LATER_SECONDS = (2, 8)
MOST_RETRIES = 100_000
"""A comparison that lets others go first asks again soon, and then ever less often."""

# Few and quick retries: the work of a lost worker is found again when its lease expires.
_options: dict[str, Any] = {"base": ContractTask, "max_retries": 3, "default_retry_delay": 1}
_long = {**_options, "soft_time_limit": LONG_SECONDS, "time_limit": LONG_SECONDS + 60}


@app.task(name="crawler.start_crawl", bind=True, ignore_result=False, patient=True, **_options)
def start_crawl(
    self: Any,
    project_id: str | None = None,
    crawl_id: str | None = None,
    seed_url: str | None = None,
    crawl_type: str = "manual",
    config: dict[str, Any] | None = None,
    urls: list[str] | None = None,
    idempotency_key: str | None = None,
) -> str:
    """Start a crawl of a project, or seed one whose row exists; returns the crawl's id."""
    order = start_order(
        project_id=project_id,
        crawl_id=crawl_id,
        seed_url=seed_url,
        crawl_type=crawl_type,
        config=config,
        urls=urls,
        idempotency_key=idempotency_key,
    )
    started = order.crawl_id or _new_crawl(order, self.request.id)
    bind_contextvars(crawl_id=str(started))
    return str(container().crawls.seed(started).id)


def _new_crawl(order: StartOrder, task_id: str | None) -> UUID:
    """Start a new crawl.

    A message may be delivered twice, so it uses the sender's idempotency key or the message's id.
    """
    assert order.project_id is not None
    started = container().crawls.start(
        order.project_id,
        seed_url=order.seed_url,
        crawl_type=order.crawl_type,
        config=order.config,
        urls=order.urls or (),
        idempotency_key=order.idempotency_key or (f"task {task_id}" if task_id else None),
    )
    if started.project_id != order.project_id:
        raise Conflict("This idempotency_key was used for a crawl of another project; use a new one.")
    return started.id


@app.task(name="crawler.fetch", bind=True, **_options)
def fetch(self: Any, lane: str) -> None:
    """Work off what is due in this lane, for a bounded time."""
    chosen, tools = lane_named(lane), container()
    tools.operating.look_for_lost(GLANCE_SECONDS, tools.settings.reconcile_seconds)
    try:
        if chosen is Lane.BROWSER:
            _render(tools, self.request.id, self.request.hostname or "")
        else:
            _work(tools, tools.engine.work_shift, Lane.HTTP, self.request.id)
    except ForeignSecretKey as exc:
        # The URLs are free again for machines that can fetch them. This one would only take them once more.
        log.critical("worker_ends", detail=exc.message)
        app.control.shutdown(destination=[self.request.hostname])


def _work(tools: App, shift: WorkShift, lane: Lane, shift_id: str) -> None:
    """Run one shift and record how much CPU time it used: little means that it waited for hosts."""
    began, worked = time.monotonic(), time.process_time()
    report = shift(lane, shift_id, is_stopping)
    with suppress(RedisUnavailable):
        tools.frontier.count_shift(lane, report.ended, time.monotonic() - began, time.process_time() - worked)


def _render(tools: App, shift_id: str, worker: str) -> None:
    """Run a shift in the browser lane. Without a browser, `reconcile` ends the wait of URLs that need one."""
    lack = why_unavailable(tools.settings.chromium, tools.settings.data_dir)
    if lack:
        _say_unable(tools, worker, lack)
        return
    try:
        shift = tools.engine.browser_shift
    except CrawlerError as exc:
        _say_unable(tools, worker, exc.message)
        return
    _work(tools, shift, Lane.BROWSER, shift_id)
    tools.engine.render_counts.add(**tools.engine.browser.counts()._asdict())
    if lack := why_unavailable(tools.settings.chromium, tools.settings.data_dir):  # the browser did not start
        tools.operating.live_workers.announce(worker, [RENDER], WorkerState(lack))


def _say_unable(tools: App, worker: str, lack: str) -> None:
    """Close the lane, unless another worker keeps it open, and let those who wait go on without a browser."""
    tools.operating.live_workers.announce(worker, [RENDER], WorkerState(lack))
    tools.operating.look_for_lost.now(GLANCE_SECONDS)


@app.task(name="crawler.finish_crawl", ignore_result=False, **_options)
def finish_crawl(crawl_id: str) -> None:
    """End a crawl that has nothing left to do."""
    container().crawls.finish(crawl_of(crawl_id))


@app.task(name="crawler.tend_large_crawl", bind=True, **_long)
def tend_large_crawl(self: Any, crawl_id: str) -> None:
    """Rebuild the queue of a large crawl that Redis lost, or count its results at its end."""
    if not container().crawls.tend_large(crawl_of(crawl_id)):
        raise self.retry(countdown=AGAIN_SECONDS, max_retries=MOST_RETRIES)


@app.task(name="crawler.reconcile", **_options)
def reconcile() -> None:
    """Find work nobody is doing. Beat, coordinators and shifts all ask for it; one in so many seconds is enough."""
    tools = container()
    every = tools.settings.reconcile_seconds / 2
    if tools.operating.look_for_lost(LOOK_SECONDS, every):
        send_canaries(tools.operating.canaries, tools.hints, app.conf.canary_queues, time.time())
    # A turn of its own: shifts take the other one, too, and a look that goes on at once must not mean this again.
    if app.conf.tends_schedules and tools.frontier.acquire_task("tend", every):
        tools.notices.recover_schedules()
        tools.acquisition.run_queue.recover()
        tools.acquisition.extract_entries.recover()
        tools.acquisition.relay_outbox.recover()


@app.task(name="crawler.run_queue", **_options)
def run_queue() -> None:
    """Make batches of what waits in the acquisition queue, as far as there is room."""
    if app.conf.tends_schedules:  # workers of a single run do not run the queue
        container().acquisition.run_queue()


@app.task(name="crawler.canary", **_options)
def canary(queue: str) -> None:
    """Says by being run that its queue is consumed."""
    container().operating.canaries.record_run(queue_named(queue), time.time())


def _begin(task: str) -> App:
    """The hint that started this task is taken: the next may be sent."""
    tools = container()
    tools.frontier.task_begins(task)
    return tools


@app.task(name="crawler.extract_entries", bind=True, **_options)
def extract_entries(self: Any) -> None:
    """Read the pages of entries that were fetched, for a bounded time, and hand on what they say."""
    with places.place(self, "ingest"):
        _begin("extract_entries").acquisition.extract_entries(is_stopping)


@app.task(name="crawler.ingest_document", bind=True, **_options)
def ingest_document(self: Any, document_id: str) -> None:
    """Make this document, if it waits and nobody else works on it."""
    with places.place(self, "ingest"):
        container().documents.ingest.one(document_of(document_id))


@app.task(name="crawler.ingest_documents", bind=True, **_options)
def ingest_documents(self: Any) -> None:
    """Make documents of pages that wait for it, for a bounded time."""
    with places.place(self, "ingest"):
        _begin("ingest_documents").documents.ingest(is_stopping)


@app.task(name="crawler.embed_documents", bind=True, **_options)
def embed_documents(self: Any) -> None:
    """Ask for vectors of documents that lack some, for a bounded time."""
    with places.place(self, EMBED):
        _begin("embed_documents").documents.embed(is_stopping)


@app.task(name="crawler.diff_crawl", bind=True, ignore_result=False, **_long)
def diff_crawl(self: Any, crawl_id: str, *, again: bool = False) -> str:
    """Compare a finished crawl with the one before; one that was compared, or could not be, only if `again` says so."""
    asked, is_again = comparison_of(crawl_id, again=again)
    compare = container().changes.compare_in_turn
    try:
        start = compare(asked, self.request.id or "", is_stopping, again=is_again)
    except SoftTimeLimitExceeded:
        compare.give_up(asked, f"Comparing it took more than {LONG_SECONDS // 60} minutes.")
        return str(asked)
    if start is Start.ELSEWHERE:
        raise Ignore  # whoever compares it goes on with what follows
    if start is Start.LATER:
        first, last = LATER_SECONDS
        raise self.retry(countdown=min(first + self.request.retries, last), max_retries=MOST_RETRIES)
    return str(asked)


@app.task(name="crawler.report_crawl", bind=True, ignore_result=False, **_long)
def report_crawl(self: Any, crawl_id: str) -> None:
    """Write down what a finished crawl found wrong with its site, before the next one changes its pages."""
    asked = crawl_of(crawl_id)
    with places.place(self, REPORT, AGAIN_SECONDS):
        container().crawls.report.ensure(asked)


@app.task(name="crawler.run_scheduled_crawl", **_options)
def run_scheduled_crawl(project_id: str) -> None:
    """Start a crawl whose slot is due: this project's, or one that has its turn before it; what was started stays."""
    container().notices.run_schedules.of(project_of(project_id))


@app.task(name="crawler.notify", **_options)
def notify(crawl_id: str) -> None:
    """Tell people and programs what a scheduled crawl found, nobody twice; and the webhook of a Firecrawl job."""
    asked, notices = crawl_of(crawl_id), container().notices
    try:
        notices.tell_hook(asked)
    finally:
        notices.notify_crawl(asked)


@app.task(name="crawler.resend_notice", acks_late=False, **_options)
def resend_notice(notification_id: str) -> None:
    """Send a notice again, because somebody asked for it: once, even if its worker dies on the way."""
    with suppress(Unavailable):  # others of its project are being sent: who asked sees that no answer came
        container().notices.notify_crawl.resend(notice_of(notification_id))
