"""Manage a project's watch rules. What a rule means: `domain/watching/rules.py`."""

from typing import Protocol
from uuid import UUID

from crawler.domain.clock import Clock
from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.ids import new_id
from crawler.domain.watching.rules import (
    MOST_RULES,
    MOST_WORDLESS,
    MOST_WORDLESS_STATES,
    InvalidWatch,
    WatchOrder,
    WatchRule,
)


class WatchRules(Protocol):
    def list_rules(self, project_id: UUID) -> list[WatchRule]: ...
    def get(self, project_id: UUID, rule_id: UUID) -> WatchRule: ...
    def add(self, rule: WatchRule) -> WatchRule: ...
    def replace(self, project_id: UUID, rule_id: UUID, order: WatchOrder) -> WatchRule: ...
    def remove(self, project_id: UUID, rule_id: UUID) -> None: ...


class ManageWatch:
    def __init__(self, projects: ProjectReader, rules: WatchRules, clock: Clock) -> None:
        self._projects = projects
        self._rules = rules
        self._clock = clock

    def list_rules(self, project_id: UUID) -> list[WatchRule]:
        """The most important first."""
        self._projects.get_project(project_id)
        return self._rules.list_rules(project_id)

    def get(self, project_id: UUID, rule_id: UUID) -> WatchRule:
        self._projects.get_project(project_id)
        return self._rules.get(project_id, rule_id)

    def add(self, project_id: UUID, order: WatchOrder) -> WatchRule:
        """Add a rule: it holds from the next crawl on. The same rule twice is one."""
        known = self.list_rules(project_id)
        same = next((rule for rule in known if rule.order == order), None)
        if same is not None:
            return same
        _refuse_too_many(known, order)
        now = self._clock()
        identity = new_id(int(now.timestamp() * 1000))
        return self._rules.add(WatchRule(**order.model_dump(), id=identity, project_id=project_id, created_at=now))

    def replace(self, project_id: UUID, rule_id: UUID, order: WatchOrder) -> WatchRule:
        _refuse_too_many([rule for rule in self.list_rules(project_id) if rule.id != rule_id], order)
        return self._rules.replace(project_id, rule_id, order)

    def set_enabled(self, project_id: UUID, rule_id: UUID, *, enabled: bool) -> WatchRule:
        order = self.get(project_id, rule_id).order
        return self._rules.replace(project_id, rule_id, order.model_copy(update={"enabled": enabled}))

    def remove(self, project_id: UUID, rule_id: UUID) -> None:
        self._projects.get_project(project_id)
        self._rules.remove(project_id, rule_id)


def _refuse_too_many(known: list[WatchRule], order: WatchOrder) -> None:
    if len(known) >= MOST_RULES:
        raise InvalidWatch(f"A project has {MOST_RULES:,} watch rules at most; remove some first.")
    if not order.is_wordless:
        return
    wordless = [rule for rule in known if rule.is_wordless]
    if order.states + sum(rule.states for rule in wordless) > MOST_WORDLESS_STATES:
        raise InvalidWatch(
            "The patterns of watch rules that have no whole word between signs, such as /lamps/, repeat too much "
            "together: each of them is tried on every page."
        )
    if len(wordless) >= MOST_WORDLESS:
        raise InvalidWatch(
            f"A project has at most {MOST_WORDLESS} watch rules whose pattern has no whole word between signs, such as "
            "/lamps/: each of them is tried on every page."
        )
