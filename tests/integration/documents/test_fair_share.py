"""Documents of a small project are made in time, however many of a large one wait."""

from typing import Any
from uuid import UUID

import pytest

from crawler.adapters.documents.store import DocumentStore
from crawler.adapters.documents.vector_store import VectorStore
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, response, serving
from tests.site.client import Site
from tests.unit.pages.pdfs import pdf_of


def waiting(crawler: Engine, count: int, *, minutes_ago: int, attempts: int = 0) -> UUID:
    """A project whose documents wait, for their text and for their vectors."""
    project = crawler.project("http://h.test/").id
    query = """
    INSERT INTO documents (id, project_id, url, normalized_url, attempts, updated_at, embed_at)
    SELECT gen_random_uuid(), :project, 'http://h.test/' || n, 'http://h.test/' || n, :attempts,
        now() - make_interval(mins => :minutes), now() - make_interval(mins => :minutes)
    FROM generate_series(1, :count) AS n RETURNING id
    """
    crawler.rows(query, project=project, count=count, minutes=minutes_ago, attempts=attempts)
    return project


def claims_until_done(store: DocumentStore, projects: list[UUID], documents: int) -> int:
    left = dict.fromkeys(projects, documents)
    for number in range(1, 1000):
        for source in store.claim(16, 600):
            if source.project_id in left:
                left[source.project_id] -= 1
        if not any(left.values()):
            return number
    raise AssertionError(f"still wait: {left}")


def test_small_projects_wait_for_their_own_documents_only(crawler: Engine) -> None:
    waiting(crawler, 3000, minutes_ago=60)
    small = [waiting(crawler, 4, minutes_ago=1) for _ in range(5)]
    assert claims_until_done(crawler.tools.documents.store, small, 4) <= 3


@pytest.mark.slow
def test_twenty_small_projects_beside_one_of_50000_documents(crawler: Engine) -> None:
    waiting(crawler, 50_000, minutes_ago=60)
    small = [waiting(crawler, 20, minutes_ago=1) for _ in range(20)]
    # With 21 projects each has its turn in three of four claims, by chance; then one takes one.
    assert claims_until_done(crawler.tools.documents.store, small, 20) <= 3 * 20 * 21 // 16


def test_one_project_alone_gets_all(crawler: Engine) -> None:
    waiting(crawler, 100, minutes_ago=1)
    assert len(crawler.tools.documents.store.claim(16, 60)) == 16


def test_a_document_that_lost_its_worker_has_its_turn_while_others_wait(crawler: Engine) -> None:
    waiting(crawler, 100, minutes_ago=60)
    lost = waiting(crawler, 1, minutes_ago=1, attempts=1)
    store: DocumentStore = crawler.tools.documents.store
    assert [{source.project_id == lost for source in store.claim(16, 60)} for _ in range(2)] == [{False}, {True}]


def test_vectors_of_a_small_project_are_made_in_time(crawler: Engine) -> None:
    waiting(crawler, 500, minutes_ago=60)
    small = waiting(crawler, 4, minutes_ago=1)
    claimed = VectorStore(crawler.tools.database).claim(16, 60)
    assert len(claimed) == 12, "a fair share of each, and the small one has four"
    found = crawler.rows("SELECT id FROM documents WHERE project_id = :id", id=small)
    assert {row["id"] for row in found} <= set(claimed)


@pytest.mark.slow
def test_commits_of_a_large_crawl_send_one_hint_until_a_worker_takes_it(crawler: Engine, site: Site) -> None:
    """Other work of that queue would wait behind all of them."""
    lay(site, {"/": page("/a"), "/a": page("/b"), "/b": page("/c"), "/c": page()})
    first = crawler.crawl(site.url(), ingest=True)
    assert crawler.sent.count(("ingest_documents", None)) == 1
    crawler.tools.frontier.task_begins("ingest_documents")
    site.edit("/c", html=page(body="<p>New.</p>"))
    crawler.again(first)
    assert crawler.sent.count(("ingest_documents", None)) == 2


def test_large_documents_are_kept_apart_and_give_way_when_the_turn_is_over(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One commit of many large pages took minutes, and small ones of others waited for it."""
    long = page(body="<p>Bread and butter.</p>" * 100)
    lay(site, {"/": page("/a", "/b", "/c", body="<p>Tea.</p>"), "/a": long, "/b": long, "/c": long})
    project = crawler.crawl(site.url(), ingest=True).project_id
    ingest = crawler.tools.documents.ingest
    monkeypatch.setattr("crawler.handlers.documents.ingest_documents.LARGE", 2000)
    monkeypatch.setattr(ingest, "_seconds", 0)
    crawler.tools.frontier.task_begins("ingest_documents")  # with the hint that was sent
    crawler.sent.clear()

    assert ingest() == 1

    rows = crawler.rows(
        "SELECT url, status, attempts, claimed_until FROM documents WHERE project_id = :id ORDER BY url", id=project
    )
    assert [(row["url"] == site.url(), row["status"]) for row in rows] == [
        (True, "ingested"), (False, "pending"), (False, "pending"), (False, "pending"),
    ]  # fmt: skip
    assert {(row["attempts"], row["claimed_until"]) for row in rows} == {(0, None)}
    assert ("ingest_documents", None) in crawler.sent
    assert [ingest() for _ in range(3)] == [1, 1, 1]


def test_small_files_that_take_long_give_way_to_pages_and_to_other_projects(
    crawler: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixteen of them were one part: nothing was kept, and nobody else had a turn, until all were read."""
    files = {f"/{name}.pdf": pdf_of("a) Tj (b" * 200_000 + name) for name in "abcd"}
    files["/mine.pdf"] = pdf_of("The fee is 12 euros.")

    def respond(_: object, request: Request) -> bytes:
        if file := files.get(request.path):
            return response(file, "200 OK", "Content-Type: application/pdf")
        return response(page(*files, "/page", body="<p>Tea.</p>").encode())

    settings: dict[str, Any] = {
        "ingest": True, "use_sitemaps": False, "content_types": ["text/html", "application/pdf"],
    }  # fmt: skip
    with serving(respond) as server:
        hostile, other = (
            crawler.crawl(server.url("/"), include_patterns=[paths], **settings).project_id
            for paths in ("/$|/[abcd].pdf", "/$|/page|/mine.pdf")
        )
    ingest = crawler.tools.documents.ingest
    monkeypatch.setattr(ingest, "_seconds", 0)
    monkeypatch.setattr(crawler.tools.acquisition.extractor, "_seconds", 1.0)

    def done(project: UUID) -> int:
        query = "SELECT count(*) AS n FROM documents WHERE project_id = :id AND status = 'ingested'"
        (row,) = crawler.rows(query, id=project)
        return int(row["n"])

    for _ in range(4):
        ingest()
    assert done(other) == 3
    assert done(hostile) == 1, "its page; its files take longer than they may"
    failed = crawler.rows("SELECT url FROM documents WHERE project_id = :id AND status = 'failed'", id=hostile)
    assert len(failed) <= 2
