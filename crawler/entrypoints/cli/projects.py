"""`crawler project`: websites under care."""

import json
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated
from uuid import UUID

import typer

from crawler.domain.projects import Project, checked_name
from crawler.domain.urls import parse
from crawler.entrypoints.cli.session import session
from crawler.entrypoints.cli.terminal import clean, console, moment, print_pairs, print_rows

projects = typer.Typer(help="Websites under care.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]
ProjectId = Annotated[UUID, typer.Argument(metavar="PROJECT_ID", help="From 'crawler project list'.")]


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
    if not found:
        typer.echo("There is no project yet; 'crawler run URL' or 'crawler project create NAME URL' makes one.")
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
    return Project.create(name=checked_name(name), website_url=href, now=now)


def _show(project: Project, *, as_json: bool) -> None:
    if as_json:
        typer.echo(project.model_dump_json(indent=2))
        return
    print_pairs(console(), _lines(project))


def _lines(project: Project) -> Iterator[tuple[str, str]]:
    yield "name", project.name
    yield "website", project.website_url or ""
    yield "project", str(project.id)
    yield "made", moment(project.created_at)
    if not project.is_active:
        yield "active", "no"
    for name, value in project.settings.model_dump(mode="json", exclude_defaults=True).items():
        yield name.replace("_", " "), _words(value)


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
