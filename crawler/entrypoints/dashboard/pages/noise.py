"""`/projects/{id}/noise`: noise rules, the content that comparisons ignore.

A rule can be tried on past crawls first.

Decided in `handlers/changes/manage_noise.py`; what rules mean in `domain/noise/rules.py`; suggestions in
`domain/noise/suggestions.py`.
"""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from crawler.bootstrap import App
from crawler.domain.diffs.rows import Row
from crawler.domain.noise.rules import (
    EVERYWHERE,
    PAGED,
    Origin,
    RuleKind,
    RulePlace,
    checked_value,
    on_page,
    place_of,
)
from crawler.domain.notices.backtests import Trial, TrialRules, Verdict
from crawler.domain.pages.parsing import UnparsablePage
from crawler.entrypoints.dashboard.forms.fields import Sent
from crawler.entrypoints.dashboard.serving.own_paths import own_path
from crawler.entrypoints.dashboard.serving.render import go, is_part, page
from crawler.entrypoints.dashboard.views.rule_reach import reach_of
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.shapes import Text
from crawler.errors import Invalid, InvalidPattern, JudgesBusy, NotFound, TooSlowToTry
from crawler.handlers.changes.diff_without_noise import SuggestedRule

router = APIRouter()

CRAWLS = 20
PAGES_TRIED = 10
PAGES_SHOWN = 3
LINES_SHOWN = 5
KINDS = (
    (RuleKind.SELECTOR.value, "What a CSS selector names"),
    (RuleKind.REGEX.value, "Lines that match an expression"),
    (RuleKind.NUMBERS.value, "That a number is another one"),
    (RuleKind.DATES.value, "Date and time changes"),
)
KIND_WORDS = dict(KINDS)
Kind = Annotated[str, Query(max_length=20)]
Value = Annotated[Text, Query(max_length=600)]


class RuleTrial(NamedTuple):
    """A past crawl compared by the present rules, and with the rule that is tried."""

    trial: Trial
    now: Verdict
    then: Verdict

    @property
    def silenced(self) -> bool:
        return self.now.alert and not self.then.alert


class QuietLines(NamedTuple):
    """What a rule that is tried keeps quiet on one page."""

    url: str
    rows: tuple[Row, ...]
    more: int


@router.get("/projects/{project_id}/noise")
def rules(request: Request, project_id: OwnProject, tools: Tools) -> Response:
    known = tools.changes.manage_noise.list_rules(project_id)
    return page(
        request,
        "noise.html",
        here="noise",
        project=tools.store.get_project(project_id),
        written=[rule for rule in known if rule.origin is Origin.OPERATOR],
        learned=[rule for rule in known if rule.origin is Origin.LEARNED],
        kinds=KINDS,
        kind_words=KIND_WORDS,
    )


@router.get("/projects/{project_id}/noise/new")
def new(
    request: Request,
    project_id: OwnProject,
    tools: Tools,
    kind: Kind = "",
    value: Value = "",
    page_id: Annotated[UUID | None, Query(alias="page")] = None,
    older: Annotated[UUID | None, Query(alias="from")] = None,
    newer: Annotated[UUID | None, Query(alias="to")] = None,
    line: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    back: Annotated[Text, Query(max_length=9000)] = "",
) -> Response:
    """A rule before it is added. Of a line that was pointed at, with the rules that would keep it quiet."""
    row: Row | None = None
    suggested: list[SuggestedRule] = []
    why_not = None
    on = ""
    if page_id and older and newer:
        try:
            first, second = tools.changes.compared_pages.versions(project_id, page_id, [older, newer])
            row, suggested = tools.changes.diff_without_noise.suggest_rules(project_id, page_id, (first, second), line)
            on = tools.pages.reader.get_page(project_id, page_id).row.url
        except (NotFound, Invalid) as exc:
            why_not = exc.message
    # A rule for every line of every page is for somebody to choose.
    if not kind and suggested and not suggested[0].suggestion.is_wide:
        kind, value = suggested[0].suggestion.kind.value, suggested[0].suggestion.value
    chosen = _rule(kind, value)
    asked = {"page": page_id, "from": older, "to": newer, "line": line} if page_id else {}
    return page(
        request,
        "noise_new.html",
        here="noise",
        project=tools.store.get_project(project_id),
        row=row,
        suggested=suggested,
        why_not=why_not,
        kind=kind or RuleKind.SELECTOR.value,
        value=value,
        wrong=chosen.wrong if kind else None,
        ready=bool(kind) and chosen.wrong is None,
        kinds=KINDS,
        kind_words=KIND_WORDS,
        asked=asked,
        on=on,
        back=own_path(back),
    )


