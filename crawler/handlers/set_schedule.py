"""Keeps a project's schedule: what was asked, its next run, and the entry that triggers it."""

from typing import Any, Protocol
from uuid import UUID

from pydantic import ValidationError

from crawler.domain.clock import Clock
from crawler.domain.ids import new_id
from crawler.domain.projects import Project
from crawler.domain.schedules import Schedule, ScheduleConfig
from crawler.errors import InvalidConfig, NotFound
from crawler.handlers.run_schedules import Entries
from crawler.handlers.start_crawl import explain


class Schedules(Protocol):
    def find(self, project_id: UUID) -> Schedule | None: ...
    def save(self, schedule: Schedule) -> Schedule: ...
    def enabled(self) -> list[Schedule]: ...


class Projects(Protocol):
    def get_project(self, project_id: UUID) -> Project: ...


class SetSchedule:
    def __init__(self, projects: Projects, schedules: Schedules, entries: Entries, clock: Clock) -> None:
        self._projects = projects
        self._schedules = schedules
        self._entries = entries
        self._clock = clock

    def __call__(self, project_id: UUID, given: dict[str, Any]) -> Schedule:
        """What is not given stays as it was; a first schedule needs at least a frequency."""
        self._projects.get_project(project_id)
        before = self._schedules.find(project_id)
        kept = before.config.model_dump(mode="json") if before else {}
        now = self._clock()
        try:
            config = ScheduleConfig.model_validate({**kept, **given})
        except ValidationError as exc:
            raise InvalidConfig(explain(exc)) from exc
        identity = before.id if before else new_id(int(now.timestamp() * 1000))
        planned = Schedule(id=identity, project_id=project_id, config=config).planned(now)
        saved = self._schedules.save(planned)
        self._entries.mirror(saved)
        return saved

    def get(self, project_id: UUID) -> Schedule:
        self._projects.get_project(project_id)
        found = self._schedules.find(project_id)
        if found is None:
            raise NotFound(f"Project {project_id} has no schedule.")
        return found

    def rebuild_entries(self) -> int:
        """Redis may have forgotten all of them."""
        schedules = self._schedules.enabled()
        for schedule in schedules:
            self._entries.mirror(schedule)
        return len(schedules)
