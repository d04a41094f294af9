"""`crawler changes`: new, removed and changed URLs of a crawl, and the diff of changed pages.

The comparison is made by `handlers/changes/diff_crawl.py`, and described by `describe_changes.py` beside it.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple
from uuid import UUID

import typer

from crawler.entrypoints.cli.backend.naming import crawl_named
from crawler.entrypoints.cli.backend.opening import open_backend
from crawler.entrypoints.cli.input.names import LATEST, CrawlName
from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import Invalid, NotFound
from crawler.lazy_module import on_first_use

if TYPE_CHECKING:
    from crawler.entrypoints.cli.backend.backend import Backend

with on_first_use():
    from rich.console import Console
    from rich.text import Text

    from crawler.domain.changes.left_out_places import left_out_sentence
    from crawler.domain.changes.removal_words import missing_words
    from crawler.domain.changes.summary import ChangedPage, CrawlChanges, MovedPage, PageText
    from crawler.domain.changes.wall_words import pages_behind, redirect_sentences, wall_sentences
    from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
    from crawler.domain.diffs.text_diff import TextDiff
    from crawler.entrypoints.cli.actions.page_changes import page_named, show_page
    from crawler.entrypoints.cli.backend.service_errors import told_as_ours
    from crawler.entrypoints.cli.screen.changed_text import show_template_edit, show_text
    from crawler.entrypoints.cli.screen.diff_lines import changed_lines
    from crawler.entrypoints.cli.screen.next_step import after_changes, command_line
    from crawler.entrypoints.cli.screen.stderr import Stderr
    from crawler.entrypoints.cli.screen.terminal import clean, console, moment, short_id
    from crawler.entrypoints.cli.screen.terminal_text import count
    from crawler.entrypoints.cli.watching.told import tell_whom, whom_told


MOST_LINES = 30
"""Changed lines that are shown for one page."""
_KINDS = (("new", "+", "green"), ("changed", "~", "yellow"), ("removed", "-", "red"))
_UNCOMPARED = {
    "not_yet": "It has not been compared: that is done when a crawl has completed.",
    "nothing_to_compare_with": "There is nothing to compare it with. Only completed crawls are compared.",
    "failed": "It could not be compared.",
}


class _PageDiff(NamedTuple):
    page: ChangedPage
    diff: TextDiff | None
    note: str | None
    """Why there is no diff, or None."""


def changes(
    named: CrawlName = LATEST,
    diffs: Annotated[int, typer.Option(metavar="N", min=0, help="Show the text of so many changed pages.")] = 10,
    no_text: Annotated[bool, typer.Option("--no-text", help="Only which pages, not what changed on them.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """New, removed and changed URLs since the crawl before, and what changed in the text of changed pages.

    A page's URL shows what changed on that page alone, all of it.
    """
    wanted = 0 if no_text else diffs
    if not as_json and _show_one_page(named):
        return
    notes: list[str] = []
    with open_backend() as backend, Stderr().status("Comparing pages …"):
        crawl = backend.get_crawl(crawl_named(backend, named))
        found = backend.changes(crawl)
        if found.summary is None and not as_json:
            by_id = str(crawl.id).startswith(named.lower())
            crawl, found, notes = _compared_one(backend, crawl, found, by_id=by_id)
        texts = backend.changed_texts(crawl, wanted, MOST_LINES) if wanted and found.changed_page_urls else ()
        shown = (found.changed_pages or ())[: wanted if as_json else 0]
        compared = [_compared(backend, crawl.project_id, page) for page in shown]
        project = None if as_json else backend.get_project(crawl.project_id)
        since = None if as_json or found.compared_to is None else _began(backend, found.compared_to)
        whom = None if as_json else whom_told(backend, crawl)
        scheduled = as_json or _is_scheduled(backend, crawl.project_id)
    if as_json:
        row = found.model_copy(update={"texts": texts}).model_dump(mode="json", by_alias=True)
        echo(json.dumps({**row, "diffs": [_row(each) for each in compared]}, indent=2))
    else:
        for note in notes:
            console().print(clean(note), style="yellow", soft_wrap=True)
        _show(console(), found, texts, since)
        tell_whom(whom)
    if project is not None:
        after_changes(crawl, project, scheduled=scheduled)


def _show_one_page(named: str) -> bool:
    """Whether a page is named, which is then shown."""
    with open_backend() as backend:
        page = page_named(backend, named)
        if page is not None:
            show_page(backend, page)
    return page is not None


def _compared_one(
    backend: "Backend", crawl: CrawlJob, found: CrawlChanges, *, by_id: bool
) -> tuple[CrawlJob, CrawlChanges, list[str]]:
    """The newest crawl that was compared, in place of one that was not, and what to say of that.

    Where the crawl is named by its id, it stays that one.
    """
    notes = []
    if crawl.status.is_over and crawl.status is not CrawlStatus.COMPLETED:
        why = f": {crawl.error_message.rstrip('.')}" if crawl.error_message else ""
        notes.append(f"The crawl of {moment(crawl.started_at)[:-3]} is {crawl.status}{why}.")
    others = (one for one in backend.list_crawls(crawl.project_id) if one.change_summary is not None)
    other = next((one for one in others if one.id != crawl.id), None)
    if other is None:
        return crawl, found, notes
    when = moment(other.started_at)[:-3]
    if by_id:
        shows = command_line("changes", short_id(other.id))
        return crawl, found, [*notes, f"'{shows}' shows the newest that was compared, of {when}."]
    other = backend.get_crawl(other.id)  # lists of crawls have only counts
    return other, backend.changes(other), [*notes, f"The newest crawl that was compared is of {when}:"]


def _began(backend: "Backend", crawl_id: UUID) -> str | None:
    try:
        with told_as_ours():
            return moment(backend.get_crawl(crawl_id).started_at)[:-3] or None
    except NotFound:  # deleted since
        return None


def _is_scheduled(backend: "Backend", project_id: UUID) -> bool:
    try:
        with told_as_ours():
            return backend.get_schedule(project_id).enabled
    except NotFound:
        return False


def _compared(backend: "Backend", project_id: UUID, page: ChangedPage) -> _PageDiff:
    """The diff of one page. One that cannot be compared gets a note, so that the others are still shown."""
    try:
        return _PageDiff(page, backend.diff(project_id, page), None)
    except (NotFound, Invalid) as exc:
        return _PageDiff(page, None, exc.message)


def _row(each: _PageDiff) -> dict[str, object]:
    told = each.diff._asdict() if each.diff else dict.fromkeys(TextDiff._fields)
    return {**each.page.model_dump(mode="json"), **told, "note": each.note}


def _show(screen: Console, found: CrawlChanges, texts: Sequence[PageText], since: str | None = None) -> None:
    if found.summary is None:
        screen.print(" ".join(filter(None, (_UNCOMPARED.get(found.state), found.reason))), soft_wrap=True)
        return
    counts = found.summary.model_dump()
    kinds = ("new", "changed", "removed", "unchanged")
    told = ", ".join(f"{counts[f'{kind}_pages']:,} {kind}" for kind in kinds)
    moved = f", {found.moved_pages:,} moved" if found.moved_pages else ""
    before = f"{since} (crawl {found.compared_to})" if since else f"crawl {found.compared_to}"
    screen.print(f"{told}{moved} since {before}.")
    if found.coverage and found.coverage.sentence:
        style = "bold yellow" if found.coverage.failing else "dim"
        screen.print(clean(found.coverage.sentence), style=style, soft_wrap=True)
    elif found.not_compared:
        why = missing_words(found.removal_counts)
        note = f"{count(found.not_compared, 'page')} could not be compared{f' ({why})' if why else ''}."
        screen.print(note, style="dim", soft_wrap=True)
    for kind, mark, colour in _KINDS:
        for url in getattr(found, f"{kind}_page_urls"):
            screen.print(Text.assemble((f"{mark} ", colour), clean(url)), soft_wrap=True)
            for other in found.also_at.get(url, ()):
                screen.print(Text.assemble("  also at ", clean(other)), style="dim", soft_wrap=True)
    for move in found.moved:
        _show_move(screen, move)
    _show_watched(screen, found)
    _show_advice(screen, found)
    _show_noise(screen, found)
    for page in texts:
        show_text(screen, page)
    rest = len(found.changed_page_urls) - len(texts)
    if texts and rest > 0:
        screen.print(f"\n… and {count(rest, 'more changed page')}; --diffs N shows more of them.", style="dim")


def _show_move(screen: Console, move: MovedPage) -> None:
    screen.print(Text.assemble(("> ", "blue"), clean(move.source), " → ", clean(move.to)), soft_wrap=True)
    for line in move.edits:
        for text in changed_lines(screen, line):
            screen.print(text, soft_wrap=True)


def _show_advice(screen: Console, found: CrawlChanges) -> None:
    for one in found.advice:
        said = (
            f"{one.sentence}{' (it matters)' if one.matters else ''}" if one.sentence else f"No advice: {one.problem}"
        )
        screen.print(Text.assemble("  ", clean(one.url), ": ", clean(said)), soft_wrap=True)


def _show_watched(screen: Console, found: CrawlChanges) -> None:
    for change in found.watched:
        screen.print(Text.assemble(("! ", "cyan"), clean(change.words), "  ", clean(change.url)), soft_wrap=True)
    if found.watch_unread:
        unread = f"{count(len(found.watch_unread), 'watched page')} could not be read by its rules."
        screen.print(unread, style="yellow", soft_wrap=True)


def _show_noise(screen: Console, found: CrawlChanges) -> None:
    for edit in found.template_changes:
        show_template_edit(screen, edit.pages, edit.removed, edit.added, own_values=edit.own_values)
    if found.by_hash_pages:
        large = f"{count(found.by_hash_pages, 'page')} too large to weigh: changed by hash."
        screen.print(large, style="yellow", soft_wrap=True)
    if found.quiet_pages:
        quiet = count(found.quiet_pages, "page")
        differ = "differs" if found.quiet_pages == 1 else "differ"
        told = f"{quiet} {differ} only in what changes by itself or in the template; --json names the rules."
        screen.print(told, style="dim", soft_wrap=True)
    if left_out := left_out_sentence(one.model_dump() for one in found.left_out_places):
        screen.print(clean(f"{left_out} 'crawler noise list' has the rules."), style="dim", soft_wrap=True)
    for told in redirect_sentences([group.model_dump() for group in found.redirected_together]):
        screen.print(clean(told), style="dim", soft_wrap=True)
    for note in (each.model_dump() for each in found.wall_notes):
        for told in (*wall_sentences([note]), *(f"  {page}" for page in pages_behind(note))):
            screen.print(clean(told), style="dim", soft_wrap=True)
