"""A project as lines of text, for `crawler project show`."""

from collections.abc import Iterator
from datetime import UTC, datetime

from crawler.domain.crawls.project import Project
from crawler.entrypoints.cli.screen.streams import echo
from crawler.entrypoints.cli.screen.terminal import console, moment, print_pairs


def show_project(project: Project, *, as_json: bool) -> None:
    if as_json:
        echo(project.model_dump_json(indent=2))
        return
    print_pairs(console(), _lines(project))


def _lines(project: Project) -> Iterator[tuple[str, str]]:
    yield "name", project.name
    yield "website", project.website_url or ""
    yield "project", str(project.id)
    yield "made", moment(project.created_at)
    if project.muted_until is not None and project.is_muted(datetime.now(UTC)):
        yield "muted", f"until {project.muted_until.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    if not project.is_active:
        yield "active", "no"
    for name, value in project.settings.model_dump(mode="json", exclude_defaults=True).items():
        yield name.replace("_", " "), _words(value)


def project_state(project: Project) -> str:
    """Whether it is crawled, and for how long nobody is told of it."""
    active = "yes" if project.is_active else "no"
    if project.muted_until is None or not project.is_muted(datetime.now(UTC)):
        return active
    return f"{active}, muted until {project.muted_until.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
