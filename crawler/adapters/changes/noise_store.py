"""A project's noise rules in Postgres.

What rules mean: `domain/noise/rules.py`. Which are learned: `domain/noise/learning.py`.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.postgres.database import cursor, transaction
from crawler.domain.ids import new_id
from crawler.domain.noise.rules import NoiseRule
from crawler.errors import NotFound


class NoiseStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def list_rules(self, project_id: UUID) -> list[NoiseRule]:
        """A project's rules: those of people first, then by age."""
        with transaction(self._engine) as db:
            rows = db.execute(text(_LIST), {"project": project_id})
            return [NoiseRule.model_validate(row._asdict()) for row in rows]

    def add(self, rule: NoiseRule) -> NoiseRule:
        """The rule that is kept: the same one twice is one, and adding it again enables it."""
        with transaction(self._engine) as db:
            row = db.execute(text(_ADD), rule.model_dump(mode="json")).one()
        return NoiseRule.model_validate(row._asdict())

    def set_enabled(self, project_id: UUID, rule_id: UUID, *, enabled: bool) -> NoiseRule:
        given = {"project": project_id, "id": rule_id, "enabled": enabled}
        with transaction(self._engine) as db:
            row = db.execute(text(_ENABLE), given).one_or_none()
        if row is None:
            raise missing(project_id, rule_id)
        return NoiseRule.model_validate(row._asdict())

    def remove(self, project_id: UUID, rule_id: UUID) -> None:
        with transaction(self._engine) as db:
            gone = db.execute(text(_REMOVE), {"project": project_id, "id": rule_id}).rowcount
        if not gone:
            raise missing(project_id, rule_id)

    def learn(self, project_id: UUID, values: Iterable[str], now: datetime, most: int) -> int:
        """Add what is not known yet, up to so many in all. What a person switched off stays off."""
        stamp = int(now.timestamp() * 1000)
        with transaction(self._engine) as db:
            known = {row.value for row in db.execute(text(_LEARNED), {"project": project_id})}
            new = [value for value in values if value not in known][: max(0, most - len(known))]
            rows = [{"id": new_id(stamp), "project": project_id, "value": value, "at": now} for value in new]
            if rows:
                db.execute(text(_LEARN), rows)
        return len(new)

    def count_hits(self, hits: Mapping[UUID, int]) -> None:
        with transaction(self._engine) as connection, cursor(connection) as db:
            for rule_id, pages in sorted(hits.items()):
                db.execute("UPDATE noise_rules SET hits = hits + %s WHERE id = %s", (pages, rule_id))


def missing(project_id: UUID, rule_id: UUID) -> NotFound:
    return NotFound(f"There is no noise rule {rule_id} in project {project_id}.")


_LIST = """
SELECT id, project_id, kind, value, origin, enabled, created_at, hits FROM noise_rules
WHERE project_id = :project ORDER BY origin = 'learned', created_at, id
"""
_ADD = """
INSERT INTO noise_rules (id, project_id, kind, value, origin, enabled, created_at)
VALUES (:id, :project_id, :kind, :value, :origin, :enabled, :created_at)
ON CONFLICT (project_id, kind, md5(value)) DO UPDATE SET enabled = true
RETURNING id, project_id, kind, value, origin, enabled, created_at, hits
"""
_ENABLE = """
UPDATE noise_rules SET enabled = :enabled WHERE id = :id AND project_id = :project
RETURNING id, project_id, kind, value, origin, enabled, created_at, hits
"""
_REMOVE = "DELETE FROM noise_rules WHERE id = :id AND project_id = :project"
_LEARNED = "SELECT value FROM noise_rules WHERE project_id = :project AND kind = 'learned'"
_LEARN = """
INSERT INTO noise_rules (id, project_id, kind, value, origin, created_at)
VALUES (:id, :project, 'learned', :value, 'learned', :at)
ON CONFLICT (project_id, kind, md5(value)) DO NOTHING
"""
