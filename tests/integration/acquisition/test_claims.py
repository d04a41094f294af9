"""A claim takes as many as it asked for, whatever plan Postgres chooses: some plans ask a subquery once per row."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine as Database
from sqlalchemy import create_engine, text

from crawler.adapters.acquisition.extraction_store import ExtractionStore
from crawler.adapters.documents.store import DocumentStore
from crawler.adapters.documents.vector_store import VectorStore
from tests.integration.live_engine import Engine

SWITCHED_OFF = ("hashjoin", "mergejoin", "hashagg", "material", "indexscan", "bitmapscan", "sort", "memoize")

URLS = "(SELECT 'http://h/' || n AS u FROM generate_series(1, 5) AS n) AS urls"


@pytest.fixture
def nested(crawler: Engine) -> Iterator[Database]:
    """Connections that join by nested loops only, as Postgres does for tables that it believes to be empty."""
    url = crawler.tools.settings.database_url
    assert url is not None
    options = " ".join(f"-c enable_{way}=off" for way in SWITCHED_OFF)
    engine = create_engine(url.get_secret_value(), connect_args={"options": options})
    yield engine
    engine.dispose()


def test_an_entry_that_lost_its_worker_is_claimed_alone(nested: Database) -> None:
    with nested.begin() as db:
        db.execute(
            text(f"""
            INSERT INTO crawl_queue (source_url, normalized_url, host, status, rounds)
            SELECT u, u, 'h', 'fetched', 1 FROM {URLS}""")
        )
    assert len(ExtractionStore(nested).claim(10)) == 1


def test_documents_are_claimed_as_many_as_asked_for(crawler: Engine, nested: Database) -> None:
    project = crawler.project("http://h/")
    with nested.begin() as db:
        db.execute(
            text(f"""
            INSERT INTO documents (id, project_id, url, normalized_url, embed_at)
            SELECT gen_random_uuid(), :project, u, u, now() FROM {URLS}"""),
            {"project": project.id},
        )
    assert len(VectorStore(nested).claim(2, 60)) == 2
    with nested.begin() as db:
        db.execute(text("UPDATE documents SET attempts = 1"))
    DocumentStore(nested).claim(10, 60)
    with nested.begin() as db:
        assert db.execute(text("SELECT count(*) FROM documents WHERE attempts > 1")).scalar() == 1, (
            "a lost one comes alone"
        )
