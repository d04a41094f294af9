"""However large a crawl is, a batch reads its own rows of the ledger and no others."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, text

from crawler.adapters.engine.document_commit import make_due, name_existing
from crawler.adapters.engine.rendering_commit import write_renderings
from crawler.adapters.engine.url_commit import end_urls
from crawler.adapters.postgres.database import Cursor, connect, cursor, transaction
from crawler.adapters.postgres.partitions import about_crawls
from crawler.domain.crawls.crawl import FetchState
from crawler.domain.engine.ledger import Batch, DocumentDue, Rendering, UrlEnd, UrlKey
from crawler.domain.ids import least_id
from tests.integration.postgres.test_partitions import NOW, crawl, project

URLS = 5000
BATCH = 20


@pytest.fixture(scope="module", params=["a crawl that is new", "a ledger that is new"])
def base(databases, request) -> Iterator[Engine]:  # type: ignore[no-untyped-def]
    """Two large crawls, of which Postgres has looked at the first, or at none."""
    url = databases.make_migrated()
    engine = connect(url)
    of = project(engine)
    crawl(engine, of, NOW, URLS)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
        db.execute(text("ALTER TABLE crawl_urls_rest SET (autovacuum_enabled = off)"))
        if request.param == "a crawl that is new":
            db.execute(text("ANALYZE crawl_urls_rest"))
    crawl(engine, of, NOW + timedelta(hours=1), URLS)
    yield engine
    engine.dispose()
    databases.drop(url)


def _ends(keys: Sequence[UrlKey]) -> list[UrlEnd]:
    return [UrlEnd(key, FetchState.DONE, None, None, 1, None, 200, b"x" * 32, None, None, NOW) for key in keys]


def _dues(keys: Sequence[UrlKey]) -> list[DocumentDue]:
    return [DocumentDue(key, uuid4(), uuid4()) for key in keys]


def _rendered(keys: Sequence[UrlKey]) -> Batch:
    return Batch(renderings=[Rendering(key, {"render": True}) for key in keys])


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda db, keys: end_urls(db, _ends(keys)), id="ends"),
        pytest.param(lambda db, keys: name_existing(db, _dues(keys)), id="known documents"),
        pytest.param(lambda db, keys: make_due(db, _dues(keys)), id="documents"),
        pytest.param(lambda db, keys: write_renderings(db, _rendered(keys)), id="renderings"),
    ],
)
def test_only_the_rows_of_a_batch_are_read(base: Engine, write: Callable[[Cursor, Sequence[UrlKey]], object]) -> None:
    with transaction(base) as connection:
        newest = connection.execute(text("SELECT id FROM crawl_jobs ORDER BY id DESC LIMIT 1")).scalar_one()
        given = {"crawl": newest, "most": BATCH}
        urls = connection.execute(text(_SOME), given).scalars().all()
        with cursor(connection) as db:
            before = _read(db)
            write(db, [UrlKey(UUID(str(newest)), url) for url in urls])
            assert _read(db) - before <= 3 * BATCH
        connection.rollback()


@pytest.mark.parametrize("made", [0, 345_600_000, 1_794_960_000_000, (1 << 48) - 1])
def test_a_crawl_is_in_its_span_whenever_its_id_was_made(made: int) -> None:
    ids = [least_id(made), UUID(int=least_id(made).int | (1 << 80) - 1)]
    span = about_crawls(ids)
    assert span["crawls"] == ids
    assert span["first"] <= ids[0] < ids[1] <= span["last"]


def _read(db: Cursor) -> int:
    db.execute(
        "SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int "
        "FROM pg_stat_xact_user_tables WHERE relname LIKE 'crawl_urls%'"
    )
    return int(db.fetchall()[0][0])


_SOME = "SELECT normalized_url FROM crawl_urls WHERE crawl_job_id = :crawl LIMIT :most"
