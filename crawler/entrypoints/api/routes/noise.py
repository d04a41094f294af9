"""`/projects/{id}/noise-rules`: content that comparisons ignore.

`/schedule/backtest`: try other rules on past crawls.

Decided in `handlers/changes/manage_noise.py` and `handlers/notices/backtest_schedule.py`; what rules mean in
`domain/noise/rules.py`.
"""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Response
from pydantic import ConfigDict, Field, computed_field

from crawler.domain.noise.rules import NoiseRule, Origin, RuleKind
from crawler.domain.notices.backtests import Trial, TrialRules
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.cursors import MOST, Cursor, Limit, part_of
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import OLD_NAME, Body, Listed, Text, Wire

router = APIRouter(tags=["noise"])

RuleId = Annotated[UUID, Path()]


class NewRule(Body):
    model_config = ConfigDict(json_schema_extra={"example": {"kind": "selector", "value": ".visitor-counter"}})

    kind: RuleKind = Field(description="selector, regex, numbers or dates; learned ones cannot be written by hand")
    value: Text = Field(
        "", max_length=512, description="A CSS selector or a regular expression; nothing for the others"
    )


class RuleChange(Body):
    model_config = ConfigDict(json_schema_extra={"example": {"enabled": False}})

    enabled: bool = Field(description="A learned rule that is switched off stays off")


class RuleShown(Wire):
    id: UUID
    project_id: UUID
    kind: RuleKind
    value: str
    origin: Origin
    enabled: bool
    created_at: datetime
    hits: int = Field(description="Pages it kept quiet")
    described: str = Field(description="The same in words")
    problem: str | None = Field(description="Why it is not used: it was written before rules were checked as now")

    @classmethod
    def of(cls, rule: NoiseRule) -> "RuleShown":
        return cls(**rule.model_dump(), described=rule.words, problem=rule.problem)


class Rules(Listed[RuleShown]):
    @computed_field(json_schema_extra=OLD_NAME)  # type: ignore[prop-decorator]
    @property
    def rules(self) -> list[RuleShown]:
        return self.items


class Trials(Wire):
    crawls: list[Trial]


class TrialOrder(TrialRules, Body):
    """What is left out stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"significant_changed_share": 0.2, "ignore_selectors": [".related"]}}
    )


@router.get("/projects/{project_id}/noise-rules", summary="Noise rules, written and learned", responses=problems(404))
def list_noise_rules(project_id: OwnProject, tools: Tools, cursor: Cursor = None, limit: Limit = MOST) -> Rules:
    known = tools.changes.manage_noise.list_rules(project_id)
    shown, following = part_of("noise rules", known, cursor, limit, lambda rule: str(rule.id))
    return Rules(items=[RuleShown.of(rule) for rule in shown], next_cursor=following)


@router.post(
    "/projects/{project_id}/noise-rules",
    status_code=201,
    summary="Add a rule; it holds from the next comparison on",
    responses=problems(404),
)
def add_noise_rule(project_id: OwnProject, body: NewRule, tools: Tools) -> RuleShown:
    return RuleShown.of(tools.changes.manage_noise.add(project_id, body.kind, body.value))


@router.patch(
    "/projects/{project_id}/noise-rules/{rule_id}", summary="Switch a rule on or off", responses=problems(404)
)
def change_noise_rule(project_id: OwnProject, rule_id: RuleId, body: RuleChange, tools: Tools) -> RuleShown:
    return RuleShown.of(tools.changes.manage_noise.set_enabled(project_id, rule_id, enabled=body.enabled))


@router.delete(
    "/projects/{project_id}/noise-rules/{rule_id}",
    status_code=204,
    response_class=Response,
    summary="Remove a rule",
    responses=problems(404),
)
def remove_noise_rule(project_id: OwnProject, rule_id: RuleId, tools: Tools) -> Response:
    tools.changes.manage_noise.remove(project_id, rule_id)
    return Response(status_code=204)


@router.post(
    "/projects/{project_id}/schedule/backtest",
    summary="Which past crawls would have been told with other rules",
    responses=problems(404),
)
def backtest_noise_rules(project_id: OwnProject, tools: Tools, body: TrialOrder | None = None) -> Trials:
    return Trials(crawls=tools.notices.backtest_schedule(project_id, body or TrialOrder()))
