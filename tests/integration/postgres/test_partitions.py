"""Parts of the ledger and the request log: made ahead, and dropped whole when they are old."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg2.errors import CheckViolation
from sqlalchemy import Engine, event, text

from crawler.adapters.engine.batch_writer import BatchWriter
from crawler.adapters.engine.url_commit import end_urls, insert_found
from crawler.adapters.postgres import partitions, retention
from crawler.adapters.postgres.database import connect, cursor, transaction
from crawler.adapters.postgres.partitions import LEDGER, REQUESTS, make_parts
from crawler.adapters.postgres.retention import Pruned, Pruner, Retention
from crawler.adapters.postgres.schema import drift
from crawler.domain.crawls.crawl import FetchState
from crawler.domain.engine.ledger import Found, Request, Source, UrlEnd, UrlKey
from crawler.domain.ids import new_id

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)  # a Wednesday
KEEP = Retention(request_log_days=7, keep_versions=0, keep_crawl_days=30)


@pytest.fixture
def base(databases) -> Iterator[Engine]:  # type: ignore[no-untyped-def]
    url = databases.make_migrated()
    engine = connect(url)
    yield engine
    engine.dispose()
    databases.drop(url)


def project(base: Engine) -> UUID:
    one = uuid4()
    with base.begin() as db:
        db.execute(text("INSERT INTO projects (id, name) VALUES (:id, CAST(:id AS text))"), {"id": one})
    return one


def crawl(base: Engine, of: UUID, at: datetime, urls: int = 3) -> UUID:
    """A crawl that ended, with so many URLs."""
    one = new_id(int(at.timestamp() * 1000))
    with transaction(base) as connection, cursor(connection) as db:
        db.execute(_CRAWL, {"id": one, "project": of, "at": at, "urls": urls})
        insert_found(db, [_found(one, n) for n in range(urls)])
    return one


def log(base: Engine, *moments: datetime) -> None:
    BatchWriter(base).log_requests([Request(at, uuid4(), "h.example", "p", "http", 200, 5) for at in moments])


def rows(base: Engine, query: str, **given: Any) -> list[Any]:
    with base.begin() as db:
        return [tuple(row) for row in db.execute(text(query), given)]


def places(base: Engine, table: str = "crawl_urls") -> dict[str, int]:
    return dict(rows(base, f"SELECT CAST(tableoid AS regclass)::text, count(*) FROM {table} GROUP BY 1"))


def names(base: Engine, of: partitions.Parted = LEDGER) -> list[str]:
    with base.begin() as db:
        return [part.name.removeprefix(f"{of.table}_") for part in partitions.parts(db, of)]


def test_parts_are_there_before_they_are_needed(base: Engine) -> None:
    for _ in range(2):
        make_parts(base, LEDGER, NOW)
        make_parts(base, REQUESTS, NOW)
    assert names(base) == ["from_20261116", "from_20261123", "from_20261130"]
    assert names(base, REQUESTS) == ["from_20261118", "from_20261119", "from_20261120", "from_20261121"]
    of = project(base)
    for days in (-10, 0, 4, 5, 400):
        crawl(base, of, NOW + timedelta(days=days), urls=1)
    assert places(base) == {"crawl_urls_rest": 2, "crawl_urls_from_20261116": 2, "crawl_urls_from_20261123": 1}
    log(base, NOW, NOW + timedelta(hours=12), NOW - timedelta(days=1))
    assert places(base, "request_log") == {
        "request_log_rest": 1, "request_log_from_20261118": 1, "request_log_from_20261119": 1
    }  # fmt: skip
    make_parts(base, LEDGER, NOW + timedelta(weeks=2))
    assert names(base)[-2:] == ["from_20261207", "from_20261214"]
    drift(base)


def test_what_is_there_of_a_week_stays_where_it_is(base: Engine) -> None:
    of = project(base)
    crawl(base, of, NOW)
    make_parts(base, LEDGER, NOW)
    assert names(base) == ["from_20261123", "from_20261130"]
    crawl(base, of, NOW)
    assert places(base) == {"crawl_urls_rest": 6}


def test_a_row_that_comes_while_its_part_is_made_stays_where_it_is(base: Engine) -> None:
    late: list[bool] = []

    def write(_conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("SELECT EXISTS (SELECT 1 FROM request_log_rest") and not late:
            late.append(True)
            log(base, NOW)

    event.listen(base, "after_cursor_execute", write)
    try:
        make_parts(base, REQUESTS, NOW)
    finally:
        event.remove(base, "after_cursor_execute", write)
    assert late
    make_parts(base, REQUESTS, NOW)
    assert names(base, REQUESTS) == ["from_20261119", "from_20261120", "from_20261121"]
    assert places(base, "request_log") == {"request_log_rest": 1}


@pytest.mark.slow
def test_a_large_table_becomes_a_part_without_being_rewritten(base: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "LARGE", 0)
    of = project(base)
    old = crawl(base, of, NOW - timedelta(days=50))
    log(base, NOW)
    files = rows(base, _FILES)
    for _ in range(2):
        make_parts(base, LEDGER, NOW)
        make_parts(base, REQUESTS, NOW)
    assert [file for file in rows(base, _FILES) if file in files] == files
    assert names(base) == ["until_20261123", "from_20261123", "from_20261130"]
    assert names(base, REQUESTS) == ["until_20261119", "from_20261119", "from_20261120", "from_20261121"]
    for days in (0, 5, 400):
        crawl(base, of, NOW + timedelta(days=days), urls=1)
    log(base, NOW, NOW + timedelta(days=1), NOW + timedelta(days=9))
    assert places(base) == {"crawl_urls_until_20261123": 4, "crawl_urls_from_20261123": 1, "crawl_urls_rest": 1}
    assert places(base, "request_log") == {
        "request_log_until_20261119": 2, "request_log_from_20261119": 1, "request_log_rest": 1
    }  # fmt: skip
    rows(base, "DELETE FROM crawl_jobs WHERE id = :id RETURNING 1", id=old)
    assert places(base)["crawl_urls_until_20261123"] == 1, "rows still go with their crawl"
    drift(base)


@pytest.mark.slow
def test_a_split_that_does_not_succeed_stops_no_writer(base: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "LARGE", 0)
    monkeypatch.setattr(partitions, "_PATIENCE", "50ms")
    of = project(base)
    crawl(base, of, NOW)
    validate = "ALTER TABLE crawl_urls_rest VALIDATE"

    def fail(conn: Any, cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith(validate):
            raise RuntimeError("the disk is gone")

    event.listen(base, "before_cursor_execute", fail)
    with pytest.raises(RuntimeError, match="the disk is gone"):
        make_parts(base, LEDGER, NOW)
    event.remove(base, "before_cursor_execute", fail)
    assert names(base) == []
    late = crawl(base, of, NOW + timedelta(days=400))
    make_parts(base, LEDGER, NOW)
    assert names(base) == [], "there are rows that would belong to no part"
    rows(base, "DELETE FROM crawl_jobs WHERE id = :id RETURNING 1", id=late)
    with base.begin() as db:
        db.execute(text("LOCK TABLE crawl_urls IN ROW EXCLUSIVE MODE"))  # as a writer holds it
        make_parts(base, LEDGER, NOW)
        assert names(base) == [], "nobody waits for a writer, with others behind"
    make_parts(base, LEDGER, NOW)
    assert names(base)[0] == "until_20261123"


def test_a_week_whose_crawls_are_all_old_goes_whole(base: Engine) -> None:
    make_parts(base, LEDGER, NOW)
    busy, still = project(base), project(base)
    first = [crawl(base, busy, NOW + timedelta(days=days), urls=20) for days in (0, 1, 2)]
    kept = crawl(base, still, NOW + timedelta(days=1), urls=4)  # the last of its project
    later = [crawl(base, busy, NOW + timedelta(days=days)) for days in (8, 9)]
    prune = Pruner(base, KEEP)
    for days, gone in ((29, 0), (34, 60), (35, 0)):
        now = NOW + timedelta(days=days)
        would = prune(now, dry_run=True)
        assert would == Pruned(0, 0, 0, gone)
        assert prune(now) == would
    assert [name for name in names(base) if name < "from_20261214"] == ["from_20261123"], "empty weeks are gone, too"
    assert places(base) == {"crawl_urls_rest": 4, "crawl_urls_from_20261123": 6}
    left = rows(base, "SELECT DISTINCT crawl_job_id FROM crawl_discovered_urls")
    assert {one for (one,) in left} == {kept, *later}
    assert not {one for (one,) in left} & set(first)
    crawl(base, still, NOW + timedelta(days=1))
    assert places(base)["crawl_urls_rest"] == 7, "a crawl of a week that is gone can still write"


def test_a_week_of_which_much_is_kept_stays(base: Engine) -> None:
    make_parts(base, LEDGER, NOW)
    busy, still = project(base), project(base)
    crawl(base, busy, NOW, urls=20)
    crawl(base, still, NOW, urls=10)
    for days in (8, 9):
        crawl(base, busy, NOW + timedelta(days=days))
    assert Pruner(base, KEEP)(NOW + timedelta(days=60)).urls == 20
    assert places(base)["crawl_urls_from_20261116"] == 10


@pytest.mark.slow
def test_a_long_list_waits_for_its_week_and_no_longer(base: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "MANY_URLS", 10)
    make_parts(base, LEDGER, NOW)
    busy, still = project(base), project(base)
    crawl(base, busy, NOW, urls=20)
    crawl(base, busy, NOW, urls=5)
    crawl(base, still, NOW + timedelta(days=3), urls=11)
    for days in (8, 9):
        crawl(base, busy, NOW + timedelta(days=days))
    prune = Pruner(base, KEEP)
    assert prune(NOW + timedelta(days=31)).urls == 5
    assert prune(NOW + timedelta(days=40), dry_run=True).urls == 20
    assert prune(NOW + timedelta(days=40)).urls == 20


def test_a_part_in_use_is_left_for_the_next_time(base: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "_PATIENCE", "50ms")
    monkeypatch.setattr(retention, "PAUSE_SECONDS", 0)
    make_parts(base, REQUESTS, NOW)
    log(base, NOW)
    later, prune = NOW + timedelta(days=9), Pruner(base, KEEP)
    with base.begin() as db:
        db.execute(text("SELECT count(*) FROM request_log"))
        assert prune.requests(later) == 0
        writer = threading.Thread(target=log, args=(base, NOW), daemon=True)
        writer.start()
        writer.join(20)
        assert not writer.is_alive(), "nobody waits for a prune that waits"
    assert prune.requests(later) == 2


def test_requests_go_by_days(base: Engine) -> None:
    log(base, NOW - timedelta(days=3))
    make_parts(base, REQUESTS, NOW)
    log(base, NOW, NOW + timedelta(days=1), NOW + timedelta(days=1, hours=8))
    prune = Pruner(base, KEEP)
    for now, gone in ((4.1, 1), (7, 0), (8, 1), (8.9, 2)):
        at = NOW + timedelta(days=now)
        assert prune(at, dry_run=True).requests == gone
        assert prune.requests(at) == gone
    assert places(base, "request_log") == {}
    assert names(base, REQUESTS) == ["from_20261120", "from_20261121"]


def test_programs_of_the_release_before_delete_no_requests_of_others(base: Engine) -> None:
    make_parts(base, REQUESTS, NOW)
    log(base, NOW - timedelta(days=9), NOW, NOW + timedelta(days=1))
    with base.begin() as db:
        gone = db.execute(text(_OLD_PRUNE), {"before": NOW - timedelta(days=7), "most": 5000}).rowcount
    assert gone == 0
    assert sum(places(base, "request_log").values()) == 3


@pytest.mark.slow
def test_a_commit_looks_only_at_the_part_of_its_crawls(base: Engine) -> None:
    for weeks in range(0, 12, 3):
        make_parts(base, LEDGER, NOW + timedelta(weeks=weeks))
    one = crawl(base, project(base), NOW + timedelta(weeks=1))
    end = UrlEnd(
        UrlKey(one, "https://www.example.org/1"), FetchState.DONE, None, None, 1, None, 200, b"", uuid4(), None, NOW
    )  # fmt: skip
    with transaction(base) as connection, cursor(connection) as db:
        assert end_urls(db, [end]) == ({end.key: 1}, {end.key})
        db.execute(_TOUCHED)
        touched = db.fetchone()
    assert touched == (1,), "parts that the commit has touched"


@pytest.mark.slow
def test_a_table_that_takes_long_to_read_waits_for_prune(base: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "LARGE", 0)
    monkeypatch.setattr(retention, "HOURLY_BYTES", 1)
    crawl(base, project(base), NOW)
    prune = Pruner(base, KEEP)
    prune.hourly(NOW)
    assert names(base) == []
    prune(NOW)
    assert names(base)[0] == "until_20261123"


@pytest.mark.slow
def test_a_split_that_is_killed_stops_no_writer_of_a_table_that_is_only_split_by_prune(
    base: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the next day on nothing could be written any more, until somebody pruned again."""
    crawl(base, project(base), NOW)
    log(base, NOW)
    killed = subprocess.run([sys.executable, "-c", _KILLED, _url(base)], check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    tomorrow = NOW + timedelta(days=1)
    with pytest.raises(CheckViolation):
        log(base, tomorrow)
    monkeypatch.setattr(partitions, "LARGE", 0)
    monkeypatch.setattr(retention, "HOURLY_BYTES", 1)
    prune = Pruner(base, KEEP)
    prune.hourly(NOW)
    log(base, tomorrow)
    assert names(base, REQUESTS) == [], "it is still left to prune"
    rows(base, "DELETE FROM request_log WHERE at = :at RETURNING 1", at=tomorrow)
    prune(NOW)
    assert names(base, REQUESTS)[0] == "until_20261119"


@pytest.mark.slow
def test_a_split_that_goes_on_is_not_taken_for_one_that_was_killed(
    base: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "LARGE", 0)
    log(base, NOW)
    validate = "ALTER TABLE request_log_rest VALIDATE"
    beside: list[list[Any]] = []

    def look(conn: Any, cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith(validate) and not beside:
            beside.append(rows(base, _CLOSED))
            make_parts(base, REQUESTS, NOW, most_read=1)
            make_parts(base, REQUESTS, NOW)
            beside.append(rows(base, _CLOSED))

    event.listen(base, "before_cursor_execute", look)
    make_parts(base, REQUESTS, NOW)
    event.remove(base, "before_cursor_execute", look)
    assert beside == [[("earlier",)], [("earlier",)]]
    assert names(base, REQUESTS)[0] == "until_20261119"
    assert rows(base, _CLOSED) == []


def test_the_hourly_work_makes_parts(base: Engine) -> None:
    assert Pruner(base, KEEP).hourly(NOW) == 0
    assert (len(names(base)), len(names(base, REQUESTS))) == (3, 4)


def _url(base: Engine) -> str:
    return base.url.render_as_string(hide_password=False)


def _found(one: UUID, n: int) -> Found:
    url = f"https://www.example.org/{n}"
    return Found(UrlKey(one, url), url, 1, 2, n, FetchState.QUEUED, None, None, Source.LINK, None)


_CRAWL = """
INSERT INTO crawl_jobs (id, project_id, seed_url, domain, crawl_type, status, total_discovered, created_at,
    completed_at)
VALUES (%(id)s, %(project)s, 'https://www.example.org/', 'www.example.org', 'manual', 'completed', %(urls)s, %(at)s,
    %(at)s)
"""
_FILES = "SELECT relfilenode FROM pg_class WHERE relkind = 'r' AND relname ~ '^(crawl_urls|request_log)_' ORDER BY 1"
_CLOSED = "SELECT conname::text FROM pg_constraint WHERE conname = 'earlier'"
# Killed where a large table is read, which takes minutes.
_KILLED = """
import os, signal, sys
from datetime import UTC, datetime
from sqlalchemy import event
from crawler.adapters.postgres import partitions
from crawler.adapters.postgres.database import connect

def die(conn, cursor, statement, *_):
    if "VALIDATE" in statement:
        os.kill(os.getpid(), signal.SIGKILL)

partitions.LARGE = 0
base = connect(sys.argv[1])
event.listen(base, "before_cursor_execute", die)
partitions.make_parts(base, partitions.REQUESTS, datetime(2026, 11, 18, 12, tzinfo=UTC))
"""
_TOUCHED = """
SELECT count(DISTINCT relation) FROM pg_locks
WHERE pid = pg_backend_pid() AND relation::regclass::text ~ '^crawl_urls_(from_[0-9]+|rest)$'
"""
# What programs of the release before say.
_OLD_PRUNE = (
    "DELETE FROM request_log WHERE ctid = ANY(ARRAY(SELECT ctid FROM request_log WHERE at < :before LIMIT :most))"
)
