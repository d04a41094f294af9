"""Every task, each one handler call. Names and arguments are a contract with other services: docs/tasks.md."""

from typing import Any
from uuid import UUID

from crawler.adapters.browser_fetcher import why_unavailable
from crawler.bootstrap import App
from crawler.domain.crawls import CrawlType
from crawler.domain.frontier import Lane
from workers.app import app, container, is_stopping

# Bounded and soon: whatever a lost worker was doing is found again by its lease.
_options: dict[str, Any] = {"max_retries": 3, "default_retry_delay": 1}


@app.task(name="crawler.start_crawl", ignore_result=False, **_options)
def start_crawl(
    project_id: str | None = None,
    crawl_id: str | None = None,
    seed_url: str | None = None,
    crawl_type: str = "manual",
    config: dict[str, Any] | None = None,
    urls: list[str] | None = None,
    idempotency_key: str | None = None,
) -> str:
    """Start a crawl of a project, or seed one whose row exists; returns the crawl's id."""
    if crawl_id is None:
        crawl_id = str(_new_crawl(project_id, seed_url, crawl_type, config, urls, idempotency_key))
    return str(container().seed_crawl(UUID(crawl_id)).id)


def _new_crawl(
    project_id: str | None,
    seed_url: str | None,
    crawl_type: str,
    config: dict[str, Any] | None,
    urls: list[str] | None,
    key: str | None,
) -> UUID:
    if project_id is None:
        raise ValueError("crawler.start_crawl needs a project_id or a crawl_id.")
    start = container().start_crawl
    return start(
        UUID(project_id),
        seed_url=seed_url,
        crawl_type=CrawlType(crawl_type),
        config=config,
        urls=urls or (),
        idempotency_key=key,
    ).id


@app.task(name="crawler.fetch", bind=True, **_options)
def fetch(self: Any, lane: str) -> None:
    """Work off what is due in this lane, for a bounded time."""
    tools = container()
    if tools.frontier.reconcile_allowed(tools.settings.reconcile_seconds):
        tools.reconcile()
    if Lane(lane) is Lane.BROWSER:
        _render(tools, self.request.id)
    else:
        tools.work_shift(Lane.HTTP, self.request.id, is_stopping)


def _render(tools: App, shift_id: str) -> None:
    """A shift in the browser lane, where that is possible; else nobody waits for it any longer."""
    able = why_unavailable(tools.settings.chromium) is None
    tools.lanes.announce(Lane.BROWSER, able=able)
    if not able:
        tools.reconcile()
        return
    tools.browser_shift(Lane.BROWSER, shift_id, is_stopping)
    tools.lanes.report(Lane.BROWSER, tools.browser.stats._asdict())


@app.task(name="crawler.finish_crawl", **_options)
def finish_crawl(crawl_id: str) -> None:
    """End a crawl that has nothing left to do."""
    container().finish_crawl(UUID(crawl_id))


@app.task(name="crawler.reconcile", **_options)
def reconcile() -> None:
    """Find work nobody is doing. Beat, coordinators and shifts all ask for it; one in so many seconds is enough."""
    tools = container()
    if tools.frontier.reconcile_allowed(tools.settings.reconcile_seconds / 2):
        tools.reconcile()


@app.task(name="crawler.diff_crawl", **_options)
def diff_crawl(crawl_id: str) -> str:
    """Compare a finished crawl with the one before."""
    return str(container().diff_crawl(UUID(crawl_id)).id)


@app.task(name="crawler.report_crawl", **_options)
def report_crawl(crawl_id: str) -> None:
    """Write down what a finished crawl found wrong with its site, before the next one changes its pages."""
    container().report_crawl.ensure(UUID(crawl_id))
