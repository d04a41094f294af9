"""Runs one crawl on this machine and watches it until its summary, for `crawler run`."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from crawler.adapters.pages.export_files import ExportFailed, ExportPlace
from crawler.bootstrap import App
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, CrawlType
from crawler.domain.crawls.project import BUILT_IN, Project, checked_name
from crawler.domain.exports.files import ExportFormat
from crawler.domain.hosts.credentials import CredentialKind
from crawler.entrypoints.cli.backend.session import session
from crawler.entrypoints.cli.error_exit import quiet_logs
from crawler.entrypoints.cli.input.option_names import told_in_options
from crawler.entrypoints.cli.input.run_options import Order
from crawler.entrypoints.cli.screen.changed_text import show_template_edit, show_text
from crawler.entrypoints.cli.screen.closing_words import check_completed, show_summary
from crawler.entrypoints.cli.screen.crawl_snapshot import SnapshotReader
from crawler.entrypoints.cli.screen.live_view import LiveView
from crawler.entrypoints.cli.screen.next_step import after_run
from crawler.entrypoints.cli.screen.scope_words import scope_words
from crawler.entrypoints.cli.screen.stderr import Stderr
from crawler.entrypoints.cli.screen.streams import echo
from crawler.entrypoints.cli.screen.summary import summary
from crawler.entrypoints.cli.screen.terminal import console, short_id
from crawler.entrypoints.cli.screen.terminal_text import count
from crawler.entrypoints.cli.watching.comparison_wait import await_comparison, say_not_yet
from crawler.entrypoints.cli.watching.early_start import STOP_SECONDS, workers_begun
from crawler.errors import CrawlerError, CrawlRunning, DatabaseContended, InvalidConfig, InvalidTransition, NotFound
from crawler.lazy_module import LazyModule
from crawler.supervisor import Supervisor

if TYPE_CHECKING:
    from crawler.entrypoints.cli.backend import local_exports
else:
    local_exports = LazyModule("crawler.entrypoints.cli.backend.local_exports")

LOOK_SECONDS = 0.05
DRAW_SECONDS = 0.25
SHOWN_PAGES = 3
SHOWN_LINES = 5
"""Changed pages whose first changed lines are shown, and how many of these."""
RUN_SECONDS = 3600
"""The default time limit of a crawl: an hour, because a person waits. A scheduled crawl has a day."""
MOST_OF_ONE_URL = 1000
"""Projects that have a URL in their name or address, among which the one of this very address is looked for."""


def watch_crawl(order: Order, fetchers: int, *, render: bool, as_json: bool) -> int:
    """Run and watch the crawl. Returns the exit status."""
    quiet_logs()
    with session() as tools, workers_begun(tools.settings, fetchers, render=render) as supervisor:
        try:
            with _project(tools, order) as project:
                crawl = _begin(tools, project, order)
                crawl = _watch(tools, supervisor, crawl, _title(crawl, order), quiet=as_json)
                return _conclude(tools, crawl, order, as_json=as_json)
        finally:
            supervisor.stop(STOP_SECONDS, hurry=lambda: _is_nothing_to_lose(tools))


def _is_nothing_to_lose(tools: App) -> bool:
    """Whether workers may be killed without waiting: no open crawl has requests in progress."""
    try:
        standing = [tools.frontier.stats(crawl_id) for crawl_id in tools.frontier.open_crawls()]
    except CrawlerError:
        return False
    return all(stats is None or (stats.paused and not stats.leased) for stats in standing)


@contextmanager
def _project(tools: App, order: Order) -> Iterator[Project]:
    """The project of this name. One that is made now is forgotten if its first crawl cannot even begin."""
    new = Project.create(name=checked_name(order.project), website_url=order.seed.href, now=tools.clock())
    project = _known(tools, order, new.name) or tools.store.add_project(new)
    try:
        for name, value in (order.headers or {}).items():
            _keep_header(tools, project, order.seed.origin, name, value)
        yield project
    except CrawlerError:
        if project.id == new.id and not _has_begun(tools, project):
            tools.projects.manage.delete(project.id)
        raise


def _known(tools: App, order: Order, name: str) -> Project | None:
    """The project of this name, or the one that was made for this URL in another way, such as 'crawler watch'."""
    named = tools.store.find_project(name)
    found = named or _watched(tools, order)
    if found is None or not order.named_by_url:
        return found
    alone = ", which is this page alone" if found.settings.max_pages == 1 else ""
    if alone or not named:
        _say(f"This is a crawl of the project {found.name}{alone}; --project NAME crawls it as another one.")
    return found


def _watched(tools: App, order: Order) -> Project | None:
    """The oldest project of this URL, if the project's name was not given."""
    if not order.named_by_url:
        return None
    known = tools.store.list_projects(limit=MOST_OF_ONE_URL, search=order.seed.href)
    same = [one for one in known if one.website_url == order.seed.href and one.id not in BUILT_IN]
    return min(same, key=lambda one: one.id, default=None)


def _has_begun(tools: App, project: Project) -> bool:
    crawl = tools.store.find_latest_crawl(project.id)
    return crawl is not None and (crawl.status is not CrawlStatus.FAILED or crawl.pages_crawled > 0)


def _keep_header(tools: App, project: Project, origin: str, name: str, value: str) -> None:
    if value:
        tools.projects.credentials.set(project.id, origin, CredentialKind.HEADER, name, value)
        return
    with suppress(NotFound):  # there is nothing to forget
        tools.projects.credentials.remove(project.id, origin, CredentialKind.HEADER, name)


