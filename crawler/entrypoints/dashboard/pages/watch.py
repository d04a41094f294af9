"""`/projects/{id}/watched`: watch rules, which parts and values of pages count, and when a change of them is told.

A rule is tried on stored pages and past crawls before it is saved.

Decided in `handlers/watching`; what rules mean in `domain/watching/rules.py`.
"""

from collections.abc import Mapping
from uuid import UUID

from fastapi import APIRouter, Request, Response

from crawler.domain.notices.backtests import ToldReason, Trial, TrialRules
from crawler.domain.watching.rules import TRIED, WatchOrder
from crawler.entrypoints.dashboard.forms.fields import Sent
from crawler.entrypoints.dashboard.forms.watch_rule import NAMES, read_form, values_of
from crawler.entrypoints.dashboard.serving.render import go, is_part, page
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.errors import JudgesBusy, NotFound, TooSlowToTry

router = APIRouter()

CRAWLS = 40
MATCHES = (("any", "any of these holds for a page"), ("all", "all of these hold for a page"))


@router.get("/projects/{project_id}/watched")
def rules(request: Request, project_id: OwnProject, tools: Tools) -> Response:
    known = tools.watching.manage.list_rules(project_id)
    project = tools.store.get_project(project_id)
    return page(request, "watch.html", here="watch", project=project, rules=known)


@router.get("/projects/{project_id}/watched/rule")
def rule_form(request: Request, project_id: OwnProject, tools: Tools, rule: UUID | None = None) -> Response:
    """A rule before it is saved: empty, of a link that fills it in, or one that is to be changed."""
    written = _written(request.query_params)
    if rule is not None and not written:
        values = values_of(tools.watching.manage.get(project_id, rule))
        return _form(request, tools, project_id, rule, values, is_tried=False)
    return _form(request, tools, project_id, rule, written, is_tried=bool(written))


@router.post("/projects/{project_id}/watched/rule")
def try_rule(request: Request, project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    """What is written in the form, tried on stored pages. Nothing is saved."""
    known = _rule_id(form.text("rule")) if form.text("rule") else None
    return _form(request, tools, project_id, known, _written(form.raw()), is_tried=True)


def _form(
    request: Request,
    tools: Tools,
    project_id: UUID,
    rule: UUID | None,
    values: Mapping[str, str],
    *,
    is_tried: bool,
    status: int = 200,
) -> Response:
    wrong, order, preview = None, None, None
    if is_tried:
        order, wrong = read_form(values)
    try:
        preview = tools.watching.preview(project_id, order) if order else None
    except (TooSlowToTry, JudgesBusy) as exc:
        wrong = exc.message
    return page(
        request,
        "watch_rule.html",
        status,
        here="watch",
        project=tools.store.get_project(project_id),
        rule=rule,
        values={name: values.get(name, "") for name in NAMES},
        wrong=wrong,
        preview=preview,
        matches=MATCHES,
        asked={**values, **({"rule": rule} if rule else {})},
    )


def _written(given: Mapping[str, str]) -> dict[str, str]:
    return {name: given[name] for name in NAMES if given.get(name)}


@router.get("/projects/{project_id}/watched/trial")
def trial(request: Request, project_id: OwnProject, tools: Tools, rule: UUID | None = None) -> Response:
    """Which past crawls the rule would have told. Asked for apart: it reads pages again."""
    values = {name: request.query_params.get(name, "") for name in NAMES}
    order, wrong = read_form(values)
    trials = []
    try:
        rules = TrialRules(watch=order, in_place_of=rule, crawls=CRAWLS)
        trials = tools.notices.backtest_schedule(project_id, rules) if order else []
    except (TooSlowToTry, JudgesBusy) as exc:
        wrong = exc.message
    return page(
        request,
        "parts/watch_trial.html" if is_part(request) else "watch_trial.html",
        here="watch",
        project=tools.store.get_project(project_id),
        trials=trials,
        told=[(one, reasons) for one in trials if (reasons := _by_it(one))],
        wrong=wrong,
    )


@router.post("/projects/{project_id}/watched")
def save(request: Request, project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    known = _rule_id(form.text("rule")) if form.text("rule") else None
    kept = tools.watching.manage.get(project_id, known) if known else None
    order, _ = read_form(form.raw(), enabled=kept.enabled if kept else True)
    if order is None:
        return _form(request, tools, project_id, known, _written(form.raw()), is_tried=True, status=422)
    _save(tools, project_id, known, order)
    return go(f"/projects/{project_id}/watched", "watch-saved")


@router.post("/projects/{project_id}/watched/switch")
def switch(project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    enabled = form.flag("on")
    tools.watching.manage.set_enabled(project_id, _rule_id(form.text("rule")), enabled=enabled)
    return go(f"/projects/{project_id}/watched", "watch-on" if enabled else "watch-off")


@router.post("/projects/{project_id}/watched/remove")
def remove(project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    tools.watching.manage.remove(project_id, _rule_id(form.text("rule")))
    return go(f"/projects/{project_id}/watched", "watch-removed")


def _by_it(trial: Trial) -> list[ToldReason]:
    """Why the rule that is tried tells a crawl."""
    return [reason for reason in trial.now.reasons if reason.rule == str(TRIED)]


def _save(tools: Tools, project_id: UUID, known: UUID | None, order: WatchOrder) -> None:
    if known is None:
        tools.watching.manage.add(project_id, order)
    else:
        tools.watching.manage.replace(project_id, known, order)


def _rule_id(given: str) -> UUID:
    try:
        return UUID(given)
    except ValueError as exc:
        raise NotFound("There is no such rule.") from exc
