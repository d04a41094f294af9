"""The commit's entries of the acquisition queue: an entry ends in the same transaction as its URL.

How an entry ends: `entry_end` in `domain/acquisition/entries.py`.
"""

from collections.abc import Sequence
from typing import Any

from crawler.adapters.engine.rows import as_json, in_order
from crawler.adapters.postgres.database import Cursor
from crawler.domain.engine.ledger import EntryEnd

_MOST_ATTEMPTS = 32_767

_END = f"""
UPDATE crawl_queue q
SET status = v.status, page_id = coalesce(v.page_id, q.page_id), last_error = v.error, last_attempted_at = v.at,
    attempts = least(q.attempts + v.attempts, {_MOST_ATTEMPTS}), rounds = 0, updated_at = now()
FROM json_to_recordset(%s) AS v(crawl_id uuid, url text, status text, page_id uuid, attempts integer, error text,
    at timestamptz)
WHERE q.crawl_id = v.crawl_id AND q.ledger_url = v.url AND q.status = 'fetching'
"""  # noqa: S608 - our own number
_MOVE = f"""
UPDATE crawl_queue q
SET ledger_url = v.target, attempts = least(q.attempts + v.attempts, {_MOST_ATTEMPTS}), last_attempted_at = v.at,
    updated_at = now()
FROM json_to_recordset(%s) AS v(crawl_id uuid, url text, target text, attempts integer, at timestamptz)
WHERE q.crawl_id = v.crawl_id AND q.ledger_url = v.url AND q.status = 'fetching'
"""  # noqa: S608 - our own number
# The redirect's target may have ended long before, or been refused on discovery. A target that ends at the same moment
# in another transaction is missed here, and found when the batch is over.
_MEET = """
UPDATE crawl_queue q
SET status = CASE u.fetch_state WHEN 'done' THEN 'fetched' ELSE 'failed' END,
    page_id = coalesce(p.id, q.page_id), rounds = 0, updated_at = now(),
    last_error = CASE u.fetch_state WHEN 'done' THEN NULL
                 ELSE u.reason || coalesce(': ' || u.error_message, ' (HTTP ' || u.http_status || ')', '') END
FROM json_to_recordset(%s) AS v(crawl_id uuid, target text)
JOIN crawl_discovered_urls u ON u.crawl_job_id = v.crawl_id AND u.normalized_url = v.target
    AND u.fetch_state <> 'queued' AND coalesce(u.reason, '') NOT IN ('redirected', 'redirect_loop')
JOIN crawl_jobs c ON c.id = v.crawl_id
LEFT JOIN crawled_pages p ON p.project_id = c.project_id AND p.normalized_url = v.target AND u.fetch_state = 'done'
WHERE q.crawl_id = v.crawl_id AND q.ledger_url = v.target AND q.status = 'fetching' AND u.crawl_job_id = ANY(%s)
"""


def end_entries(db: Cursor, ends: Sequence[EntryEnd]) -> None:
    """End entries in the order of their keys, as for all rows of a batch."""
    ordered = in_order(ends)
    final = [end for end in ordered if end.moved_to is None]
    moved = [end for end in ordered if end.moved_to is not None]
    if final:
        db.execute(_END, (as_json([_ended(end) for end in final]),))
    if moved:
        db.execute(_MOVE, (as_json([_moved(end) for end in moved]),))
        rows = [{"crawl_id": end.key.crawl_id, "target": end.moved_to} for end in moved]
        db.execute(_MEET, (as_json(rows), list({end.key.crawl_id for end in moved})))


def _ended(end: EntryEnd) -> dict[str, Any]:
    return {
        "crawl_id": end.key.crawl_id,
        "url": end.key.normalized_url,
        "status": end.status,
        "page_id": end.page_id,
        "attempts": end.attempts,
        "error": end.error,
        "at": end.at,
    }


def _moved(end: EntryEnd) -> dict[str, Any]:
    return {
        "crawl_id": end.key.crawl_id,
        "url": end.key.normalized_url,
        "target": end.moved_to,
        "attempts": end.attempts,
        "at": end.at,
    }
