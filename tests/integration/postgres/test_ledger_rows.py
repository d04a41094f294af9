"""Ledger rows are stored without what they repeat, and read whole."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, text

from crawler.adapters.engine.ledger import Ledger
from crawler.adapters.engine.rows import as_json
from crawler.adapters.engine.url_commit import end_urls, insert_found
from crawler.adapters.postgres.database import connect, cursor, transaction
from crawler.adapters.postgres.schema import check_schema, downgrade, migrate
from crawler.domain.crawls.crawl import FetchState
from crawler.domain.engine.ledger import Found, Source, UrlEnd, UrlKey
from crawler.domain.reasons import Reason

KEY = "https://www.example.org/guide/chapter-17/how-to-begin"
AT = datetime(2026, 11, 2, 10, 30, tzinfo=UTC)


@pytest.fixture
def empty(make_database) -> Iterator[Engine]:  # type: ignore[no-untyped-def]
    engine = connect(make_database())
    yield engine
    engine.dispose()


@pytest.fixture
def migrated(databases) -> Iterator[Engine]:  # type: ignore[no-untyped-def]
    url = databases.make_migrated()
    engine = connect(url)
    yield engine
    engine.dispose()
    databases.drop(url)


def begin_crawl(engine: Engine) -> UUID:
    crawl, project = uuid4(), uuid4()
    with engine.begin() as db:
        db.execute(text("INSERT INTO projects (id, name) VALUES (:id, CAST(:id AS text))"), {"id": project})
        db.execute(text(_CRAWL), {"id": crawl, "project": project})
    return crawl


def found(crawl: UUID, key: str, **other: Any) -> Found:
    given = {"url": key, "state": FetchState.QUEUED, "reason": None, "source": Source.LINK, "parent": None, **other}
    return Found(UrlKey(crawl, key), depth=2, priority=2, seq=7, rule=None, **given)


def done(crawl: UUID, key: str, **other: Any) -> UrlEnd:
    given = {"state": FetchState.DONE, "reason": Reason.UNCHANGED, "final_url": None, **other}
    return UrlEnd(
        UrlKey(crawl, key), rule=None, attempts=1, http_status=200, content_hash=b"h" * 32, version_id=uuid4(),
        error_message=None, fetched_at=AT, **given,
    )  # fmt: skip


def write(engine: Engine, rows: list[Found], ends: list[UrlEnd]) -> None:
    with transaction(engine) as connection, cursor(connection) as db:
        insert_found(db, rows)
        end_urls(db, ends)


def read(engine: Engine, crawl: UUID, what: str = "*", table: str = "crawl_discovered_urls") -> list[Any]:
    query = f"SELECT {what} FROM {table} WHERE crawl_job_id = :id ORDER BY normalized_url"
    with engine.begin() as db:
        return list(db.execute(text(query), {"id": crawl}))


ADDRESSES = (
    KEY,
    f"{KEY}/",
    KEY.replace("guide", "Guide"),
    f"{KEY}?from=mail&to=ä€𝄞",
    KEY[:20],
    "",
    "~",
    f"~ {KEY}",
    "mailto:somebody@example.org",
    KEY + "/x" * 1200,
)


def test_every_address_is_read_as_it_was_written(migrated: Engine) -> None:
    crawl = begin_crawl(migrated)
    keys = [KEY, "~odd", KEY + "/y" * 1200]
    for key in keys:
        for n, address in enumerate((*ADDRESSES, key, f"{key}/")):
            crawl = begin_crawl(migrated)
            rows = [found(crawl, key, url=address, parent=address)]
            write(migrated, rows, [done(crawl, key, final_url=address)])
            assert read(migrated, crawl, "url, parent, final_url") == [(address,) * 3], (key, n)


def test_a_row_that_did_not_change_costs_little_beside_its_key(migrated: Engine) -> None:
    crawl = begin_crawl(migrated)
    write(migrated, [found(crawl, KEY, parent=KEY.rpartition("/")[0])], [done(crawl, KEY)])
    ((url, parent, source, status, size),) = read(
        migrated, crawl, "url, parent, source, status, pg_column_size(u.*)", "crawl_urls u"
    )
    assert (url, source, status) == (None, None, None)
    assert len(parent) == 2
    assert size <= len(KEY) + 190
    ((url, parent, source, status),) = read(migrated, crawl, "url, parent, source, status")
    assert (url, parent, source, status) == (KEY, KEY.rpartition("/")[0], "link", "ingested")


@pytest.mark.parametrize(
    ("state", "status"), [("queued", "pending"), ("done", "ingested"), ("skipped", "skipped"), ("failed", "failed")]
)
def test_the_status_follows_from_the_state(migrated: Engine, state: str, status: str) -> None:
    crawl = begin_crawl(migrated)
    write(migrated, [found(crawl, KEY, state=FetchState(state))], [])
    assert read(migrated, crawl, "fetch_state, status") == [(state, status)]


def test_urls_that_are_queued_again_or_lowered_come_back_whole(migrated: Engine) -> None:
    crawl, ledger = begin_crawl(migrated), Ledger(migrated)
    rows = [found(crawl, KEY, url=f"{KEY}/"), found(crawl, KEY[:-1])]
    lost = {"state": FetchState.FAILED, "reason": Reason.TIMEOUT}
    write(migrated, rows, [done(crawl, KEY, **lost), done(crawl, KEY[:-1], **lost)])
    assert sorted(row.url for row in ledger.requeue(crawl, [Reason.TIMEOUT])) == [KEY[:-1], f"{KEY}/"]
    write(migrated, [], [done(crawl, KEY, state=FetchState.SKIPPED, reason=Reason.REDIRECTED, final_url=f"{KEY}/b")])
    (lowered,) = ledger.lower_depths(crawl, [(KEY, 1)])
    assert (lowered.url, lowered.final_url, lowered.depth) == (f"{KEY}/", f"{KEY}/b", 1)


@pytest.mark.slow
def test_rows_of_the_release_before_are_kept_and_go_on(empty: Engine) -> None:
    migrate(empty)
    downgrade(empty, "0026")
    crawl = begin_crawl(empty)
    with empty.begin() as db:
        for key, state in ((KEY, "queued"), (f"{KEY}/z", "done")):
            given = {"crawl": crawl, "key": key, "url": f"{key}/", "parent": key[:30], "state": state, "at": AT}
            db.execute(text(_OLD_ROW), given)
    before = read(empty, crawl)
    migrate(empty)
    check_schema(empty)
    assert [row._asdict() for row in read(empty, crawl)] == [row._asdict() for row in before]
    write(empty, [found(crawl, f"{KEY}/a"), found(crawl, KEY)], [done(crawl, KEY)])
    ended = [(row.normalized_url, row.url, row.fetch_state, row.status) for row in read(empty, crawl)]
    assert ended == [
        (KEY, f"{KEY}/", "done", "ingested"),
        (f"{KEY}/a", f"{KEY}/a", "queued", "pending"),
        (f"{KEY}/z", f"{KEY}/z/", "done", "ingested"),
    ]
    now = read(empty, crawl)
    downgrade(empty, "0026")
    assert [row._asdict() for row in read(empty, crawl)] == [row._asdict() for row in now]


def test_workers_of_the_release_before_write_beside_ours(migrated: Engine) -> None:
    crawl = begin_crawl(migrated)
    write(migrated, [found(crawl, KEY, parent=KEY[:30])], [])
    theirs = {"crawl_id": crawl, "url": f"{KEY}/", "depth": 1, "priority": 2, "seq": 9, "state": "queued",
              "status": "pending", "source": "link", "parent": KEY}  # fmt: skip
    rows = [{**theirs, "normalized_url": key} for key in (KEY, f"{KEY}/b")]
    ends = [
        {"crawl_id": crawl, "normalized_url": key, "state": "done", "status": "ingested", "attempts": 1,
         "http_status": 200, "fetched_at": AT} for key in (KEY, f"{KEY}/b")
    ]  # fmt: skip
    with transaction(migrated) as connection, cursor(connection) as db:
        db.execute(_OLD_FOUND, (as_json(rows),))
        assert [row[1] for row in db.fetchall()] == [f"{KEY}/b"], "only what is new"
        db.execute(_OLD_END, (as_json(ends),))
        assert sorted(db.fetchall()) == [(crawl, KEY, 2, True), (crawl, f"{KEY}/b", 1, True)]
        db.execute(_OLD_END, (as_json(ends),))
        assert [row[3] for row in db.fetchall()] == [False, False], "a repeat ends nothing"
    told = [(row.url, row.fetch_state, row.status, row.parent, row.source) for row in read(migrated, crawl)]
    assert told == [(KEY, "done", "ingested", KEY[:30], "link"), (f"{KEY}/", "done", "ingested", KEY, "link")]
    with transaction(migrated) as connection:
        ended = connection.execute(text("DELETE FROM crawl_discovered_urls WHERE url = :url"), {"url": f"{KEY}/"})
        assert ended.rowcount == 1


def test_of_two_workers_of_both_releases_one_ends_a_url(migrated: Engine) -> None:
    crawl = begin_crawl(migrated)
    write(migrated, [found(crawl, KEY)], [])
    end = {"crawl_id": crawl, "normalized_url": KEY, "state": "failed", "status": "failed", "attempts": 4,
           "fetched_at": AT}  # fmt: skip
    turned: list[bool] = []

    def theirs() -> None:
        with transaction(migrated) as connection, cursor(connection) as db:
            db.execute(_OLD_END, (as_json([end]),))
            turned.extend(row[3] for row in db.fetchall())

    other = threading.Thread(target=theirs, daemon=True)
    with transaction(migrated) as connection, cursor(connection) as db:
        end_urls(db, [done(crawl, KEY)])
        other.start()
        other.join(0.3)
        assert other.is_alive(), "it waits for what becomes of the row"
    other.join(20)
    assert turned == [False]
    assert read(migrated, crawl, "fetch_state, status") == [("done", "ingested")]


_CRAWL = """
INSERT INTO crawl_jobs (id, project_id, seed_url, domain, crawl_type)
VALUES (:id, :project, 'https://www.example.org/', 'www.example.org', 'manual')
"""
_OLD_ROW = """
INSERT INTO crawl_discovered_urls (crawl_job_id, normalized_url, url, depth, priority, seq, fetch_state, status, parent,
    found_at) VALUES (:crawl, :key, :url, 3, 2, 5, :state, CASE :state WHEN 'done' THEN 'ingested' ELSE 'pending' END,
    :parent, :at)
