"""Extractions as they are shown and exported.

As CSV and JSON lines: `domain/acquisition/extractions.py`.
"""

from collections.abc import Generator
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, Row, text

from crawler.adapters.acquisition.queue_store import conditions_of, where_of
from crawler.adapters.postgres.database import transaction
from crawler.domain.acquisition.entries import QueueFilter
from crawler.domain.acquisition.extractions import Extraction

ROWS_AT_ONCE = 100
"""Each may hold a megabyte of text."""


def extraction_of(row: Row[Any]) -> Extraction:
    values = {name: getattr(row, name) for name in Extraction.model_fields if name != "text"}
    return Extraction.model_construct(**values, text=row.extracted_text)


class ExtractionReader:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find(self, extraction_id: UUID) -> Extraction | None:
        with transaction(self._engine) as db:
            row = db.execute(text(f"{_SELECT} WHERE e.id = :id"), {"id": extraction_id}).one_or_none()
        return extraction_of(row) if row else None

    def rows(self, chosen: QueueFilter) -> Generator[Extraction]:
        """What holds for these entries now, in their order, streamed."""
        where, values = conditions_of(chosen)
        query = f"{_OF_ENTRIES}{where_of(where)} ORDER BY q.id"
        with transaction(self._engine) as connection:
            streamed = connection.execution_options(yield_per=ROWS_AT_ONCE)
            for row in streamed.execute(text(query), values):
                yield extraction_of(row)


_COLUMNS = """
SELECT e.id, e.queue_id, e.page_id, e.version_id, coalesce(q.source_url, p.url, '') AS url, e.category, e.revision,
       e.fields, e.extracted_text, e.language, e.extracted_at, j.id AS job_id, j.status AS job_status, j.sent_at
"""
_JOINS = """
LEFT JOIN classification_jobs j ON j.extraction_id = e.id
LEFT JOIN crawled_pages p ON p.id = e.page_id
"""
_SELECT = f"{_COLUMNS} FROM extractions e LEFT JOIN crawl_queue q ON q.id = e.queue_id {_JOINS}"
_OF_ENTRIES = (
    f"{_COLUMNS.replace('e.queue_id', 'q.id AS queue_id')} "
    f"FROM crawl_queue q JOIN extractions e ON e.id = q.extraction_id {_JOINS}"
)
