"""`crawler schedule`: when a project is crawled again, and who is notified.

Decided in `handlers/notices/set_schedule.py`; times and limits in `domain/notices/schedule.py`.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from crawler.domain.notices.schedule_choices import Frequency, NotifyOn
from crawler.entrypoints.cli.backend.naming import open_project
from crawler.entrypoints.cli.commands.backtest import backtest
from crawler.entrypoints.cli.commands.watching import rule_named
from crawler.entrypoints.cli.input.conditions import All, On, conditions_of
from crawler.entrypoints.cli.input.names import ProjectName
from crawler.entrypoints.cli.input.secret_values import FILE_SIGN, from_file
from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import Invalid
from crawler.lazy_module import on_first_use

with on_first_use():
    from crawler.domain.crawls.project import Project
    from crawler.domain.notices.mutes import Mute, mute_order
    from crawler.domain.notices.schedule import ScheduleOverview
    from crawler.entrypoints.cli.backend.service_errors import in_option_names
    from crawler.entrypoints.cli.screen.next_step import command_line, suggest
    from crawler.entrypoints.cli.screen.terminal import clean, console, print_pairs, print_sentence, short_id
    from crawler.entrypoints.cli.screen.terminal_text import count


schedules = typer.Typer(no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]
MutedPage = Annotated[str | None, typer.Option("--page", metavar="URL", help="Only changes of this page.")]
MutedRule = Annotated[
    str | None,
    typer.Option("--rule", metavar="RULE", help="Only this watch rule: its name, or the beginning of its id."),
]
SHOWN = 5


@schedules.command()
def show(project: ProjectName, as_json: AsJson = False) -> None:
    """A project's schedule, its next runs, and what became of the last ones."""
    with open_project(project) as (backend, project_id):
        found = backend.get_schedule(project_id)
        muted = [] if as_json else list(_muted(backend.get_project(project_id), backend.mutes.list(project_id)))
    _tell(found, muted, as_json=as_json)
    if muted:
        suggest("schedule", "unmute", project, to="tell again; --page URL or --rule RULE for one of them")


