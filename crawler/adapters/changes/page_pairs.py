"""Reads pairs of snapshots for comparing: a page in two crawls, or two looks of one crawl.

Too large: `MAX_BYTES` in `domain/noise/page_pairs.py`. What is compared with them:
`handlers/changes/apply_noise_rules.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, Row, text

from crawler.adapters.engine.compared_versions import OLD_VERSION
from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.snapshot_bytes import decompressed
from crawler.domain.noise.page_pairs import MAX_BYTES, PageOfCrawl, PagePair, PageSide

PAGES_AT_ONCE = 50
"""No transaction stays open while they are compared."""


class PagePairs:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def between(
        self, crawl_id: UUID, compared_to: UUID, urls: Sequence[str], *, further: int = 0
    ) -> Iterator[PagePair]:
        """The pages at these URLs whose both versions are still kept and not too large.

        With `further`, the older side is so many versions further back.
        """
        # The ledger knows pages by their normalized URLs: those are found once, in one walk.
        with transaction(self._engine) as db:
            keys = list(db.execute(text(_KEYS), {"crawl": crawl_id, "urls": list(urls)}).scalars())
        for start in range(0, len(keys), PAGES_AT_ONCE):
            some = keys[start : start + PAGES_AT_ONCE]
            yield from self._read(
                _BETWEEN, {"crawl": crawl_id, "before": compared_to, "keys": some, "further": further}
            )

    def steps_back(self, crawl_id: UUID, compared_to: UUID, versions: Mapping[str, UUID]) -> dict[str, int]:
        """How many versions further back each of these is, by URL; without those no longer kept."""
        given = {
            "crawl": crawl_id, "before": compared_to, "urls": list(versions), "versions": list(versions.values()),
        }  # fmt: skip
        with transaction(self._engine) as db:
            return {row[0]: int(row[1]) for row in db.execute(text(_STEPS_BACK), given)} if versions else {}

    def second_looks(self, crawl_id: UUID, looks: Sequence[tuple[str, UUID]]) -> Iterator[PagePair]:
        """What the crawl stored of a page, and what its second look saw; by normalized URL and snapshot."""
        for start in range(0, len(looks), PAGES_AT_ONCE):
            keys, snapshots = (list(column) for column in zip(*looks[start : start + PAGES_AT_ONCE], strict=True))
            yield from self._read(_LOOKS, {"crawl": crawl_id, "keys": keys, "snapshots": snapshots})

    def stored(self, crawl_id: UUID, urls: Sequence[str]) -> Iterator[PageOfCrawl]:
        """These pages as the crawl has them; without those no longer kept, or too large."""
        for start in range(0, len(urls), PAGES_AT_ONCE):
            given = {"crawl": crawl_id, "urls": list(urls[start : start + PAGES_AT_ONCE]), "most": MAX_BYTES}
            with transaction(self._engine) as db:
                rows = db.execute(text(_STORED), given).all()
            yield from (PageOfCrawl(row.url, _side(row, "new")) for row in rows)

    def _read(self, query: str, given: dict[str, Any]) -> Iterator[PagePair]:
        with transaction(self._engine) as db:
            rows = db.execute(text(query), {**given, "most": MAX_BYTES}).all()
        for row in rows:
            yield PagePair(row.url, row.page_id, _side(row, "old"), _side(row, "new"), row.old_version)


def _side(row: Row[Any], name: str) -> PageSide:
    content, length, kind, at = (getattr(row, f"{name}_{part}") for part in ("content", "length", "content_type", "at"))
    return PageSide(decompressed(content, length), kind or "", at)


_KEYS = "SELECT normalized_url FROM crawl_discovered_urls WHERE crawl_job_id = :crawl AND url = ANY(:urls) ORDER BY url"
_BETWEEN = f"""
SELECT u.url, v.page_id, o.id AS old_version,
       os.content AS old_content, os.byte_length AS old_length, o.fetched_at AS old_at,
       coalesce(o.headers ->> 'content-type', os.content_type) AS old_content_type,
       ns.content AS new_content, ns.byte_length AS new_length, v.fetched_at AS new_at,
       coalesce(v.headers ->> 'content-type', ns.content_type) AS new_content_type
FROM crawl_discovered_urls u
JOIN page_versions v ON v.id = u.version_id
{OLD_VERSION}
JOIN snapshots ns ON ns.id = v.snapshot_id AND ns.byte_length <= :most
JOIN snapshots os ON os.id = o.snapshot_id AND os.byte_length <= :most
WHERE u.crawl_job_id = :crawl AND u.normalized_url = ANY(:keys) ORDER BY u.url
"""  # noqa: S608 - both parts are constants
# Counted as OLD_VERSION counts with its OFFSET.
_STEPS_BACK = """
SELECT u.url, (
    SELECT count(*) FROM page_versions earlier
    WHERE earlier.page_id = v.page_id AND earlier.fetched_at < v.fetched_at
        AND earlier.fetched_at <= coalesce(told.fetched_at, v.fetched_at) AND earlier.fetched_at > good.fetched_at)
FROM unnest(CAST(:urls AS text[]), CAST(:versions AS uuid[])) AS known(url, version)
JOIN crawl_discovered_urls u ON u.crawl_job_id = :crawl AND u.url = known.url AND u.fetch_state = 'done'
JOIN page_versions v ON v.id = u.version_id
JOIN page_versions good ON good.id = known.version AND good.page_id = v.page_id AND good.fetched_at < v.fetched_at
    AND good.snapshot_id IS NOT NULL
LEFT JOIN crawl_discovered_urls b
    ON b.crawl_job_id = :before AND b.normalized_url = u.normalized_url AND b.fetch_state = 'done'
LEFT JOIN page_versions told ON told.id = b.version_id AND told.page_id = v.page_id
"""
_LOOKS = """
SELECT u.url, v.page_id, NULL AS old_version,
       os.content AS old_content, os.byte_length AS old_length, v.fetched_at AS old_at,
       coalesce(v.headers ->> 'content-type', os.content_type) AS old_content_type,
       ns.content AS new_content, ns.byte_length AS new_length, ns.fetched_at AS new_at,
       coalesce(ns.content_type, v.headers ->> 'content-type') AS new_content_type
FROM unnest(CAST(:keys AS text[]), CAST(:snapshots AS uuid[])) AS look(normalized_url, snapshot_id)
JOIN crawl_discovered_urls u ON u.crawl_job_id = :crawl AND u.normalized_url = look.normalized_url
JOIN page_versions v ON v.id = u.version_id
JOIN snapshots os ON os.id = v.snapshot_id AND os.byte_length <= :most
JOIN snapshots ns ON ns.id = look.snapshot_id AND ns.byte_length <= :most
ORDER BY u.url
"""
_STORED = """
SELECT u.url, ns.content AS new_content, ns.byte_length AS new_length, v.fetched_at AS new_at,
       coalesce(v.headers ->> 'content-type', ns.content_type) AS new_content_type
FROM crawl_discovered_urls u
JOIN page_versions v ON v.id = u.version_id
JOIN snapshots ns ON ns.id = v.snapshot_id AND ns.byte_length <= :most
WHERE u.crawl_job_id = :crawl AND u.url = ANY(:urls) AND u.fetch_state = 'done' ORDER BY u.url
"""
