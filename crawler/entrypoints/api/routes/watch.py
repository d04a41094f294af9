"""`/projects/{id}/watch-rules`: which parts and values of pages count, and when a change of them is told.

Decided in `handlers/watching`; what rules mean in `domain/watching/rules.py`. `/schedule/backtest` tries a rule on past
crawls (`routes/noise.py`).
"""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import ConfigDict, Field

from crawler.domain.watching.conditions import Conditions
from crawler.domain.watching.fields import WatchField
from crawler.domain.watching.picking import Picked
from crawler.domain.watching.previews import WatchPreview
from crawler.domain.watching.rules import WatchOrder, WatchRule
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.cursors import MOST, Cursor, Limit, part_of
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Body, Listed, Text, Wire

router = APIRouter(tags=["watching"])

RuleId = Annotated[UUID, Path()]


class NewWatchRule(WatchOrder, Body):
    """The whole rule: what is left out gets its default. A field may be written as a text, such as `price .total`, and
    a condition as `price below 100`."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "pattern": "/products/",
                "fields": {"price": {"selector": ".total", "type": "price"}},
                "tell": {"of": [{"kind": "field", "field": "price", "below": 100}]},
            }
        }
    )


class RuleSwitch(Body):
    model_config = ConfigDict(json_schema_extra={"example": {"enabled": False}})

    enabled: bool


class WatchRuleShown(Wire):
    id: UUID
    project_id: UUID
    name: str
    pattern: str
    priority: int
    watch: tuple[str, ...]
    fields: dict[str, WatchField]
    products: bool
    tell: Conditions | None
    enabled: bool
    created_at: datetime
    described: str = Field(description="The same in words")

    @classmethod
    def of(cls, rule: WatchRule) -> "WatchRuleShown":
        return cls(**rule.model_dump(), described=rule.words)


@router.get("/projects/{project_id}/watch-rules", summary="Watch rules, by priority", responses=problems(404))
def list_watch_rules(
    project_id: OwnProject, tools: Tools, cursor: Cursor = None, limit: Limit = MOST
) -> Listed[WatchRuleShown]:
    known = tools.watching.manage.list_rules(project_id)
    shown, following = part_of("watch rules", known, cursor, limit, lambda rule: str(rule.id))
    return Listed[WatchRuleShown](items=[WatchRuleShown.of(rule) for rule in shown], next_cursor=following)


@router.post(
    "/projects/{project_id}/watch-rules",
    status_code=201,
    summary="Add a rule; it holds from the next crawl on",
    responses=problems(404),
)
def add_watch_rule(project_id: OwnProject, body: NewWatchRule, tools: Tools) -> WatchRuleShown:
    return WatchRuleShown.of(tools.watching.manage.add(project_id, _order(body)))


@router.post(
    "/projects/{project_id}/watch-preview",
    summary="What a rule finds on stored pages; nothing is kept",
    responses=problems(404),
)
def preview_watch_rule(project_id: OwnProject, body: NewWatchRule, tools: Tools) -> WatchPreview:
    return tools.watching.preview(project_id, _order(body))


@router.get(
    "/projects/{project_id}/picked",
    summary="A selector of an element of a stored page, and what it named in its last ten versions",
    responses=problems(404),
)
def pick_selector(
    project_id: OwnProject,
    tools: Tools,
    url: Annotated[Text, Query(min_length=1, max_length=2000, description="Of the page")],
    text: Annotated[Text, Query(max_length=600, description="Stands in the element; the smallest counts")] = "",
    selector: Annotated[Text, Query(max_length=600, description="Instead of a text: this one")] = "",
) -> Picked:
    return tools.watching.pick(project_id, tools.watching.pick.page_at(project_id, url), text=text, selector=selector)


@router.get("/projects/{project_id}/watch-rules/{rule_id}", summary="One rule", responses=problems(404))
def get_watch_rule(project_id: OwnProject, rule_id: RuleId, tools: Tools) -> WatchRuleShown:
    return WatchRuleShown.of(tools.watching.manage.get(project_id, rule_id))


@router.put("/projects/{project_id}/watch-rules/{rule_id}", summary="Replace a rule", responses=problems(404))
def replace_watch_rule(project_id: OwnProject, rule_id: RuleId, body: NewWatchRule, tools: Tools) -> WatchRuleShown:
    return WatchRuleShown.of(tools.watching.manage.replace(project_id, rule_id, _order(body)))


@router.patch(
    "/projects/{project_id}/watch-rules/{rule_id}", summary="Switch a rule on or off", responses=problems(404)
)
def switch_watch_rule(project_id: OwnProject, rule_id: RuleId, body: RuleSwitch, tools: Tools) -> WatchRuleShown:
    return WatchRuleShown.of(tools.watching.manage.set_enabled(project_id, rule_id, enabled=body.enabled))


@router.delete(
    "/projects/{project_id}/watch-rules/{rule_id}",
    status_code=204,
    response_class=Response,
    summary="Remove a rule",
    responses=problems(404),
)
def remove_watch_rule(project_id: OwnProject, rule_id: RuleId, tools: Tools) -> Response:
    tools.watching.manage.remove(project_id, rule_id)
    return Response(status_code=204)


def _order(body: NewWatchRule) -> WatchOrder:
    return WatchOrder.model_validate(body.model_dump())
