"""Reads pairs of snapshots for comparing: a page in two crawls, or two looks of one crawl.

Too large: `MAX_BYTES` in `domain/noise/page_pairs.py`. What is compared with them:
`handlers/changes/apply_noise_rules.py`.
"""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, Row, text

from crawler.adapters.engine.compared_versions import OLD_VERSION
from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.snapshot_bytes import decompressed
from crawler.domain.changes.several_addresses import Address
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

    def addresses(self, crawl_id: UUID, urls: Sequence[str]) -> list[Address]:
        """These pages of a crawl, with the address each calls its own."""
        with transaction(self._engine) as db:
            rows = db.execute(text(_ADDRESSES), {"crawl": crawl_id, "urls": list(urls)}).all()
        return [Address(row.url, row.canonical_url, bytes(row.content_hash)) for row in rows]

    def _read(self, query: str, given: dict[str, Any]) -> Iterator[PagePair]:
        with transaction(self._engine) as db:
            rows = db.execute(text(query), {**given, "most": MAX_BYTES}).all()
        for row in rows:
            yield PagePair(row.url, row.page_id, _side(row, "old"), _side(row, "new"))


def _side(row: Row[Any], name: str) -> PageSide:
    content, length, kind, at = (getattr(row, f"{name}_{part}") for part in ("content", "length", "content_type", "at"))
    return PageSide(decompressed(content, length), kind or "", at)


_KEYS = "SELECT normalized_url FROM crawl_discovered_urls WHERE crawl_job_id = :crawl AND url = ANY(:urls) ORDER BY url"
_ADDRESSES = """
SELECT u.url, p.canonical_url, u.content_hash FROM crawl_discovered_urls u
JOIN page_versions v ON v.id = u.version_id JOIN crawled_pages p ON p.id = v.page_id
WHERE u.crawl_job_id = :crawl AND u.url = ANY(:urls) AND u.content_hash IS NOT NULL ORDER BY u.url
"""
_BETWEEN = f"""
SELECT u.url, v.page_id,
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
_LOOKS = """
SELECT u.url, v.page_id,
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
