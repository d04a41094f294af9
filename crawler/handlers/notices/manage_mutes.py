"""Manage what nobody is told of for a while. What a mute is: `domain/notices/mutes.py`."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from crawler.domain.clock import Clock
from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.ids import new_id
from crawler.domain.notices.mutes import MOST_MUTES, Mute, MuteOrder
from crawler.domain.watching.rules import WatchRule
from crawler.errors import Invalid


class Mutes(Protocol):
    def of_project(self, project_id: UUID, now: datetime) -> list[Mute]: ...
    def add(self, mute: Mute) -> Mute: ...
    def remove(self, project_id: UUID, mute_id: UUID) -> None: ...


class Rules(Protocol):
    def get(self, project_id: UUID, rule_id: UUID) -> WatchRule: ...


class ManageMutes:
    def __init__(self, projects: ProjectReader, mutes: Mutes, rules: Rules, clock: Clock) -> None:
        self._projects = projects
        self._mutes = mutes
        self._rules = rules
        self._clock = clock

    def list(self, project_id: UUID) -> list[Mute]:
        """Those that hold now."""
        self._projects.get_project(project_id)
        return self._mutes.of_project(project_id, self._clock())

    def add(self, project_id: UUID, order: MuteOrder) -> Mute:
        """In place of one for the same thing. Raises NotFound if the project has no such rule."""
        now = self._clock()
        if order.until <= now:
            raise Invalid("A mute ends later than now; to end one, remove it.")
        if len(self.list(project_id)) >= MOST_MUTES:
            raise Invalid(f"A project has {MOST_MUTES} mutes at most; remove some first.")
        if order.rule is not None:
            self._rules.get(project_id, order.rule)
        identity = new_id(int(now.timestamp() * 1000))
        return self._mutes.add(Mute(**order.model_dump(), id=identity, project_id=project_id, created_at=now))

    def remove(self, project_id: UUID, mute_id: UUID) -> None:
        self._projects.get_project(project_id)
        self._mutes.remove(project_id, mute_id)
