"""A project's mutes in Postgres. What they are: `domain/notices/mutes.py`."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.postgres.database import transaction
from crawler.domain.notices.mutes import Mute
from crawler.errors import NotFound


class MuteStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of_project(self, project_id: UUID, now: datetime) -> list[Mute]:
        """Those that hold now, the newest first."""
        with transaction(self._engine) as db:
            rows = db.execute(text(_LIST), {"project": project_id, "now": now})
            return [Mute.model_validate(row._asdict()) for row in rows]

    def add(self, mute: Mute) -> Mute:
        """In place of one for the same thing. What is over is forgotten."""
        with transaction(self._engine) as db:
            db.execute(text(_FORGET), mute.model_dump())
            return Mute.model_validate(db.execute(text(_ADD), mute.model_dump()).one()._asdict())

    def remove(self, project_id: UUID, mute_id: UUID) -> None:
        with transaction(self._engine) as db:
            gone = db.execute(text(_REMOVE), {"project": project_id, "id": mute_id}).rowcount
        if not gone:
            raise NotFound(f"There is no mute {mute_id} in project {project_id}.")


_LIST = """
SELECT id, project_id, page, rule, until, created_at FROM mutes
WHERE project_id = :project AND until > :now ORDER BY id DESC
"""
_FORGET = """
DELETE FROM mutes WHERE project_id = :project_id AND (until <= :created_at
    OR (page IS NOT DISTINCT FROM CAST(:page AS text) AND rule IS NOT DISTINCT FROM CAST(:rule AS uuid)))
"""
_ADD = """
INSERT INTO mutes (id, project_id, page, rule, until, created_at)
VALUES (:id, :project_id, :page, :rule, :until, :created_at)
RETURNING id, project_id, page, rule, until, created_at
"""
_REMOVE = "DELETE FROM mutes WHERE id = :id AND project_id = :project"
