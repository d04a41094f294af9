"""`crawler schedule backtest`: test other thresholds, conditions and noise rules on past crawls.

Decided in `handlers/notices/backtest_schedule.py` and `domain/notices/backtests.py`.
"""

from typing import Annotated, Any

import typer

from crawler.domain.notices.schedule_choices import MOST_CRAWLS, NotifyOn
from crawler.entrypoints.cli.backend.naming import open_project
from crawler.entrypoints.cli.input.conditions import All, On, conditions_of
from crawler.entrypoints.cli.input.names import ProjectName
from crawler.entrypoints.cli.screen.streams import echo
from crawler.lazy_module import on_first_use

with on_first_use():
    import orjson
    from rich.text import Text

    from crawler.domain.notices.backtests import Trial, TrialRules, Verdict
    from crawler.entrypoints.cli.input.checked_values import checked
    from crawler.entrypoints.cli.screen.stderr import Stderr
    from crawler.entrypoints.cli.screen.terminal import clean, console, moment, print_rows
    from crawler.entrypoints.cli.screen.terminal_text import count


HEADINGS = ("ended", "then", "now", "why now", "crawl")


def backtest(
    project: ProjectName,
    new_pages: Annotated[int | None, typer.Option(metavar="N", help="So many new pages are significant.")] = None,
    changed_share: Annotated[
        float | None, typer.Option(metavar="X", help="Such a share of changed pages is; 0.1 is 10 %.")
    ] = None,
    notify_on: Annotated[NotifyOn | None, typer.Option(help="Which changes send a notice.")] = None,
    tell: Annotated[
        list[str] | None,
        typer.Option(metavar="WORDS", help="Conditions in place of the schedule's: 'contains sale', …."),
    ] = None,
    all_hold: All = False,
    on: On = "",
    ignore_selector: Annotated[
        list[str] | None, typer.Option(metavar="CSS", help="Leave out what it names; may be repeated.")
    ] = None,
    ignore_regex: Annotated[
        list[str] | None, typer.Option(metavar="RE", help="Leave out such lines; may be repeated.")
    ] = None,
    ignore_numbers: Annotated[bool, typer.Option("--ignore-numbers", help="Other numbers are no change.")] = False,
    ignore_dates: Annotated[bool, typer.Option("--ignore-dates", help="Other dates are no change.")] = False,
    crawls: Annotated[int, typer.Option(min=1, max=MOST_CRAWLS, help="So many of the newest.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Which past crawls would have been told with other thresholds, conditions or noise rules. Nothing is changed or
    sent."""
    given: dict[str, Any] = {
        "significant_new_pages": new_pages, "significant_changed_share": changed_share, "notify_on": notify_on,
        "ignore_selectors": ignore_selector or (), "ignore_patterns": ignore_regex or (),
        "ignore_numbers": ignore_numbers, "ignore_dates": ignore_dates, "crawls": crawls,
    }  # fmt: skip
    if conditions := conditions_of(tell, all_hold=all_hold, on=on):
        given["conditions"] = conditions
    rules = checked(TrialRules, given)
    with open_project(project) as (backend, project_id), Stderr().status("Comparing past crawls again …"):
        trials = backend.backtest(project_id, rules)
    if as_json:
        shown = {"crawls": [trial.model_dump(mode="json") for trial in trials]}
        echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
        return
    _show(trials)


def _show(trials: list[Trial]) -> None:
    screen = console()
    if not trials:
        screen.print("No crawl of this project was compared with another yet.")
        return
    print_rows(screen, HEADINGS, map(_row, trials))
    then, now = (sum(getattr(trial, name).alert for trial in trials) for name in ("then", "now"))
    screen.print(f"Told by these rules: {now} of {count(len(trials), 'crawl')}; told then: {then}.")
    if any(trial.rules_tried for trial in trials) and not all(trial.rules_tried for trial in trials):
        screen.print("Older crawls had too many pages to weigh again: only thresholds were tried.", style="dim")


def _row(trial: Trial) -> list[str | Text]:
    return [moment(trial.completed_at), _told(trial.then), _told(trial.now), clean(trial.now.why), str(trial.crawl_id)]


def _told(verdict: Verdict) -> str:
    return "told" if verdict.alert else "quiet"