@router.get("/projects/{project_id}/noise/trial")
def trial(
    request: Request,
    project_id: OwnProject,
    tools: Tools,
    kind: Kind = "",
    value: Value = "",
    on: Annotated[Text, Query(max_length=2000)] = "",
    back: Annotated[Text, Query(max_length=9000)] = "",
) -> Response:
    """Which past crawls would (not) have been told with one more rule. Asked for apart: it compares pages again."""
    chosen = _rule(kind, value)
    place = place_of(chosen.kind, chosen.value) if chosen.kind else RulePlace(value)
    outcomes: list[RuleTrial] | None = None
    left_out: tuple[QuietLines, ...] = ()
    reach = None
    wrong = chosen.wrong
    try:
        if not wrong:
            outcomes = _tried(tools, project_id, chosen)
            left_out = _left_out(tools, project_id, chosen, outcomes)
            reach = reach_of(tools, project_id, chosen.kind, chosen.value, on) if on and chosen.kind else None
    except (TooSlowToTry, JudgesBusy) as exc:
        wrong = exc.message
    return page(
        request,
        "parts/noise_trial.html" if is_part(request) else "noise_trial.html",
        here="noise",
        project=tools.store.get_project(project_id),
        outcomes=outcomes,
        left_out=left_out,
        reach=reach,
        on_page=on_page(chosen.value, on) if on and chosen.kind in PAGED and not place.page else "",
        kind=kind,
        value=chosen.value,
        wrong=wrong,
        kind_words=KIND_WORDS,
        back=own_path(back),
    )


@router.post("/projects/{project_id}/noise")
def add(project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    kind, value = form.text("kind"), form.text("value")
    chosen = _rule(kind, value)
    if chosen.wrong or chosen.kind is None:
        raise Invalid(chosen.wrong or "Choose what the rule leaves out.")
    tools.changes.manage_noise.add(project_id, chosen.kind, "" if chosen.value == EVERYWHERE else chosen.value)
    back = own_path(form.text("back"))
    if "?" in back:
        return go(f"{back}&said=ignoring")
    return go(back or f"/projects/{project_id}/noise", "ignoring")


@router.post("/projects/{project_id}/noise/switch")
def switch(project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    enabled = form.flag("on")
    tools.changes.manage_noise.set_enabled(project_id, _rule_id(form.text("rule")), enabled=enabled)
    return go(f"/projects/{project_id}/noise", "rule-on" if enabled else "rule-off")


@router.post("/projects/{project_id}/noise/remove")
def remove(project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    tools.changes.manage_noise.remove(project_id, _rule_id(form.text("rule")))
    return go(f"/projects/{project_id}/noise", "rule-removed")


class _Chosen(NamedTuple):
    kind: RuleKind | None
    value: str
    wrong: str | None = None


def _rule(kind: str, value: str) -> _Chosen:
    if kind not in KIND_WORDS:
        return _Chosen(None, value, "Choose what the rule leaves out.")
    chosen = RuleKind(kind)
    if chosen in (RuleKind.NUMBERS, RuleKind.DATES):
        return _Chosen(chosen, EVERYWHERE)
    try:
        return _Chosen(chosen, checked_value(chosen, value.strip()))
    except (Invalid, InvalidPattern) as exc:
        return _Chosen(chosen, value, exc.message)


def _tried(tools: App, project_id: UUID, chosen: _Chosen) -> list[RuleTrial]:
    """Compare past crawls with and without the chosen rule.

    Nothing else differs between the two results. What was notified at the time may have had other reasons.
    """
    given: dict[RuleKind | None, dict[str, Any]] = {
        RuleKind.SELECTOR: {"ignore_selectors": (chosen.value,)},
        RuleKind.REGEX: {"ignore_patterns": (chosen.value,)},
        RuleKind.NUMBERS: {"ignore_numbers": True},
        RuleKind.DATES: {"ignore_dates": True},
    }
    without = tools.notices.backtest_schedule(project_id, TrialRules(crawls=CRAWLS))
    tried = {
        one.crawl_id: one
        for one in tools.notices.backtest_schedule(project_id, TrialRules(crawls=CRAWLS, **given[chosen.kind]))
    }
    return [
        RuleTrial(tried[one.crawl_id], one.now, tried[one.crawl_id].now) for one in without if one.crawl_id in tried
    ]


def _left_out(tools: App, project_id: UUID, chosen: _Chosen, outcomes: Sequence[RuleTrial]) -> tuple[QuietLines, ...]:
    """Lines that the rule keeps quiet on a few pages of the newest crawl that it makes a difference to."""
    differing = (one for one in outcomes if one.then.changed_pages < one.now.changed_pages)
    crawl_id = next((one.trial.crawl_id for one in (*differing, *outcomes) if one.now.changed_pages), None)
    if crawl_id is None or chosen.kind is None:
        return ()
    found = []
    for one in (tools.changes.describe(tools.store.get_crawl(crawl_id), pages=True).changed_pages or ())[:PAGES_TRIED]:
        try:
            old, new = tools.changes.compared_pages.versions(
                project_id, one.page_id, [one.from_version, one.to_version]
            )
            rows = tools.changes.diff_without_noise.left_out(
                project_id, one.page_id, (old, new), chosen.kind, chosen.value
            )
        except (NotFound, Invalid, UnparsablePage):
            continue
        if rows:
            found.append(QuietLines(one.url, rows[:LINES_SHOWN], max(0, len(rows) - LINES_SHOWN)))
        if len(found) == PAGES_SHOWN:
            break
    return tuple(found)


def _rule_id(given: str) -> UUID:
    try:
        return UUID(given)
    except ValueError as exc:
        raise NotFound("There is no such rule.") from exc
