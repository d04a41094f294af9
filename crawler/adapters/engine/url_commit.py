"""The commit's ledger rows: URLs that ended, and URLs that were found.

How a URL ends: `domain/engine/judging.py`. Which links become URLs: `handlers/engine/follow_links.py`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from crawler.adapters.engine.folded_urls import folded
from crawler.adapters.engine.rows import as_json, by_key, in_order
from crawler.adapters.postgres.database import Cursor
from crawler.adapters.postgres.partitions import about_crawls
from crawler.domain.engine.ledger import Depths, Found, Source, UrlEnd, UrlKey

_END = """
UPDATE crawl_urls u
SET fetch_state = v.state, status = NULL, reason = v.reason, rule = coalesce(v.rule, u.rule),
    attempts = v.attempts, final_url = v.final_url, http_status = v.http_status,
    content_hash = v.content_hash, version_id = v.version_id, error_message = v.error_message,
    fetched_at = v.fetched_at
FROM json_to_recordset(%(rows)s) AS v(crawl_id uuid, normalized_url text, state text,
    reason text, rule text, attempts smallint, final_url text, http_status smallint, content_hash bytea,
    version_id uuid, error_message text, fetched_at timestamptz)
WHERE u.crawl_job_id = v.crawl_id AND u.normalized_url = v.normalized_url AND u.fetch_state = 'queued'
    AND u.crawl_job_id BETWEEN %(first)s AND %(last)s AND v.crawl_id = ANY(%(crawls)s)
RETURNING u.crawl_job_id, u.normalized_url, u.depth
"""
_DEPTHS = """
SELECT u.crawl_job_id, u.normalized_url, u.depth
FROM json_to_recordset(%(rows)s) AS v(crawl_id uuid, normalized_url text)
JOIN crawl_urls u ON u.crawl_job_id = v.crawl_id AND u.normalized_url = v.normalized_url
WHERE u.crawl_job_id BETWEEN %(first)s AND %(last)s AND v.crawl_id = ANY(%(crawls)s)
"""
_FOUND = """
INSERT INTO crawl_urls (crawl_job_id, normalized_url, url, depth, priority, seq, fetch_state,
    reason, rule, source, parent, found_at)
SELECT crawl_id, normalized_url, url, depth, priority, seq, state, reason, rule, source, parent, now()
FROM json_to_recordset(%s) AS v(crawl_id uuid, normalized_url text, url text, depth integer, priority smallint,
    seq bigint, state text, reason text, rule text, source text, parent text)
ON CONFLICT DO NOTHING RETURNING crawl_job_id, normalized_url, fetch_state
"""


def end_urls(db: Cursor, ends: Iterable[UrlEnd]) -> tuple[Depths, set[UrlKey]]:
    """Write ended URLs. Returns the depth of each, and which of them ended in this commit."""
    rows = [_ended(end) for end in in_order(ends)]
    if not rows:
        return {}, set()
    given = {"rows": as_json(rows), **about_crawls(row["crawl_id"] for row in rows)}
    turned = _depths(db, _END, given)
    # Others ended before (a repeat after a crash): their children must be queued again, but their page is not written
    # again.
    known = _depths(db, _DEPTHS, given) if len(turned) < len(rows) else {}
    return known | turned, set(turned)


def _depths(db: Cursor, statement: str, given: Mapping[str, Any]) -> Depths:
    db.execute(statement, given)
    return {UrlKey(crawl_id, url): depth for crawl_id, url, depth in db}


def insert_found(db: Cursor, found: Sequence[Found]) -> dict[UrlKey, str]:
    """Insert found URLs. Returns the state of each new one. Of two with the same key the first counts."""
    if not found:
        return {}
    db.execute(_FOUND, (as_json([_found(one) for one in sorted(found, key=by_key)]),))
    return {UrlKey(crawl_id, url): state for crawl_id, url, state in db}


def count_by_crawl(inserted: dict[UrlKey, str]) -> Counter[tuple[UUID, str]]:
    return Counter((key.crawl_id, state) for key, state in inserted.items())


def _ended(end: UrlEnd) -> dict[str, Any]:
    crawl_id, normalized_url = end.key
    return {
        "crawl_id": crawl_id,
        "normalized_url": normalized_url,
        "state": end.state,
        "reason": end.reason,
        "rule": end.rule,
        "attempts": end.attempts,
        "final_url": None if end.final_url is None else folded(end.final_url, normalized_url),
        "http_status": end.http_status,
        "content_hash": end.content_hash,
        "version_id": end.version_id,
        "error_message": end.error_message,
        "fetched_at": end.fetched_at,
    }


def _found(found: Found) -> dict[str, Any]:
    crawl_id, normalized_url = found.key
    return {
        "crawl_id": crawl_id,
        "normalized_url": normalized_url,
        "url": None if found.url == normalized_url else folded(found.url, normalized_url),
        "depth": found.depth,
        "priority": found.priority,
        "seq": found.seq,
        "state": found.state,
        "reason": found.reason,
        "rule": found.rule,
        "source": None if found.source is Source.LINK else found.source,
        "parent": None if found.parent is None else folded(found.parent, normalized_url),
    }
