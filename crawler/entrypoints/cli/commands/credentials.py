"""`crawler credential`: headers, cookies and basic auth that a project sends to one origin.

Values are never shown, and never given on the command line. Decided in `handlers/hosts/manage_credentials.py`.
"""

import json
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from crawler.entrypoints.cli.backend.naming import open_project
from crawler.entrypoints.cli.input.names import ProjectName
from crawler.entrypoints.cli.input.secret_values import read_secret
from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import Invalid
from crawler.lazy_module import on_first_use

if TYPE_CHECKING:
    from crawler.entrypoints.cli.backend.backend import Backend

with on_first_use():
    from rich.text import Text

    from crawler.domain.hosts.credentials import CredentialKind, StoredCredential
    from crawler.entrypoints.cli.screen.terminal import clean, console, moment, print_rows


credentials = typer.Typer(no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]
Origin = Annotated[
    str | None, typer.Option(metavar="URL", help="Scheme, host and port it is for [default: the project's address].")
]
Header = Annotated[str | None, typer.Option(metavar="NAME", help="A request header.")]
Cookie = Annotated[str | None, typer.Option(metavar="NAME", help="A cookie.")]
BasicAuth = Annotated[bool, typer.Option("--basic-auth", help="User and password, as user:password.")]
HEADINGS = ("origin", "kind", "name", "set")
UNREADABLE = "encrypted with another key"


@credentials.command("list")
def list_credentials(project: ProjectName, as_json: AsJson = False) -> None:
    """A project's credentials by origin and name, without values."""
    with open_project(project) as (backend, project_id):
        found = backend.list_credentials(project_id)
    if as_json:
        rows = [{**one._asdict(), "updated_at": one.updated_at.isoformat()} for one in found]
        echo(json.dumps({"credentials": rows}, indent=2))
    elif found:
        print_rows(console(), HEADINGS, map(_row, found))
    else:
        console().print("None yet; 'crawler credential set' stores one.")


@credentials.command("set")
def set_credential(
    project: ProjectName,
    header: Header = None,
    cookie: Cookie = None,
    basic_auth: BasicAuth = False,
    origin: Origin = None,
    from_env: Annotated[str | None, typer.Option(metavar="VARIABLE", help="Read the value from it.")] = None,
    from_file: Annotated[str | None, typer.Option(metavar="FILE", help="Read the value from it; - is stdin.")] = None,
) -> None:
    """Store a credential for one origin, or replace it. Its value is asked for, unless it is read from elsewhere."""
    chosen = _chosen(header, cookie, basic_auth=basic_auth)
    if chosen is None:
        raise Invalid("Say what to store: --header NAME, --cookie NAME or --basic-auth.")
    kind, name = chosen
    what = "user:password" if kind is CredentialKind.BASIC_AUTH else f"Value of {name}"
    value = read_secret(what, env=from_env, file=from_file)
    with open_project(project) as (backend, project_id):
        stored = backend.set_credential(project_id, _origin(backend, project_id, origin), kind, name, value)
    console().print(Text(f"Stored for {stored.origin}. It is sent nowhere else."), soft_wrap=True)


@credentials.command()
def remove(
    project: ProjectName,
    header: Header = None,
    cookie: Cookie = None,
    basic_auth: BasicAuth = False,
    origin: Origin = None,
    all_of_it: Annotated[bool, typer.Option("--all", help="All credentials of the origin.")] = False,
) -> None:
    """Remove a credential of an origin, or all of them. Crawls that run may still send it until they end."""
    chosen = _chosen(header, cookie, basic_auth=basic_auth)
    if (chosen is None) is not all_of_it:
        raise Invalid("Say what to remove: --header NAME, --cookie NAME, --basic-auth or --all.")
    kind, name = chosen or (None, None)
    with open_project(project) as (backend, project_id):
        backend.remove_credential(project_id, _origin(backend, project_id, origin), kind, name)
    console().print("Removed.")


def _chosen(header: str | None, cookie: str | None, *, basic_auth: bool) -> tuple[CredentialKind, str | None] | None:
    given: list[tuple[CredentialKind, str | None]] = []
    given += [(CredentialKind.HEADER, header)] if header is not None else []
    given += [(CredentialKind.COOKIE, cookie)] if cookie is not None else []
    given += [(CredentialKind.BASIC_AUTH, None)] if basic_auth else []
    if len(given) > 1:
        raise Invalid("One credential at a time: --header, --cookie or --basic-auth.")
    return given[0] if given else None


def _origin(backend: "Backend", project_id: UUID, given: str | None) -> str:
    """The origin that is given, or that of the project's address as it is now."""
    origin = given if given is not None else backend.get_project(project_id).website_url
    if origin is None:
        raise Invalid("The project has no address; say where the credential is sent with --origin URL.")
    return origin


def _row(one: StoredCredential) -> list[str | Text]:
    kind = one.kind.replace("_", " ") if one.kind else UNREADABLE
    return [clean(one.origin), kind, clean(one.name), moment(one.updated_at)]
