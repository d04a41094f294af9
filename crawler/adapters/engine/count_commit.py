"""The commit's counters of each crawl, and its fence: nothing is written to a crawl that is over or has max_pages.

How many pages max_pages allows, and who else keeps to it: `domain/engine/max_pages.py`.
"""

from collections import Counter
from typing import NamedTuple
from uuid import UUID

from crawler.adapters.engine.rows import insert_returning
from crawler.adapters.postgres.database import Cursor
from crawler.domain.engine.ledger import RENDERED, Batch, CrawlsFull, CrawlsOver, UrlKey


class _Counts(NamedTuple):
    """What a batch adds to the counters of one crawl."""

    id: UUID
    found: int
    crawled: int
    failed: int
    skipped: int
    lightweight: int
    rendered: int
    ingested: int


# The fence: nothing is written once the crawl is over, and never more than max_pages pages.
_COUNT = f"""
UPDATE crawl_jobs c
SET total_discovered = c.total_discovered + v.found, pages_crawled = c.pages_crawled + v.crawled,
    pages_failed = c.pages_failed + v.failed, pages_skipped = c.pages_skipped + v.skipped,
    lightweight = c.lightweight + v.lightweight, rendered = c.rendered + v.rendered,
    total_ingested = c.total_ingested + v.ingested, updated_at = now()
FROM (VALUES %s) AS v({", ".join(_Counts._fields)})
WHERE c.id = v.id AND c.status = 'in_progress'
  AND c.pages_crawled + v.crawled <= (c.config ->> 'max_pages')::bigint
RETURNING c.id
"""  # noqa: S608 - our own names
_COUNT_ROW = f"(%s::uuid{', %s::integer' * (len(_Counts._fields) - 1)})"


def count(
    db: Cursor, batch: Batch, turned: set[UrlKey], inserted: Counter[tuple[UUID, str]], due: Counter[UUID]
) -> None:
    """Add to the counters what this commit changed or inserted. `due`: stored pages that are not ingested by that."""
    rows = _counts(batch, turned, inserted, due)
    if not rows:
        return
    counted = {crawl_id for (crawl_id,) in insert_returning(db, _COUNT, rows, _COUNT_ROW)}
    if over := {row.id for row in rows} - counted:
        db.execute("SELECT id FROM crawl_jobs WHERE id = ANY(%s) AND status = 'in_progress'", (list(over),))
        full = {crawl_id for (crawl_id,) in db}
        raise CrawlsFull(full) if full else CrawlsOver(over)


def count_found(db: Cursor, inserted: Counter[tuple[UUID, str]]) -> None:
    for (crawl_id, state), n in sorted(inserted.items()):
        db.execute(
            "UPDATE crawl_jobs SET total_discovered = total_discovered + %s, "
            "pages_skipped = pages_skipped + %s WHERE id = %s",
            (n, n if state == "skipped" else 0, crawl_id),
        )


def _counts(
    batch: Batch, turned: set[UrlKey], inserted: Counter[tuple[UUID, str]], due: Counter[UUID]
) -> list[_Counts]:
    states = {end.key: end.state.value for end in batch.ends if end.key in turned}
    ended = Counter((key.crawl_id, state) for key, state in states.items())
    rendered = _rendered(batch, turned)
    found: Counter[UUID] = Counter()
    for (crawl_id, _), n in inserted.items():
        found[crawl_id] += n
    return [
        _Counts(
            id=crawl_id,
            found=found[crawl_id],
            crawled=ended[crawl_id, "done"],
            failed=ended[crawl_id, "failed"],
            skipped=ended[crawl_id, "skipped"] + inserted[crawl_id, "skipped"],
            lightweight=ended[crawl_id, "done"] - rendered[crawl_id],
            rendered=rendered[crawl_id],
            ingested=ended[crawl_id, "done"] - due[crawl_id],
        )
        for crawl_id in sorted({end.key.crawl_id for end in batch.ends} | set(found))
    ]


def _rendered(batch: Batch, turned: set[UrlKey]) -> Counter[UUID]:
    methods = {p.key: p.crawl_method for p in batch.pages} | {u.key: u.crawl_method for u in batch.unchanged}
    return Counter(key.crawl_id for key, method in methods.items() if method == RENDERED and key in turned)
