"""Output at the end of a watched crawl: its summary, or why it failed."""

from crawler.bootstrap import App
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.reasons import Reason
from crawler.entrypoints.cli.screen.advice import advice
from crawler.entrypoints.cli.screen.clean_console import CleanConsole
from crawler.entrypoints.cli.screen.summary import failure, summary_page
from crawler.errors import CrawlerError

PIPED_WIDTH = 250
"""Width for files and pipes, where lines need not be broken."""


def show_summary(tools: App, crawl: CrawlJob, title: str) -> None:
    summary_of(crawl, tools.store.find_crawl(crawl.compared_to) if crawl.compared_to else None, title)


def summary_of(crawl: CrawlJob, baseline: CrawlJob | None, title: str) -> None:
    """Print a crawl's summary. One that failed before its first page gets none: the error says it all."""
    if crawl.status is CrawlStatus.FAILED and not crawl.pages_crawled:
        return
    console = CleanConsole()
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    console.print(summary_page(crawl, baseline, console.width, title))


def check_completed(tools: App, crawl: CrawlJob) -> None:
    if crawl.status is not CrawlStatus.COMPLETED:
        end_of(crawl, _advice(tools, crawl))


def end_of(crawl: CrawlJob, words: str | None = None) -> None:
    """Raise an error if the crawl did not complete, for the exit status. `words` says what to do about it."""
    if crawl.status is not CrawlStatus.COMPLETED:
        raise CrawlerError(failure(crawl, words))


def _advice(tools: App, crawl: CrawlJob) -> str | None:
    seed = tools.engine.ledger.seed_state(crawl.id)
    if crawl.status is not CrawlStatus.FAILED or seed is None:
        return None
    if not seed.reason or seed.reason == Reason.EGRESS:  # of a closed address the error says it all
        return None
    return advice(crawl.seed_url, Reason(seed.reason), seed.error)