@schedules.command("set")
def set_schedule(
    project: ProjectName,
    frequency: Annotated[Frequency | None, typer.Option("--frequency", "--every", help="How often.")] = None,
    time: Annotated[str | None, typer.Option(metavar="HH:MM", help="Time of day; of hourly only the minutes.")] = None,
    timezone: Annotated[str | None, typer.Option(metavar="ZONE", help="Such as Europe/Berlin [default: UTC].")] = None,
    day_of_week: Annotated[int | None, typer.Option(metavar="N", help="For weekly; 0 is Monday.")] = None,
    day_of_month: Annotated[int | None, typer.Option(metavar="N", help="For monthly; 1 to 28.")] = None,
    cron: Annotated[str | None, typer.Option(metavar="EXPR", help="Five fields, for frequency cron.")] = None,
    window: Annotated[str | None, typer.Option(metavar="HH:MM-HH:MM", help="Start only between these.")] = None,
    jitter: Annotated[int | None, typer.Option(metavar="MINUTES", help="Start up to so much later.")] = None,
    email: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Who gets a mail; '' for nobody.")] = None,
    webhook: Annotated[
        str | None,
        typer.Option(metavar="URL", help="What gets a POST; @FILE reads a secret one, '' is for nothing."),
    ] = None,
    notify: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Another channel by its Apprise URL; @FILE reads some, '' is for none."),
    ] = None,
    notify_on: Annotated[NotifyOn | None, typer.Option(help="Which changes send a notice.")] = None,
    tell: Annotated[
        list[str] | None,
        typer.Option(metavar="WORDS", help="Told in any case: 'contains sale', 'new page', …; '' is for none."),
    ] = None,
    all_hold: All = False,
    on: On = "",
    advise: Annotated[
        str | None,
        typer.Option(metavar="SENTENCE", help="Ask a model whether changes matter to it; '' is for no."),
    ] = None,
    advice_silences: Annotated[
        bool, typer.Option("--advice-silences", help="With --advise: what does not matter is not told.")
    ] = False,
    notify_changes: Annotated[
        bool | None, typer.Option("--notify-changes/--no-notify-changes", help="Whether changes are told at all.")
    ] = None,
    failures: Annotated[
        int | None, typer.Option(metavar="N", help="Tell after so many failed runs in a row; 0 is never.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Set or change a project's schedule, and enable it. What is not given stays as it was."""
    given = {
        "frequency": frequency, "time": time, "timezone": timezone, "day_of_week": day_of_week,
        "day_of_month": day_of_month, "cron": cron, "jitter_minutes": jitter, "notify_on": notify_on,
        "notify_on_changes": notify_changes, "notify_after_failures": failures,
    }  # fmt: skip
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    changes |= {} if window is None else {"window": _window(window)}
    changes |= {} if email is None else {"notification_email": email or None}
    changes |= {} if webhook is None else {"notification_webhook": next(iter(_addresses([webhook])), None)}
    changes |= {} if notify is None else {"notification_urls": _addresses(notify)}
    conditions = conditions_of(tell, all_hold=all_hold, on=on)
    changes |= {} if tell is None else {"conditions": conditions}
    changes |= {} if advise is None else {"advice": _advice(advise, may_silence=advice_silences)}
    with in_option_names(), open_project(project) as (backend, project_id):
        kept = backend.change_schedule(project_id, {**changes, "enabled": True})
        muted = [] if as_json else list(_muted(backend.get_project(project_id), backend.mutes.list(project_id)))
    _tell(kept, muted, as_json=as_json)
    if not as_json:
        suggest("schedule", "run-now", project, to="crawl it now, too")


@schedules.command("pause", hidden=True)
@schedules.command()
def disable(project: ProjectName) -> None:
    """No more runs by themselves; the schedule is kept."""
    with open_project(project) as (backend, project_id):
        backend.get_schedule(project_id)
        backend.change_schedule(project_id, {"enabled": False})
        name = backend.get_project(project_id).name
    again = command_line("schedule", "resume", name)
    console().print(clean(f"No more runs of {name} by themselves; '{again}' enables them again."), soft_wrap=True)


@schedules.command("enable", hidden=True)
@schedules.command()
def resume(project: ProjectName) -> None:
    """Runs by themselves again, as the schedule was."""
    with open_project(project) as (backend, project_id):
        backend.get_schedule(project_id)
        kept = backend.change_schedule(project_id, {"enabled": True})
    _tell(kept, [], as_json=False)


@schedules.command("test")
def test_channels(project: ProjectName) -> None:
    """Send a test message to everybody whom the project tells."""
    with open_project(project) as (backend, project_id):
        tried = backend.try_channels(project_id)
        name = backend.get_project(project_id).name
    if not tried:
        words = command_line("schedule", "set", name, "--webhook", "URL")
        raise Invalid(f"Nobody is to be told of {name}; '{words}' names somebody.")
    for one in tried:
        style = None if one.result.delivered else "yellow"
        sent = "sent. " if one.result.delivered else ""
        print_sentence(console(), f"{one.address}: {sent}{one.result.sentence}", style)
    if not all(one.result.delivered for one in tried):
        raise typer.Exit(1)


@schedules.command()
def mute(
    project: ProjectName,
    hours: Annotated[float, typer.Option(min=0, max=24 * 366, help="For so long; 0 ends it.")] = 24.0,
    page: MutedPage = None,
    rule: MutedRule = None,
) -> None:
    """Tell nobody for a while: of the project, or of changes of a page or by a watch rule."""
    name = _mute(project, hours, page, rule)
    if not hours:
        console().print(clean(f"Changes of {page or rule or name} are told again."), soft_wrap=True)
        return
    until, whole = datetime.now(UTC) + timedelta(hours=hours), page is None and rule is None
    what = name if whole else f"{page or rule} of {name}"
    more = () if whole else (("--page", page) if page is not None else ("--rule", str(rule)))
    again = command_line("schedule", "unmute", name, *more)
    console().print(
        clean(f"Nobody is told of {what} until {until:%Y-%m-%d %H:%M} UTC; '{again}' ends that."), soft_wrap=True
    )


@schedules.command()
def unmute(project: ProjectName, page: MutedPage = None, rule: MutedRule = None) -> None:
    """Tell again what was muted: the project, or a page, or a watch rule."""
    name = _mute(project, 0, page, rule)
    console().print(clean(f"Changes of {page or rule or name} are told again."), soft_wrap=True)


def _mute(project: str, hours: float, page: str | None, rule: str | None) -> str:
    """Returns the project's name. No hours end it."""
    until = datetime.now(UTC) + timedelta(hours=hours or 1)
    is_whole = page is None and rule is None
    with open_project(project) as (backend, project_id):
        rule_id = None if rule is None else rule_named(rule, backend.watching.list_rules(project_id))
        order = None if is_whole else mute_order(page=page, rule=rule_id, until=until)
        if order is None:
            backend.change_project(project_id, {"muted_until": until.isoformat() if hours else None})
        elif hours:
            backend.mutes.add(project_id, order)
        else:
            for known in backend.mutes.list(project_id):
                if (known.page, known.rule) == (order.page, order.rule):
                    backend.mutes.remove(project_id, known.id)
        return backend.get_project(project_id).name


@schedules.command("run-now")
def run_now(project: ProjectName) -> None:
    """Crawl now, as the schedule would, or as soon as workers run ('crawler up')."""
    with open_project(project) as (backend, project_id):
        crawl_id = backend.run_schedule(project_id)
        works, name = backend.has_workers(), backend.get_project(project_id).name
    begins = "begins now" if works else "waits: no worker is running; 'crawler up' starts them"
    console().print(f"Crawl {crawl_id} {begins}.", soft_wrap=True)
    suggest("crawl", "watch", name, to="look on until it is over")


def _addresses(given: Sequence[str]) -> list[str]:
    """Addresses as they are given, or one a line of a file that is named @FILE: they may hold secrets."""
    named = (from_file(one.removeprefix(FILE_SIGN)) if one.startswith(FILE_SIGN) else one for one in given)
    return [line.strip() for text in named for line in text.splitlines() if line.strip()]


def _window(given: str) -> list[str] | None:
    if not given:
        return None
    first, dash, last = given.partition("-")
    if not dash:
        raise Invalid("--window takes two times, such as 01:00-05:00.")
    return [first.strip(), last.strip()]


def _tell(schedule: ScheduleOverview, muted: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        echo(schedule.model_dump_json(indent=2))
    else:
        print_pairs(console(), _lines(schedule, muted))


def _lines(schedule: ScheduleOverview, muted: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield "schedule", schedule.described + ("" if schedule.enabled else "; disabled")
    yield "zone", schedule.timezone
    yield "next run", _there(schedule, schedule.next_run_at) if schedule.next_run_at else "none"
    for number, slot in enumerate(schedule.upcoming):
        yield "" if number else "slots", _there(schedule, slot)
    yield from (("" if number else "tells", words) for number, words in enumerate(_receivers(schedule)))
    yield from (("muted", words) for words in muted)
    yield from (("warning", words) for words in schedule.warnings)
    for number, run in enumerate(schedule.runs[:SHOWN]):
        words = f"{_there(schedule, run.slot_at)}  {run.outcome}" + (
            f"  {short_id(run.crawl_id)}" if run.crawl_id else ""
        )
        yield "" if number else "last runs", words


def _muted(project: Project, mutes: Sequence[Mute]) -> Iterator[str]:
    """What is told to nobody for now."""
    now = datetime.now(UTC)
    if project.muted_until is not None and project.is_muted(now):
        yield f"nobody is told until {project.muted_until.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    for one in mutes:
        if one.until > now:
            what = f"changes of {one.page}" if one.page is not None else f"watch rule {one.rule}"
            yield f"{what} until {one.until.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _advice(wish: str, *, may_silence: bool) -> dict[str, Any] | None:
    return {"wish": wish, "may_silence": may_silence} if wish else None


def _there(schedule: ScheduleOverview, at: datetime) -> str:
    """A time in the schedule's own time zone."""
    return f"{at.astimezone(schedule.zone):%Y-%m-%d %H:%M %Z}"


def _receivers(schedule: ScheduleOverview) -> Iterator[str]:
    hook = schedule.notification_webhook
    gone = " (answered 410; nothing more is sent there)" if schedule.webhook_gone_at else ""
    told = [schedule.notification_email, f"{hook}{gone}" if hook else None, *schedule.notification_urls]
    yield from (address for address in told if address)
    if not any(told):
        yield "nobody"
        return
    yield f"of {_WORTH_TELLING[schedule.notify_on]}" if schedule.notify_on_changes else "of no changes"
    if schedule.conditions and schedule.notify_on_changes:
        yield f"if {schedule.conditions.words}"
    if schedule.advice and schedule.notify_on_changes:
        silences = ", which may silence the others" if schedule.advice.may_silence else ""
        yield f"and what a model says matters to “{schedule.advice.wish}”{silences}"
    if schedule.notify_after_failures:
        yield f"of {count(schedule.notify_after_failures, 'failed run')} in a row, and when it works again"


_WORTH_TELLING = {
    NotifyOn.SIGNIFICANT: "significant changes",
    NotifyOn.ANY: "any change",
    NotifyOn.ALWAYS: "each comparison",
    NotifyOn.CONDITIONS: "what conditions and watch rules ask for",
}


schedules.command(short_help="Try other rules on past crawls.")(backtest)
