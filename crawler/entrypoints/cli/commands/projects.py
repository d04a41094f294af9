"""`crawler project`: create, list, show and delete projects (websites to crawl and watch).

Decided in `handlers/crawls/manage_projects.py`.
"""

import json
import sys
from typing import Annotated

import typer

from crawler.entrypoints.cli.backend.naming import open_project
from crawler.entrypoints.cli.backend.opening import open_backend
from crawler.entrypoints.cli.commands.project_settings import set_project
from crawler.entrypoints.cli.input.names import ProjectName
from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import Invalid
from crawler.lazy_module import on_first_use

with on_first_use():
    from crawler.domain.crawls.project import checked_name
    from crawler.domain.urls.typed_url import page_url
    from crawler.entrypoints.cli.screen.next_step import suggest
    from crawler.entrypoints.cli.screen.project_page import project_state, show_project
    from crawler.entrypoints.cli.screen.terminal import clean, console, print_rows


projects = typer.Typer(no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]


@projects.command()
def create(
    name: Annotated[str, typer.Argument(help="A name of your choice, used once.")],
    url: Annotated[str, typer.Argument(help="Where its crawls begin.")],
    as_json: AsJson = False,
) -> None:
    """Make a project."""
    href = page_url(url).href
    with open_backend() as backend:
        project = backend.create_project(checked_name(name), href)
    show_project(project, as_json=as_json)
    if not as_json:
        suggest("schedule", "set", project.name, "--frequency", "daily", to="crawl it every day")


@projects.command("list")
def list_projects(
    built_in: Annotated[bool, typer.Option("--all", help="Also those of the queue and of single pages.")] = False,
    as_json: AsJson = False,
) -> None:
    """Projects, oldest first."""
    with open_backend() as backend:
        found = backend.list_projects(built_in=built_in)
    if as_json:
        echo(json.dumps([project.model_dump(mode="json") for project in found], indent=2))
        return
    if not found:
        echo("There is no project yet; 'crawler run URL' or 'crawler project create NAME URL' makes one.")
        return
    rows = [(p.id, clean(p.name), clean(p.website_url or ""), project_state(p)) for p in found]
    print_rows(console(), ("id", "name", "website", "active"), rows, cut=("name", "website"))
    suggest("crawl", "list", found[-1].name, to="its crawls")


@projects.command()
def show(project: ProjectName, as_json: AsJson = False) -> None:
    """One project with its settings."""
    with open_project(project) as (backend, project_id):
        found = backend.get_project(project_id)
    show_project(found, as_json=as_json)
    if not as_json:
        suggest("crawl", "list", found.name, to="its crawls")


projects.command("set")(set_project)


@projects.command()
def delete(project: ProjectName, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False) -> None:
    """Forget a project with all its crawls and pages; what runs is cancelled."""
    with open_project(project) as (backend, project_id):
        name = backend.get_project(project_id).name
        if not yes:
            _confirm(name)
        elif project not in (name, str(project_id)):
            raise Invalid(f"{project!r} means {name!r}; to delete it without being asked, write its whole name or id.")
        backend.delete_project(project_id)
    echo(f"Project {name!r} is deleted.")


def _confirm(name: str) -> None:
    """Ask before a project is deleted. Without a terminal --yes is needed."""
    if not sys.stdin.isatty():
        raise Invalid(f"{name!r} would be deleted with all its crawls and pages; --yes says that it should be.")
    typer.confirm(f"Delete {name!r} with all its crawls and pages?", abort=True)
