"""`crawler recipient`: who else is told of a project, of which changes, and when.

Decided in `handlers/notices/manage_recipients.py`; what a recipient is in `domain/notices/recipients.py`.
"""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

import typer

from crawler.domain.notices.schedule_choices import Form, NotifyOn
from crawler.entrypoints.cli.backend.naming import id_named, open_project
from crawler.entrypoints.cli.input.conditions import All, On, conditions_of
from crawler.entrypoints.cli.input.names import ProjectName
from crawler.entrypoints.cli.input.secret_values import FILE_SIGN, from_file
from crawler.errors import Invalid
from crawler.lazy_module import on_first_use

with on_first_use():
    import orjson
    from rich.text import Text

    from crawler.domain.notices.notice import Channel
    from crawler.domain.notices.recipients import Recipient, read_recipient
    from crawler.entrypoints.cli.backend.recipients import Previewed
    from crawler.entrypoints.cli.screen.terminal import clean, console, print_rows

recipients = typer.Typer(no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]
RecipientId = Annotated[
    str,
    typer.Argument(
        metavar="RECIPIENT", help="A name, an address, or the beginning of an id in 'crawler recipient list'."
    ),
]


@recipients.command("list")
def list_recipients(project: ProjectName, as_json: AsJson = False) -> None:
    """Who else is told, beside those whom the schedule names."""
    with open_project(project) as (backend, project_id):
        known = backend.recipients.list(project_id)
    if as_json:
        shown = [one.model_dump(mode="json") | {"described": one.words} for one in known]
        typer.echo(orjson.dumps({"recipients": shown}, option=orjson.OPT_INDENT_2).decode())
        return
    if not known:
        console().print("Nobody else is told; 'crawler recipient add' adds somebody.")
        return
    print_rows(console(), ("recipient", "told", "state"), map(_row, known))


@recipients.command()
def add(
    project: ProjectName,
    email: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Who gets a mail.")] = None,
    webhook: Annotated[str | None, typer.Option(metavar="URL", help="What gets a POST.")] = None,
    notify: Annotated[
        str | None, typer.Option(metavar="URL", help="A chat by its Apprise URL; @FILE reads it, as it holds a token.")
    ] = None,
    notify_on: Annotated[NotifyOn, typer.Option(help="Which changes are told.")] = NotifyOn.SIGNIFICANT,
    tell: Annotated[
        list[str] | None, typer.Option(metavar="WORDS", help="Told in any case: 'price below 100', 'contains sale', ….")
    ] = None,
    all_hold: All = False,
    on: On = "",
    form: Annotated[Form, typer.Option(help="At once, or gathered over projects.")] = Form.AT_ONCE,
    time: Annotated[str, typer.Option(metavar="HH:MM", help="When what was gathered is sent.")] = "08:00",
    day_of_week: Annotated[int, typer.Option(metavar="N", help="For weekly; 0 is Monday.")] = 0,
    timezone: Annotated[str, typer.Option(metavar="ZONE", help="The recipient's, such as Europe/Berlin.")] = "UTC",
    quiet: Annotated[str | None, typer.Option(metavar="HH:MM-HH:MM", help="Nothing is sent between these.")] = None,
    subject: Annotated[
        str | None, typer.Option(metavar="TEMPLATE", help="Its subject in own words (Jinja); @FILE reads it.")
    ] = None,
    body: Annotated[
        str | None, typer.Option(metavar="TEMPLATE", help="Its text, or JSON of a webhook (Jinja); @FILE reads it.")
    ] = None,
    name: Annotated[str, typer.Option(help="A name for people.")] = "",
    preview: Annotated[
        bool, typer.Option("--preview", help="Only show what would be sent of the newest compared crawl.")
    ] = False,
) -> None:
    """Tell somebody else, from the next crawl on."""
    addresses = {Channel.EMAIL: email, Channel.WEBHOOK: webhook, Channel.APPRISE: _read(notify)}
    named = [(channel, address) for channel, address in addresses.items() if address is not None]
    if len(named) != 1:
        raise Invalid("Say who is told: --email, --webhook or --notify.")
    given: dict[str, Any] = {
        "channel": named[0][0], "address": named[0][1], "notify_on": notify_on,
        "form": form, "time": time, "day_of_week": day_of_week, "timezone": timezone, "name": name,
        "conditions": conditions_of(tell, all_hold=all_hold, on=on), "quiet_hours": _hours(quiet) if quiet else None,
        "subject_template": _read(subject), "body_template": _read(body),
    }  # fmt: skip
    order = read_recipient(given)
    with open_project(project) as (backend, project_id):
        if preview:
            _show(backend.recipients.preview(project_id, order))
            return
        one = backend.recipients.add(project_id, order)
    console().print(Text.assemble(f"{one.id}  ", clean(one.words)), soft_wrap=True)


@recipients.command()
def mute(
    project: ProjectName,
    recipient: RecipientId,
    hours: Annotated[float, typer.Option(min=0, max=24 * 366, help="For so long; 0 ends it.")] = 24.0,
) -> None:
    """Tell a recipient of no changes for a while."""
    until = datetime.now(UTC) + timedelta(hours=hours) if hours else None
    with open_project(project) as (backend, project_id):
        one = backend.recipients.mute(project_id, _named(recipient, backend.recipients.list(project_id)), until)
    console().print(clean(one.words), soft_wrap=True)


@recipients.command()
def remove(project: ProjectName, recipient: RecipientId) -> None:
    """Tell a recipient nothing more."""
    with open_project(project) as (backend, project_id):
        backend.recipients.remove(project_id, _named(recipient, backend.recipients.list(project_id)))
    console().print("Removed.")


def _named(typed: str, known: list[Recipient]) -> UUID:
    at_it = [one for one in known if one.address == typed]
    return at_it[0].id if len(at_it) == 1 else id_named(typed, "recipient", "crawler recipient list", known)


def _read(given: str | None) -> str | None:
    """What is given, or what stands in a file that is named @FILE."""
    return from_file(given.removeprefix(FILE_SIGN)).strip() if given and given.startswith(FILE_SIGN) else given


def _show(sent: Previewed) -> None:
    if sent.payload is not None:
        console().print(clean(orjson.dumps(sent.payload, option=orjson.OPT_INDENT_2).decode()), soft_wrap=True)
        return
    console().print(clean(sent.subject or ""), style="bold", soft_wrap=True)
    console().print(clean(sent.text or ""), soft_wrap=True)


def _hours(given: str) -> list[str]:
    first, dash, last = given.partition("-")
    if not dash:
        raise Invalid("--quiet takes two times, such as 22:00-07:00.")
    return [first.strip(), last.strip()]


def _row(one: Recipient) -> list[str | Text]:
    words = f"{one.name}: {one.words}" if one.name else one.words
    return [str(one.id), clean(words), "on" if one.enabled else "off"]
