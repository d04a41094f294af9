"""`crawler project`: websites under care."""

import json
import sys
from datetime import datetime
from typing import Annotated
from uuid import UUID

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape

from crawler.domain.projects import Project
from crawler.domain.urls import parse
from crawler.entrypoints.cli.session import session
from crawler.entrypoints.cli.terminal import clean, console, print_rows
from crawler.errors import Invalid
from crawler.telemetry import redact

projects = typer.Typer(help="Websites under care.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]
ProjectId = Annotated[UUID, typer.Argument(help="From 'crawler project list'.")]


@projects.command()
def create(
    name: Annotated[str, typer.Argument(help="A name of your choice, used once.")],
    url: Annotated[str, typer.Argument(help="Where its crawls begin.")],
    as_json: AsJson = False,
) -> None:
    """Make a project."""
    href = parse(url).href
    with session() as tools:
        project = tools.store.add_project(valid_project(name, href, tools.clock()))
    _show(project, as_json=as_json)


@projects.command("list")
def list_projects(as_json: AsJson = False) -> None:
    """All projects."""
    with session() as tools:
        found = tools.store.list_projects(limit=1000)
    if as_json:
        typer.echo(json.dumps([project.model_dump(mode="json") for project in found], indent=2))
        return
    rows = [(str(p.id), clean(p.name), clean(p.website_url or ""), "yes" if p.is_active else "no") for p in found]
    print_rows(console(), ("id", "name", "website", "active"), rows)


@projects.command()
def show(project_id: ProjectId, as_json: AsJson = False) -> None:
    """One project with its settings."""
    with session() as tools:
        project = tools.store.get_project(project_id)
    _show(project, as_json=as_json)


@projects.command()
def delete(
    project_id: ProjectId, yes: Annotated[bool, typer.Option("--yes", help="Do not ask on a terminal.")] = False
) -> None:
    """Forget a project with all its crawls and pages."""
    with session() as tools:
        name = tools.store.get_project(project_id).name
        if sys.stdin.isatty() and not yes:
            typer.confirm(f"Delete {name!r} with all its crawls and pages?", abort=True)
        tools.store.delete_project(project_id)
    typer.echo(f"Project {project_id} is deleted.")


def valid_project(name: str, href: str, now: datetime) -> Project:
    try:
        name.encode()
        return Project.create(name=name, website_url=href, now=now)
    except (ValidationError, UnicodeEncodeError) as exc:
        raise Invalid("A project's name has 1 to 200 characters of text.") from exc


def shown(text: str) -> str:
    """People's own words, without power over the terminal."""
    return escape(redact(text))


def _show(project: Project, *, as_json: bool) -> None:
    if as_json:
        typer.echo(project.model_dump_json(indent=2))
        return
    console = Console(highlight=False, markup=False)
    console.print(f"{redact(project.name)}  {project.id}")
    console.print(f"website   {project.website_url}")
    for name, value in project.settings.model_dump(mode="json", exclude_defaults=True).items():
        console.print(f"{name:<9} {value}")
