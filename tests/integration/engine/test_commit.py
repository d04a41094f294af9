"""A commit that does not succeed at once costs nothing but time."""

from pathlib import Path
from typing import Any

from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.engine.ledger import Batch, FindChildren, WriteRaced
from crawler.errors import DatabaseUnavailable
from tests.integration.handmade import asked, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site


def test_links_are_found_again_when_a_commit_has_to_be_repeated(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a", "/b"], "/a": ["/c"], "/b": [], "/c": []})
    write = crawler.tools.engine.writer.write
    fails = iter([True, False, True, True])

    def write_badly(batch: Batch, find_children: FindChildren) -> Any:
        if next(fails, False):
            find_children({end.key: 0 for end in batch.ends})
            raise DatabaseUnavailable
        return write(batch, find_children)

    crawler.tools.engine.writer.write = write_badly  # type: ignore[method-assign]
    crawl = crawler.crawl(site.url())
    assert crawler.ends(crawl) == {"/": "done", "/a": "done", "/b": "done", "/c": "done"}
    assert asked(site) == ["/", "/a", "/b", "/c"]


def test_a_crawl_that_ends_does_not_cost_its_neighbours_in_the_batch_their_links(
    crawler: Engine, tmp_path: Path
) -> None:
    """Both homepages arrive together; the second crawl is cancelled just before they are written."""
    with Site(tmp_path, hosts=2, pages=2) as site:
        for host in (0, 1):
            lay(site, {"/": ["/a", "/b"], "/a": [], "/b": []}, host=host)
        site.set_fault("/", delay=0.05)
        stays, goes = (
            crawler.start(crawler.project(site.url("/", host)), config={"delay_seconds": 0}) for host in (0, 1)
        )
        write = crawler.tools.engine.writer.write
        together: list[CrawlJob] = []

        def write_late(batch: Batch, find_children: FindChildren) -> Any:
            if {end.key.crawl_id for end in batch.ends} == {stays.id, goes.id} and not together:
                together.append(crawler.tools.crawls.control.cancel(goes.id))
            return write(batch, find_children)

        crawler.tools.engine.writer.write = write_late  # type: ignore[method-assign]
        ended = crawler.run(stays)
        assert together, "the two were never in one batch"
        assert crawler.ends(ended) == {"/": "done", "/a": "done", "/b": "done"}
        cancelled = crawler.tools.store.get_crawl(goes.id)
        assert (cancelled.status, cancelled.pages_crawled) == (CrawlStatus.CANCELLED, 0)
        assert crawler.ends(cancelled) == {"/": "cancelled"}
        logged = crawler.rows("SELECT host FROM request_log WHERE kind = 'p'")
        assert len(logged) == len(asked(site)), "the audit hears of requests of crawls that ended meanwhile, too"


def test_a_batch_that_always_meets_another_writer_is_written_in_parts(crawler: Engine, site: Site) -> None:
    """However many write the same content at once: nothing is asked for twice, and the shift goes on."""
    pages = [f"/{n}" for n in range(6)]
    lay(site, {"/": pages} | dict.fromkeys(pages, ()))
    write, raced = crawler.tools.engine.writer.write, []

    def write_in_a_crowd(batch: Batch, find_children: FindChildren) -> Any:
        if len(batch.ends) > 1:
            raced.append(len(batch.ends))
            raise WriteRaced
        return write(batch, find_children)

    crawler.tools.engine.writer.write = write_in_a_crowd  # type: ignore[method-assign]
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    assert raced, "no two pages were ever in one batch"
    assert crawler.ends(crawl) == dict.fromkeys(["/", *pages], "done")
    assert sorted(asked(site)) == ["/", *pages]
