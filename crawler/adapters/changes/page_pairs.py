"""Reads pairs of snapshots for comparing: a page in two crawls, or two looks of one crawl.

Too large: `side_of` in `domain/noise/page_pairs.py`, and of PDFs `domain/pages/pdf_reading.py`. What is compared
with them: `handlers/changes/apply_noise_rules.py`.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import Engine, Row, text

from crawler import telemetry
from crawler.adapters.engine.compared_versions import COMPARED, EARLIER, TOLD_OTHERWISE
from crawler.adapters.objects.object_store import ObjectGone
from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.lost_snapshots import mark_lost
from crawler.adapters.postgres.snapshot_bytes import decompressed
from crawler.domain.changes.several_addresses import Address
from crawler.domain.engine.snapshots import DamagedSnapshot
from crawler.domain.noise.page_pairs import (
    MAX_BYTES,
    MAX_UNSEEN_BYTES,
    PageOfCrawl,
    PagePair,
    PageSide,
    WatchedPart,
    side_of,
)
from crawler.domain.pages.files import is_pdf
from crawler.domain.pages.pdf_reading import MAX_BYTES as MAX_PDF_BYTES
from crawler.domain.pages.pdf_reading import PdfReading, ReadPdf
from crawler.errors import JudgesBusy

PAGES_AT_ONCE = 50
"""No transaction stays open while they are compared."""
PDF_SECONDS = 30.0
"""For reading PDFs at a stretch; what comes then is compared by its bytes. The task that compares has a limit, too."""
PDF_SHARE = 0.2
"""The share of all time that may be spent so in the long run."""
MOST_CRAWLS = 100
"""Whose time is remembered."""
log = telemetry.logger(__name__)
_NO_TIME = "There are too many PDFs to read all of them, so it is compared by its bytes."


class Watches(Protocol):
    """The watch rules of a crawl's project."""

    def __bool__(self) -> bool: ...
    def part(self, url: str) -> WatchedPart | None: ...


class PagePairs:
    def __init__(self, engine: Engine, read_pdf: ReadPdf, watches: Callable[[UUID], Watches]) -> None:
        self._engine = engine
        self._read_pdf = InTime(read_pdf)
        self._watches = watches

    def between(
        self, crawl_id: UUID, compared_to: UUID, urls: Sequence[str], *, further: int = 0
    ) -> Iterator[PagePair]:
        """The pages at these URLs whose both versions are still kept and not too large.

        With `further`, the older side is so many versions further back. Each knows which part of it is watched.
        """
        watches = self._watches(crawl_id)
        # The ledger knows pages by their normalized URLs: those are found once, in one walk.
        with transaction(self._engine) as db:
            keys = list(db.execute(text(_KEYS), {"crawl": crawl_id, "urls": list(urls)}).scalars())
        for start in range(0, len(keys), PAGES_AT_ONCE):
            some = keys[start : start + PAGES_AT_ONCE]
            given = {"crawl": crawl_id, "before": compared_to, "keys": some, "further": further}
            for pair in self._read(_BETWEEN, given):
                yield pair._replace(watched=watches.part(pair.url)) if watches else pair

    def too_large(self, crawl_id: UUID, compared_to: UUID, urls: Sequence[str]) -> set[str]:
        """Those of these URLs whose page is too large to be read, in one of the two crawls."""
        given = {"crawl": crawl_id, "before": compared_to, "urls": list(urls), "further": 0, "most": MAX_BYTES}
        with transaction(self._engine) as db:
            return set(db.execute(text(_TOO_LARGE), given).scalars())

    def steps_back(self, crawl_id: UUID, compared_to: UUID, versions: Mapping[str, UUID]) -> dict[str, tuple[str, int]]:
        """How many versions further back each of these is, by URL; without those no longer kept.

        With the URL by which this crawl met the page: it may be another spelling.
        """
        given = {
            "crawl": crawl_id, "before": compared_to, "urls": list(versions), "versions": list(versions.values()),
            "further": 0,
        }  # fmt: skip
        with transaction(self._engine) as db:
            rows = db.execute(text(_STEPS_BACK), given).all() if versions else ()
        return {row.known: (row.url, int(row.steps)) for row in rows}

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
            for row in rows:
                if (side := self._side(row, "new", crawl_id)) is not None:
                    yield PageOfCrawl(row.url, side)

    def alike(self, crawl_id: UUID, like: UUID, urls: Sequence[str]) -> Iterator[PageOfCrawl]:
        """These pages of the crawl `like`, as another crawl has them that fetched them in the same way."""
        for start in range(0, len(urls), PAGES_AT_ONCE):
            some = list(urls[start : start + PAGES_AT_ONCE])
            given = {"crawl": crawl_id, "like": like, "urls": some, "most": MAX_BYTES}
            with transaction(self._engine) as db:
                rows = db.execute(text(_ALIKE), given).all()
            for row in rows:
                if (side := self._side(row, "new", crawl_id)) is not None:
                    yield PageOfCrawl(row.url, side)

    def addresses(self, crawl_id: UUID, urls: Sequence[str]) -> list[Address]:
        """These pages of a crawl, with the address each calls its own."""
        with transaction(self._engine) as db:
            rows = db.execute(text(_ADDRESSES), {"crawl": crawl_id, "urls": list(urls)}).all()
        return [Address(row.url, row.canonical_url, bytes(row.content_hash)) for row in rows]

    def _read(self, query: str, given: dict[str, Any]) -> Iterator[PagePair]:
        with transaction(self._engine) as db:
            rows = db.execute(text(query), {**given, "most": MAX_BYTES}).all()
        for row in rows:
            old, new = (self._side(row, name, given["crawl"]) for name in ("old", "new"))
            if old and new:
                yield PagePair(row.url, row.page_id, old, new, self._told(row, given["crawl"]), row.old_version)
            elif row.old_snapshot == row.new_snapshot:  # too large to read, and the same whatever it says
                unread = (PageSide(b"", "", row.old_at), PageSide(b"", "", row.new_at))
                yield PagePair(row.url, row.page_id, *unread)

    def _told(self, row: Row[Any], crawl_id: UUID) -> tuple[PageSide, PageSide] | None:
        """The two versions between which other crawls have told what changed, if they fetched the page otherwise."""
        if getattr(row, "first_content", None) is None:
            return None
        first, last = (self._side(row, name, crawl_id) for name in ("first", "last"))
        return (first, last) if first and last else None

    def _side(self, row: Row[Any], name: str, crawl_id: UUID) -> PageSide | None:
        names = ("snapshot", "content", "length", "content_type", "at")
        snapshot, content, length, kind, at = (getattr(row, f"{name}_{part}") for part in names)
        if content is None and length <= _most_bytes(kind or ""):
            with transaction(self._engine) as db:  # one at a time: they are large
                content = db.execute(text(_CONTENT), {"snapshot": snapshot}).scalar_one_or_none()
        if content is None:
            return None
        try:
            body = decompressed(content, length)
        except ObjectGone:  # for good, as what is damaged: all later comparisons would break at it, too
            with transaction(self._engine) as db:
                mark_lost(db, [(snapshot, content)])
            return None
        except DamagedSnapshot as exc:
            log.warning("snapshot_damaged", crawl_id=str(crawl_id), snapshot_id=str(snapshot), detail=exc.message)
            return None
        if is_pdf(kind or "", body):
            return PageSide(body, kind or "", at, self._read_pdf(crawl_id, body))
        return side_of(body, kind or "", at)


