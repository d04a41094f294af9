"""`crawler login`: steps that sign a project in to an origin, in a browser.

Secrets are never shown, and never given on the command line. Decided in `handlers/hosts/manage_logins.py`.
"""

import json
import time
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from crawler.entrypoints.cli.backend.naming import open_project
from crawler.entrypoints.cli.input.names import ProjectName
from crawler.entrypoints.cli.input.secret_values import from_environment, from_file, read_secret
from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import Invalid
from crawler.lazy_module import on_first_use

if TYPE_CHECKING:
    from crawler.entrypoints.cli.backend.backend import Backend

with on_first_use():
    from rich.text import Text

    from crawler.domain.crawls.page_steps import Do, login_steps
    from crawler.domain.hosts.logins import LoginState, StoredLogin
    from crawler.entrypoints.cli.screen.terminal import clean, console, moment, print_rows
    from crawler.handlers.hosts.manage_logins import checked_login

logins = typer.Typer(no_args_is_help=True)

Origin = Annotated[
    str | None, typer.Option(metavar="URL", help="Whose pages are read signed in [default: the project's address].")
]
HEADINGS = ("origin", "state", "tried", "problem")
TRY_SECONDS = 120.0
POLL_SECONDS = 0.5


@logins.command("list")
def list_logins(
    project: ProjectName, as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False
) -> None:
    """A project's logins and what came of them, without secrets."""
    with open_project(project) as (backend, project_id):
        found = backend.logins.list(project_id)
    if as_json:
        echo(json.dumps([one._asdict() for one in found], default=str, indent=2))
    elif found:
        print_rows(console(), HEADINGS, map(_row, found))
    else:
        console().print("None yet; 'crawler login set' stores one.")


@logins.command("set")
def set_login(
    project: ProjectName,
    step: Annotated[
        list[str] | None, typer.Option(metavar="STEP", help="open URL, fill SELECTOR from NAME, click …; repeated.")
    ] = None,
    steps_file: Annotated[str | None, typer.Option(metavar="FILE", help="Steps, one a line; - is stdin.")] = None,
    signed_in: Annotated[str, typer.Option(metavar="SELECTOR", help="What only pages read signed in have.")] = "",
    secret_env: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VARIABLE", help="Read a secret from it; repeated.")
    ] = None,
    origin: Origin = None,
) -> None:
    """Store the login of an origin, or replace it. Secrets are asked for, unless they are in the environment."""
    lines = list(step or ())
    if steps_file is not None:
        lines += [line.strip() for line in from_file(steps_file).splitlines() if line.strip()]
    named = [one.secret for one in login_steps(lines) if one.do is Do.FILL]
    known = dict(_pair(given) for given in secret_env or ())
    secrets = {name: from_environment(known[name]) if name in known else read_secret(name) for name in named}
    order = checked_login({"steps": tuple(lines), "signed_in": signed_in, "secrets": secrets})
    with open_project(project) as (backend, project_id):
        stored = backend.logins.set(project_id, _origin(backend, project_id, origin), order)
    words = f"Stored for {stored.origin}. Its pages are read in a browser from now on."
    console().print(Text(words), soft_wrap=True)


@logins.command("try")
def try_login(project: ProjectName, origin: Origin = None) -> None:
    """Sign in anew now, and say what came of it. Fails if the login does."""
    with open_project(project) as (backend, project_id):
        where = _origin(backend, project_id, origin)
        begun = backend.logins.try_now(project_id, where)
        tried = _waited(backend, project_id, begun)
    if tried.state is LoginState.SIGNED_IN:
        console().print(Text(f"Signed in to {tried.origin}."), soft_wrap=True)
        return
    why = tried.problem or "Nothing came of it in time; look at the workers that render."
    console().print(clean(f"Not signed in to {tried.origin}: {why}"), soft_wrap=True)
    raise typer.Exit(1)


@logins.command()
def remove(project: ProjectName, origin: Origin = None) -> None:
    """Remove the login of an origin, and its session."""
    with open_project(project) as (backend, project_id):
        backend.logins.remove(project_id, _origin(backend, project_id, origin))
    console().print("Removed.")


def _waited(backend: "Backend", project_id: UUID, begun: "StoredLogin") -> "StoredLogin":
    deadline, found = time.monotonic() + TRY_SECONDS, begun
    while time.monotonic() < deadline and found.state in (LoginState.UNTRIED, LoginState.LOST):
        time.sleep(POLL_SECONDS)
        found = next((one for one in backend.logins.list(project_id) if one.origin == begun.origin), found)
    return found


def _pair(given: str) -> tuple[str, str]:
    name, sign, variable = given.partition("=")
    if not sign or not name or not variable:
        raise Invalid(f"{given!r} is no NAME=VARIABLE.")
    return name, variable


def _origin(backend: "Backend", project_id: UUID, given: str | None) -> str:
    origin = given if given is not None else backend.get_project(project_id).website_url
    if origin is None:
        raise Invalid("The project has no address; say whose pages are read signed in with --origin URL.")
    return origin


def _row(one: "StoredLogin") -> "list[str | Text]":
    tried = moment(one.tried_at) if one.tried_at else "never"
    return [clean(one.origin), one.state.replace("_", " "), tried, clean(one.problem or "")]
