"""`crawler report`: problems a crawl found on its site, such as broken links and missing titles.

Made by `handlers/crawls/report_crawl.py`; what counts as a finding: `adapters/reports/queries.py`.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from crawler.domain.exports.finding_kinds import FindingKind
from crawler.entrypoints.cli.backend.naming import open_crawl
from crawler.entrypoints.cli.input.names import LATEST, CrawlName
from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import Invalid
from crawler.lazy_module import on_first_use

with on_first_use():
    from rich.console import Console
    from rich.padding import Padding

    from crawler.adapters.pages.export_files import write_whole
    from crawler.domain.exports.reports import Finding, KindReport, Report, finding_kinds
    from crawler.entrypoints.cli.screen.next_step import suggest
    from crawler.entrypoints.cli.screen.stderr import Stderr
    from crawler.entrypoints.cli.screen.streams import print_bytes
    from crawler.entrypoints.cli.screen.terminal import clean, console, print_rows
    from crawler.entrypoints.cli.screen.terminal_text import duration, size


SHOWN_SOURCES = 3


def report(
    named: CrawlName = LATEST,
    kinds: Annotated[
        list[str], typer.Option("--kind", metavar="NAME", help=f"{', '.join(FindingKind)}; may be repeated.")
    ] = [],  # noqa: B006 - Typer shows it as the default and never changes it
    csv: Annotated[str | None, typer.Option(metavar="FILE", help="All findings as CSV; - is standard output.")] = None,
    new: Annotated[bool, typer.Option("--new", help="Only what the crawl before did not have.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Broken links, redirects, titles, descriptions, canonical and hreflang problems, slow and large pages, orphans."""
    if csv is not None and as_json:
        raise Invalid("Choose --csv or --json, not both.")
    chosen = finding_kinds(kinds)
    with open_crawl(named) as (backend, crawl_id), ExitStack() as held:
        with Stderr().status("Looking through the crawl …"):
            if csv is None:
                found = backend.report(crawl_id, chosen, new_only=new)
            else:
                pieces = held.enter_context(backend.report_csv(crawl_id, chosen, new_only=new))
        if csv is not None:
            _write_csv(pieces, csv)
            return
        alone = "" if found.compared_to or as_json else _ALONE.get(backend.get_crawl(crawl_id).status, _NO_EARLIER)
    if as_json:
        echo(found.model_dump_json(indent=2))
    else:
        _show(found, alone, new_only=new)
        suggest("export", named, "--format", "markdown", "--output", "DIR", to="its pages as files")


def _write_csv(pieces: Iterable[bytes], name: str) -> None:
    if name != "-":
        write_whole(Path(name), pieces)
        Stderr().print(f"Wrote {name}", soft_wrap=True)
        return
    for piece in pieces:
        print_bytes(piece)


_NO_OTHER = "this is what it saw until then, compared with no other crawl."
_NO_EARLIER = "There is no earlier crawl to compare it with."
_ALONE = {"cancelled": f"The crawl was cancelled: {_NO_OTHER}", "failed": f"The crawl failed: {_NO_OTHER}"}


def _show(found: Report, alone: str, *, new_only: bool) -> None:
    screen = console()
    rows = [(kind.heading, f"{kind.found:,}", "" if kind.new is None else f"{kind.new:,}") for kind in found.kinds]
    print_rows(screen, ("", "found", "new"), rows, right=("found", "new"))
    for kind in found.kinds:
        if kind.first:
            _show_kind(screen, kind, new_only=new_only)
    for note in dict.fromkeys(kind.note for kind in found.kinds if kind.note):
        screen.print(note, style="dim")
    if found.compared_to is None:
        screen.print(alone, style="dim")
    else:
        screen.print(f"New is what crawl {found.compared_to} did not have.", style="dim")


def _show_kind(screen: Console, kind: KindReport, *, new_only: bool) -> None:
    screen.print()
    screen.print(kind.heading, style="bold")
    for finding in kind.first:
        screen.print(clean(finding.url), soft_wrap=True)
        for words in _lines(finding):
            screen.print(Padding(clean(words), (0, 0, 0, 2), expand=False))
    rest = ((kind.new or 0) if new_only else kind.found) - len(kind.first)
    if rest > 0:
        screen.print(f"… and {rest:,} more: --kind {kind.kind} --csv FILE writes them all.", style="dim")


def _lines(finding: Finding) -> Iterator[str]:
    measure = _measure(finding)
    new = " (new)" if finding.is_new else ""
    yield f"{finding.meaning}{f' {measure}.' if measure else ''}{new}"
    if finding.text:
        yield finding.text
    for related in finding.related[:SHOWN_SOURCES]:
        yield f"{_RELATION.get(finding.kind, 'also')} {related.url}{f' ({related.text})' if related.text else ''}"
    if finding.related_count > SHOWN_SOURCES:
        yield f"… and {finding.related_count - SHOWN_SOURCES:,} more"


_RELATION = {
    FindingKind.BROKEN_LINK: "linked from",
    FindingKind.REDIRECT: "linked from",
    FindingKind.CANONICAL: "canonical",
    FindingKind.HREFLANG: "translation",
}


def _measure(finding: Finding) -> str:
    if finding.value is None:
        return ""
    match finding.kind:
        case FindingKind.BROKEN_LINK:
            return f"Answer {finding.value}"
        case FindingKind.SLOW:
            return duration(finding.value / 1000)
        case FindingKind.LARGE:
            return size(finding.value)
    return ""
