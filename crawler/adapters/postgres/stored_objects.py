"""The object storage and the rows that refer to it: what nothing refers to is deleted, what is missing is noticed.

An object is known by its name alone. The same place can be spelled in many ways (a link to a directory, `/./`, another
name of a bucket), and a row keeps the spelling of the day it was written.
"""

from collections.abc import Container, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.objects.object_store import FOLDERS, Listed, ObjectStore, name_in
from crawler.adapters.postgres.database import unhurried
from crawler.adapters.postgres.lost_snapshots import mark_lost
from crawler.adapters.postgres.snapshot_bytes import PICTURE_HEAD

AT_ONCE = 1000


class Going(NamedTuple):
    """What a dry run takes for gone."""

    keep_versions: int
    """Newest versions of a page that stay; 0 is all."""
    crawls: Sequence[UUID]
    named: Sequence[UUID]
    """Older versions that stay, too."""


class PrunedObjects(NamedTuple):
    unused: int
    missing: int
    """Pages whose object should be here and is not."""


def prune_objects(engine: Engine, objects: ObjectStore, before: datetime, going: Going | None = None) -> PrunedObjects:
    """Delete objects older than that which nothing refers to: of rows that are gone, and of commits that failed.

    Pages that old whose object is missing are marked as lost. With `going` everything is only counted, as if that were
    gone already.
    """
    gone = missing = 0
    for folder in FOLDERS:
        listed = objects.list_folder(folder)
        missing += _missing(engine, objects, folder, {one.name for one in listed}, before, mark=going is None)
        old = [one for one in listed if one.written_at < before]
        for start in range(0, len(old), AT_ONCE):
            unused = list(_unused(engine, old[start : start + AT_ONCE], going))
            if going is None:
                objects.delete(unused)
            gone += len(unused)
    return PrunedObjects(gone, missing)


def _missing(
    engine: Engine, objects: ObjectStore, folder: str, names: Container[str], before: datetime, *, mark: bool
) -> int:
    """Of rows that name this place by another spelling nobody can say whether they mean it: they are passed over."""
    missing, after, last = 0, UUID(folder + "0" * 30), UUID(folder + "f" * 30)
    while True:
        with unhurried(engine) as db:
            rows = db.execute(text(_STORED), {"after": after, "last": last, "before": before, "most": AT_ONCE}).all()
            here = ((row.id, bytes(row.content)) for row in rows if objects.holds(bytes(row.content)))
            lost = [(row_id, content) for row_id, content in here if name_in(content) not in names]
            if mark:
                mark_lost(db, lost)
        missing += len(lost)
        if len(rows) < AT_ONCE:
            return missing
        after = rows[-1].id


def _unused(engine: Engine, some: Sequence[Listed], going: Going | None) -> Iterator[str]:
    given: dict[str, object] = {"ids": list({one.id for one in some})}
    if going is not None:
        given |= {"keep": going.keep_versions or None, "old": list(going.crawls), "named": list(going.named)}
    with unhurried(engine) as db:
        rows = db.execute(text(_STAYING if going else _REFERENCES), given)
        used = {name_in(bytes(row.content)) for row in rows}
    return (one.name for one in some if one.name not in used)


AGES = """
SELECT v.id, v.snapshot_id,
       v.id = ANY(CAST(:named AS uuid[]))
           OR EXISTS (SELECT 1 FROM crawled_pages p WHERE p.id = v.page_id AND p.version_id = v.id) AS stays,
       row_number() OVER (PARTITION BY v.page_id ORDER BY v.fetched_at DESC, v.id) AS age
FROM page_versions v
"""
"""Versions with their age among those of their page: 1 is the newest. What is shown, or named, stays whatever its
age."""
# ruff: noqa: S608 - our own words
_REFERENCES = f"""
SELECT id, content FROM snapshots WHERE id = ANY(CAST(:ids AS uuid[])) AND substring(content FROM 1 FOR 1) = '@'
UNION ALL SELECT version_id, substring(image FROM {PICTURE_HEAD + 1}) FROM screenshots
WHERE version_id = ANY(CAST(:ids AS uuid[])) AND substring(image FROM {PICTURE_HEAD + 1} FOR 1) = '@'
"""
_STORED = """
SELECT id, content FROM snapshots WHERE id > :after AND id <= :last AND fetched_at < :before
    AND substring(content FROM 1 FOR 1) = '@'
ORDER BY id LIMIT :most
"""
_STAYING = f"""
WITH pages AS MATERIALIZED (
        SELECT page_id FROM page_versions WHERE snapshot_id = ANY(CAST(:ids AS uuid[]))
        UNION SELECT page_id FROM page_versions WHERE id = ANY(CAST(:ids AS uuid[]))
    ),
    versions AS MATERIALIZED (
        SELECT id, snapshot_id FROM ({AGES} WHERE v.page_id IN (SELECT page_id FROM pages)) a
        WHERE age <= :keep OR CAST(:keep AS bigint) IS NULL OR stays
    )
SELECT r.content FROM ({_REFERENCES}) r
WHERE r.id IN (SELECT id FROM versions) OR r.id IN (SELECT snapshot_id FROM versions)
    OR EXISTS (SELECT 1 FROM crawl_probes p WHERE p.snapshot_id = r.id AND p.crawl_id <> ALL(CAST(:old AS uuid[])))
"""
