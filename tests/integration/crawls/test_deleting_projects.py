"""A project is deleted while its documents are worked on: everybody takes the project's row first, nobody deadlocks."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from datetime import UTC, datetime
from uuid import UUID

import pytest

from crawler.adapters.postgres.database import cursor, transaction
from crawler.domain.documents.chunking import Chunk
from crawler.domain.documents.document import Made
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

MODEL = "test@1"


def keep_vectors(crawler: Engine) -> None:
    chunks = crawler.rows("SELECT id FROM document_chunks")
    crawler.tools.documents.vectors.keep(MODEL, [(row["id"], [0.5]) for row in chunks])


def of_documents(crawler: Engine) -> list[UUID]:
    return [row["id"] for row in crawler.rows("SELECT id FROM documents")]


def keep_documents(crawler: Engine) -> None:
    with crawler.tools.database.begin() as db:
        db.exec_driver_sql("UPDATE documents SET status = 'pending', attempts = 0, claimed_until = NULL")
    sources = crawler.tools.documents.store.claim(10, 60)
    made = [Made(source, [Chunk(0, (), "Other.", 2)], "simple") for source in sources]
    crawler.tools.documents.store.keep(made, [], [], embed=False)


def remove(crawler: Engine) -> None:
    rows = crawler.rows("SELECT project_id, normalized_url FROM documents")
    urls = [row["normalized_url"] for row in rows]
    crawler.tools.documents.store.remove(rows[0]["project_id"], urls, datetime(2100, 1, 1, tzinfo=UTC))


WRITERS: list[Callable[[Engine], object]] = [
    keep_vectors,
    lambda crawler: crawler.tools.documents.vectors.finish(of_documents(crawler), MODEL),
    lambda crawler: crawler.tools.documents.vectors.put_off(of_documents(crawler), "why"),
    lambda crawler: crawler.tools.documents.vectors.put_back(of_documents(crawler)),
    keep_documents,
    remove,
]


@pytest.mark.quick(2)
@pytest.mark.parametrize("write", WRITERS)
def test_whoever_writes_documents_waits_for_a_deletion_before_it_locks_anything(
    crawler: Engine, site: Site, write: Callable[[Engine], object]
) -> None:
    lay(site, {"/": page("/a", body="<p>Bread.</p>"), "/a": page(body="<p>Butter.</p>")})
    project = crawler.crawl(site.url(), ingest=True).project_id
    crawler.tools.documents.ingest()
    with ThreadPoolExecutor(1) as pool:
        with transaction(crawler.tools.database) as connection, cursor(connection) as db:
            db.execute("SELECT 1 FROM projects WHERE id = %s FOR UPDATE", (project,))
            writing = pool.submit(write, crawler)
            with pytest.raises(NotYet):
                writing.result(0.4)
            db.execute("SET LOCAL lock_timeout = '2s'")
            db.execute("DELETE FROM projects WHERE id = %s", (project,))
        writing.result(10)
    assert crawler.rows("SELECT 1 FROM documents") == []
    assert crawler.rows("SELECT 1 FROM document_chunks") == []


def test_a_deletion_takes_many_short_transactions_and_locks_the_project_last(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches of a shift hold pages of several projects: they would all wait for one that is deleted."""
    lay(site, {"/": page("/a", body="<p>Bread.</p>"), "/a": page(body="<p>Butter.</p>")})
    crawl = crawler.crawl(site.url(), ingest=True)
    crawler.again(crawl)
    crawler.tools.documents.ingest()
    monkeypatch.setattr("crawler.adapters.engine.project_belongings.ROWS_ABOVE", 1)
    with ThreadPoolExecutor(1) as pool:
        with transaction(crawler.tools.database) as connection, cursor(connection) as db:
            db.execute("SELECT 1 FROM crawl_jobs WHERE id = %s FOR UPDATE", (crawl.id,))
            deleting = pool.submit(crawler.tools.projects.manage.delete, crawl.project_id)
            with pytest.raises(NotYet):
                deleting.result(0.4)
            assert crawler.rows("SELECT 1 FROM crawled_pages") == [], "what is gone is gone"
            assert crawler.rows("SELECT 1 FROM documents") == []
            db.execute("SET LOCAL lock_timeout = '2s'")
            db.execute("SELECT 1 FROM projects WHERE id = %s FOR KEY SHARE", (crawl.project_id,))
            assert crawler.rows("SELECT is_active FROM projects WHERE id = :id", id=crawl.project_id) == [
                {"is_active": False}
            ]
        deleting.result(10)
    for table in ("projects", "crawl_jobs", "crawl_urls", "page_versions", "document_chunks"):
        assert crawler.rows(f"SELECT 1 FROM {table}") == [], table


def test_only_the_rows_of_a_deleted_project_go(crawler: Engine, site: Site) -> None:
    lay(site, {"/": page("/a", body="<p>Bread.</p>"), "/a": page(body="<p>Butter.</p>")})
    gone, stays = (crawler.crawl(site.url(), ingest=True) for _ in range(2))
    crawler.tools.documents.ingest()
    crawler.tools.projects.manage.delete(gone.project_id)
    tables = ("crawled_pages", "page_versions", "documents", "document_chunks", "crawl_urls")
    assert {table: len(crawler.rows(f"SELECT 1 FROM {table}")) for table in tables} == dict.fromkeys(tables, 2)
    assert crawler.ends(stays) == {"/": "done", "/a": "done"}