def _most_bytes(content_type: str) -> int:
    """Up to which size it is read by itself."""
    if is_pdf(content_type, b""):
        return MAX_PDF_BYTES
    return MAX_UNSEEN_BYTES if "html" in content_type.lower() else MAX_BYTES


class InTime:
    """Reads PDFs of a crawl as long as it has time: those of one cost no other its own."""

    def __init__(self, read_pdf: ReadPdf, clock: Callable[[], float] = time.monotonic) -> None:
        self._read_pdf = read_pdf
        self._clock = clock
        self._left: OrderedDict[UUID, tuple[float, float]] = OrderedDict()
        """By crawl: seconds, and when there were so many."""

    def __call__(self, crawl_id: UUID, body: bytes) -> PdfReading:
        started = self._clock()
        before, at = self._left.pop(crawl_id, (PDF_SECONDS, started))
        left = min(PDF_SECONDS, before + PDF_SHARE * (started - at))
        try:
            return self._read_pdf(body) if left > 0 else PdfReading("", _NO_TIME)
        except JudgesBusy:
            return PdfReading("", _NO_TIME)
        finally:
            self._left[crawl_id] = left - (self._clock() - started), started
            if len(self._left) > MOST_CRAWLS:
                self._left.popitem(last=False)


_CONTENT = "SELECT content FROM snapshots WHERE id = :snapshot"
_KEYS = "SELECT normalized_url FROM crawl_discovered_urls WHERE crawl_job_id = :crawl AND url = ANY(:urls) ORDER BY url"
_ADDRESSES = """
SELECT u.url, p.canonical_url, u.content_hash FROM crawl_discovered_urls u
JOIN page_versions v ON v.id = u.version_id JOIN crawled_pages p ON p.id = v.page_id
WHERE u.crawl_job_id = :crawl AND u.url = ANY(:urls) AND u.content_hash IS NOT NULL ORDER BY u.url
"""
_BETWEEN = f"""
SELECT u.url, v.page_id, o.id AS old_version,
       os.id AS old_snapshot, CASE WHEN os.byte_length <= :most THEN os.content END AS old_content,
       os.byte_length AS old_length, o.fetched_at AS old_at,
       coalesce(o.headers ->> 'content-type', os.content_type) AS old_content_type,
       ns.id AS new_snapshot, CASE WHEN ns.byte_length <= :most THEN ns.content END AS new_content,
       ns.byte_length AS new_length, v.fetched_at AS new_at,
       coalesce(v.headers ->> 'content-type', ns.content_type) AS new_content_type,
       fs.id AS first_snapshot, fs.content AS first_content, fs.byte_length AS first_length,
       told_first.fetched_at AS first_at,
       coalesce(told_first.headers ->> 'content-type', fs.content_type) AS first_content_type,
       ls.id AS last_snapshot, ls.content AS last_content, ls.byte_length AS last_length,
       told_last.fetched_at AS last_at,
       coalesce(told_last.headers ->> 'content-type', ls.content_type) AS last_content_type
FROM crawl_discovered_urls u
{COMPARED}
{TOLD_OTHERWISE}
JOIN snapshots ns ON ns.id = v.snapshot_id
JOIN snapshots os ON os.id = o.snapshot_id
LEFT JOIN snapshots ls ON ls.id = told_last.snapshot_id AND ls.byte_length <= :most
LEFT JOIN snapshots fs ON fs.id = told_first.snapshot_id AND fs.byte_length <= :most AND ls.id IS NOT NULL
WHERE u.crawl_job_id = :crawl AND u.normalized_url = ANY(:keys) ORDER BY u.url
"""  # noqa: S608 - both parts are constants
_TOO_LARGE = f"""
SELECT u.url FROM crawl_discovered_urls u
{COMPARED}
JOIN snapshots ns ON ns.id = v.snapshot_id
JOIN snapshots os ON os.id = o.snapshot_id
WHERE u.crawl_job_id = :crawl AND u.url = ANY(:urls) AND greatest(ns.byte_length, os.byte_length) > :most
"""  # noqa: S608 - our own text
_STEPS_BACK = f"""
SELECT known.url AS known, u.url,
       (SELECT count(*) FROM ({EARLIER}) newer WHERE newer.fetched_at > good.fetched_at) AS steps
FROM unnest(CAST(:urls AS text[]), CAST(:versions AS uuid[])) AS known(url, version)
JOIN page_versions good ON good.id = known.version AND good.snapshot_id IS NOT NULL
JOIN crawled_pages page ON page.id = good.page_id
JOIN crawl_discovered_urls u ON u.crawl_job_id = :crawl AND u.normalized_url = page.normalized_url
    AND u.fetch_state = 'done'
{COMPARED}
WHERE good.page_id = v.page_id AND good.fetched_at < v.fetched_at AND (good.crawl_method = v.way) IS NOT FALSE
"""  # noqa: S608 - both parts are constants
_LOOKS = """
SELECT u.url, v.page_id, NULL AS old_version,
       os.id AS old_snapshot, CASE WHEN os.byte_length <= :most THEN os.content END AS old_content,
       os.byte_length AS old_length, v.fetched_at AS old_at,
       coalesce(v.headers ->> 'content-type', os.content_type) AS old_content_type,
       ns.id AS new_snapshot, CASE WHEN ns.byte_length <= :most THEN ns.content END AS new_content,
       ns.byte_length AS new_length, ns.fetched_at AS new_at,
       coalesce(ns.content_type, v.headers ->> 'content-type') AS new_content_type
FROM unnest(CAST(:keys AS text[]), CAST(:snapshots AS uuid[])) AS look(normalized_url, snapshot_id)
JOIN crawl_discovered_urls u ON u.crawl_job_id = :crawl AND u.normalized_url = look.normalized_url
JOIN page_versions v ON v.id = u.version_id
JOIN snapshots os ON os.id = v.snapshot_id
JOIN snapshots ns ON ns.id = look.snapshot_id
ORDER BY u.url
"""
_STORED = """
SELECT u.url, ns.id AS new_snapshot, CASE WHEN ns.byte_length <= :most THEN ns.content END AS new_content,
       ns.byte_length AS new_length, v.fetched_at AS new_at,
       coalesce(v.headers ->> 'content-type', ns.content_type) AS new_content_type
FROM crawl_discovered_urls u
JOIN page_versions v ON v.id = u.version_id
JOIN snapshots ns ON ns.id = v.snapshot_id
WHERE u.crawl_job_id = :crawl AND u.url = ANY(:urls) AND u.fetch_state = 'done' ORDER BY u.url
"""
_ALIKE = """
SELECT mine.url, ns.id AS new_snapshot, ns.content AS new_content, ns.byte_length AS new_length, v.fetched_at AS new_at,
       coalesce(v.headers ->> 'content-type', ns.content_type) AS new_content_type
FROM crawl_discovered_urls mine
JOIN page_versions stored ON stored.id = mine.version_id
JOIN crawl_discovered_urls u ON u.crawl_job_id = :crawl AND u.normalized_url = mine.normalized_url
    AND u.fetch_state = 'done'
JOIN page_versions v ON v.id IN (u.version_id, (u.rendering ->> 'light_copy')::uuid)
    AND (v.crawl_method = stored.crawl_method) IS NOT FALSE
JOIN snapshots ns ON ns.id = v.snapshot_id AND ns.byte_length <= :most
WHERE mine.crawl_job_id = :like AND mine.url = ANY(:urls) ORDER BY mine.url
"""
