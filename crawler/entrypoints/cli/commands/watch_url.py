"""`crawler watch URL`: a project, its schedule and its first crawl in one line.

The same from a pasted address in the dashboard: `handlers/notices/watch_url.py`.
"""

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from crawler.domain.notices.schedule_choices import Frequency, NotifyOn
from crawler.entrypoints.cli.backend.opening import open_backend
from crawler.errors import CrawlerError
from crawler.lazy_module import on_first_use

with on_first_use():
    from crawler.config import load_settings
    from crawler.domain.crawls.project import name_after
    from crawler.domain.urls.typed_url import typed_url
    from crawler.entrypoints.cli.input.typed_site import typed_site
    from crawler.entrypoints.cli.screen.terminal import console
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
) -> None:
    """Watch a page, or a whole site: check it again and again, and tell somebody when it changes."""
    settings = load_settings()
    # What a service elsewhere reaches cannot be tried from here.
    seed = typed_url(url) if settings.api_url else typed_site(url, by_proxy=settings.proxy_url is not None)
    href = seed.href
    now = datetime.now(UTC)
    days = {Frequency.WEEKLY: {"day_of_week": now.weekday()}, Frequency.MONTHLY: {"day_of_month": min(now.day, 28)}}
    given = {
        "cron": cron, "time": time, "timezone": timezone, "notification_email": email, "notification_webhook": webhook,
    }  # fmt: skip
    schedule: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    schedule |= {"enabled": True, "frequency": every.value, "notify_on": NotifyOn.ANY.value, **days.get(every, {})}
    with open_backend() as backend:
        project = backend.create_project(name or name_after(href.partition("://")[2].rstrip("/")), href)
        try:
            if not site:
                backend.change_project(project.id, {"settings": settings_of_one_page()})
            backend.change_schedule(project.id, schedule)
        except CrawlerError:
            backend.delete_project(project.id)  # a mistake in an option leaves nothing behind
            raise
        crawl_id = backend.run_schedule(project.id)
        begins = "begins now" if backend.has_workers() else "waits until workers run: 'crawler up' starts them"
    told = email or webhook
    whom = (
        f"{told} is told of changes" if told else f"nobody is told yet: 'crawler schedule set {project.id} --email …'"
    )
    console().print(f"Watching {href} ({every.value}); {whom}.", soft_wrap=True)
    console().print(f"The first crawl {begins}; 'crawler crawl status {crawl_id}' shows it.", soft_wrap=True)
