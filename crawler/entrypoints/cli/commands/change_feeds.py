"""`crawler feed`: addresses of Atom feeds of changes, of one project, of a tag or of all."""

from typing import Annotated

import typer

from crawler.entrypoints.cli.backend.naming import named_or_none
from crawler.entrypoints.cli.backend.opening import open_backend
from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import Invalid

change_feeds = typer.Typer(no_args_is_help=True)

Project = Annotated[str | None, typer.Option("--project", metavar="PROJECT", help="Of this project.")]
Tag = Annotated[str, typer.Option(metavar="TAG", help="Of projects with this tag.")]


@change_feeds.command()
def create(project: Project = None, tag: Tag = "") -> None:
    """Make the address of a feed, of all projects unless one or a tag is named. It is shown once."""
    named = _checked(project, tag)
    with open_backend() as backend:
        echo(backend.create_change_feed(named_or_none(backend, project), named))


@change_feeds.command()
def revoke(project: Project = None, tag: Tag = "") -> None:
    """The feed's address opens nothing any more."""
    named = _checked(project, tag)
    with open_backend() as backend:
        backend.revoke_change_feed(named_or_none(backend, project), named)
    echo("Revoked.")


def _checked(project: str | None, tag: str) -> str:
    if project is not None and tag:
        raise Invalid("Name a project or a tag, not both.")
    return " ".join(tag.split()).lower()
