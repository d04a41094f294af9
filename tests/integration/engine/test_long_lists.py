"""Of a response that names very many URLs, parts are written ahead, so that other crawls do not wait for them."""

from typing import Any

import pytest

from crawler.domain.crawls.crawl import EndReason
from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.engine.ledger import Batch, FindChildren, RowRefused
from crawler.errors import RedisUnavailable
from crawler.handlers.engine import unwritten, work_shift
from crawler.handlers.engine.held_leases import HeldLeases
from tests.integration.handmade import asked, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site

MOST = 5
LINKS = 23
PAGES = {"/": [f"/{number}" for number in range(LINKS)], "/7": ["/deep"], "/deep": ()}


@pytest.fixture
def found(crawler: Engine, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many URLs each commit found."""
    for limit in ("MOST_NEW", "PART", "MUCH"):
        monkeypatch.setattr(unwritten, limit, MOST)
    writer = crawler.tools.engine.writer
    write = writer.write
    numbers: list[int] = []

    def counted(batch: Batch, find_children: FindChildren) -> Any:
        def find(depths: Any) -> Any:
            children = find_children(depths)
            numbers.append(len(children))
            return children

        return write(batch, find)

    monkeypatch.setattr(writer, "write", counted)
    return numbers


def test_links_of_a_page_are_written_in_parts(crawler: Engine, site: Site, found: list[int]) -> None:
    lay(site, PAGES)
    crawl = crawler.crawl(site.url(), use_sitemaps=False, max_depth=2, delay_seconds=0)
    assert max(found) == MOST
    depths = {path: row["depth"] for path, row in crawler.paths(crawl).items()}
    assert depths == {"/": 0, "/deep": 2, **{f"/{number}": 1 for number in range(LINKS)}}
    assert (crawl.end_reason, crawl.pages_crawled) == (EndReason.EXHAUSTED, 3)
    assert (crawl.total_discovered, crawl.pages_skipped) == (LINKS + 2, LINKS - 1)
    assert asked(site).count("/") == 1
    logged = crawler.rows("SELECT count(*) FROM request_log WHERE kind = 'p' AND url LIKE '%/'")
    assert logged[0]["count"] == 1


def test_urls_of_a_sitemap_are_written_in_parts(crawler: Engine, site: Site, found: list[int]) -> None:
    lay(site, {"/": (), **{f"/{number}": () for number in range(LINKS)}})
    locs = "".join(f"<url><loc>{site.url(f'/{number}')}</loc></url>" for number in range(LINKS))
    site.edit("/sitemap.xml", html=f"<urlset>{locs}<url><loc>http://[</loc></url></urlset>")
    crawl = crawler.crawl(site.url(), delay_seconds=0)
    assert max(found) == MOST
    assert crawl.pages_crawled == LINKS + 1
    assert [request.path for request in site.requests()].count("/sitemap.xml") == 1


def test_a_page_of_which_only_parts_were_written_is_asked_for_again(
    crawler: Engine, site: Site, found: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a crash. Even if the frontier is lost as well: the page is not at its end before its links are known."""
    lay(site, PAGES)
    crawl = crawler.start(crawler.project(site.url()), config={"use_sitemaps": False, "delay_seconds": 0})
    frontier = crawler.tools.frontier
    complete = frontier.complete

    def breaks(*given: Any) -> Any:
        if len(found) == 3:
            raise RedisUnavailable
        return complete(*given)

    with monkeypatch.context() as patch:
        patch.setattr(frontier, "complete", breaks)
        with pytest.raises(RedisUnavailable):
            crawler.shift()
    assert MOST < len(crawler.ledger(crawl)) < LINKS, "some links are known, and not all"
    crawler.tools.redis.flushall()
    crawler.tools.crawls.reconcile()
    ended = crawler.run(crawl)
    assert (ended.end_reason, ended.pages_crawled) == (EndReason.EXHAUSTED, 3)
    assert len(crawler.paths(ended)) == LINKS + 2
    assert asked(site).count("/") == 2


def test_a_page_that_comes_nearer_while_its_links_are_written_brings_them_nearer(
    crawler: Engine, site: Site, found: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page is known by a longer path first; the shorter one is found when some of its links are written."""
    lay(site, {"/": ["/a", "/b"], "/a": ["/c"], "/c": ["/long"], "/b": (), "/long": [f"/{n}" for n in range(LINKS)]})
    write = crawler.tools.engine.write_batch
    crawl = crawler.start(crawler.project(site.url()), config={"use_sitemaps": False, "delay_seconds": 0})
    part_urls: list[str] = []

    def nearer(batch: Any) -> int:
        queued = write(batch)
        ahead = [one for one in batch if one.is_ahead]
        part_urls.extend(one.lease.url for one in ahead)
        if len(part_urls) == 2 and ahead:
            tools = crawler.tools.engine
            tools.write_batch._lower(ahead[0].context, {ahead[0].key.normalized_url: 1})
        return queued

    monkeypatch.setattr(crawler.tools.engine.work_shift, "write_batch", nearer)
    crawler.run(crawl)
    depths = {path: row["depth"] for path, row in crawler.paths(crawl).items()}
    assert set(part_urls) == {site.url("/long")}
    assert depths == {"/": 0, "/a": 1, "/b": 1, "/c": 2, "/long": 1, **{f"/{n}": 2 for n in range(LINKS)}}


def test_a_part_that_postgres_refuses_costs_no_more_than_the_page(
    crawler: Engine, site: Site, found: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(site, {"/": ["/long", "/good"], "/good": (), "/long": [f"/{number}" for number in range(LINKS)]})
    writer = crawler.tools.engine.writer
    write = writer.write

    def refuses(batch: Batch, find_children: FindChildren) -> Any:
        def find(depths: Any) -> Any:
            children = find_children(depths)
            if any(child.url.endswith("/7") for child in children):
                raise RowRefused("no")
            return children

        return write(batch, find)

    monkeypatch.setattr(writer, "write", refuses)
    crawl = crawler.crawl(site.url(), use_sitemaps=False, delay_seconds=0)
    ends = crawler.ends(crawl)
    assert (ends["/"], ends["/good"], ends["/long"]) == ("done", "done", "parse")
    assert "/7" not in ends
    assert crawl.end_reason is EndReason.EXHAUSTED


def test_a_list_that_takes_half_its_lease_is_given_back_and_goes_on_later(
    crawler: Engine, site: Site, found: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lease that expires counts as a loss, and three losses as a page that kills its workers."""
    lay(site, PAGES)
    monkeypatch.setattr(work_shift, "OLD_SECONDS", 0)
    are_older = HeldLeases.are_older
    asked_for: list[float] = []

    def once(held: HeldLeases, seconds: float) -> set[tuple[str, int]]:
        asked_for.append(seconds)
        return are_older(held, 0 if len(asked_for) == 2 else seconds)

    monkeypatch.setattr(HeldLeases, "are_older", once)
    crawl = crawler.crawl(site.url(), use_sitemaps=False, delay_seconds=0)
    assert set(asked_for) == {crawler.tools.engine.work_shift.lease_seconds / 2}
    assert (crawl.end_reason, crawl.pages_crawled) == (EndReason.EXHAUSTED, 3)
    assert len(crawler.paths(crawl)) == LINKS + 2
    assert asked(site).count("/") == 2
    assert max(found) == MOST


def test_sitemaps_that_take_too_much_memory_together_are_read_one_after_the_other(
    crawler: Engine, site: Site, found: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one that is given back, all URLs are found when it is read again."""
    monkeypatch.setattr(unwritten, "MOST_LISTED_BYTES", 4_000)
    lay(site, {"/": (), **{f"/{number}": () for number in range(3 * LINKS)}})
    sitemaps = [f"/{number}.xml" for number in range(3)]
    site.edit("/robots.txt", html="".join(f"Sitemap: {site.url(path)}\n" for path in sitemaps))
    for number, path in enumerate(sitemaps):
        urls = map(site.url, [f"/{one}" for one in range(number * LINKS, (number + 1) * LINKS)])
        site.edit(path, html=f"<urlset>{''.join(f'<url><loc>{url}</loc></url>' for url in urls)}</urlset>")
    fetcher = crawler.tools.engine.fetcher
    poll = fetcher.poll

    def together(timeout_seconds: float) -> list[FetchResult]:
        results = poll(timeout_seconds)
        while fetcher.active and any(result.url.endswith(".xml") for result in results):
            results += poll(0.1)
        return results

    monkeypatch.setattr(fetcher, "poll", together)
    crawl = crawler.crawl(site.url(), delay_seconds=0)
    assert (crawl.end_reason, crawl.pages_crawled) == (EndReason.EXHAUSTED, 3 * LINKS + 1)
    requests = [request.path for request in site.requests()]
    assert sum(map(requests.count, sitemaps)) > len(sitemaps), "some were given back"
    assert max(found) == MOST
