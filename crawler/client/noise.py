"""Client for noise rules: content that comparisons ignore; and tests of other rules on past crawls."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from crawler.client.connection import Call, Connection, path
from crawler.client.value import Value, read


class NoiseRule(Value):
    id: UUID
    project_id: UUID
    kind: str
    """The kind: selector, regex, numbers, dates or learned."""
    value: str
    origin: str
    """Who made the rule: operator or learned."""
    enabled: bool
    created_at: datetime
    hits: int
    """Pages whose changes it hid."""
    described: str
    problem: str | None = None
    """Why it is not used, if it is not."""


class Reason(Value):
    url: str
    rule: str | None
    """The id of the watch rule; None: the schedule's conditions."""
    why: str


class Verdict(Value):
    alert: bool
    why: str
    changed_pages: int
    reasons: tuple[Reason, ...] = ()
    """By conditions and watch rules."""


class Trial(Value):
    """One past crawl: whether it was notified, and whether it would be with the tried rules."""

    crawl_id: UUID
    completed_at: datetime | None
    then: Verdict
    now: Verdict
    rules_tried: bool


class _Trials(Value):
    crawls: tuple[Trial, ...]


class Noise:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def rules(self, project_id: UUID | str) -> Sequence[NoiseRule]:
        return tuple(self._connection.listed(path("projects", project_id, "noise-rules"), NoiseRule))

    def add(self, project_id: UUID | str, kind: str, value: str = "") -> NoiseRule:
        """The same rule twice is one.

        >>> client.noise.add(project.id, "selector", ".visitor-counter")
        """
        body = {"kind": kind, "value": value}
        where = path("projects", project_id, "noise-rules")
        return read(NoiseRule, self._connection.json(Call("POST", where, body=body, repeatable=True)))

    def enable(self, project_id: UUID | str, rule_id: UUID | str, *, enabled: bool = True) -> NoiseRule:
        where = path("projects", project_id, "noise-rules", rule_id)
        return read(NoiseRule, self._connection.json(Call("PATCH", where, body={"enabled": enabled}, repeatable=True)))

    def remove(self, project_id: UUID | str, rule_id: UUID | str) -> None:
        where = path("projects", project_id, "noise-rules", rule_id)
        self._connection.json(Call("DELETE", where))

    def backtest(self, project_id: UUID | str, **trial: Any) -> Sequence[Trial]:
        """Past crawls, newest first, with other thresholds or noise rules.

        >>> client.noise.backtest(project.id, significant_changed_share=0.2, ignore_selectors=[".related"])
        """
        where = path("projects", project_id, "schedule", "backtest")
        return read(_Trials, self._connection.json(Call("POST", where, body=trial, repeatable=True))).crawls