"""
# What programs of the release before say.
_OLD_FOUND = """
INSERT INTO crawl_discovered_urls (crawl_job_id, normalized_url, url, depth, priority, seq, fetch_state, status,
    reason, rule, source, parent, found_at)
SELECT crawl_id, normalized_url, url, depth, priority, seq, state, status, reason, rule, source, parent, now()
FROM json_to_recordset(%s) AS v(crawl_id uuid, normalized_url text, url text, depth integer, priority smallint,
    seq bigint, state text, status text, reason text, rule text, source text, parent text)
ON CONFLICT DO NOTHING RETURNING crawl_job_id, normalized_url, fetch_state
"""
_OLD_END = """
WITH v AS (SELECT * FROM json_to_recordset(%s) AS v(crawl_id uuid, normalized_url text, state text, status text,
    reason text, rule text, attempts smallint, final_url text, http_status smallint, content_hash bytea,
    version_id uuid, error_message text, fetched_at timestamptz)),
ended AS (
    UPDATE crawl_discovered_urls u
    SET fetch_state = v.state, status = v.status, reason = v.reason, rule = coalesce(v.rule, u.rule),
        attempts = v.attempts, final_url = v.final_url, http_status = v.http_status,
        content_hash = v.content_hash, version_id = v.version_id, error_message = v.error_message,
        fetched_at = v.fetched_at
    FROM v
    WHERE u.crawl_job_id = v.crawl_id AND u.normalized_url = v.normalized_url AND u.fetch_state = 'queued'
    RETURNING u.crawl_job_id, u.normalized_url, u.depth
)
SELECT u.crawl_job_id, u.normalized_url, coalesce(ended.depth, u.depth), ended.depth IS NOT NULL
FROM v
JOIN crawl_discovered_urls u ON u.crawl_job_id = v.crawl_id AND u.normalized_url = v.normalized_url
LEFT JOIN ended ON ended.crawl_job_id = v.crawl_id AND ended.normalized_url = v.normalized_url
"""
