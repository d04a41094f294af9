"""The commit's documents: a stored page and its document that has to be made are written in one transaction.

Which pages become documents: `handlers/engine/batch_rows.py`. They are made by
`handlers/documents/ingest_documents.py`.
"""

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from crawler.adapters.engine.rows import as_json, by_key
from crawler.adapters.postgres.database import Cursor
from crawler.adapters.postgres.partitions import about_crawls
from crawler.domain.engine.ledger import DocumentDue

# A document made of this very version is up to date. One that waits keeps its worker, if it has one; a worker at an
# older version will find that a newer one is due.
_DUE = """
WITH v AS (
    SELECT * FROM json_to_recordset(%(rows)s) AS v(crawl_id uuid, normalized_url text, id uuid, page_id uuid)
    WHERE v.crawl_id = ANY(%(crawls)s)
),
due AS (
    INSERT INTO documents AS d (id, project_id, page_id, url, normalized_url, title, status, due_version_id)
    SELECT DISTINCT ON (v.id) v.id, p.project_id, p.id, p.url, p.normalized_url, p.title, 'pending', p.version_id
    FROM v JOIN crawled_pages p ON p.id = v.page_id WHERE NOT p.noindex ORDER BY v.id
    ON CONFLICT (project_id, normalized_url) DO UPDATE SET
        page_id = excluded.page_id, due_version_id = excluded.due_version_id, updated_at = now(),
        status = CASE WHEN d.status = 'ingested' AND d.version_id = excluded.due_version_id AND d.deleted_at IS NULL
                      THEN 'ingested' ELSE 'pending' END,
        attempts = CASE WHEN d.status = 'pending' AND d.due_version_id = excluded.due_version_id
                        THEN d.attempts ELSE 0 END,
        claimed_until = CASE WHEN d.status = 'pending' AND d.due_version_id = excluded.due_version_id
                             THEN d.claimed_until END
    RETURNING d.id, d.status
)
UPDATE crawl_urls u SET document_id = due.id, status = coalesce(due.status, 'skipped')
FROM v LEFT JOIN due ON due.id = v.id
WHERE u.crawl_job_id = v.crawl_id AND u.normalized_url = v.normalized_url
    AND u.crawl_job_id BETWEEN %(first)s AND %(last)s
RETURNING u.crawl_job_id, u.normalized_url, u.document_id, u.status
"""
_WAITS = """
INSERT INTO document_waits (document_id, crawl_id, normalized_url)
SELECT document_id, crawl_id, normalized_url
FROM json_to_recordset(%s) AS v(document_id uuid, crawl_id uuid, normalized_url text) ORDER BY 1, 2
ON CONFLICT DO NOTHING
"""
# A page with noindex is no document any more. The ingest worker removes it: only there is the feed's row locked.
_UNWANTED = """
UPDATE documents d SET status = 'pending', due_version_id = p.version_id, attempts = 0, claimed_until = NULL,
    updated_at = now()
FROM json_to_recordset(%s) AS v(id uuid, page_id uuid) JOIN crawled_pages p ON p.id = v.page_id
WHERE d.id = v.id AND p.noindex AND d.deleted_at IS NULL
"""

_EXISTING = """
UPDATE crawl_urls u SET document_id = v.id
FROM json_to_recordset(%(rows)s) AS v(crawl_id uuid, normalized_url text, id uuid)
WHERE u.crawl_job_id = v.crawl_id AND u.normalized_url = v.normalized_url AND u.reason = 'exists'
    AND u.crawl_job_id BETWEEN %(first)s AND %(last)s AND v.crawl_id = ANY(%(crawls)s)
"""


def name_existing(db: Cursor, documents: Sequence[DocumentDue]) -> None:
    rows = [{"id": due.id, **due.key._asdict()} for due in sorted(documents, key=by_key)]
    db.execute(_EXISTING, {"rows": as_json(rows), **about_crawls(due.key.crawl_id for due in documents)})


def make_due(db: Cursor, documents: Sequence[DocumentDue]) -> Counter[UUID]:
    """Mark documents as due, locked in the order of ids. Returns how many pages of each crawl are not ingested."""
    ordered = sorted({due.key: due for due in documents}.values(), key=lambda due: due.id)
    if not ordered:
        return Counter()
    rows = [{"id": d.id, "page_id": d.page_id, **d.key._asdict()} for d in ordered]
    given = as_json(rows)
    db.execute(_DUE, {"rows": given, **about_crawls(due.key.crawl_id for due in ordered)})
    told = db.fetchall()
    waits = [
        {"document_id": document, "crawl_id": crawl_id, "normalized_url": url}
        for crawl_id, url, document, status in told
        if status == "pending"
    ]
    if waits:
        db.execute(_WAITS, (as_json(waits),))
    if any(status == "skipped" for *_, status in told):
        db.execute(_UNWANTED, (given,))
    return Counter(crawl_id for crawl_id, *_, status in told if status != "ingested")
