"""`crawler schedule`: when a project is crawled again."""

from collections.abc import Iterator
from typing import Annotated, Any

import orjson
import typer

from crawler.bootstrap import App
from crawler.domain.crawls import CrawlType
from crawler.domain.schedules import Frequency, NotifyOn, Schedule, upcoming
from crawler.entrypoints.cli.projects import ProjectId
from crawler.entrypoints.cli.session import local_session
from crawler.entrypoints.cli.terminal import console, moment, print_pairs
from crawler.errors import Invalid

schedules = typer.Typer(help="When projects are crawled again, and who is told.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]
SHOWN = 5


@schedules.command()
def show(project_id: ProjectId, as_json: AsJson = False) -> None:
    """A project's schedule, its next runs, and what became of the last ones."""
    with local_session() as tools:
        _tell(tools, tools.set_schedule.get(project_id), as_json=as_json)


@schedules.command("set")
def set_schedule(
    project_id: ProjectId,
    frequency: Annotated[Frequency | None, typer.Option(help="How often.")] = None,
    time: Annotated[str | None, typer.Option(metavar="HH:MM", help="Time of day; of hourly only the minutes.")] = None,
    timezone: Annotated[str | None, typer.Option(metavar="ZONE", help="Such as Europe/Berlin [default: UTC].")] = None,
    day_of_week: Annotated[int | None, typer.Option(metavar="N", help="For weekly; 0 is Monday.")] = None,
    day_of_month: Annotated[int | None, typer.Option(metavar="N", help="For monthly; 1 to 28.")] = None,
    cron: Annotated[str | None, typer.Option(metavar="EXPR", help="Five fields, for frequency cron.")] = None,
    window: Annotated[str | None, typer.Option(metavar="HH:MM-HH:MM", help="Start only between these.")] = None,
    jitter: Annotated[int | None, typer.Option(metavar="MINUTES", help="Start up to so much later.")] = None,
    email: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Who gets a mail; '' for nobody.")] = None,
    webhook: Annotated[str | None, typer.Option(metavar="URL", help="What gets a POST; '' for nothing.")] = None,
    notify_on: Annotated[NotifyOn | None, typer.Option(help="What is worth telling.")] = None,
    as_json: AsJson = False,
) -> None:
    """Set or change a project's schedule, and enable it. What is not given stays as it was."""
    given = {
        "frequency": frequency, "time": time, "timezone": timezone, "day_of_week": day_of_week,
        "day_of_month": day_of_month, "cron": cron, "jitter_minutes": jitter, "notify_on": notify_on,
    }  # fmt: skip
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    changes |= {} if window is None else {"window": _window(window)}
    changes |= {} if email is None else {"notification_email": email or None}
    changes |= {} if webhook is None else {"notification_webhook": webhook or None}
    with local_session() as tools:
        _tell(tools, tools.set_schedule(project_id, {**changes, "enabled": True}), as_json=as_json)


@schedules.command()
def disable(project_id: ProjectId) -> None:
    """No more runs by themselves; the schedule is kept."""
    with local_session() as tools:
        tools.set_schedule.get(project_id)
        tools.set_schedule(project_id, {"enabled": False})
    console().print("Disabled; 'crawler schedule set' enables it again.")


@schedules.command("run-now")
def run_now(project_id: ProjectId) -> None:
    """Crawl now, as the schedule would. Workers must be running: 'crawler up'."""
    with local_session() as tools:
        crawl = tools.start_crawl(project_id, crawl_type=CrawlType.SCHEDULED)
    console().print(
        f"Crawl {crawl.id} is waiting for workers; 'crawler crawl watch {crawl.id}' shows it.", soft_wrap=True
    )


def _window(given: str) -> list[str] | None:
    if not given:
        return None
    first, dash, last = given.partition("-")
    if not dash:
        raise Invalid("--window takes two times, such as 01:00-05:00.")
    return [first.strip(), last.strip()]


def _tell(tools: App, schedule: Schedule, *, as_json: bool) -> None:
    next_runs = upcoming(schedule.config, tools.clock(), SHOWN)
    last = tools.schedules.slots(schedule.project_id, SHOWN)
    if as_json:
        shown = schedule.model_dump(mode="json") | {"upcoming": next_runs, "runs": last}
        typer.echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
        return
    print_pairs(console(), _lines(schedule, next_runs, last))


def _lines(schedule: Schedule, next_runs: list[Any], last: list[Any]) -> Iterator[tuple[str, str]]:
    config = schedule.config
    yield "schedule", config.words + ("" if config.enabled else "; disabled")
    yield "next run", moment(schedule.next_run_at) if schedule.next_run_at else "none"
    for number, slot in enumerate(next_runs):
        local = f"{slot.astimezone(config.zone):%Y-%m-%d %H:%M %Z}"
        yield "" if number else "slots", local
    told = [target for target in (config.notification_email, config.notification_webhook) if target]
    yield (
        "tells",
        f"{', '.join(told) or 'nobody'} ({config.notify_on} changes)" if config.notify_on_changes else "nobody",
    )
    for number, (slot, outcome, crawl_id) in enumerate(last):
        yield "" if number else "last runs", f"{moment(slot)}  {outcome}" + (f"  {crawl_id}" if crawl_id else "")
