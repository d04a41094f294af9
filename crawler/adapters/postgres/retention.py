"""Retention: delete old page versions, snapshots, URL lists and request logs. Pages keep their newest version.

Request logs are deleted every hour by the reconciler; all else by `crawler prune`. Parts of a table that are old go
whole (`partitions.py`); everything else is deleted in small transactions, beside crawls that run.
"""

import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from crawler import telemetry
from crawler.adapters.objects.object_store import ObjectStore
from crawler.adapters.postgres.database import transaction, unhurried
from crawler.adapters.postgres.partitions import (
    LARGE,
    LEDGER,
    REQUESTS,
    Busy,
    Part,
    Parted,
    briefly,
    drop_part,
    least_crawl_id,
    make_parts,
    parts,
)
from crawler.adapters.postgres.runtime_settings import read_runtime_settings
from crawler.adapters.postgres.stored_objects import AGES, Going, prune_objects

log = telemetry.logger(__name__)

OBJECT_GRACE = timedelta(days=1)
"""Objects are written before the rows that refer to them."""
BATCH = 5000
"""Rows, or pages, of one transaction."""
MANY_URLS = 50_000
"""A crawl with more waits until all of its week is old, and goes with it. Fewer are moved to let a week go."""
HOURLY_BYTES = 4 << 30
"""Of an old table that is checked beside other work; a larger one waits for `crawler prune`."""
TRIES, PAUSE_SECONDS = 5, 1.0
"""Of dropping a part that is in use."""


class Retention(NamedTuple):
    request_log_days: int
    keep_versions: int
    """Newest versions of a page that are kept; 0 keeps all."""
    keep_crawl_days: int
    """Days after which a crawl's URL list is deleted; 0 keeps all. A project's last two crawls stay, and the last two
    that the next one may be compared with."""


class Pruned(NamedTuple):
    requests: int
    versions: int
    snapshots: int
    urls: int
    objects: int = 0
    """In the object storage: of what goes with the rows above, and of commits that failed."""
    missing: int = 0
    """Pages that the object storage has lost; nothing of them goes."""


class _Old(NamedTuple):
    """What is to go of the ledger."""

    crawls: list[UUID]
    parts: list[tuple[Part, list[UUID]]]
    """To be dropped, but for these crawls."""


