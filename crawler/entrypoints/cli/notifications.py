"""`crawler notification`: who was told of what."""

from typing import Annotated
from uuid import UUID

import orjson
import typer

from crawler.entrypoints.cli.session import local_session
from crawler.entrypoints.cli.terminal import clean, console, moment, print_rows

notifications = typer.Typer(help="Who was told of what, and what they answered.", no_args_is_help=True)

HEADINGS = ("id", "created", "channel", "target", "status", "answer")


@notifications.command("list")
def list_notifications(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Show so many at most.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Newest first."""
    with local_session() as tools:
        found = tools.notifications.newest(limit)
    if as_json:
        typer.echo(orjson.dumps([row._asdict() for row in found], option=orjson.OPT_INDENT_2).decode())
        return
    if not found:
        console().print("Nobody was told of anything yet.")
        return
    rows = (
        (
            str(row.id),
            moment(row.created_at),
            row.channel,
            clean(row.target),
            row.status,
            clean((row.answer or "")[:80]),
        )
        for row in found
    )
    print_rows(console(), HEADINGS, rows)


@notifications.command()
def resend(
    notification_id: Annotated[UUID, typer.Argument(metavar="ID", help="From 'crawler notification list'.")],
) -> None:
    """Send the same again, under the same id."""
    with local_session() as tools:
        answer = tools.notify_crawl.resend(notification_id)
    console().print(clean(answer.words))
    if not answer.delivered:
        raise typer.Exit(1)
