"""Vectors follow the text: only of what is new, never lost, and never in the way of search by words."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import cycle
from multiprocessing import RawArray
from typing import Any

import pytest

from crawler.adapters.documents.vector_store import VectorStore
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.documents.embedding import EmbeddingFailed
from crawler.entrypoints.doctor import Check, diagnose
from crawler.handlers.documents.embed_documents import EmbedDocuments
from crawler.handlers.documents.search_documents import SearchDocuments
from tests.embedding_twin import DIMENSION, EmbeddingTwin
from tests.integration.embedding_server import EmbeddingServer, embedding_server
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

RYE = page("/wheat", title="Rye", body="<h1>Rye</h1><p>Rye bread.</p><h2>Storing</h2><p>In a wooden box.</p>")
WHEAT = page(title="Wheat", body="<h1>Wheat</h1><p>Wheat is lighter.</p>")


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as running:
        yield running


@pytest.fixture
def engine_settings(server: EmbeddingServer) -> dict[str, object]:
    return {"embed_url": server.url, "embed_model": "test", "embed_dimension": DIMENSION, "embed_batch": 2}


def ingest(crawler: Engine, site: Site) -> CrawlJob:
    lay(site, {"/": RYE, "/wheat": WHEAT})
    crawl = crawler.crawl(site.url(), ingest=True)
    crawler.tools.documents.ingest()
    return crawl


def documents(crawler: Engine) -> list[dict[str, Any]]:
    return crawler.rows("SELECT * FROM documents ORDER BY normalized_url")


def due_now(crawler: Engine) -> None:
    """Also for a worker that has not seen the service fail."""
    vars(crawler.tools.documents).pop("embed", None)
    crawler.tools.embed_rest[:] = [0.0] * 3
    with crawler.tools.database.begin() as db:
        db.exec_driver_sql("UPDATE documents SET embed_at = now() WHERE embed_at IS NOT NULL")


def answer_with(*numbers: str) -> bytes:
    vector = ", ".join([*numbers, *["0"] * (DIMENSION - len(numbers))])
    return f'{{"data": [{{"embedding": [{vector}]}}]}}'.encode()


def search(crawler: Engine, crawl: CrawlJob, words: str) -> tuple[str, list[str]]:
    answer = crawler.tools.documents.search(crawl.project_id, words, limit=10)
    return answer.mode, [hit.content for hit in answer.hits]


def test_text_is_found_at_once_and_vectors_follow(crawler: Engine, site: Site, server: EmbeddingServer) -> None:
    crawl = ingest(crawler, site)
    assert search(crawler, crawl, "wooden") == ("text", ["In a wooden box.\n\nto /wheat"])
    assert ("embed_documents", None) in crawler.sent
    before = [row["feed_seq"] for row in documents(crawler)]

    assert crawler.tools.documents.embed() == 2

    assert sorted(server.texts) == sorted(
        ["Rye\nRye bread.", "Rye > Storing\nIn a wooden box.\n\nto /wheat", "Wheat\nWheat is lighter."]
    )
    assert {row["embedded_with"] for row in documents(crawler)} == {f"test@{DIMENSION}"}
    assert min(row["feed_seq"] for row in documents(crawler)) > max(before), "the feed tells that they have vectors"
    mode, found = search(crawler, crawl, "a box made of wood")
    assert mode == "hybrid"
    assert "wooden box" in found[0]


@pytest.mark.slow
def test_vectors_give_way_to_text_that_waits(crawler: Engine, site: Site, server: EmbeddingServer) -> None:
    """A service that takes seconds for each answer held up all documents for as long as vectors were due."""
    crawl = ingest(crawler, site)
    waiting = "UPDATE documents SET status = 'pending', attempts = 0 WHERE project_id = :id RETURNING id"
    crawler.rows(waiting, id=crawl.project_id)
    crawler.tools.frontier.task_begins("embed_documents")  # with the hint that was sent
    crawler.sent.clear()

    crawler.tools.documents.embed()

    assert len(server.asked) == 1, "and at least one request each time, so that vectors come as well"
    assert ("embed_documents", None) in crawler.sent
    crawler.tools.documents.ingest()
    crawler.tools.documents.embed()
    assert len(server.texts) == 3, "all have a vector, and none was asked for twice"
    assert search(crawler, crawl, "wooden")[0] == "hybrid"


def test_a_small_document_does_not_wait_for_the_chunks_of_large_ones(
    crawler: Engine, site: Site, server: EmbeddingServer
) -> None:
    sections = "".join(f"<h2>Part {number}</h2><p>All of part {number}.</p>" for number in range(12))
    large = {f"/large{n}": page(title=f"Large {n}", body=sections) for n in range(4)}
    lay(site, {"/": page("/wheat", *large, title="Start"), "/wheat": WHEAT, **large})
    crawler.crawl(site.url(), ingest=True)
    crawler.tools.documents.ingest()
    crawler.tools.documents.embed()
    assert len(server.texts) >= 49
    assert server.texts.index("Wheat\nWheat is lighter.") < 6, "one of each document comes first"


def test_what_did_not_change_is_not_embedded_again(crawler: Engine, site: Site, server: EmbeddingServer) -> None:
    first = ingest(crawler, site)
    crawler.tools.documents.embed()
    server.asked.clear()
    site.edit("/", html=RYE.replace("Rye bread", "Dark bread"))
    crawler.again(first)
    crawler.tools.documents.ingest()
    assert crawler.tools.documents.embed() == 1
    assert server.texts == ["Rye\nDark bread."]
    crawler.again(first)
    crawler.tools.documents.ingest()
    assert crawler.tools.documents.embed() == 0
    assert len(server.asked) == 1


def test_while_the_service_is_down_documents_wait_with_the_reason(
    crawler: Engine, site: Site, server: EmbeddingServer
) -> None:
    server.status, server.failures = 404, -1
    crawl = ingest(crawler, site)
    assert crawler.tools.documents.embed() == 0
    rows = documents(crawler)
    assert all(row["status"] == "ingested" and row["embed_at"] is not None for row in rows)
    assert all("CRAWLER_EMBED_URL" in row["embedding_error"] for row in rows)
    assert crawler.tools.documents.embed() == 0
    assert len(server.asked) == 1, "not before it is time"
    assert search(crawler, crawl, "wooden")[0] == "text"

    server.failures = 0
    due_now(crawler)
    assert crawler.tools.documents.embed() == 2
    assert [row["embedding_error"] for row in documents(crawler)] == [None, None]


def test_a_wrong_dimension_is_told_and_loses_nothing(crawler: Engine, site: Site, server: EmbeddingServer) -> None:
    server.dimension = 7
    ingest(crawler, site)
    assert crawler.tools.documents.embed() == 0
    told = "vectors of 7 numbers, but CRAWLER_EMBED_DIMENSION is 32; correct it, or CRAWLER_EMBED_MODEL."
    assert all(row["embedding_error"].endswith(told) for row in documents(crawler))
    assert {row["status"] for row in documents(crawler)} == {"ingested"}
    assert crawler.rows("SELECT 1 FROM document_chunks WHERE embedding IS NOT NULL") == []


@pytest.mark.slow
def test_waits_grow_and_have_an_end(crawler: Engine, site: Site, server: EmbeddingServer) -> None:
    server.status, server.failures = 404, -1
    ingest(crawler, site)
    waits = []
    for _ in range(9):
        due_now(crawler)
        crawler.tools.documents.embed()
        (row, *_) = crawler.rows("SELECT extract(epoch FROM embed_at - now()) AS wait FROM documents")
        waits.append(round(float(row["wait"]), -1))
    assert waits == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]


def test_a_search_goes_by_words_when_the_service_fails_and_leaves_it_alone_for_a_while(
    crawler: Engine, site: Site, server: EmbeddingServer
) -> None:
    crawl = ingest(crawler, site)
    crawler.tools.documents.embed()
    server.asked.clear()
    server.status, server.failures = 500, -1
    answer = crawler.tools.documents.search(crawl.project_id, "wooden", limit=5)
    assert (answer.mode, len(answer.hits)) == ("text", 1)
    assert answer.note is not None
    assert len(server.asked) == 1
    crawler.tools.documents.search(crawl.project_id, "wooden", limit=5)
    assert len(server.asked) == 1


def test_a_query_that_the_service_refuses_takes_vectors_from_no_other(
    crawler: Engine, site: Site, server: EmbeddingServer
) -> None:
    crawl = ingest(crawler, site)
    crawler.tools.documents.embed()
    server.refused = "teapot"
    assert search(crawler, crawl, "wooden teapot")[0] == "text"
    assert search(crawler, crawl, "wooden")[0] == "hybrid"


def test_another_model_means_new_vectors_and_old_ones_are_not_compared(
    crawler: Engine, site: Site, server: EmbeddingServer
) -> None:
    crawl = ingest(crawler, site)
    crawler.tools.documents.embed()
    other = EmbeddingTwin("other@32")
    vectors: VectorStore = crawler.tools.documents.vectors
    search_again = SearchDocuments(crawler.tools.documents.search._search, vectors, other, nullcontext)
    assert search_again(crawl.project_id, "wooden", limit=5).mode == "text"
    hint = crawler.tools.hints.embed_documents
    embed = EmbedDocuments(vectors, other, hint=hint, go_on=hint, lease_seconds=60, seconds=5, batch=10)
    embed.recover()
    assert embed() == 2
    assert len(other.texts) == 3
    assert search_again(crawl.project_id, "wooden", limit=5).mode == "hybrid"


def test_documents_made_before_there_was_a_service_get_vectors(
    crawler: Engine, site: Site, server: EmbeddingServer
) -> None:
    ingest(crawler, site)
    with crawler.tools.database.begin() as db:
        db.exec_driver_sql("UPDATE documents SET embed_at = NULL")
    crawler.tools.documents.embed.recover()
    assert crawler.tools.documents.embed() == 2


def test_a_database_without_pgvector_works_without_vectors(
    crawler: Engine, site: Site, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawler.tools.documents.vectors, "available", lambda: False)
    crawl = ingest(crawler, site)
    assert crawler.tools.documents.embed() == 0
    assert {row["embed_at"] for row in documents(crawler)} == {None}
    assert server.asked == []
    assert search(crawler, crawl, "wooden")[0] == "text"


def test_whether_the_database_has_pgvector_is_looked_up(crawler: Engine) -> None:
    assert VectorStore(crawler.tools.database).available()
    (row,) = crawler.rows("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    assert row["extversion"]


def test_a_worker_that_dies_over_vectors_leaves_them_to_the_next(
    crawler: Engine, site: Site, server: EmbeddingServer
) -> None:
    ingest(crawler, site)
    assert len(crawler.tools.documents.vectors.claim(10, lease_seconds=60)) == 2
    assert crawler.tools.documents.embed() == 0
    due_now(crawler)
    assert crawler.tools.documents.embed() == 2


@pytest.mark.slow
def test_vectors_that_come_for_a_document_made_anew_meanwhile_leave_it_due(
    crawler: Engine, site: Site, server: EmbeddingServer
) -> None:
    first = ingest(crawler, site)
    assert crawler.tools.documents.embedder is not None
    model = crawler.tools.documents.embedder.name
    claimed = crawler.tools.documents.vectors.claim(10, lease_seconds=60)
    lacking = crawler.tools.documents.vectors.missing(claimed, model)
    site.edit("/", html=RYE.replace("Rye bread", "Dark bread"))
    crawler.again(first)
    crawler.tools.documents.ingest()
    crawler.tools.documents.vectors.keep(model, [(c.chunk_id, [0.5] * DIMENSION) for c in lacking])
    assert crawler.tools.documents.vectors.finish(claimed, model) == 1
    due_now(crawler)
    assert crawler.tools.documents.embed() == 1
    assert server.texts == ["Rye\nDark bread."]


class Broken(EmbeddingTwin):
    """Takes nothing until it is mended."""

    mended = False

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        vectors = super().embed(texts)
        if not self.mended:
            raise EmbeddingFailed("It hangs.")
        return vectors


def test_a_service_that_failed_is_left_alone_for_a_growing_while_and_then_asked_for_little(
    crawler: Engine, site: Site, server: EmbeddingServer
) -> None:
    ingest(crawler, site)
    now = [0.0]
    broken = Broken()
    options: dict[str, Any] = {
        "hint": crawler.tools.hints.embed_documents,
        "go_on": crawler.tools.hints.embed_documents,
        "lease_seconds": 60,
        "seconds": 5,
        "batch": 8,
        "clock": lambda: now[0],
        "rest": RawArray("d", 3),
    }
    # The processes of a pool, which take turns and share their rest.
    turns = cycle([EmbedDocuments(crawler.tools.documents.vectors, broken, **options) for _ in range(3)])
    asked_at = []
    for second in range(0, 1500, 10):
        now[0] = float(second)
        due_now(crawler)
        before = len(broken.texts)
        assert next(turns)() == 0
        if len(broken.texts) > before:
            asked_at.append((second, len(broken.texts) - before))
    assert asked_at == [(0, 3), (30, 2), (90, 1), (210, 1), (450, 1), (750, 1), (1050, 1), (1350, 1)]

    broken.mended = True
    due_now(crawler)
    now[0] += 300
    assert next(turns)() == 2


def test_a_text_the_service_refuses_keeps_no_vectors_from_others(
    crawler: Engine, site: Site, server: EmbeddingServer
) -> None:
    server.refused = "wooden"
    ingest(crawler, site)

    assert crawler.tools.documents.embed() == 1

    rye, wheat = documents(crawler)
    assert (wheat["embedded_with"], wheat["embedding_error"], wheat["embed_at"]) == (f"test@{DIMENSION}", None, None)
    assert rye["embedded_with"] is None
    assert "the input is too long" in rye["embedding_error"]
    assert rye["embed_at"] > crawler.rows("SELECT now() + interval '20 s' AS soon")[0]["soon"]
    lacking = crawler.rows("SELECT content FROM document_chunks WHERE embedding IS NULL")
    assert [row["content"] for row in lacking] == ["In a wooden box.\n\nto /wheat"]

    server.refused = ""
    server.asked.clear()
    due_now(crawler)
    assert crawler.tools.documents.embed() == 1
    assert server.texts == ["Rye > Storing\nIn a wooden box.\n\nto /wheat"], "what was paid for is not asked for again"


def test_a_service_that_refuses_everything_is_not_asked_text_by_text(
    crawler: Engine, site: Site, server: EmbeddingServer
) -> None:
    server.status, server.failures = 400, -1
    ingest(crawler, site)
    assert crawler.tools.documents.embed() == 0
    assert len(server.asked) <= 4
    assert all("answers 400" in row["embedding_error"] for row in documents(crawler))


@pytest.mark.slow
@pytest.mark.quick(2)
@pytest.mark.parametrize("number", ["1e39", "-1e39", "1e400", "1" + "0" * 400, "NaN"])
def test_a_number_that_postgres_cannot_hold_is_told_and_does_no_harm(
    crawler: Engine, site: Site, server: EmbeddingServer, number: str
) -> None:
    lay(site, {"/": WHEAT})
    crawl = crawler.crawl(site.url(), ingest=True)
    crawler.tools.documents.ingest()
    spoiled = answer_with(number, "1")
    server.body = spoiled
    assert crawler.tools.documents.embed() == 0
    (document,) = documents(crawler)
    assert document["embedding_error"]
    server.body = None
    due_now(crawler)
    assert crawler.tools.documents.embed() == 1
    server.body = spoiled
    answer = crawler.tools.documents.search(crawl.project_id, "wheat", limit=5)
    assert (answer.mode, len(answer.hits)) == ("text", 1)


def test_numbers_too_small_for_postgres_are_zero(crawler: Engine, site: Site, server: EmbeddingServer) -> None:
    lay(site, {"/": WHEAT})
    crawler.crawl(site.url(), ingest=True)
    crawler.tools.documents.ingest()
    server.body = answer_with("1", "1e-60")
    assert crawler.tools.documents.embed() == 1


@pytest.mark.quick(1)
@pytest.mark.parametrize("words", ["bread -wooden", 'rye -"wooden box"', "-wooden"])
def test_what_is_excluded_is_not_found_by_its_meaning_either(
    crawler: Engine, site: Site, server: EmbeddingServer, words: str
) -> None:
    crawl = ingest(crawler, site)
    crawler.tools.documents.embed()
    mode, found = search(crawler, crawl, words)
    assert mode == "hybrid"
    assert found
    assert not any("wooden" in text for text in found)


@pytest.mark.slow
def test_doctor_tells_what_keeps_vectors_away(
    crawler: Engine, server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told() -> Check:
        (check,) = [check for check in diagnose(crawler.tools) if check.name == "vectors"]
        assert not check.required
        return check

    assert told().ok
    server.dimension = 3
    assert "CRAWLER_EMBED_DIMENSION is 32" in told().message
    monkeypatch.setattr(crawler.tools.documents.vectors, "available", lambda: False)
    assert (told().ok, told().fix) == (False, "As a superuser, once: CREATE EXTENSION vector.")


def test_many_vectors_are_found_by_the_index(crawler: Engine, site: Site) -> None:
    ingest(crawler, site)
    crawler.tools.documents.embed()
    rows = crawler.rows("SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'ix_document_chunks_vector%'")
    (own,) = [row["indexdef"] for row in rows if f"test@{DIMENSION}" in row["indexdef"]]
    assert "hnsw" in own
