"""`crawler key`: create, list and revoke API keys. A key is shown once; only its hash is stored.

What a scope allows: `domain/api_keys.py` and `entrypoints/http/auth.py`.
"""

import json
from typing import Annotated

import typer

from crawler.domain.key_scopes import LONGEST_NAME, Scope
from crawler.entrypoints.cli.backend.naming import id_named, project_named
from crawler.entrypoints.cli.backend.opening import open_backend
from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import Invalid
from crawler.lazy_module import on_first_use

with on_first_use():
    from rich.text import Text

    from crawler.domain.api_keys import ApiKey
    from crawler.entrypoints.cli.screen.terminal import clean, console, moment, print_rows


keys = typer.Typer(no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]


@keys.command()
def create(
    name: Annotated[str, typer.Argument(help="What it is for.")],
    scope: Annotated[Scope, typer.Option(help="What it may do.")] = Scope.WRITE,
    project: Annotated[
        list[str] | None, typer.Option(metavar="PROJECT", help="Limit it to this project; may be repeated.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key. Its secret is shown now and never again."""
    if not 1 <= len(name) <= LONGEST_NAME:
        raise Invalid(f"A key's name has 1 to {LONGEST_NAME} characters.")
    with open_backend() as backend:
        only = tuple(project_named(backend, each) for each in project) if project else None
        key_id, secret = backend.create_key(name, scope, only)
    echo(json.dumps({"id": str(key_id), "key": secret}) if as_json else secret)


@keys.command("list")
def list_keys(as_json: AsJson = False) -> None:
    """All keys, without their secrets."""
    with open_backend() as backend:
        found = backend.list_keys()
    if as_json:
        rows = [key.model_dump(mode="json", exclude={"key_hash"}) for key in found]
        echo(json.dumps(rows, indent=2))
        return
    if not found:
        echo("There is no key yet; 'crawler key create NAME' makes one.")
        return
    print_rows(console(), ("id", "name", "begins with", "scope", "made", "revoked"), map(_row, found))


def _row(key: ApiKey) -> list[str | Text]:
    revoked = moment(key.revoked_at)[:10]
    return [str(key.id), clean(key.name), key.hint + "…", key.scope, moment(key.created_at)[:10], revoked]


@keys.command()
def revoke(key: Annotated[str, typer.Argument(metavar="KEY", help="Its name, or the beginning of its id.")]) -> None:
    """A revoked key opens nothing any more."""
    with open_backend() as backend:
        unrevoked = (one for one in backend.list_keys() if one.revoked_at is None)
        key_id = id_named(key, "key", "crawler key list", unrevoked)
        backend.revoke_key(key_id)
    echo(f"Key {key_id} is revoked.")
