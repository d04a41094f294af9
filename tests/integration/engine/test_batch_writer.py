import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, text

from crawler.adapters.engine import batch_writer
from crawler.adapters.engine.batch_writer import BatchWriter
from crawler.adapters.engine.ledger import Ledger
from crawler.adapters.engine.store import Store
from crawler.adapters.postgres.database import connect, cursor, transaction
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlType, EndReason, FetchState
from crawler.domain.crawls.project import Project
from crawler.domain.engine.ledger import (
    Batch,
    CrawlsOver,
    Found,
    PageWrite,
    Request,
    RowRefused,
    Snapshot,
    Source,
    Unchanged,
    Unfetched,
    UrlEnd,
    UrlKey,
    Version,
    WriteRaced,
    page_id,
    snapshot_id,
    version_id,
)
from crawler.domain.reasons import Reason

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOME = "https://acme.example/"


class World:
    """A project and crawls of it on a database of their own."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.store = Store(engine)
        self.writer = BatchWriter(engine)
        self.ledger = Ledger(engine)
        self.project = self.store.add_project(Project.create(name=str(uuid4()), website_url=HOME, now=NOW))

    def crawl(self, *urls: str, max_pages: int = 100) -> CrawlJob:
        job = CrawlJob.create(
            project_id=self.project.id,
            seed_url=HOME,
            domain="acme.example",
            crawl_type=CrawlType.INITIAL,
            config=CrawlConfig(max_pages=max_pages),
            now=NOW,
        )
        started = self.store.add_crawl(job, urls=[found(job, url, seq=n) for n, url in enumerate(urls or (HOME,))])
        return self.store.change_crawl(started, started.start(NOW))

    def finish(self, job: CrawlJob) -> None:
        now = self.store.get_crawl(job.id)
        self.store.change_crawl(now, now.complete(EndReason.EXHAUSTED, NOW))

    def rows(self, query: str, **values: object) -> list[dict[str, object]]:
        with self.engine.begin() as db:
            return [row._asdict() for row in db.execute(text(query), values)]

    def ledger_rows(self, job: CrawlJob) -> dict[str, tuple[str, str | None, int]]:
        rows = self.rows("SELECT * FROM crawl_discovered_urls WHERE crawl_job_id = :id", id=job.id)
        return {str(r["normalized_url"]): (r["fetch_state"], r["reason"], r["depth"]) for r in rows}  # type: ignore[misc]


def found(job: CrawlJob, url: str, seq: int = 0, depth: int = 0, **fields: Any) -> Found:
    row = Found(
        UrlKey(job.id, url),
        url,
        depth,
        2,
        seq,
        FetchState.QUEUED,
        None,
        None,
        Source.LINK if depth else Source.SEED,
        None,
    )
    return row._replace(**fields)


def stored(world: World, job: CrawlJob, url: str, words: str = "hello", at: datetime = NOW) -> Batch:
    """The batch of one page."""
    key, identity = UrlKey(job.id, url), page_id(world.project.id, url)
    content, raw = sha256(words.encode()).digest(), sha256(b"<p>" + words.encode()).digest()
    version, snapshot = version_id(identity, job.id, content), snapshot_id(raw)
    noindex = False
    page = PageWrite(
        key, identity, world.project.id, url, "Title", "H1", None, words, len(words.split()), json.dumps([url + "a"]),
        None, content, None, noindex, '"e"', None, "en", "lightweight", 200, 10, version, at,
    )  # fmt: skip
    return Batch(
        ends=[UrlEnd(key, FetchState.DONE, None, None, 1, None, 200, content, version, None, at)],
        pages=[page],
        versions=[
            Version(version, identity, job.id, snapshot, content, "Title", "[]", "{}", "[]", url, "lightweight", at)
        ],
        snapshots=[Snapshot(snapshot, raw, b"zstd", "text/html", 10, at)],
        requests=[Request(at, job.id, "acme.example", "p", "http", 200, 12)],
    )


def failed(world: World, job: CrawlJob, url: str, reason: Reason = Reason.TIMEOUT) -> Batch:
    key = UrlKey(job.id, url)
    return Batch(
        ends=[UrlEnd(key, FetchState.FAILED, reason, None, 4, None, None, None, None, "no answer", NOW)],
        unfetched=[
            Unfetched(
                key, page_id(world.project.id, url), world.project.id, url, "failed", reason, "no answer", None, NOW
            )
        ],
    )


def none(_: dict[UrlKey, int]) -> list[Found]:
    return []


@pytest.fixture(scope="module")
def engine(make_module_database) -> Iterator[Engine]:  # type: ignore[no-untyped-def]
    engine = connect(make_module_database())
    yield engine
    engine.dispose()


@pytest.fixture
def world(engine: Engine) -> World:
    return World(engine)


def test_a_batch_writes_page_version_snapshot_state_counters_and_request(world: World) -> None:
    job = world.crawl()
    world.writer.write(stored(world, job, HOME), none)
    after = world.store.get_crawl(job.id)
    assert (after.pages_crawled, after.total_discovered, after.lightweight) == (1, 1, 1)
    assert world.ledger_rows(job) == {HOME: ("done", None, 0)}
    (page,) = world.rows("SELECT * FROM crawled_pages WHERE project_id = :id", id=world.project.id)
    assert (page["title"], page["status"], page["links_found"], page["depth"]) == ("Title", "success", [HOME + "a"], 0)
    (version,) = world.rows("SELECT * FROM page_versions WHERE page_id = :id", id=page["id"])
    assert page["version_id"] == version["id"]
    assert world.rows("SELECT id FROM snapshots WHERE id = :id", id=version["snapshot_id"])
    assert len(world.rows("SELECT * FROM request_log WHERE crawl_id = :id", id=job.id)) == 1


def test_writing_the_same_batch_again_changes_nothing(world: World) -> None:
    job = world.crawl()

    def children(depths: dict[UrlKey, int]) -> list[Found]:
        return [found(job, HOME + "a", depth=depths[UrlKey(job.id, HOME)] + 1)]

    for _ in range(3):
        world.writer.write(stored(world, job, HOME), children)
    after = world.store.get_crawl(job.id)
    assert (after.pages_crawled, after.total_discovered) == (1, 2)
    assert world.ledger_rows(job) == {HOME: ("done", None, 0), HOME + "a": ("queued", None, 1)}
    assert len(world.rows("SELECT 1 FROM page_versions v WHERE crawl_id = :id", id=job.id)) == 1


def test_a_late_worker_does_not_overwrite_newer_work(world: World) -> None:
    job = world.crawl()
    world.writer.write(stored(world, job, HOME, "newer"), none)
    world.writer.write(stored(world, job, HOME, "older"), none)
    (page,) = world.rows("SELECT content_text FROM crawled_pages WHERE project_id = :id", id=world.project.id)
    assert page["content_text"] == "newer"


def test_nothing_lands_after_the_crawl_is_over(world: World) -> None:
    job = world.crawl()
    world.finish(job)
    with pytest.raises(CrawlsOver) as caught:
        world.writer.write(stored(world, job, HOME), none)
    assert caught.value.crawl_ids == {job.id}
    assert not world.rows("SELECT 1 FROM crawled_pages WHERE project_id = :id", id=world.project.id)
    assert world.ledger_rows(job) == {HOME: ("queued", None, 0)}


def test_never_more_pages_than_max_pages(world: World) -> None:
    job = world.crawl(HOME, HOME + "a", max_pages=1)
    world.writer.write(stored(world, job, HOME), none)
    with pytest.raises(CrawlsOver):
        world.writer.write(stored(world, job, HOME + "a"), none)
    assert world.store.get_crawl(job.id).pages_crawled == 1


def test_counters_count_rows_that_really_turned(world: World) -> None:
    job = world.crawl(HOME, HOME + "a", HOME + "b")
    world.writer.write(stored(world, job, HOME), none)
    world.writer.write(failed(world, job, HOME + "a"), none)
    refused = found(job, HOME + "c", 9, 1, state=FetchState.SKIPPED, reason=Reason.EXCLUDED, rule="exclude '/c'")
    world.writer.write(failed(world, job, HOME + "b", Reason.NOT_FOUND), lambda _: [refused])
    after = world.store.get_crawl(job.id)
    assert (after.pages_crawled, after.pages_failed, after.pages_skipped, after.total_discovered) == (1, 2, 1, 4)
    stats = world.ledger.statistics(job.id)
    assert stats["by_status"] == {"done": 1, "failed": 2, "skipped": 1}
    assert stats["by_reason"] == {"timeout": 1, "not_found": 1, "excluded": 1}
    assert stats["by_code"] == {"200": 1}
    assert stats["latency_ms"] == {"p50": 12, "p95": 12}


def test_a_failed_refetch_keeps_the_last_good_content(world: World) -> None:
    first = world.crawl()
    world.writer.write(stored(world, first, HOME, "good"), none)
    world.finish(first)
    second = world.crawl()
    world.writer.write(failed(world, second, HOME), none)
    (page,) = world.rows("SELECT * FROM crawled_pages WHERE project_id = :id", id=world.project.id)
    assert (page["status"], page["reason"], page["error_message"]) == ("failed", "timeout", "no answer")
    assert (page["content_text"], page["title"]) == ("good", "Title")
    assert page["content_hash"] is not None


def test_an_unchanged_page_only_moves_its_dates(world: World) -> None:
    first = world.crawl()
    world.writer.write(stored(world, first, HOME, "same"), none)
    world.finish(first)
    second, later = world.crawl(), NOW + timedelta(days=1)
    known = world.writer.previous(world.project.id, [HOME])[HOME]
    key, identity = UrlKey(second.id, HOME), page_id(world.project.id, HOME)
    end = UrlEnd(
        key, FetchState.DONE, Reason.UNCHANGED, None, 1, None, 304, known.content_hash, known.version_id, None, later
    )
    world.writer.write(Batch(ends=[end], unchanged=[Unchanged(key, identity, None, None, later)]), none)
    (page,) = world.rows("SELECT * FROM crawled_pages WHERE project_id = :id", id=world.project.id)
    assert (page["last_seen_at"], page["last_changed_at"], page["etag"]) == (later, NOW, '"e"')
    assert len(world.rows("SELECT 1 FROM page_versions WHERE page_id = :id", id=identity)) == 1


def test_what_is_known_of_a_page_is_looked_up_alone_also_before_the_database_has_statistics(world: World) -> None:
    world.rows(
        "INSERT INTO crawled_pages (id, project_id, url, normalized_url, status, content_hash, last_changed_at) "
        "SELECT gen_random_uuid(), :id, u, u, 'success', 'x', now() "
        "FROM (SELECT 'https://acme.example/' || n AS u FROM generate_series(1, 2000) n) RETURNING 1 AS one",
        id=world.project.id,
    )
    with transaction(world.engine) as connection, cursor(connection) as db:
        given = {"snapshots": True, "baseline": world.crawl().id, "pages": [page_id(world.project.id, HOME)]}
        db.execute("EXPLAIN " + batch_writer._PREVIOUS, given)
        plan = "\n".join(line for (line,) in db)
    assert "pk_crawled_pages" in plan, plan
    assert "Seq Scan" not in plan, plan


def test_one_row_the_database_cannot_take_is_named_as_such(world: World) -> None:
    job = world.crawl()
    batch = stored(world, job, HOME)
    batch.pages[0] = batch.pages[0]._replace(content_text="nul \x00 byte")
    with pytest.raises(RowRefused):
        world.writer.write(batch, none)
    assert world.ledger_rows(job) == {HOME: ("queued", None, 0)}


def test_a_number_too_large_for_its_column_is_a_row_refused(world: World) -> None:
    job = world.crawl()
    batch = Batch(requests=[Request(NOW, job.id, "acme.example", "s", "http", 99_999, 12)])
    with pytest.raises(RowRefused):
        world.writer.write(batch, none)


def test_a_shorter_path_lowers_the_depth_and_tells_what_the_page_links_to(world: World) -> None:
    job = world.crawl()
    world.writer.write(stored(world, job, HOME), lambda _: [found(job, HOME + "a", 1, 5), found(job, HOME + "b", 2, 5)])
    world.writer.write(stored(world, job, HOME + "a"), none)
    lowered = world.ledger.lower_depths(job.id, [(HOME + "a", 1), (HOME + "b", 6), (HOME + "unknown", 1)])
    assert [(row.normalized_url, row.depth, row.fetch_state) for row in lowered] == [(HOME + "a", 1, "done")]
    assert world.ledger.lower_depths(job.id, [(HOME + "a", 1)]) == lowered, "whoever repeats it goes on from here"
    assert lowered[0].links_followed == [HOME + "aa"]
    assert world.ledger_rows(job)[HOME + "b"] == ("queued", None, 5)


def test_failed_urls_are_requeued_and_uncounted(world: World) -> None:
    job = world.crawl(HOME, HOME + "a")
    world.writer.write(failed(world, job, HOME), none)
    world.writer.write(failed(world, job, HOME + "a", Reason.TLS), none)
    again = world.ledger.requeue(job.id, [Reason.TIMEOUT])
    assert [row.normalized_url for row in again] == [HOME]
    assert world.store.get_crawl(job.id).pages_failed == 1
    assert world.ledger.count_queued(job.id) == 1


def test_closing_the_rest_skips_what_waits(world: World) -> None:
    job = world.crawl(HOME, HOME + "a")
    world.writer.write(stored(world, job, HOME), none)
    assert world.ledger.close_rest(job.id, Reason.MAX_PAGES) == 1
    assert world.ledger_rows(job)[HOME + "a"] == ("skipped", "max_pages", 0)
    assert world.store.get_crawl(job.id).pages_skipped == 1


@pytest.mark.slow
def test_writers_of_overlapping_links_do_not_deadlock(world: World) -> None:
    urls = [f"{HOME}{n}" for n in range(40)]
    job = world.crawl(*urls)
    targets = [f"{HOME}t/{n}" for n in range(200)]

    def write(n: int) -> None:
        order = targets[n:] + targets[:n]
        world.writer.write(
            stored(world, job, urls[n], str(n)), lambda _: [found(job, u, i, 1) for i, u in enumerate(order)]
        )

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))
    after = world.store.get_crawl(job.id)
    assert (after.pages_crawled, after.total_discovered) == (40, 240)


def test_ids_of_unknown_crawls_are_over(world: World) -> None:
    ghost = world.crawl().model_copy(update={"id": UUID(int=5)})
    with pytest.raises((CrawlsOver, RowRefused)):
        world.writer.write(stored(world, ghost, HOME), lambda _: [found(ghost, HOME + "x")])


def test_two_writers_of_the_same_bytes_both_land(world: World) -> None:
    """Many pages of a site may be the same bytes: one snapshot, found by both in the same moment."""
    urls = [f"{HOME}{n}" for n in range(16)]
    job = world.crawl(*urls)

    def write(n: int) -> None:
        while True:
            try:
                world.writer.write(stored(world, job, urls[n], f"same {n // 8}"), none)
            except WriteRaced:
                continue
            return

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(16)))
    assert world.store.get_crawl(job.id).pages_crawled == 16
    assert len(world.rows("SELECT 1 FROM page_versions WHERE crawl_id = :id", id=job.id)) == 16


def test_a_batch_that_holds_a_page_twice_writes_it_once(world: World) -> None:
    job = world.crawl(HOME)
    one, two = stored(world, job, HOME, "twice"), stored(world, job, HOME, "twice")
    both = Batch(
        ends=one.ends + two.ends,
        pages=one.pages + two.pages,
        versions=one.versions + two.versions,
        snapshots=one.snapshots + two.snapshots,
    )
    world.writer.write(both, none)
    assert world.store.get_crawl(job.id).pages_crawled == 1
