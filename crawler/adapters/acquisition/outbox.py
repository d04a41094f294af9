"""The outbox: what is to be told to other services is written with what it tells of, and sent afterwards.

When it is relayed: `handlers/acquisition/relay_outbox.py`. Its rows are written by `extraction_store.py`.
"""

from collections.abc import Callable
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from crawler.adapters.acquisition.extraction_reader import extraction_of
from crawler.adapters.acquisition.extraction_store import CLASSIFY
from crawler.adapters.postgres.database import transaction
from crawler.domain.acquisition.extractions import Handed
from crawler.errors import Unavailable

AT_ONCE = 20
"""Each may hold some hundred kilobytes of text."""
KEPT_DAYS = 7
PRUNED_AT_ONCE = 10_000


class Outbox:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def relay(self, send: Callable[[Handed], None], before_marking: Callable[[], None] = lambda: None) -> int:
        """Send some that wait; each is marked once the broker has it. Whoever else relays takes others.

        A crash between the two sends it again, under the same id.
        """
        sent: list[tuple[int, UUID]] = []
        trouble: Unavailable | None = None
        with transaction(self._engine) as db:
            for row in db.execute(text(_UNSENT), {"task": CLASSIFY, "limit": AT_ONCE}).all():
                try:
                    send(Handed.of(row.job_id, extraction_of(row)))
                except Unavailable as exc:
                    trouble = exc
                    break
                sent.append((row.outbox_id, row.job_id))
            before_marking()
            _mark(db, sent)
        if trouble is not None:
            raise trouble
        return len(sent)

    def counts(self) -> dict[str, int]:
        """Hand-offs that wait, and those that were made."""
        with transaction(self._engine) as db:
            row = db.execute(text(_COUNTS), {"task": CLASSIFY}).one()
        return {"waiting": int(row.waiting), "sent": max(0, int(row.jobs) - int(row.waiting))}

    def prune(self) -> int:
        with transaction(self._engine) as db:
            return db.execute(text(_PRUNE), {"days": KEPT_DAYS, "limit": PRUNED_AT_ONCE}).rowcount


def _mark(db: Connection, sent: list[tuple[int, UUID]]) -> None:
    if sent:
        db.execute(text(_SENT), {"ids": [number for number, _ in sent]})
        db.execute(text(_JOBS_SENT), {"jobs": [job for _, job in sent]})


_UNSENT = """
SELECT o.id AS outbox_id, e.*, coalesce(q.source_url, p.url, '') AS url, j.id AS job_id, j.status AS job_status,
       j.sent_at
FROM outbox o
JOIN classification_jobs j ON j.id = CAST(o.arguments ->> 'job_id' AS uuid)
JOIN extractions e ON e.id = j.extraction_id
LEFT JOIN crawl_queue q ON q.id = e.queue_id
LEFT JOIN crawled_pages p ON p.id = e.page_id
WHERE o.sent_at IS NULL AND o.task = :task ORDER BY o.id LIMIT :limit
FOR UPDATE OF o SKIP LOCKED
"""
_SENT = "UPDATE outbox SET sent_at = now() WHERE id = ANY(:ids)"
_JOBS_SENT = "UPDATE classification_jobs SET status = 'sent', sent_at = now() WHERE id = ANY(:jobs)"
# Not what waits for a job that is gone with its project.
_COUNTS = """
SELECT (SELECT count(*) FROM outbox o JOIN classification_jobs j ON j.id = CAST(o.arguments ->> 'job_id' AS uuid)
        WHERE o.sent_at IS NULL AND o.task = :task) AS waiting,
       (SELECT count(*) FROM classification_jobs) AS jobs
"""
# Also what waits for an extraction that is gone with its project.
_PRUNE = """
DELETE FROM outbox WHERE id IN (
    SELECT id FROM outbox WHERE sent_at < now() - make_interval(days => :days) LIMIT :limit
) OR id IN (
    SELECT o.id FROM outbox o WHERE o.sent_at IS NULL AND NOT EXISTS
        (SELECT 1 FROM classification_jobs j WHERE j.id = CAST(o.arguments ->> 'job_id' AS uuid)) LIMIT :limit
)
"""
