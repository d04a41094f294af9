"""Claims rows so that projects take turns: one with many that wait never holds up another.

Each claim takes as much of each project that waits, and chance decides where it does not come out even. So nobody has
to remember whose turn it is.
"""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from crawler.adapters.postgres.database import Cursor


class FairClaim(NamedTuple):
    """What is claimed, in words of SQL."""

    table: str
    project: str
    """Whose a row is. An index on this and on `order` holds the rows that wait, or each claim reads all of them."""
    waiting: str
    """The condition of that index."""
    order: str
    changes: str
    returning: str = "id"

    def __call__(self, db: Cursor, due: str, most: int, *values: Any) -> list[tuple[Any, ...]]:
        """Change at most so many rows that wait and are due. `values` are those of the changes."""
        words = self._asdict() | {"due": due}
        db.execute(_DUE_PROJECTS.format(**words))
        shares = fair_shares([project for (project,) in db], most)
        if not shares:
            return []
        db.execute(_CLAIM.format(**words), (*values, list(shares), list(shares.values())))
        return list(db)


def fair_shares(projects: Sequence[UUID], most: int) -> dict[UUID, int]:
    """How many each project gets: as many as the others, or one more or none by chance."""
    chosen = random.sample(projects, min(len(projects), most))
    return {project: most // len(chosen) + (place < most % len(chosen)) for place, project in enumerate(chosen)}


# From one project to the next by the index, without a look at all that waits between them; the last one is NULL.
WAITING_PROJECTS = """
WITH RECURSIVE waiting AS (
    (SELECT {project} AS project FROM {table} WHERE {waiting} ORDER BY {project} LIMIT 1)
    UNION ALL
    SELECT (SELECT {project} FROM {table} WHERE {waiting} AND {project} > w.project ORDER BY {project} LIMIT 1)
    FROM waiting w WHERE w.project IS NOT NULL
)
"""
_DUE_PROJECTS = f"""{WAITING_PROJECTS}
SELECT project FROM waiting w
WHERE EXISTS (SELECT 1 FROM {{table}} WHERE {{project}} = w.project AND {{waiting}} AND {{due}})
"""  # noqa: S608 - our own words
# An array, so that the plan asks once: a subquery behind IN may be asked for each row, and claim more than its limit.
_CLAIM = """
UPDATE {table} SET {changes}
WHERE id = ANY(ARRAY(
    SELECT found.id FROM unnest(%s::uuid[], %s::int[]) AS share(project, most)
    CROSS JOIN LATERAL (
        SELECT id FROM {table} WHERE {project} = share.project AND {waiting} AND {due}
        ORDER BY {order} LIMIT share.most FOR UPDATE SKIP LOCKED
    ) AS found
))
RETURNING {returning}
"""
