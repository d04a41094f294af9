"""Webhooks of the Firecrawl door in Postgres: where they go, how many events of a job were told, when to go on.

The events themselves are not kept: they follow from the job's own rows. Told by `handlers/notices/tell_hook.py`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import Engine, text

from crawler.adapters.postgres.database import transaction
from crawler.domain.notices.hooks import Hook


class TakenHook(NamedTuple):
    hook: Hook
    told: int
    """Events that are behind it."""
    tries: int
    """Of the next one."""


class HookStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, project_id: UUID, crawl_id: UUID, hook: Hook, now: datetime) -> None:
        """For the events of this crawl. Once: whoever comes second changes nothing."""
        given = {"crawl": crawl_id, "project": project_id, "hook": hook.model_dump_json(), "now": now}
        with transaction(self._engine) as db:
            db.execute(text(_ADD), given)

    def set_for(self, project_id: UUID, hook: Hook | None) -> None:
        """For the checks of this monitor from now on."""
        with transaction(self._engine) as db:
            db.execute(text(_SET), {"project": project_id, "hook": hook.model_dump_json() if hook else "{}"})

    def find_for(self, project_id: UUID) -> Hook | None:
        with transaction(self._engine) as db:
            kept = db.execute(text(_FIND), {"project": project_id}).scalar_one_or_none()
        return Hook.model_validate(kept) if kept else None

    def set_targets(self, project_id: UUID, targets: Sequence[Mapping[str, Any]]) -> None:
        with transaction(self._engine) as db:
            db.execute(text(_SET_TARGETS), {"project": project_id, "targets": orjson.dumps(list(targets)).decode()})

    def list_targets(self, project_id: UUID) -> list[dict[str, Any]]:
        """What a monitor watches, as it was asked for; empty if it was not asked for at the door."""
        with transaction(self._engine) as db:
            return list(db.execute(text(_TARGETS), {"project": project_id}).scalar_one_or_none() or ())

    def take(self, crawl_id: UUID, now: datetime, until: datetime) -> TakenHook | None:
        """The hook of this crawl, if something may be told now: the caller's alone until then."""
        with transaction(self._engine) as db:
            row = db.execute(text(_TAKE), {"crawl": crawl_id, "now": now, "until": until}).one_or_none()
        return TakenHook(Hook.model_validate(row.hook), row.told, row.tries) if row else None

    def go_on(self, crawl_id: UUID, told: int, until: datetime) -> None:
        """So many events are told; the caller keeps the hook."""
        with transaction(self._engine) as db:
            db.execute(text(_GO_ON), {"crawl": crawl_id, "told": told, "until": until})

    def rest(self, crawl_id: UUID, until: datetime | None, *, tries: int = 0, answer: str | None = None) -> None:
        """Nothing is to be told before then; None: never again."""
        given = {"crawl": crawl_id, "until": until, "tries": tries, "answer": answer}
        with transaction(self._engine) as db:
            db.execute(text(_REST), given)

    def put_back(self, crawl_id: UUID, now: datetime) -> None:
        """Whoever comes next may take it."""
        with transaction(self._engine) as db:
            db.execute(text(_PUT_BACK), {"crawl": crawl_id, "now": now})

    def due(self, before: datetime) -> list[UUID]:
        """Crawls with a hook that somebody should have gone on with by then."""
        with transaction(self._engine) as db:
            return list(db.execute(text(_DUE), {"before": before}).scalars())


_ADD = """
INSERT INTO door_jobs (id, project_id, crawl_id, hook, due_at)
VALUES (:crawl, :project, :crawl, CAST(:hook AS jsonb), :now) ON CONFLICT DO NOTHING
"""
_SET = """
INSERT INTO door_jobs (id, project_id, hook) VALUES (:project, :project, CAST(:hook AS jsonb))
ON CONFLICT (id) DO UPDATE SET hook = EXCLUDED.hook
"""
_SET_TARGETS = """
INSERT INTO door_jobs (id, project_id, targets) VALUES (:project, :project, CAST(:targets AS jsonb))
ON CONFLICT (id) DO UPDATE SET targets = EXCLUDED.targets
"""
_TARGETS = "SELECT targets FROM door_jobs WHERE id = :project"
_FIND = "SELECT hook FROM door_jobs WHERE id = :project"
_TAKE = """
UPDATE door_jobs SET due_at = :until WHERE id = :crawl AND crawl_id IS NOT NULL AND due_at <= :now
RETURNING hook, told, tries
"""
_GO_ON = "UPDATE door_jobs SET told = :told, tries = 0, answer = NULL, due_at = :until WHERE id = :crawl"
_REST = "UPDATE door_jobs SET due_at = :until, tries = :tries, answer = :answer WHERE id = :crawl"
_PUT_BACK = "UPDATE door_jobs SET due_at = :now WHERE id = :crawl"
_DUE = "SELECT id FROM door_jobs WHERE due_at <= :before ORDER BY due_at LIMIT 200"
