"""Stored responses of requests with an Idempotency-Key, kept for a day."""

from sqlalchemy import Engine, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.sql import bindparam

from crawler.adapters.postgres.database import transaction
from crawler.domain.idempotent_answers import Answer, ClaimedRequest


class IdempotencyStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def claim(self, key: bytes, request: bytes) -> ClaimedRequest:
        """Claim a request if it is new, or its first process has been silent for a minute; else what is stored."""
        with transaction(self._engine) as db:
            db.execute(text(_FORGET_OLD))
            row = db.execute(text(_CLAIM), {"key": key, "request": request}).one_or_none()
            if row is not None:
                return ClaimedRequest(mine=True, request=request, answer=None)
            known = db.execute(text(_FIND), {"key": key}).one_or_none()
        if known is None:  # deleted in this moment: the next try claims it
            return ClaimedRequest(mine=False, request=request, answer=None)
        answer = Answer(known.status, known.answer) if known.status is not None else None
        return ClaimedRequest(mine=False, request=bytes(known.request), answer=answer)

    def keep(self, key: bytes, answer: Answer) -> None:
        statement = text(_KEEP).bindparams(bindparam("answer", type_=JSONB))
        with transaction(self._engine) as db:
            db.execute(statement, {"key": key, "status": answer.status, "answer": answer.body})

    def forget(self, key: bytes) -> None:
        with transaction(self._engine) as db:
            db.execute(text("DELETE FROM http_answers WHERE key = :key AND status IS NULL"), {"key": key})


_CLAIM = """
INSERT INTO http_answers AS a (key, request) VALUES (:key, :request)
ON CONFLICT (key) DO UPDATE SET claimed_at = now()
WHERE a.status IS NULL AND a.request = excluded.request AND a.claimed_at < now() - interval '1 minute'
RETURNING 1
"""
_FIND = "SELECT request, status, answer FROM http_answers WHERE key = :key"
_KEEP = "UPDATE http_answers SET status = :status, answer = :answer WHERE key = :key"
# Deleted a few at a time, skipping rows that others are deleting, so that no request waits for the cleanup.
_FORGET_OLD = """
DELETE FROM http_answers WHERE key = ANY(ARRAY(
    SELECT key FROM http_answers WHERE claimed_at < now() - interval '1 day' LIMIT 100 FOR UPDATE SKIP LOCKED
))
"""
