"""The feed's order. A number from a sequence is not the order of commits: whoever took a smaller one may commit later,
and a reader that went past it would never see it. Here numbers are given under the lock of the project's own row, which
is held until the commit; so a number is never smaller than one that a reader has seen.

It is read by `reader.py`.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from uuid import UUID

from crawler.adapters.postgres.database import Cursor

_TAKE = """
INSERT INTO document_feeds AS f (project_id, last_seq, configs) VALUES (%s, %s, %s)
ON CONFLICT (project_id) DO UPDATE SET last_seq = f.last_seq + excluded.last_seq,
    configs = CASE WHEN excluded.configs <@ f.configs THEN f.configs
                   ELSE ARRAY(SELECT DISTINCT unnest(f.configs || excluded.configs) ORDER BY 1) END
RETURNING last_seq
"""
_PLACE = """
UPDATE documents d SET feed_seq = v.seq
FROM unnest(%s::uuid[], %s::bigint[]) AS v(id, seq) WHERE d.id = v.id
"""


def move_to_end(db: Cursor, documents: Iterable[tuple[UUID, UUID]], configs: Sequence[str] = ()) -> None:
    """(project, document) each. The last statements of a transaction: other writers of these projects wait for it."""
    for project_id, group in groupby(sorted(set(documents)), key=lambda pair: pair[0]):
        ids = [document for _, document in group]
        db.execute(_TAKE, (project_id, len(ids), sorted(set(configs))))
        row = db.fetchone()
        assert row is not None
        last = int(row[0])
        db.execute(_PLACE, (ids, list(range(last - len(ids) + 1, last + 1))))
