"""What changed on one page, for `crawler changes` with the page's URL."""

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from rich.console import Console

from crawler.domain.changes.summary import MOST_TEXT_LINES, MOST_TEXT_PAGES, CrawlChanges
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.urls.typed_url import has_scheme, typed_page
from crawler.entrypoints.cli.input.names import meant
from crawler.entrypoints.cli.screen.changed_text import show_text
from crawler.entrypoints.cli.screen.next_step import command_line
from crawler.entrypoints.cli.screen.terminal import clean, console, moment

if TYPE_CHECKING:
    from crawler.domain.crawls.project import Project
    from crawler.entrypoints.cli.backend.backend import Backend

MOST_PROJECTS = 20
"""Projects of the page's host that are looked through."""


class PageOf(NamedTuple):
    url: str
    project: "Project"
    crawl: CrawlJob
    """The newest that was compared and names the page, else the newest that was compared."""
    changes: CrawlChanges


def page_named(backend: "Backend", typed: str) -> PageOf | None:
    """The page that is meant, where a URL is typed that is no project's own."""
    if not has_scheme(typed) and "/" not in typed.strip("/"):
        return None
    projects = backend.list_projects()
    if meant(typed, projects):
        return None
    homes = [(one, one.website_url) for one in reversed(projects) if one.website_url]
    of_host = [(one, home) for one, home in homes if _host(typed_page(typed, home)) == _host(home)]
    found = []
    for project, home in of_host[:MOST_PROJECTS]:
        compared = (one for one in backend.list_crawls(project.id) if one.change_summary is not None)
        if (listed := next(compared, None)) is not None:
            crawl = backend.get_crawl(listed.id)  # lists of crawls have only counts
            found.append(PageOf(typed_page(typed, home), project, crawl, backend.changes(crawl)))
    return next((one for one in found if _kind(one)), found[0] if found else None)


def show_page(backend: "Backend", page: PageOf) -> None:
    screen, kind, since = console(), _kind(page), moment(page.crawl.started_at)[:-3]
    screen.print(clean(page.url), style="bold", soft_wrap=True)
    said = {"new": "is new", "changed": "changed", "removed": "was removed"}.get(kind, "did not change")
    screen.print(clean(f"It {said} in the crawl of {since} ({page.project.name})."), soft_wrap=True)
    if not kind:
        why = command_line("explain", page.project.name, page.url)
        screen.print(clean(f"'{why}' says what became of it there."), style="dim", soft_wrap=True)
    elif kind == "changed":
        _show_whole(screen, backend, page)


def _show_whole(screen: Console, backend: "Backend", page: PageOf) -> None:
    texts = backend.changed_texts(page.crawl, MOST_TEXT_PAGES, MOST_TEXT_LINES)
    text = next((one for one in texts if one.url == page.url), None)
    if text is not None and not text.more:
        show_text(screen, text, title=False)
        return
    changed = next(one for one in page.changes.changed_pages or () if one.url == page.url)
    for line in backend.diff(page.project.id, changed).unified.splitlines():
        screen.print(clean(line), style={"+": "green", "-": "red"}.get(line[:1]), soft_wrap=True)


def _kind(page: PageOf) -> str:
    """new, changed or removed; empty for what the comparison does not name."""
    kinds = ("new", "changed", "removed")
    return next((kind for kind in kinds if page.url in getattr(page.changes, f"{kind}_page_urls")), "")


def _host(url: str) -> str:
    return urlsplit(url).netloc.lower().removeprefix("www.")
