"""`crawler changes`: what a crawl found changed, URL by URL and word by word."""

import json
from typing import Annotated, NamedTuple
from uuid import UUID

import typer
from rich.console import Console
from rich.text import Text

from crawler.domain.crawl_changes import ChangedPage, Compared, CrawlChanges
from crawler.domain.removal_words import missing_words
from crawler.domain.text_diff import TextDiff
from crawler.entrypoints.cli.desk import Desk, open_desk
from crawler.entrypoints.cli.diff_lines import coloured
from crawler.entrypoints.cli.stderr import Stderr
from crawler.entrypoints.cli.terminal import clean, console
from crawler.entrypoints.cli.terminal_text import count
from crawler.errors import Invalid, NotFound

LONGEST_DIFF = 60
"""Lines of one page that are shown; --json has them all."""
_KINDS = (("new", "+", "green"), ("changed", "~", "yellow"), ("removed", "-", "red"))
_UNCOMPARED = {
    Compared.NOT_YET: "It has not been compared: that is done when a crawl has completed.",
    Compared.NOTHING: "There is nothing to compare it with.",
}


class _PageDiff(NamedTuple):
    page: ChangedPage
    diff: TextDiff | None
    note: str | None
    """Why there is no diff."""


def changes(
    crawl_id: Annotated[UUID, typer.Argument(metavar="CRAWL_ID", help="From 'crawler crawl list'.")],
    diffs: Annotated[int, typer.Option(metavar="N", min=0, help="Show the text of so many changed pages.")] = 10,
    no_text: Annotated[bool, typer.Option("--no-text", help="Only which pages, not what changed on them.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """New, removed and changed URLs since the crawl before, and what changed in the text of changed pages."""
    with open_desk() as desk, Stderr().status("Comparing pages …"):
        crawl = desk.get_crawl(crawl_id)
        found = desk.changes(crawl)
        shown = (found.changed_pages or ())[: 0 if no_text else diffs]
        compared = [_compared(desk, crawl.project_id, page) for page in shown]
    if as_json:
        row = found.model_dump(mode="json", by_alias=True)
        typer.echo(json.dumps({**row, "diffs": [_row(each) for each in compared]}, indent=2))
    else:
        _show(console(), found, compared)


def _compared(desk: Desk, project_id: UUID, page: ChangedPage) -> _PageDiff:
    """One page that cannot be compared hides none of the others."""
    try:
        return _PageDiff(page, desk.diff(project_id, page), None)
    except (NotFound, Invalid) as exc:
        return _PageDiff(page, None, exc.message)


def _row(each: _PageDiff) -> dict[str, object]:
    told = each.diff._asdict() if each.diff else dict.fromkeys(TextDiff._fields)
    return {**each.page.model_dump(mode="json"), **told, "note": each.note}


def _show(screen: Console, found: CrawlChanges, compared: list[_PageDiff]) -> None:
    if found.summary is None:
        screen.print(_UNCOMPARED.get(found.state, ""))
        return
    counts = found.summary.model_dump()
    kinds = ("new", "changed", "removed", "unchanged")
    told = ", ".join(f"{counts[f'{kind}_pages']:,} {kind}" for kind in kinds)
    moved = f", {found.moved_pages:,} moved" if found.moved_pages else ""
    screen.print(f"{told}{moved} since crawl {found.compared_to}.", soft_wrap=True)
    if found.not_compared:
        why = missing_words(found.removal_counts)
        note = f"{count(found.not_compared, 'page')} could not be compared{f' ({why})' if why else ''}."
        screen.print(note, style="dim", soft_wrap=True)
    for kind, mark, colour in _KINDS:
        for url in getattr(found, f"{kind}_page_urls"):
            screen.print(Text.assemble((f"{mark} ", colour), clean(url)), soft_wrap=True)
    for move in found.moved:
        screen.print(Text.assemble(("> ", "blue"), clean(move.source), " → ", clean(move.to)), soft_wrap=True)
    _show_noise(screen, found)
    for each in compared:
        _show_diff(screen, each)
    rest = len(found.changed_page_urls) - len(compared)
    if compared and rest > 0:
        screen.print(f"\n… and {count(rest, 'more changed page')}; --diffs N shows more of them.", style="dim")


def _show_noise(screen: Console, found: CrawlChanges) -> None:
    for edit in found.template_changes:
        sides = (clean(f"“{text}”") if text else Text("nothing") for text in (edit.removed, edit.added))
        became = Text(" → ").join(sides)
        screen.print(Text.assemble(("* ", "magenta"), f"on {count(edit.pages, 'page')}: ", became), soft_wrap=True)
    if found.quiet_pages:
        quiet = count(found.quiet_pages, "page")
        told = f"{quiet} differ only in what changes by itself or in the template; --json names the rules."
        screen.print(told, style="dim", soft_wrap=True)
    if found.walls:
        told = f"{count(len(found.walls), 'page')} came up as an error, a wall against robots or empty, now or before."
        screen.print(told, style="dim", soft_wrap=True)


def _show_diff(screen: Console, each: _PageDiff) -> None:
    screen.print()
    screen.print(clean(each.page.url), style="bold", soft_wrap=True)
    if each.diff is None:
        screen.print(clean(each.note), style="dim")
        return
    lines = each.diff.unified.splitlines()
    if not lines:
        screen.print(
            "Its main text is the same; its title, description or heading is not, or what stands around the text.",
            style="dim",
        )
    for line in coloured(lines[:LONGEST_DIFF]):
        screen.print(line, soft_wrap=True)
    if len(lines) > LONGEST_DIFF:
        screen.print(f"… and {count(len(lines) - LONGEST_DIFF, 'more line')}", style="dim")
