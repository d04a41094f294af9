"""`crawler watch URL`: a project, its schedule and its first crawl in one line.

The same from a pasted address in the dashboard: `handlers/notices/watch_url.py`.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.domain.notices.schedule_choices import Frequency, NotifyOn
from crawler.entrypoints.cli.backend.opening import open_backend
from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import CrawlerError, EgressRefused
from crawler.lazy_module import on_first_use

if TYPE_CHECKING:
    from uuid import UUID

    from crawler.domain.crawls.crawl import CrawlJob
    from crawler.entrypoints.cli.backend.backend import Backend

with on_first_use():
    from crawler.config import load_settings
    from crawler.domain.notices.schedule import ScheduleOverview
    from crawler.domain.urls.url import parse
    from crawler.entrypoints.cli.actions.watched_project import choose_project, first_look, take_back, whole_site
    from crawler.entrypoints.cli.backend.service_errors import in_option_names
    from crawler.entrypoints.cli.input.typed_site import check_known, typed_address
    from crawler.entrypoints.cli.screen.next_step import suggest
    from crawler.entrypoints.cli.screen.stderr import Stderr
    from crawler.entrypoints.cli.screen.terminal import console, print_sentence
    from crawler.entrypoints.cli.screen.terminal_text import count
    from crawler.handlers.notices.watch_url import settings_of_one_page


def watch(
    url: Annotated[str, typer.Argument(metavar="URL", help="A page, such as example.org/prices; https is added.")],
    site: Annotated[bool, typer.Option("--site", help="All pages of its site, not this one alone.")] = False,
    every: Annotated[Frequency, typer.Option(help="How often it is checked.")] = Frequency.DAILY,
    cron: Annotated[str | None, typer.Option(metavar="EXPR", help="Five fields, for --every cron.")] = None,
    time: Annotated[str | None, typer.Option(metavar="HH:MM", help="Time of day [default: 00:00].")] = None,
    timezone: Annotated[str | None, typer.Option(metavar="ZONE", help="Such as Europe/Berlin [default: UTC].")] = None,
    email: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Who gets a mail when it changes.")] = None,
    webhook: Annotated[str | None, typer.Option(metavar="URL", help="What gets a POST when it changes.")] = None,
    name: Annotated[str | None, typer.Option(help="The project's name [default: the address].")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Watch a page, or a whole site: check it again and again, and tell somebody when it changes."""
    settings = load_settings()
    seed = parse(typed_address(url, settings))
    check_known(seed, settings)
    href = seed.href
    now = datetime.now(UTC)
    days = {Frequency.WEEKLY: {"day_of_week": now.weekday()}, Frequency.MONTHLY: {"day_of_month": min(now.day, 28)}}
    given = {
        "cron": cron, "time": time, "timezone": timezone, "notification_email": email, "notification_webhook": webhook,
    }  # fmt: skip
    schedule: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    schedule |= {"enabled": True, "frequency": every.value, "notify_on": NotifyOn.ANY.value, **days.get(every, {})}
    with open_backend() as backend, _unlike_run():
        backend.check_reach(href)
        chosen = choose_project(backend, href, name, site=site)
        project = chosen.project
        try:
            if not site:
                backend.change_project(project.id, {"settings": settings_of_one_page()})
            with in_option_names():
                kept = backend.change_schedule(project.id, schedule)
                crawl_id = backend.run_schedule(project.id)
            crawl = _first(backend, crawl_id)
        except CrawlerError:
            take_back(backend, chosen)  # what cannot be watched leaves nothing behind
            raise
    if as_json:
        shown = {"project_id": str(project.id), "crawl_id": str(crawl_id), "schedule": kept.model_dump(mode="json")}
        echo(json.dumps(shown, indent=2))
        return
    screen = console()
    what = f"all of {seed.host}, from {href} on" if site and seed.path != "/" else href
    print_sentence(screen, f"Watching {what} ({every.value}); {_whom(kept, email, webhook)}.")
    if chosen.note:
        alone = "" if site else f" From now on that is this page alone; {whole_site(project.name)} again."
        print_sentence(screen, f"{chosen.note}{alone} --name NAME makes another project.")
    for warning in kept.warnings:
        print_sentence(screen, warning, "yellow")
    print_sentence(screen, f"{'Its first' if chosen.is_new else 'The next'} crawl {_state(crawl)}.")
    if crawl is None:
        suggest("up", to="start workers; leave it running")
    elif not (email or webhook):
        suggest("schedule", "set", project.name, "--email", "ADDRESS", to="tell somebody")
    elif not crawl.status.is_over:
        suggest("crawl", "watch", project.name, to="look on until it is over")


def _first(backend: "Backend", crawl_id: "UUID") -> "CrawlJob | None":
    """The first crawl with its first page, if that comes soon; None where no workers run."""
    if not backend.has_workers():
        return None
    with Stderr().status("Fetching it …"):
        return first_look(backend, crawl_id)


def _state(crawl: "CrawlJob | None") -> str:
    if crawl is None:
        return "waits until workers run: 'crawler up' starts them"
    return f"is over: {count(crawl.pages_crawled, 'page')}" if crawl.status.is_over else "begins now"


@contextmanager
def _unlike_run() -> Iterator[None]:
    """'crawler run' reaches what somebody types; the service's workers do not."""
    try:
        yield
    except EgressRefused as exc:
        run = "Without that, 'crawler run' reaches it: it crawls once, from this terminal, what you type."
        raise EgressRefused(f"{exc.message} {run}") from exc


def _whom(schedule: ScheduleOverview, email: str | None, webhook: str | None) -> str:
    told = " and ".join(filter(None, (email, webhook)))
    if not told:
        return "nobody is told yet"
    return f"changes are to be sent to {told}" if schedule.warnings else f"changes are sent to {told}"