def _begin(tools: App, project: Project, order: Order) -> CrawlJob:
    """Start a new crawl, or continue one of this project that was interrupted."""
    try:
        return _start(tools, project, order)
    except CrawlRunning:
        running = tools.store.find_running(project.id)
        return _join(tools, running) if running else _start(tools, project, order)


def _start(tools: App, project: Project, order: Order) -> CrawlJob:
    try:
        crawl = tools.crawls.start(
            project.id,
            seed_url=order.seed.href,
            config=_config(tools, project, order),
            urls=order.urls,
            opened=order.opened,
            max_seconds=RUN_SECONDS,
        )
    except InvalidConfig as exc:
        raise told_in_options(exc) from exc
    # Seed it here while the workers are still starting; the coordinator then finds it done.
    return tools.crawls.seed(crawl.id)


def _config(tools: App, project: Project, order: Order) -> dict[str, Any]:
    """The options of this crawl. From the second on it learns noise, as scheduled crawls do.

    The first has nothing to compare with, and is not made to wait for second looks. Those of the second are at pages
    that seem changed, just where they are needed.
    """
    learns = project.settings.learn_noise is None and not order.urls and tools.store.has_full_crawl(project.id)
    return {**order.config, **({"learn_noise": True} if learns else {})}


def _join(tools: App, running: CrawlJob) -> CrawlJob:
    if not running.paused:
        _say("A crawl of this project is already under way; this shows it, with the options it was started with.")
        return running
    _say("Going on with the paused crawl, with the options it was started with.")
    return tools.crawls.control.resume(running.id)


def _title(crawl: CrawlJob, order: Order) -> str:
    """The heading: a crawl that is continued may have another URL than the one that was asked for."""
    return order.title if crawl.crawl_type is CrawlType.FETCH_ONLY else crawl.seed_url


def _watch(tools: App, supervisor: Supervisor, crawl: CrawlJob, title: str, *, quiet: bool) -> CrawlJob:
    """Watch until the crawl is over and compared with the one before, or is paused. Ctrl-C pauses it."""
    lookout = SnapshotReader(tools, crawl.id)
    try:
        with LiveView(title, quiet=quiet) as view:
            if words := scope_words(crawl):
                view.note(words)
            draw_at = 0.0
            while not crawl.status.is_over and not crawl.paused:
                time.sleep(LOOK_SECONDS)
                look_after(tools, supervisor)
                crawl = tools.store.get_crawl(crawl.id)
                if time.monotonic() >= draw_at or crawl.status.is_over:
                    draw_at = time.monotonic() + DRAW_SECONDS
                    view.show(lookout.glance(crawl))
            is_compared = _await_comparison(tools, supervisor, crawl, view)
        if not is_compared:
            say_not_yet(crawl)
        return tools.store.get_crawl(crawl.id)
    except (KeyboardInterrupt, BrokenPipeError):
        # A closed terminal or pipe stops the crawl as Ctrl-C does.
        with suppress(InvalidTransition):
            crawl = tools.crawls.control.pause(crawl.id)
        with suppress(BrokenPipeError):
            if crawl.status.is_over:
                say_not_yet(crawl)
            else:
                _say(f"Paused after {count(crawl.pages_crawled, 'page')}; the same command goes on where it stopped.")
        raise KeyboardInterrupt from None


def look_after(tools: App, supervisor: Supervisor) -> None:
    supervisor.poll()
    if tools.frontier.acquire_reconcile(tools.settings.reconcile_seconds):
        with suppress(DatabaseContended):  # the others go on, and the next turn looks again
            tools.crawls.reconcile()


def _await_comparison(tools: App, supervisor: Supervisor, crawl: CrawlJob, view: LiveView) -> bool:
    def pause() -> None:
        time.sleep(LOOK_SECONDS / 2)
        look_after(tools, supervisor)

    return await_comparison(crawl, view, lambda: tools.store.is_diffed(crawl.id), pause)


def _conclude(tools: App, crawl: CrawlJob, order: Order, *, as_json: bool) -> int:
    if not crawl.status.is_over:
        _say(
            f"Somebody else paused the crawl after {count(crawl.pages_crawled, 'page')}; the same command, or "
            "'crawler crawl resume latest', goes on where it stopped."
        )
        return 1
    if not as_json:
        show_summary(tools, crawl, _title(crawl, order))
        _show_words(tools, crawl)
    try:
        if order.export_to is not None:
            _export(tools, crawl, order.export_to, order.formats)
    finally:
        if as_json:
            echo(json.dumps(summary(crawl)))
    check_completed(tools, crawl)
    if not as_json:
        after_run(crawl)
    return 0


def _show_words(tools: App, crawl: CrawlJob) -> None:
    """The first changed lines; the rest is for 'crawler changes'."""
    found = crawl.change_summary or {}
    if found.get("changed_page_urls"):
        for page in tools.changes.describe.texts(crawl, SHOWN_PAGES, SHOWN_LINES):
            show_text(console(), page)
    for edit in found.get("template_changes", ())[:SHOWN_PAGES]:
        sides = edit["removed"], edit["added"]
        show_template_edit(console(), edit["pages"], *sides, own_values=edit.get("own_values", False))


def _export(tools: App, crawl: CrawlJob, place: ExportPlace, formats: Sequence[ExportFormat]) -> None:
    try:
        local_exports.tell_files(local_exports.write_exports(tools, crawl.id, place, formats))
    except ExportFailed as exc:
        again = f"The crawl is stored: 'crawler export {short_id(crawl.id)} --output DIR' writes it elsewhere."
        raise ExportFailed(f"{exc.message} {again}") from exc


def _say(sentence: str) -> None:
    Stderr().print(sentence, style="yellow")
