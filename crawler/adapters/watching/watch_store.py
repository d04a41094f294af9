"""A project's watch rules in Postgres. What they mean: `domain/watching/rules.py`."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Engine, Row, text

from crawler import telemetry
from crawler.adapters.postgres.database import transaction
from crawler.domain.watching.rules import WatchIndex, WatchOrder, WatchRule, stored_rule
from crawler.errors import NotFound

log = telemetry.logger(__name__)
MOST_KEPT = 8
"""Projects whose rules one process keeps ready: thousands of patterns take a while."""
_BODY = {"watch", "fields", "products", "tell"}


class WatchStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: OrderedDict[UUID, tuple[tuple[Any, ...], WatchIndex]] = OrderedDict()

    def list_rules(self, project_id: UUID) -> list[WatchRule]:
        """A project's rules, the most important first. One that makes no sense here any more is left out."""
        with transaction(self._engine) as db:
            rows = db.execute(text(f"{_SELECT} WHERE project_id = :project {_ORDER}"), {"project": project_id}).all()
        return [rule for row in rows if (rule := _readable(row, _rule))]

    def index(self, project_id: UUID) -> WatchIndex:
        """The enabled rules, ready to be used. Rules that did not change are not read again."""
        with transaction(self._engine) as db:
            state = tuple(db.execute(text(_STATE), {"project": project_id}).one())
        if not state[0]:
            return WatchIndex(())
        kept = self._kept.get(project_id)
        if kept is None or kept[0] != state:
            kept = state, WatchIndex(self._stored(project_id))
            self._kept[project_id] = kept
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return kept[1]

    def _stored(self, project_id: UUID) -> list[WatchRule]:
        with transaction(self._engine) as db:
            rows = db.execute(text(f"{_SELECT} WHERE project_id = :project AND enabled"), {"project": project_id}).all()
        return [rule for row in rows if (rule := _readable(row, lambda row: stored_rule(row._asdict())))]

    def of_crawl(self, crawl_id: UUID) -> WatchIndex:
        """The rules of a crawl's project."""
        with transaction(self._engine) as db:
            project_id = db.execute(text(_PROJECT), {"crawl": crawl_id}).scalar_one_or_none()
        return self.index(project_id) if project_id else WatchIndex(())

    def get(self, project_id: UUID, rule_id: UUID) -> WatchRule:
        query = f"{_SELECT} WHERE project_id = :project AND id = :id"
        with transaction(self._engine) as db:
            row = db.execute(text(query), {"project": project_id, "id": rule_id}).one_or_none()
        if row is None:
            raise _missing(project_id, rule_id)
        return _rule(row)

    def add(self, rule: WatchRule) -> WatchRule:
        given = {**_values(rule), "id": rule.id, "project": rule.project_id, "at": rule.created_at}
        with transaction(self._engine) as db:
            return _rule(db.execute(text(_ADD), given).one())

    def replace(self, project_id: UUID, rule_id: UUID, order: WatchOrder) -> WatchRule:
        given = {**_values(order), "id": rule_id, "project": project_id}
        with transaction(self._engine) as db:
            row = db.execute(text(_REPLACE), given).one_or_none()
        if row is None:
            raise _missing(project_id, rule_id)
        return _rule(row)

    def remove(self, project_id: UUID, rule_id: UUID) -> None:
        with transaction(self._engine) as db:
            gone = db.execute(text(_REMOVE), {"project": project_id, "id": rule_id}).rowcount
        if not gone:
            raise _missing(project_id, rule_id)

    def differing(self, crawl_id: UUID, baseline_id: UUID) -> list[str]:
        """Pages that both crawls have, in two versions."""
        with transaction(self._engine) as db:
            return list(db.execute(text(_DIFFERING), {"crawl": crawl_id, "before": baseline_id}).scalars())

    def newest_crawl(self, project_id: UUID) -> UUID | None:
        """The newest crawl of the site that is over and stored pages."""
        with transaction(self._engine) as db:
            return db.execute(text(_NEWEST), {"project": project_id}).scalar_one_or_none()

    def urls(self, crawl_id: UUID, most: int) -> list[str]:
        """Pages that a crawl has, as many as may be looked at."""
        with transaction(self._engine) as db:
            return list(db.execute(text(_URLS), {"crawl": crawl_id, "most": most}).scalars())


def _values(order: WatchOrder) -> dict[str, Any]:
    return {
        "name": order.name,
        "pattern": order.pattern,
        "priority": order.priority,
        "enabled": order.enabled,
        "body": orjson.dumps(order.model_dump(mode="json", include=_BODY)).decode(),
    }


def _rule(row: Row[Any]) -> WatchRule:
    found = row._asdict()
    return WatchRule.model_validate({**found.pop("body"), **found})


def _readable(row: Row[Any], read: Callable[[Row[Any]], WatchRule]) -> WatchRule | None:
    try:
        return read(row)
    except ValueError as exc:  # what a later release wrote, perhaps
        log.warning("watch_rule_unreadable", rule_id=str(row.id), detail=str(exc)[:200])
        return None


def _missing(project_id: UUID, rule_id: UUID) -> NotFound:
    return NotFound(f"There is no watch rule {rule_id} in project {project_id}.")


_COLUMNS = "id, project_id, name, pattern, priority, body, enabled, created_at"
_SELECT = f"SELECT {_COLUMNS} FROM watch_rules"  # noqa: S608 - our own names
_ORDER = "ORDER BY priority DESC, created_at, id"
_STATE = """
SELECT count(*) FILTER (WHERE enabled), count(*), max(updated_at) FROM watch_rules WHERE project_id = :project
"""
_PROJECT = "SELECT project_id FROM crawl_jobs WHERE id = :crawl"
_ADD = f"""
INSERT INTO watch_rules (id, project_id, name, pattern, priority, body, enabled, created_at, updated_at)
VALUES (:id, :project, :name, :pattern, :priority, CAST(:body AS jsonb), :enabled, :at, clock_timestamp())
RETURNING {_COLUMNS}
"""  # noqa: S608 - our own names
_REPLACE = f"""
UPDATE watch_rules SET name = :name, pattern = :pattern, priority = :priority, body = CAST(:body AS jsonb),
    enabled = :enabled, updated_at = clock_timestamp()
WHERE id = :id AND project_id = :project
RETURNING {_COLUMNS}
"""  # noqa: S608 - our own names
_REMOVE = "DELETE FROM watch_rules WHERE id = :id AND project_id = :project"
_DIFFERING = """
SELECT u.url FROM crawl_discovered_urls u
JOIN crawl_discovered_urls b ON b.crawl_job_id = :before AND b.normalized_url = u.normalized_url
    AND b.fetch_state = 'done' AND b.version_id <> u.version_id
WHERE u.crawl_job_id = :crawl AND u.fetch_state = 'done'
"""
_NEWEST = """
SELECT id FROM crawl_jobs
WHERE project_id = :project AND status = 'completed' AND crawl_type <> 'fetch_only' AND pages_crawled > 0
ORDER BY id DESC LIMIT 1
"""
_URLS = """
SELECT url FROM crawl_discovered_urls WHERE crawl_job_id = :crawl AND fetch_state = 'done' ORDER BY url LIMIT :most
"""
