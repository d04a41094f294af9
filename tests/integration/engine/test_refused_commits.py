"""A commit that never succeeds: one row costs the others nothing, and a shift that gives up leaves all in order."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlJob, FetchState
from crawler.domain.engine.ledger import Batch, FindChildren, RowRefused, WriteRaced
from crawler.domain.retries import MAX_RACES
from crawler.errors import DatabaseUnavailable, RedisUnavailable
from crawler.handlers.engine import write_batch
from tests.integration.handmade import asked, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site

PAGES = ["/a", "/b", "/c", "/d"]


def interfere(crawler: Engine, before: Callable[[Batch], object]) -> None:
    """Let this happen before each batch is written."""
    write = crawler.tools.engine.writer.write

    def write_badly(batch: Batch, find_children: FindChildren) -> Any:
        before(batch)
        return write(batch, find_children)

    crawler.tools.engine.writer.write = write_badly  # type: ignore[method-assign]


def stores(batch: Batch, path: str) -> bool:
    return any(end.key.normalized_url.endswith(path) and end.state is FetchState.DONE for end in batch.ends)


def logged(crawler: Engine, *, certain: bool) -> list[str]:
    rows = crawler.rows("SELECT url FROM request_log WHERE kind = 'p' AND certain = :certain", certain=certain)
    return sorted("/" + row["url"].split("/", 3)[3] for row in rows)


@pytest.fixture
def crawl(crawler: Engine, site: Site) -> CrawlJob:
    lay(site, {"/": PAGES, **dict.fromkeys(PAGES, ())})
    project = crawler.project(site.url(), use_sitemaps=False)
    return crawler.start(project, config={"delay_seconds": 0, "max_concurrent": 8})


def test_a_page_whose_row_is_refused_fails_alone(crawler: Engine, site: Site, crawl: CrawlJob) -> None:
    def refuse(batch: Batch) -> None:
        if stores(batch, "/b"):
            raise RowRefused("no such letter")

    interfere(crawler, refuse)
    ended = crawler.run(crawl)
    assert crawler.ends(ended) == {**dict.fromkeys(["/", *PAGES], "done"), "/b": "parse"}
    assert crawler.paths(ended)["/b"]["error_message"] == "Its content cannot be stored."
    assert sorted(asked(site)) == ["/", *PAGES], "nothing is asked for twice"


def test_what_is_refused_even_as_a_page_that_cannot_be_stored_is_tried_no_further(
    crawler: Engine, crawl: CrawlJob
) -> None:
    tries: list[Batch] = []

    def refuse(batch: Batch) -> None:
        tries.append(batch)
        if batch.ends:
            raise RowRefused("nothing is taken")

    interfere(crawler, refuse)
    with pytest.raises(RowRefused):
        crawler.shift()
    assert len(tries) < 5


def test_pages_beyond_the_limit_are_left_out_and_their_requests_are_logged(
    crawler: Engine, site: Site, crawl: CrawlJob
) -> None:
    """As after Redis lost count: the frontier gave out more than the crawl may store."""
    lower = "UPDATE crawl_jobs SET config = jsonb_set(config, '{max_pages}', '3') WHERE id = :id RETURNING 1"

    def fill(batch: Batch) -> None:
        if not stores(batch, "/"):
            crawler.rows(lower, id=crawl.id)

    interfere(crawler, fill)
    ended = crawler.run(crawl)
    assert (ended.pages_crawled, ended.end_reason) == (3, "max_pages")
    assert sorted(crawler.ends(ended).values()) == ["done"] * 3 + ["max_pages"] * 2
    assert logged(crawler, certain=True) == sorted(asked(site)) == ["/", *PAGES]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_batch, "FIRST_COMMIT_PAUSE_SECONDS", 1e6)


def fail_once(crawler: Engine, path: str, error: Exception, times: int = 1) -> None:
    errors: Iterator[Exception] = iter([error] * times)

    def fail(batch: Batch) -> None:
        if stores(batch, path) and (found := next(errors, None)):
            raise found

    interfere(crawler, fail)


@pytest.mark.usefixtures("impatient")
def test_a_shift_that_waits_no_longer_for_the_database_gives_all_back_and_its_requests_are_logged(
    crawler: Engine, site: Site, crawl: CrawlJob
) -> None:
    fail_once(crawler, "/", DatabaseUnavailable())
    with pytest.raises(DatabaseUnavailable):
        crawler.shift()
    stats = crawler.tools.frontier.stats(crawl.id)
    assert stats is not None
    assert (stats.leased, stats.in_flight) == (0, 0)
    ended = crawler.run(crawl)
    assert crawler.ends(ended) == dict.fromkeys(["/", *PAGES], "done")
    assert asked(site).count("/") == 2
    assert logged(crawler, certain=False) == ["/"], "by the next shift, as a request that may have been sent"


def is_left_leased(crawler: Engine, crawl: CrawlJob, site: Site) -> bool:
    """Whether its page is asked for no more until the lease has run out."""
    before = len(asked(site))
    crawler.shift()
    stats = crawler.tools.frontier.stats(crawl.id)
    return len(asked(site)) == before and stats is not None and stats.leased == 1


@pytest.mark.usefixtures("impatient")
def test_what_cannot_be_given_back_is_left_to_run_out(
    crawler: Engine, site: Site, crawl: CrawlJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_away(*_: object) -> None:
        raise RedisUnavailable

    fail_once(crawler, "/", DatabaseUnavailable())
    monkeypatch.setattr(crawler.tools.engine.work_shift.frontier, "release", is_away)
    with pytest.raises(DatabaseUnavailable):
        crawler.shift()
    assert is_left_leased(crawler, crawl, site)
    assert logged(crawler, certain=False) == [], "the reconciler logs what ran out"


def test_after_an_error_nobody_foresaw_leases_are_left_to_run_out(crawler: Engine, site: Site, crawl: CrawlJob) -> None:
    fail_once(crawler, "/", WriteRaced(), times=MAX_RACES)
    with pytest.raises(WriteRaced):
        crawler.shift()
    assert is_left_leased(crawler, crawl, site)
