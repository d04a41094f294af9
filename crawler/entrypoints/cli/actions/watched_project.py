"""The project of a page or site that is to be watched: the one that 'crawler run' made of its URL, or a new one.

What cannot be watched is left as it was: a new project is deleted, a known one gets its settings back.
"""

import time
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlStatus
from crawler.domain.crawls.project import Project, name_after
from crawler.entrypoints.cli.backend.service_errors import told_as_ours
from crawler.entrypoints.cli.screen.next_step import command_line
from crawler.errors import Conflict, CrawlerError, NotFound

if TYPE_CHECKING:
    from crawler.entrypoints.cli.backend.backend import Backend

FIRST_SECONDS = 10.0
"""How long the first page is waited for, so that a wrong address is said at once."""
LOOK_SECONDS = 0.2
MOST_NAMES = 6
_NOT_CHOSEN = frozenset({"learned_params"})


class Chosen(NamedTuple):
    project: Project
    is_new: bool
    note: str
    """What to say of the project; empty if nothing is unexpected."""


def choose_project(backend: "Backend", href: str, name: str | None, *, site: bool) -> Chosen:
    """Raises Conflict if the address is watched already. `site`: all pages of its site are wanted."""
    short = href.partition("://")[2].rstrip("/")
    called = name or name_after(short)
    known = () if name else backend.list_projects(name_after(href))
    ran = next((one for one in known if one.website_url == href and one.name == name_after(href)), None)
    if ran is None:
        return Chosen(_create(backend, called, href, site=site), is_new=True, note="")
    if _has_schedule(backend, ran.id):
        alone = f", as this page alone; {whole_site(ran.name)}" if site and ran.settings.max_pages == 1 else ""
        raise Conflict(f"The project {ran.name} is watched already{alone}. {_instead(ran.name)}")
    note = f"It goes on in the project {ran.name}, which 'crawler run' made: what that crawled is compared with."
    if own := own_settings(ran.settings):
        note += f" It keeps its settings ({own})."
    return Chosen(ran, is_new=False, note=note)


def own_settings(settings: CrawlConfig) -> str:
    """The names of settings that somebody chose; of many, some."""
    usual, chosen = CrawlConfig().model_dump(), settings.model_dump()
    names = sorted(name for name, value in chosen.items() if value != usual[name] and name not in _NOT_CHOSEN)
    more = ("…",) if len(names) > MOST_NAMES else ()
    return ", ".join((*names[:MOST_NAMES], *more))


def take_back(backend: "Backend", chosen: Chosen) -> None:
    """Undo what was set, as far as anything was."""
    if chosen.is_new:
        backend.delete_project(chosen.project.id)
        return
    backend.change_project(chosen.project.id, {"settings": chosen.project.settings.model_dump(mode="json")})
    if _has_schedule(backend, chosen.project.id):
        backend.change_schedule(chosen.project.id, {"enabled": False})


def first_look(backend: "Backend", crawl_id: UUID) -> CrawlJob:
    """The crawl when its first page is there, or after a while. Raises if it failed."""
    deadline = time.monotonic() + FIRST_SECONDS
    crawl = backend.get_crawl(crawl_id)
    while not crawl.status.is_over and not crawl.pages_crawled and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
        crawl = backend.get_crawl(crawl_id)
    if crawl.status is CrawlStatus.FAILED:
        why = (crawl.error_message or "Its first crawl failed").rstrip(".")
        raise CrawlerError(f"{why}. So it is not watched; correct the address, or try again when it answers.")
    return crawl


def whole_site(name: str) -> str:
    """How a project that is one page becomes its whole site."""
    return f"'{command_line('project', 'set', name, '--site')}' means all its pages"


def _create(backend: "Backend", name: str, href: str, *, site: bool) -> Project:
    try:
        with told_as_ours():
            return backend.create_project(name, href)
    except Conflict as exc:
        known = (one for one in backend.list_projects(name) if one.name == name and one.settings.max_pages == 1)
        alone = f" It is one page alone; {whole_site(name)}." if site and any(known) else ""
        raise Conflict(f"{exc.message}{alone} {_instead(name)}") from exc


def _instead(name: str) -> str:
    change, now = command_line("schedule", "set", name), command_line("schedule", "run-now", name)
    return f"'{change}' changes how it is watched, '{now}' checks it now."


def _has_schedule(backend: "Backend", project_id: UUID) -> bool:
    try:
        with told_as_ours():
            return backend.get_schedule(project_id).enabled
    except NotFound:
        return False
