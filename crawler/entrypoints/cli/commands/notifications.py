"""`crawler notification`: list notifications that were sent, and send one again.

Who is told, and when: `handlers/notices/notify_crawl.py`.
"""

import json
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from crawler.entrypoints.cli.backend.naming import id_named, named_or_none
from crawler.entrypoints.cli.backend.opening import open_backend
from crawler.entrypoints.cli.input.names import whole_id
from crawler.entrypoints.cli.screen.streams import echo
from crawler.lazy_module import on_first_use

if TYPE_CHECKING:
    from crawler.entrypoints.cli.backend.backend import Backend

with on_first_use():
    from rich.text import Text

    from crawler.domain.notices.notice import Delivery, Notification
    from crawler.entrypoints.cli.screen.terminal import clean, console, moment, print_rows


notifications = typer.Typer(no_args_is_help=True)

NotificationId = Annotated[str, typer.Argument(metavar="ID", help="Its beginning in 'crawler notification list'.")]
MOST = 1000
HEADINGS = ("id", "created", "channel", "about", "target", "status", "answer")


@notifications.command("list")
def list_notifications(
    named: Annotated[str | None, typer.Argument(metavar="PROJECT", help="Only those of this project.")] = None,
    project: Annotated[str | None, typer.Option(metavar="PROJECT", help="The same as an option.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST, help="Show so many at most.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Newest first."""
    with open_backend() as backend:
        found = backend.list_notifications(limit, named_or_none(backend, named or project))
    if as_json:
        echo(json.dumps([one.model_dump(mode="json") for one in found], indent=2))
        return
    if not found:
        console().print("No notification was sent yet.")
        return
    print_rows(console(), HEADINGS, map(_row, found), cut=("target", "answer"))


def _row(one: Notification) -> tuple[str | Text | UUID, ...]:
    waits = f"until {moment(one.deliver_at)}" if one.status == Delivery.HELD and one.deliver_at else ""
    known = f"known since {moment(one.acknowledged_at)}" if one.acknowledged_at else ""
    said = "; ".join(filter(None, (waits or (one.answer or "")[:80], known)))
    channel = one.channel.partition("-")[0]
    return one.id, moment(one.created_at)[:-3], channel, one.kind, clean(one.target), one.status, clean(said)


@notifications.command()
def resend(notification: NotificationId) -> None:
    """Send the same again, under the same id."""
    with open_backend() as backend:
        sent = backend.resend(_named(backend, notification))
    console().print(clean(sent.answer or sent.status))
    if sent.status != Delivery.SENT:
        raise typer.Exit(1)


@notifications.command()
def acknowledge(notification: NotificationId) -> None:
    """Say that somebody knows of it."""
    with open_backend() as backend:
        known = backend.acknowledge(_named(backend, notification))
    console().print(f"Known since {moment(known.acknowledged_at)}.")


def _named(backend: "Backend", notification: str) -> UUID:
    """By its id, or by its beginning if it is one of the newest."""
    if (whole := whole_id(notification)) is not None:
        return whole
    return id_named(notification, "notification", "crawler notification list", backend.list_notifications(MOST))
