"""Manage a project's noise rules: those of people, and learned ones that people can switch off.

What a rule means: `domain/noise/rules.py`. Rules are learned in `apply_noise_rules.py`.
"""

from typing import Protocol
from uuid import UUID

from crawler.domain.clock import Clock
from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.ids import new_id
from crawler.domain.noise.ports import NoiseRuleReader
from crawler.domain.noise.rules import MOST_RULES, NoiseRule, Origin, RuleKind, checked_value
from crawler.errors import Invalid


class NoiseRules(NoiseRuleReader, Protocol):
    def add(self, rule: NoiseRule) -> NoiseRule: ...
    def set_enabled(self, project_id: UUID, rule_id: UUID, *, enabled: bool) -> NoiseRule: ...
    def remove(self, project_id: UUID, rule_id: UUID) -> None: ...


class ManageNoise:
    def __init__(self, projects: ProjectReader, rules: NoiseRules, clock: Clock) -> None:
        self._projects = projects
        self._rules = rules
        self._clock = clock

    def list_rules(self, project_id: UUID) -> list[NoiseRule]:
        self._projects.get_project(project_id)
        return self._rules.list_rules(project_id)

    def add(self, project_id: UUID, kind: RuleKind, value: str = "") -> NoiseRule:
        """Add a rule, which holds from the next comparison on. The same rule twice is one."""
        known = self.list_rules(project_id)
        value = checked_value(kind, value)
        if sum(rule.origin is Origin.OPERATOR for rule in known) >= MOST_RULES:
            raise Invalid(f"A project has {MOST_RULES} noise rules at most; remove some first.")
        now = self._clock()
        identity = new_id(int(now.timestamp() * 1000))
        return self._rules.add(NoiseRule(id=identity, project_id=project_id, kind=kind, value=value, created_at=now))

    def set_enabled(self, project_id: UUID, rule_id: UUID, *, enabled: bool) -> NoiseRule:
        self._projects.get_project(project_id)
        return self._rules.set_enabled(project_id, rule_id, enabled=enabled)

    def remove(self, project_id: UUID, rule_id: UUID) -> None:
        """A learned rule may be learned again; one that is switched off is not."""
        self._projects.get_project(project_id)
        self._rules.remove(project_id, rule_id)
