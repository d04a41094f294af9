"""Entries on their way from fetched to done. All of one entry's rows are written in one transaction, or none.

The steps between are in `handlers/acquisition/extract_entries.py`. How many lost workers are too many: `MOST_LOSSES` in
`domain/retries.py`.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

import orjson
from sqlalchemy import Connection, Engine, text

from crawler.adapters.acquisition.field_fills import count_fills
from crawler.adapters.postgres.database import cursor, transaction
from crawler.adapters.postgres.fair_claim import FairClaim
from crawler.adapters.postgres.snapshot_bytes import find_bytes
from crawler.adapters.postgres.tables.acquisition import ENTRY_PROJECT
from crawler.domain.acquisition.extractions import Claimed, NewExtraction, ReadPage, error_text
from crawler.domain.retries import MOST_LOSSES

CLASSIFY = "classify"
"""In the outbox; under which name it is sent is a setting."""
CLASSIFICATION = "classification"


class ExtractionStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._fresh_first = False

    def claim(self, count: int) -> list[Claimed]:
        """Claim some entries. One that was lost before comes alone: what kills must not take others along.

        In turns, or nobody would look at a lost one while there are others.
        """
        claim_id = uuid4()
        self._fresh_first = not self._fresh_first
        ways = (("rounds = 0", count), ("rounds > 0", 1))
        with transaction(self._engine) as connection, cursor(connection) as db:
            for due, some in ways if self._fresh_first else reversed(ways):
                if found := _CLAIM(db, due, some, claim_id):
                    break
        return sorted(
            Claimed(entry, claim_id, page, category, rounds - 1, project)
            for entry, page, category, rounds, project in found
        )

    def renew(self, claim_id: UUID) -> None:
        with transaction(self._engine) as db:
            db.execute(text(_RENEW), {"claim": claim_id})

    def release(self, claim_id: UUID) -> None:
        """What is left of it waits again, as if it had never been claimed."""
        with transaction(self._engine) as db:
            db.execute(text(_RELEASE), {"claim": claim_id})

    def give_back(self, entry: Claimed) -> None:
        """Its process was lost: it waits again, and the loss counts."""
        with transaction(self._engine) as db:
            db.execute(text(_GIVE_BACK), {"id": entry.id, "claim": entry.claim_id, "most": MOST_LOSSES})

    def requeue_lost(self, stale_seconds: float) -> int:
        """Entries whose worker went silent wait again; those that were lost too often fail."""
        with transaction(self._engine) as db:
            return db.execute(text(_BRING_BACK), {"seconds": stale_seconds, "most": MOST_LOSSES}).rowcount

    def is_waiting(self) -> bool:
        with transaction(self._engine) as db:
            return db.execute(text(_WAITING)).first() is not None

    def find_page(self, page_id: UUID) -> ReadPage | None:
        with transaction(self._engine) as db:
            row = db.execute(text(_PAGE), {"page": page_id}).one_or_none()
        if row is None or (body := find_bytes(row.content, row.byte_length)) is None:
            return None
        return ReadPage(row.page_id, row.version_id, bytes(row.content_hash), row.url, row.content_type or "", body)

    def finish_unchanged(self, entry: Claimed, page: ReadPage, revision: str) -> bool:
        """Done, if the last extraction of this page by this revision was of the same content."""
        with transaction(self._engine) as db:
            same = _same(db, entry, page.page_id, page.content_hash, revision)
            return same is not None and _end(db, entry, extraction_id=same)

    def finish(self, entry: Claimed, made: NewExtraction, fills: Mapping[str, bool]) -> bool:
        """Extraction, job, outbox and the entry's end together; False when the claim was no longer ours."""
        with transaction(self._engine) as db:
            # Entries that lead to one page are looked at one after the other.
            db.execute(text(_LOCK), {"page": str(made.page_id)})
            same = _same(db, entry, made.page_id, made.content_hash, made.revision)
            if not _end(db, entry, extraction_id=same or made.id):
                return False
            if same is None:
                _insert(db, entry, made)
                count_fills(db, entry.category, fills)
            return True

    def fail(self, entry: Claimed, words: str, fills: Mapping[str, bool] | None = None) -> bool:
        with transaction(self._engine) as db:
            ended = _end(db, entry, error=error_text(words))
            if ended and fills:
                count_fills(db, entry.category, fills)
            return ended


