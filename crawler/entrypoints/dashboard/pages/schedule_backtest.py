"""`/projects/{id}/schedule/backtest`: test other notification thresholds and conditions on past crawls.

Decided in `handlers/notices/backtest_schedule.py` and `domain/notices/backtests.py`.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import ValidationError

from crawler.domain.crawls.project import Project
from crawler.domain.notices.backtests import TrialRules
from crawler.domain.notices.schedule import NotifyOn
from crawler.entrypoints.dashboard.forms import conditions as condition_form
from crawler.entrypoints.dashboard.forms.wrong_values import sentence, share_of
from crawler.entrypoints.dashboard.serving.render import is_part, page
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.shapes import Text

router = APIRouter()

CRAWLS = 50
Typed = Annotated[Text, Query(max_length=40)]
Written = Annotated[Text, Query(max_length=4000)]


@router.get("/projects/{project_id}/schedule/backtest")
def backtest(
    request: Request,
    project_id: OwnProject,
    tools: Tools,
    new_pages: Typed = "",
    share: Typed = "",
    told: Typed = "",
    conditions: Written | None = None,
    conditions_match: Typed = "any",
    conditions_pattern: Written = "",
) -> Response:
    """Reads what is stored; nothing is saved or sent."""
    project = tools.store.get_project(project_id)
    kept = tools.notices.schedules.find(project_id)
    values = {
        "new_pages": new_pages.strip() or str(project.settings.significant_new_pages),
        "share": share.strip() or f"{project.settings.significant_changed_share * 100:g}",
        "told": told if told in set(NotifyOn) else (kept.config.notify_on if kept else NotifyOn.SIGNIFICANT).value,
    } | condition_form.values_of(kept.config.conditions if kept else None)
    if conditions is not None:
        values |= {
            "conditions": conditions, "conditions_match": conditions_match, "conditions_pattern": conditions_pattern,
        }  # fmt: skip
    rules, errors = _rules(values)
    trials = tools.notices.backtest_schedule(project_id, rules) if rules else []
    return page(
        request,
        "parts/backtest_rows.html" if is_part(request) else "schedule_backtest.html",
        200 if rules or is_part(request) else 422,
        here="schedule",
        project=project,
        values=values,
        errors=errors,
        trials=trials,
        now_in_force=_in_force(project, kept.config.notify_on if kept else None),
        said_then=sum(trial.then.alert for trial in trials),
        said_now=sum(trial.now.alert for trial in trials),
    )


def _rules(values: dict[str, str]) -> tuple[TrialRules | None, dict[str, str]]:
    given: dict[str, Any] = {
        "significant_new_pages": values["new_pages"],
        "notify_on": values["told"],
        "conditions": condition_form.typed(values),
        "crawls": CRAWLS,
    }
    part = share_of(values["share"])
    if part is None:
        return None, {"share": "This is not a number from 0 to 100."}
    try:
        return TrialRules.model_validate({**given, "significant_changed_share": part}), {}
    except ValidationError as exc:
        names = {"significant_new_pages": "new_pages", "significant_changed_share": "share", "conditions": "conditions"}
        # Of several about one field the first says what is wrong; others follow from it.
        return None, {names.get(str(error["loc"][0]), "told"): sentence(error) for error in reversed(exc.errors())}


def _in_force(project: Project, notify_on: NotifyOn | None) -> dict[str, object]:
    return {
        "new_pages": project.settings.significant_new_pages,
        "share": project.settings.significant_changed_share,
        "told": notify_on,
    }
