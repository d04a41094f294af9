"""`crawler recipient`: who else is told of a project, of which changes, and when.

Decided in `handlers/notices/manage_recipients.py`; what a recipient is in `domain/notices/recipients.py`.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from crawler.domain.notices.schedule_choices import Form, NotifyOn
from crawler.entrypoints.cli.backend.naming import id_named, open_project
from crawler.entrypoints.cli.input.conditions import All, On, conditions_of
from crawler.entrypoints.cli.input.names import ProjectName
from crawler.entrypoints.cli.input.secret_values import FILE_SIGN, from_file
from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import Invalid, InvalidConfig, NotFound
from crawler.lazy_module import on_first_use

if TYPE_CHECKING:
    from crawler.entrypoints.cli.backend.backend import Backend

with on_first_use():
    import orjson
    from rich.text import Text

    from crawler.domain.notices.notice import Channel
    from crawler.domain.notices.recipients import Recipient, read_recipient
    from crawler.entrypoints.cli.backend.recipients import Previewed
    from crawler.entrypoints.cli.backend.service_errors import told_as_ours
    from crawler.entrypoints.cli.screen.next_step import suggest
    from crawler.entrypoints.cli.screen.terminal import clean, console, print_rows, print_sentence

recipients = typer.Typer(no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]
RecipientId = Annotated[
    str,
    typer.Argument(
        metavar="RECIPIENT", help="A name, an address, or the beginning of an id in 'crawler recipient list'."
    ),
]
Email = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Who gets a mail.")]
Webhook = Annotated[str | None, typer.Option(metavar="URL", help="What gets a POST.")]
Notify = Annotated[
    str | None, typer.Option(metavar="URL", help="A chat by its Apprise URL; @FILE reads it, as it holds a token.")
]
Which = Annotated[NotifyOn | None, typer.Option(help="Which changes are told [default: significant].")]
Tell = Annotated[
    list[str] | None, typer.Option(metavar="WORDS", help="Told in any case: 'price below 100', 'contains sale', ….")
]
When = Annotated[Form | None, typer.Option(help="At once, or gathered over projects [default: at_once].")]
Time = Annotated[str | None, typer.Option(metavar="HH:MM", help="When what was gathered is sent [default: 08:00].")]
Day = Annotated[int | None, typer.Option(metavar="N", help="For weekly; 0 is Monday [default: 0].")]
Zone = Annotated[
    str | None, typer.Option(metavar="ZONE", help="The recipient's, such as Europe/Berlin [default: UTC].")
]
Quiet = Annotated[
    str | None, typer.Option(metavar="HH:MM-HH:MM", help="Nothing is sent between these; '' ends quiet hours.")
]
Subject = Annotated[
    str | None, typer.Option(metavar="TEMPLATE", help="Its subject in own words (Jinja); @FILE reads it.")
]
Body = Annotated[
    str | None, typer.Option(metavar="TEMPLATE", help="Its text, or JSON of a webhook (Jinja); @FILE reads it.")
]
Name = Annotated[str | None, typer.Option(help="A name for people.")]


@recipients.command("list")
def list_recipients(project: ProjectName, as_json: AsJson = False) -> None:
    """Who else is told, beside those whom the schedule names."""
    with open_project(project) as (backend, project_id):
        known = backend.recipients.list(project_id)
        warning = None if as_json else _mail_warning(backend, known)
    if as_json:
        shown = [one.model_dump(mode="json") | {"described": one.words} for one in known]
        echo(orjson.dumps({"recipients": shown}, option=orjson.OPT_INDENT_2).decode())
        return
    if not known:
        console().print("Nobody else is told; 'crawler recipient add' adds somebody.")
        return
    print_rows(console(), ("recipient", "who, and of what", "state"), map(_row, known))
    if warning:
        print_sentence(console(), warning, "yellow")


@recipients.command()
def add(
    project: ProjectName,
    email: Email = None,
    webhook: Webhook = None,
    notify: Notify = None,
    notify_on: Which = None,
    tell: Tell = None,
    all_hold: All = False,
    on: On = "",
    form: When = None,
    time: Time = None,
    day_of_week: Day = None,
    timezone: Zone = None,
    quiet: Quiet = None,
    subject: Subject = None,
    body: Body = None,
    name: Name = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Only show what would be sent of the newest compared crawl.")
    ] = False,
) -> None:
    """Tell somebody else, from the next crawl on."""
    given = _address(email, webhook, notify)
    if not given:
        raise Invalid("Say who is told: --email, --webhook or --notify.")
    given |= _set(notify_on=notify_on, form=form, time=time, day_of_week=day_of_week, timezone=timezone, name=name)
    given |= _written(quiet, subject, body)
    order = read_recipient(given | {"conditions": conditions_of(tell, all_hold=all_hold, on=on)})
    with open_project(project) as (backend, project_id):
        if preview:
            _show(backend.recipients.preview(project_id, order))
            return
        with _in_options(order.channel):
            one = backend.recipients.add(project_id, order)
        warning = _mail_warning(backend, [one])
    console().print(Text.assemble(f"{one.id}  ", clean(one.words)), soft_wrap=True)
    if warning:
        print_sentence(console(), warning, "yellow")
    suggest("schedule", "test", project, to="send everybody a test message")


@recipients.command()
def change(
    project: ProjectName,
    recipient: RecipientId,
    email: Email = None,
    webhook: Webhook = None,
    notify: Notify = None,
    notify_on: Which = None,
    tell: Tell = None,
    all_hold: All = False,
    on: On = "",
    form: When = None,
    time: Time = None,
    day_of_week: Day = None,
    timezone: Zone = None,
    quiet: Quiet = None,
    subject: Subject = None,
    body: Body = None,
    name: Name = None,
) -> None:
    """Change some things about a recipient; the rest stays. '' empties what may be empty, --tell '' all conditions."""
    given = _address(email, webhook, notify)
    given |= _set(notify_on=notify_on, form=form, time=time, day_of_week=day_of_week, timezone=timezone, name=name)
    given |= _written(quiet, subject, body)
    if tell is not None or all_hold or on:
        given["conditions"] = conditions_of(tell, all_hold=all_hold, on=on)
    if not given:
        raise Invalid("Say what to change: 'crawler recipient change --help' shows what there is.")
    with open_project(project) as (backend, project_id):
        known = backend.recipients.list(project_id)
        identity = _named(recipient, known)
        before = next((one for one in known if one.id == identity), None)
        if before is None:
            raise NotFound(f"There is no recipient {recipient!r}; 'crawler recipient list' shows them.")
        one = backend.recipients.replace(project_id, identity, read_recipient(before.order.model_dump() | given))
    console().print(clean(one.words), soft_wrap=True)


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


def _mail_warning(backend: "Backend", known: Sequence[Recipient]) -> str | None:
    wants_mail = any(one.channel is Channel.EMAIL and one.enabled for one in known)
    return backend.mail_warning() if wants_mail else None


_OPTIONS = {"email": "--email", "webhook": "--webhook", "apprise": "--notify"}


@contextmanager
def _in_options(channel: Channel) -> Iterator[None]:
    """A refused address is told by the option it came from."""
    try:
        with told_as_ours():
            yield
    except InvalidConfig as exc:
        raise InvalidConfig(re.sub(r"^address:", f"{_OPTIONS[channel]}:", exc.message), **exc.details) from exc


def _named(typed: str, known: list[Recipient]) -> UUID:
    at_it = [one for one in known if one.address == typed]
    return at_it[0].id if len(at_it) == 1 else id_named(typed, "recipient", "crawler recipient list", known)


def _address(email: str | None, webhook: str | None, notify: str | None) -> dict[str, Any]:
    addresses = {Channel.EMAIL: email, Channel.WEBHOOK: webhook, Channel.APPRISE: _read(notify)}
    named = [(channel, address) for channel, address in addresses.items() if address is not None]
    if len(named) > 1:
        raise Invalid("A recipient has one address: --email, --webhook or --notify.")
    return {"channel": named[0][0], "address": named[0][1]} if named else {}


def _set(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _written(quiet: str | None, subject: str | None, body: str | None) -> dict[str, Any]:
    """What may also be emptied, by an empty text."""
    given = _set(subject_template=_read(subject), body_template=_read(body))
    given = {name: text or None for name, text in given.items()}
    return given if quiet is None else given | {"quiet_hours": _hours(quiet) if quiet else None}


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


def _row(one: Recipient) -> "list[str | Text | UUID]":
    words = f"{one.name}: {one.words}" if one.name else one.words
    return [one.id, clean(words), "on" if one.enabled else "off"]