def _same(db: Connection, entry: Claimed, page_id: UUID, content_hash: bytes, revision: str) -> UUID | None:
    row = db.execute(text(_LAST), {"page": page_id, "category": entry.category, "revision": revision}).one_or_none()
    return row.id if row is not None and bytes(row.content_hash or b"") == content_hash else None


def _end(db: Connection, entry: Claimed, *, extraction_id: UUID | None = None, error: str | None = None) -> bool:
    values = {"id": entry.id, "claim": entry.claim_id, "extraction": extraction_id, "error": error}
    return bool(db.execute(text(_END), {**values, "status": "failed" if error else "done"}).rowcount)


def _insert(db: Connection, entry: Claimed, made: NewExtraction) -> None:
    values: dict[str, Any] = {
        **made._asdict(),
        "fields": orjson.dumps(dict(made.fields)).decode(),
        "queue": entry.id,
        "category": entry.category,
    }
    if db.execute(text(_EXTRACTION), values).rowcount:
        db.execute(text(_JOB), {"id": made.job_id, "extraction": made.id})
        handed = {"job_id": str(made.job_id), "extraction_id": str(made.id)}
        values = {"task": CLASSIFY, "queue": CLASSIFICATION, "arguments": orjson.dumps(handed).decode()}
        db.execute(text(_OUTBOX), values)


_CLAIM = FairClaim(
    "crawl_queue",
    ENTRY_PROJECT,
    waiting="status = 'fetched'",
    order="id",
    changes="status = 'extracting', claim_id = %s, claimed_at = now(), rounds = rounds + 1, updated_at = now()",
    returning=f"id, page_id, category, rounds, {ENTRY_PROJECT}",
)
_RENEW = "UPDATE crawl_queue SET claimed_at = now() WHERE status = 'extracting' AND claim_id = :claim"
_RELEASE = """
UPDATE crawl_queue SET status = 'fetched', claim_id = NULL, rounds = greatest(rounds - 1, 0), updated_at = now()
WHERE status = 'extracting' AND claim_id = :claim
"""
_LOST = """
    status = CASE WHEN rounds >= :most THEN 'failed' ELSE 'fetched' END, claim_id = NULL, updated_at = now(),
    last_error = CASE WHEN rounds >= :most THEN 'poison: Three workers were lost while they extracted it.'
                 ELSE last_error END
"""
_GIVE_BACK = f"UPDATE crawl_queue SET {_LOST} WHERE id = :id AND status = 'extracting' AND claim_id = :claim"  # noqa: S608
_BRING_BACK = f"""
UPDATE crawl_queue SET {_LOST}
WHERE id IN (SELECT id FROM crawl_queue WHERE status = 'extracting'
             AND (claimed_at IS NULL OR claimed_at < now() - make_interval(secs => :seconds))
             ORDER BY id FOR UPDATE SKIP LOCKED)
"""  # noqa: S608 - our own words
_WAITING = "SELECT 1 FROM crawl_queue WHERE status = 'fetched' LIMIT 1"
_PAGE = """
SELECT p.id AS page_id, v.id AS version_id, s.content_hash, coalesce(v.final_url, p.url) AS url, s.content,
       s.byte_length, coalesce(v.headers ->> 'content-type', s.content_type) AS content_type
FROM crawled_pages p JOIN page_versions v ON v.id = p.version_id JOIN snapshots s ON s.id = v.snapshot_id
WHERE p.id = :page
"""
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(:page, 0))"
_LAST = """
SELECT id, content_hash FROM extractions
WHERE page_id = :page AND category IS NOT DISTINCT FROM CAST(:category AS text) AND revision = :revision
ORDER BY extracted_at DESC LIMIT 1
"""
_END = """
UPDATE crawl_queue SET status = :status, claim_id = NULL, rounds = 0, last_error = CAST(:error AS text),
    extraction_id = coalesce(CAST(:extraction AS uuid), extraction_id), updated_at = now()
WHERE id = :id AND status = 'extracting' AND claim_id = :claim
"""
_EXTRACTION = """
INSERT INTO extractions (id, page_id, version_id, queue_id, category, revision, content_hash, fields, extracted_text,
    language)
VALUES (:id, :page_id, :version_id, :queue, :category, :revision, :content_hash, CAST(:fields AS jsonb), :text,
    :language)
ON CONFLICT DO NOTHING
"""
_JOB = "INSERT INTO classification_jobs (id, extraction_id) VALUES (:id, :extraction)"
_OUTBOX = "INSERT INTO outbox (task, queue, arguments) VALUES (:task, :queue, CAST(:arguments AS jsonb))"
