"""Finds the project, crawl, rule or key that somebody names: on this machine's servers, and at a service.

How things are named: `entrypoints/cli/input/names.py`.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from crawler.domain.ids import ids_that_begin
from crawler.entrypoints.cli.backend.opening import open_backend
from crawler.entrypoints.cli.input.names import LATEST, SHOWN, listed, meant, similar, whole_id
from crawler.errors import Invalid, NotFound
from crawler.lazy_module import on_first_use

with on_first_use():
    from crawler.entrypoints.cli.screen.next_step import command_line

if TYPE_CHECKING:
    from crawler.domain.crawls.crawl import CrawlJob
    from crawler.domain.crawls.project import Project
    from crawler.entrypoints.cli.backend.backend import Backend


class Listed(Protocol):
    @property
    def id(self) -> UUID: ...


_NO_PROJECT = "There is no project yet; 'crawler run URL' or 'crawler project create NAME URL' makes one."


@contextmanager
def open_project(name: str) -> "Iterator[tuple[Backend, UUID]]":
    """A backend, and the id of the project that is named."""
    with open_backend() as backend:
        yield backend, project_named(backend, name)


@contextmanager
def open_crawl(name: str) -> "Iterator[tuple[Backend, UUID]]":
    """A backend, and the id of the crawl that is named."""
    with open_backend() as backend:
        yield backend, crawl_named(backend, name)


def project_named(backend: "Backend", name: str) -> UUID:
    if (whole := whole_id(name)) is not None:
        return whole
    if name == LATEST:
        return _latest_project(backend)
    found = meant(name, backend.list_projects(name, built_in=True))
    if not found:
        raise NotFound(f"There is no project {name!r}; {_others(backend, name)}")
    return _only(name, found).id


def named_or_none(backend: "Backend", name: str | None) -> UUID | None:
    return None if name is None else project_named(backend, name)


def id_named(typed: str, what: str, listed_by: str, ones: Iterable[Listed]) -> UUID:
    """The id that begins so, of things that a command lists; where these have names, of the one so called."""
    if (whole := whole_id(typed)) is not None:
        return whole
    known = list(ones)
    so_called = [one.id for one in known if getattr(one, "name", None) == typed]
    found = so_called or [one.id for one in known if str(one.id).startswith(typed.lower())]
    if not found or not typed:
        raise NotFound(f"There is no {what} {typed!r}; '{listed_by}' shows them.")
    if len(found) > 1:
        raise _ambiguous(typed, [str(one) for one in found])
    return found[0]


def crawl_named(backend: "Backend", name: str) -> UUID:
    if (whole := whole_id(name)) is not None:
        return whole
    if name == LATEST:
        return _newest(backend.newest_crawls(1), "There is no crawl yet; 'crawler run URL' begins one.").id
    projects = meant(name, backend.list_projects(name, built_in=True))
    crawls = backend.newest_crawls(SHOWN + 1, begins=name) if ids_that_begin(name) else []
    if not projects and not crawls:
        raise NotFound(f"There is no crawl and no project {name!r}; {_others(backend, name)}")
    if crawls and (len(crawls) > 1 or projects):
        raise _ambiguous(name, [*_labels(projects), *(f"crawl {crawl.id}" for crawl in crawls)])
    if crawls:
        return crawls[0].id
    project = _only(name, projects)
    begin = command_line("schedule", "run-now", project.name)
    never = f"{project.name!r} has not been crawled yet; '{begin}' begins it."
    return _newest(backend.newest_crawls(1, project_id=project.id), never).id


def _latest_project(backend: "Backend") -> UUID:
    """The one that was made or crawled last; ids grow with time."""
    made = [project.id for project in backend.list_projects()]
    crawled = backend.newest_crawls(1)
    if not made:
        raise NotFound(_NO_PROJECT)
    if crawled and crawled[0].id > max(made):
        return crawled[0].project_id
    return max(made)


def _newest(crawls: "list[CrawlJob]", if_none: str) -> "CrawlJob":
    if not crawls:
        raise NotFound(if_none)
    return crawls[0]


def _only(name: str, projects: "list[Project]") -> "Project":
    if len(projects) > 1:
        raise _ambiguous(name, _labels(projects))
    return projects[0]


def _ambiguous(name: str, candidates: list[str]) -> Invalid:
    return Invalid(f"{name!r} may be {listed(candidates, 'or')}; write more of it.")


def _others(backend: "Backend", name: str) -> str:
    """What there is instead, for the end of a sentence."""
    if get_close_matches(name.lower(), [LATEST], cutoff=0.75):
        return f"did you mean {LATEST!r}?"
    projects = backend.list_projects()
    if not projects:
        return _NO_PROJECT[0].lower() + _NO_PROJECT[1:]
    if close := similar(name, projects):
        return f"did you mean {listed([project.name for project in close], 'or')}?"
    there = listed([project.name for project in reversed(projects)])
    return f"there {'is' if len(projects) == 1 else 'are'} {there}."


def _labels(projects: "list[Project]") -> list[str]:
    """Names with the beginning of their ids: one of both can be typed."""
    return [f"{project.name} ({str(project.id)[:18]})" for project in projects]
