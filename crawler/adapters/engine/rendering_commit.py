"""The commit's browser results: screenshots, why pages were rendered, and what comparisons showed.

Which pages are rendered: `domain/rendering/signals.py`. What comparisons teach: `domain/rendering/url_shapes.py`.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any
from uuid import UUID

import orjson

from crawler.adapters.engine.rows import as_json, in_order, insert
from crawler.adapters.postgres.database import Cursor
from crawler.adapters.postgres.partitions import about_crawls
from crawler.domain.engine.ledger import Batch, Picture, Rendering
from crawler.domain.rendering.url_shapes import Findings, ShapeBook

_PICTURES = f"""
INSERT INTO screenshots ({", ".join(Picture._fields)})
SELECT v.* FROM (VALUES %s) AS v({", ".join(Picture._fields)})
WHERE EXISTS (SELECT 1 FROM page_versions p WHERE p.id = v.version_id)
ON CONFLICT DO NOTHING
"""  # noqa: S608 - our own names
_PICTURES_ROW = "(%s::uuid, %s::bytea, %s::bytea, %s::timestamptz)"
# What the server sent is kept before the browser is asked. That the browser showed the same is no copy of its own.
_RENDERINGS = """
UPDATE crawl_urls u SET rendering = coalesce(u.rendering, '{}') || v.rendering
    || jsonb_strip_nulls(jsonb_build_object('light_copy', u.rendering -> 'light_copy'))
FROM json_to_recordset(%(rows)s) AS v(crawl_id uuid, normalized_url text, rendering jsonb)
WHERE u.crawl_job_id = v.crawl_id AND u.normalized_url = v.normalized_url
    AND u.crawl_job_id BETWEEN %(first)s AND %(last)s AND v.crawl_id = ANY(%(crawls)s)
"""


def write_renderings(db: Cursor, batch: Batch) -> None:
    """Write browser results. Most batches have none."""
    insert(db, _PICTURES, sorted(batch.pictures, key=attrgetter("version_id")), _PICTURES_ROW)
    _note(db, batch.renderings)
    for project_id, findings in sorted(batch.findings.items()):
        _learn(db, project_id, findings)


def _note(db: Cursor, renderings: Sequence[Rendering]) -> None:
    if renderings:
        rows = [_noted(rendering) for rendering in in_order(renderings)]
        db.execute(_RENDERINGS, {"rows": as_json(rows), **about_crawls(row["crawl_id"] for row in rows)})


def _noted(rendering: Rendering) -> dict[str, Any]:
    return {**rendering.key._asdict(), "rendering": rendering.record}


def _learn(db: Cursor, project_id: UUID, findings: Findings) -> None:
    db.execute("SELECT learned -> 'shapes' FROM projects WHERE id = %s FOR NO KEY UPDATE", (project_id,))
    if known := db.fetchone():
        book = ShapeBook.from_record(known[0] or {}).learn(findings)
        learned = orjson.dumps({"shapes": book.as_record()}).decode()
        db.execute("UPDATE projects SET learned = learned || %s::jsonb WHERE id = %s", (learned, project_id))
