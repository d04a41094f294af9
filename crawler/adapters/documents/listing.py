"""A project's documents as a list, by URL: those in the feed and those that are still to be made."""

from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.postgres.database import transaction
from crawler.domain.documents.document import Document

_LAST = "\U0010ffff"
"""Sorts behind every character a URL may have."""
STATES = {
    "ready": "status = 'ingested' AND deleted_at IS NULL",
    "pending": "status = 'pending'",
    "failed": "status = 'failed'",
    "removed": "deleted_at IS NOT NULL",
}


class DocumentFilter(NamedTuple):
    state: str = ""
    """One of `STATES`; anything else is all."""
    prefix: str | None = None
    """The beginning of the normalized URL."""


class DocumentList:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __call__(self, project_id: UUID, chosen: DocumentFilter, after: str | None, limit: int) -> list[Document]:
        where = ["project_id = :project"]
        given: dict[str, Any] = {"project": project_id, "limit": limit}
        if chosen.state in STATES:
            where.append(STATES[chosen.state])
        if chosen.prefix:
            where.append("normalized_url >= :prefix AND normalized_url < :end")
            given |= {"prefix": chosen.prefix, "end": chosen.prefix + _LAST}
        if after is not None:
            where.append("normalized_url > :after")
            given["after"] = after
        query = f"SELECT {_COLUMNS} FROM documents WHERE {' AND '.join(where)} ORDER BY normalized_url LIMIT :limit"  # noqa: S608
        with transaction(self._engine) as db:
            return [Document.model_validate(row._asdict()) for row in db.execute(text(query), given)]


_OWN = {"content_hash": "encode(content_hash, 'hex') AS content_hash"}
_COLUMNS = ", ".join(_OWN.get(name, name) for name in Document.model_fields)
