"""Addresses of Atom feeds: a token opens the feed of one project, of a tag, or of all. Only its hash is kept."""

import secrets
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.postgres.database import transaction
from crawler.domain.api_keys import hash_key

PREFIX = "crf_"


class FeedAccess(NamedTuple):
    project_id: UUID | None
    """None: all projects, or those of the tag."""
    tag: str = ""


class FeedTokens:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def issue(self, project_id: UUID | None, tag: str = "") -> str:
        """A new token. The one before opens nothing any more."""
        token = PREFIX + secrets.token_urlsafe(24)
        given = {"hash": hash_key(token), "project": project_id, "tag": tag}
        with transaction(self._engine) as db:
            db.execute(text(_ISSUE), given)
        return token

    def revoke(self, project_id: UUID | None, tag: str = "") -> None:
        with transaction(self._engine) as db:
            db.execute(text(_REVOKE), {"project": project_id, "tag": tag})

    def issued_at(self, project_id: UUID | None, tag: str = "") -> datetime | None:
        given = {"project": project_id, "tag": tag}
        with transaction(self._engine) as db:
            found: datetime | None = db.execute(text(_SINCE), given).scalar_one_or_none()
        return found

    def find(self, token: str) -> FeedAccess | None:
        with transaction(self._engine) as db:
            row = db.execute(text(_FIND), {"hash": hash_key(token)}).one_or_none()
        return FeedAccess(row.project_id, row.tag) if row else None


_REVOKE = "DELETE FROM feed_tokens WHERE project_id IS NOT DISTINCT FROM CAST(:project AS uuid) AND tag = :tag"
# One statement: of two who ask in the same moment the later one's token stays.
_ISSUE = """
INSERT INTO feed_tokens (token_hash, project_id, tag) VALUES (:hash, :project, :tag)
ON CONFLICT (coalesce(project_id, '00000000-0000-0000-0000-000000000000'::uuid), tag)
DO UPDATE SET token_hash = excluded.token_hash, created_at = now()
"""
_SINCE = """
SELECT created_at FROM feed_tokens WHERE project_id IS NOT DISTINCT FROM CAST(:project AS uuid) AND tag = :tag
"""
_FIND = "SELECT project_id, tag FROM feed_tokens WHERE token_hash = :hash"