class Pruner:
    """Two at the same time only share the work, and one that is ended early has done its part."""

    def __init__(self, engine: Engine, retention: Retention, objects: ObjectStore | None = None) -> None:
        self._engine = engine
        self._retention = retention
        self._objects = objects

    def __call__(self, now: datetime, *, dry_run: bool = False) -> Pruned:
        """Delete what is older than its retention. A dry run counts it, in one look at everything."""
        kept = self._in_force()
        old = self._old_crawls(now, timedelta(days=kept.keep_crawl_days)) if kept.keep_crawl_days else _Old([], [])
        if dry_run:
            going = Going(kept.keep_versions, old.crawls, self._named())
            return self._with_objects(self._count(kept, now, going), now, going)
        self._make_parts(now)
        pruned = Pruned(
            requests=self.requests(now),
            urls=self._urls(old),
            versions=self._old_versions(kept.keep_versions) if kept.keep_versions else 0,
            snapshots=self._walk("snapshots", _unused_snapshots),  # last, because more of them are unused now
        )
        return self._with_objects(pruned, now)

    def requests(self, now: datetime) -> int:
        """Delete only from the request log, a day at a time: cheap enough for every hour. Returns how many are gone."""
        before, gone = now - timedelta(days=self._in_force().request_log_days), 0
        for part in self._old_days(before):
            gone += self._drop(REQUESTS, part)
        return gone + self._delete(_REQUESTS, before=before)

    def hourly(self, now: datetime) -> int:
        """What has to be done now and then, also where nothing else is ever deleted."""
        self._make_parts(now, HOURLY_BYTES)
        return self.requests(now)

    def _make_parts(self, now: datetime, most_read: int | None = None) -> None:
        for table in (LEDGER, REQUESTS):
            make_parts(self._engine, table, now, most_read)

    def _in_force(self) -> Retention:
        """The retention in force: operators' runtime settings override the environment."""
        with transaction(self._engine) as db:
            given = read_runtime_settings(db).model_dump(include=set(Retention._fields), exclude_none=True)
        return self._retention._replace(**given)

    def _old_days(self, before: datetime) -> list[Part]:
        with transaction(self._engine) as db:
            return [part for part in parts(db, REQUESTS) if part.ends <= before]

    def _old_crawls(self, now: datetime, keep: timedelta) -> _Old:
        """Crawls whose URL lists are to go. A long one waits until the part it stands in can be dropped."""
        with transaction(self._engine) as db:
            old = {row.id: row.urls for row in db.execute(text(_OLD_CRAWLS), {"before": now - keep})}
            ledger = [part for part in parts(db, LEDGER) if part.ends <= now]
            crawls_of = {part: self._crawls_in(db, part) for part in ledger}
        going, dropped = set(old), []
        for part, crawls in crawls_of.items():
            stay = {crawl: urls for crawl, urls in crawls.items() if crawl not in old}
            gone = sum(urls for crawl, urls in crawls.items() if crawl in old)
            if not stay or sum(stay.values()) <= min(MANY_URLS, gone // 4):
                dropped.append((part, sorted(stay)))
            elif part.begins is not None and now < part.ends + keep:
                going -= {crawl for crawl, urls in crawls.items() if urls > MANY_URLS}
        return _Old(sorted(going), dropped)

    def _crawls_in(self, db: Connection, part: Part) -> dict[UUID, int]:
        low = least_crawl_id(part.begins) if part.begins else UUID(int=0)
        rows = db.execute(text(_CRAWLS_BETWEEN), {"low": low, "high": least_crawl_id(part.ends)})
        return {row.id: row.urls for row in rows}

    def _urls(self, old: _Old) -> int:
        """Delete URL lists of old crawls, and the reports on these URLs. Returns the number of URLs."""
        for table in ("crawl_findings", "crawl_reports", "crawl_probes"):
            for crawl in old.crawls:
                self._delete(_ROWS.format(table=table, condition="crawl_id = :crawl"), crawl=crawl)
        gone = sum(self._drop(LEDGER, part, stay) for part, stay in old.parts)
        urls = _ROWS.format(table="crawl_urls", condition="crawl_job_id = :crawl")
        return gone + sum(self._delete(urls, crawl=crawl) for crawl in old.crawls)

    def _drop(self, table: Parted, part: Part, keep: Sequence[UUID] = ()) -> int:
        """Drop a part; one that stays in use is left for the next time. Returns how many rows are gone, or about."""
        with unhurried(self._engine) as db:
            rows = _rows_of(db, table, part, keep)
        for attempt in range(TRIES):
            try:
                with briefly(self._engine) as db:
                    drop_part(db, table, part, keep)
            except Busy:
                if attempt < TRIES - 1:
                    time.sleep(PAUSE_SECONDS)
            else:
                return rows
        log.info("part_in_use", part=part.name)
        return 0

    def _named(self) -> list[UUID]:
        """Versions that the next crawls are compared with, however old they are."""
        with transaction(self._engine) as db:
            return list(db.execute(text(_NAMED)).scalars())

    def _old_versions(self, keep: int) -> int:
        named = self._named()

        def delete(db: Connection, after: UUID, last: UUID) -> int:
            given = {"keep": keep, "after": after, "last": last, "named": named}
            return db.execute(text(_VERSIONS), given).rowcount

        return self._walk("crawled_pages", delete)

    def _with_objects(self, pruned: Pruned, now: datetime, going: Going | None = None) -> Pruned:
        if self._objects is None:
            return pruned
        found = prune_objects(self._engine, self._objects, now - OBJECT_GRACE, going)
        return pruned._replace(objects=found.unused, missing=found.missing)

    def _delete(self, statement: str, **values: object) -> int:
        """Repeat a statement that deletes at most a batch until nothing is left."""
        gone = 0
        while True:
            with unhurried(self._engine) as db:
                found = db.execute(text(statement), {**values, "most": BATCH}).rowcount
            gone += found
            if found < BATCH:
                return gone

    def _walk(self, table: str, delete: Callable[[Connection, UUID, UUID], int]) -> int:
        """Delete what belongs to the rows of a table, a batch of them after the other."""
        gone, after = 0, UUID(int=0)
        while True:
            with unhurried(self._engine) as db:
                ids = db.execute(text(_NEXT.format(table=table)), {"after": after, "most": BATCH}).scalars().all()
                if not ids:
                    return gone
                gone += delete(db, after, ids[-1])
            after = ids[-1]

    def _count(self, kept: Retention, now: datetime, going: Going) -> Pruned:
        before = now - timedelta(days=kept.request_log_days)
        given = {"before": before, "old": going.crawls, "keep": going.keep_versions or None, "named": going.named}
        days = self._old_days(before)
        with unhurried(self._engine) as db:
            counted = Pruned(**db.execute(text(_COUNTS), given).one()._asdict())
            return counted._replace(requests=counted.requests + sum(_rows_of(db, REQUESTS, day) for day in days))


def _rows_of(db: Connection, table: Parted, part: Part, keep: Sequence[UUID] = ()) -> int:
    """How many rows of the part go with it; of a large one what Postgres thinks."""
    name = {"name": part.name}
    if db.execute(text("SELECT pg_relation_size(:name)"), name).scalar_one() > LARGE:
        return max(0, int(db.execute(text(_ABOUT), name).scalar_one()))
    going = f"{table.column} <> ALL(CAST(:keep AS uuid[]))" if keep else "true"
    return int(db.execute(text(f"SELECT count(*) FROM {part.name} WHERE {going}"), {"keep": list(keep)}).scalar_one())


def _unused_snapshots(db: Connection, after: UUID, last: UUID) -> int:
    """Delete snapshots that nothing refers to.

    They are locked first and looked at again then. Whoever wants to refer to one locks it, too (`CopyInto.new`): it is
    seen by the second look, or waits and finds that the snapshot has to be written anew.
    """
    locked = db.execute(text(_LOCK_UNUSED), {"after": after, "last": last}).scalars().all()
    return db.execute(text(_DELETE_UNUSED), {"ids": locked}).rowcount if locked else 0


_NEXT = "SELECT id FROM {table} WHERE id > :after ORDER BY id LIMIT :most"
# A ctid is that of one part of a table only; the condition outside names the part.
_ROWS = """
DELETE FROM {table} WHERE {condition}
    AND ctid = ANY(ARRAY(SELECT ctid FROM {table} WHERE {condition} LIMIT :most))
"""
# Days of which some requests are kept wait until all of the day can go.
_REQUESTS = _ROWS.format(table="request_log_rest", condition="at < :before")
_ABOUT = "SELECT reltuples FROM pg_class WHERE oid = CAST(:name AS regclass)"
# ruff: noqa: S608 - our own words
_VERSIONS = f"""
DELETE FROM page_versions v USING ({AGES} WHERE v.page_id > :after AND v.page_id <= :last) a
WHERE a.id = v.id AND a.age > :keep AND NOT a.stays
"""
_UNUSED = """
NOT EXISTS (SELECT 1 FROM page_versions v WHERE v.snapshot_id = s.id)
    AND NOT EXISTS (SELECT 1 FROM crawl_probes p WHERE p.snapshot_id = s.id)
"""
_LOCK_UNUSED = f"SELECT id FROM snapshots s WHERE id > :after AND id <= :last AND {_UNUSED} FOR UPDATE SKIP LOCKED"
_DELETE_UNUSED = f"DELETE FROM snapshots s WHERE id = ANY(CAST(:ids AS uuid[])) AND {_UNUSED}"
# Crawls that a later one may be compared with (`choose_baseline` in `domain/changes/baseline.py`) are counted
# by themselves: however many single pages were fetched since, and whatever failed. So are those that saw enough of
# the site.
_ENDED = """
SELECT id, urls, completed_at, comparable, change_summary,
    row_number() OVER (PARTITION BY project_id ORDER BY id DESC) AS age,
    row_number() OVER (PARTITION BY project_id, comparable, saw_little ORDER BY id DESC) AS age_among_such
FROM (
    SELECT id, project_id, total_discovered AS urls, completed_at, change_summary,
        status = 'completed' AND crawl_type <> 'fetch_only' AND NOT from_queue
            AND coalesce(end_reason IN ('exhausted', 'max_pages'), false)
            AND NOT coalesce(stats -> 'by_reason' ? 'exists', false)
            AND NOT coalesce(stats ? 'comparison_failed', false) AS comparable,
        coalesce(change_summary -> 'coverage' -> 'failing' = 'true', false) AS saw_little
    FROM crawl_jobs WHERE status IN ('completed', 'failed', 'cancelled')
) ended
"""
_OLD_CRAWLS = f"""
SELECT id, urls FROM ({_ENDED}) c
WHERE age > 2 AND NOT (comparable AND age_among_such <= 2) AND completed_at < :before
"""
# What a page was before it was behind a wall, or a part of it failed: the next crawl compares it with that.
_NAMED = f"""
SELECT CAST(page.value ->> 'version' AS uuid) AS id
FROM ({_ENDED}) c, unnest(ARRAY['behind_walls', 'failed_parts']) AS kind,
    jsonb_each(coalesce(change_summary -> kind, '{{}}')) AS page
WHERE comparable AND age_among_such <= 2
"""
_CRAWLS_BETWEEN = "SELECT id, total_discovered AS urls FROM crawl_jobs WHERE id >= :low AND id < :high"
_COUNTS = f"""
WITH old AS MATERIALIZED (SELECT unnest(CAST(:old AS uuid[])) AS id),
    versions AS MATERIALIZED (SELECT id, snapshot_id, age <= :keep OR :keep IS NULL OR stays AS kept FROM ({AGES}) a),
    used AS MATERIALIZED (
        SELECT snapshot_id FROM versions WHERE kept
        UNION SELECT snapshot_id FROM crawl_probes WHERE crawl_id NOT IN (SELECT id FROM old)
    )
SELECT (SELECT count(*) FROM request_log_rest WHERE at < :before) AS requests,
    (SELECT count(*) FROM versions WHERE NOT kept) AS versions,
    (SELECT count(*) FROM snapshots s WHERE NOT EXISTS (SELECT 1 FROM used u WHERE u.snapshot_id = s.id)) AS snapshots,
    (SELECT count(*) FROM crawl_urls WHERE crawl_job_id IN (SELECT id FROM old)) AS urls
"""
