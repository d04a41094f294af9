"""`crawler queue`: the acquisition queue, URLs of many sites that are fetched in batches.

Decided in `handlers/acquisition/fill_queue.py` and `run_queue.py` beside it; lists and bulk changes in
`adapters/acquisition/queue_store.py`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from crawler.domain.acquisition.entry_choices import DEFAULT_PRIORITY, LAST_PRIORITY, BulkAction, EntryStatus, Sort
from crawler.entrypoints.cli.backend.naming import named_or_none
from crawler.entrypoints.cli.backend.opening import open_backend
from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import Invalid
from crawler.lazy_module import on_first_use

with on_first_use():
    import orjson
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.text import Text

    from crawler.adapters.pages.export_files import write_whole
    from crawler.domain.acquisition.entries import Chosen, ImportReport, QueueEntry, QueueFilter
    from crawler.entrypoints.cli.screen.stderr import Stderr
    from crawler.entrypoints.cli.screen.streams import print_bytes
    from crawler.entrypoints.cli.screen.terminal import clean, console, moment, print_pairs, print_rows
    from crawler.entrypoints.cli.screen.terminal_text import count


queue = typer.Typer(no_args_is_help=True)

CHUNK_BYTES = 64 * 1024
SHOWN_PROBLEMS = 20
SHOWN_TEXT = 2000
HEADINGS = ("id", "url", "category", "priority", "status", "tries", "last", "error")

AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]
Project = Annotated[
    str | None, typer.Option("--project", metavar="PROJECT", help="Whose settings hold; else 'acquisition'.")
]
Status = Annotated[EntryStatus | None, typer.Option(help="Only those in this state.")]
Category = Annotated[str | None, typer.Option(metavar="NAME", help="Only those of this category.")]
Active = Annotated[bool | None, typer.Option("--active/--inactive", help="Only those that are (not) to be fetched.")]
Host = Annotated[str | None, typer.Option(metavar="HOST", help="Only those of this host.")]
Prefix = Annotated[str | None, typer.Option(metavar="URL", help="Only those whose URL begins so.")]
Ids = Annotated[list[int] | None, typer.Argument(metavar="[ID]…", help="From 'crawler queue list'.")]
Everything = Annotated[bool, typer.Option("--all", help="All of them.")]


@queue.command()
def add(
    urls: Annotated[list[str], typer.Argument(metavar="URL…")],
    category: Annotated[str | None, typer.Option(metavar="NAME", help="What kind of place it is.")] = None,
    priority: Annotated[int, typer.Option(min=0, max=LAST_PRIORITY, help="Lower first.")] = DEFAULT_PRIORITY,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Add URLs. One that is there already stays as it is."""
    with open_backend() as backend:
        project_id = named_or_none(backend, project)
        report = backend.queue.add(urls, category=category, priority=priority, project_id=project_id)
    if report.problems and len(urls) == 1:
        raise Invalid(report.problems[0].reason)
    _tell(report, as_json=as_json)


@queue.command("import")
def import_file(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV with the columns url, category and priority; or .warc(.gz).")
    ],
    project: Project = None,
    category: Annotated[str | None, typer.Option(metavar="NAME", help="Of an archive's URLs.")] = None,
    priority: Annotated[int, typer.Option(min=0, max=LAST_PRIORITY, help="Of an archive's URLs.")] = DEFAULT_PRIORITY,
    as_json: AsJson = False,
) -> None:
    """Add the URLs of a CSV file or a web archive. What cannot be read is told by line or record; the rest lands."""
    with open_backend() as backend, _pieces(file) as pieces:
        project_id = named_or_none(backend, project)
        report = backend.queue.take_in(pieces, project_id, category=category, priority=priority)
    _tell(report, as_json=as_json)


@queue.command()
def export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="- is standard output.")] = "-",
    extractions: Annotated[
        bool, typer.Option("--extractions", help="What was read from their pages instead: .csv, or JSON lines.")
    ] = False,
    status: Status = None,
    category: Category = None,
    active: Active = None,
    host: Host = None,
    prefix: Prefix = None,
) -> None:
    """Write entries as CSV, which 'crawler queue import' can read."""
    chosen = _filter(status, category, active, host, prefix)
    kind = "csv" if file.lower().endswith(".csv") else "jsonl"
    with (
        open_backend() as backend,
        backend.queue.extractions(chosen, kind) if extractions else backend.queue.export(chosen) as pieces,
    ):
        if file == "-":
            for piece in pieces:
                print_bytes(piece)
            return
        write_whole(Path(file), pieces)
    Stderr().print(f"Wrote {file}", soft_wrap=True)


@queue.command("list")
def list_entries(
    status: Status = None,
    category: Category = None,
    active: Active = None,
    host: Host = None,
    prefix: Prefix = None,
    sort: Annotated[Sort, typer.Option(help="priority: as they are worked off.")] = Sort.OLDEST,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Show so many at most.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Entries, and how many there are in each state."""
    with open_backend() as backend:
        found = backend.queue.entries(_filter(status, category, active, host, prefix), sort, limit)
        counts, handed = backend.queue.counts(), backend.queue.hand_off()
    if as_json:
        shown = {
            "counts": counts,
            "classification": handed,
            "entries": [entry.model_dump(mode="json") for entry in found],
        }
        echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
        return
    screen = console()
    if found:
        print_rows(screen, HEADINGS, map(_row, found), right=("priority", "tries"))
    else:
        screen.print("No entries; 'crawler queue add' and 'crawler queue import' make some.")
    screen.print(", ".join(f"{entries:,} {state}" for state, entries in counts.items()), style="dim")
    if any(handed.values()):
        screen.print(f"To classification: {handed['sent']:,} sent, {handed['waiting']:,} waiting", style="dim")


@queue.command("show")
def show_entry(
    entry_id: Annotated[int, typer.Argument(metavar="ID", help="From 'crawler queue list'.")], as_json: AsJson = False
) -> None:
    """One entry, and what was read from its page."""
    with open_backend() as backend:
        entry, found = backend.queue.show(entry_id)
    if as_json:
        shown = {
            "entry": entry.model_dump(mode="json"),
            "extraction": found.model_dump(mode="json") if found else None,
        }
        echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
        return
    pairs = [(heading, str(cell)) for heading, cell in zip(HEADINGS, _row(entry), strict=True) if str(cell)]
    if found is not None:
        pairs += [("extracted", moment(found.extracted_at)), ("language", found.language or "")]
        pairs += [(f"field {name}", _words(value)) for name, value in found.fields.items()]
        pairs.append(("classification", found.job_status or ""))
    print_pairs(console(), pairs)
    if found is not None:
        more = " …" if len(found.text) > SHOWN_TEXT else ""
        console().print(clean(found.text[:SHOWN_TEXT] + more))


def _words(value: object) -> str:
    return " | ".join(map(str, value)) if isinstance(value, list) else str(value or "–")


@queue.command()
def run(as_json: AsJson = False) -> None:
    """Fetch what waits now. Where 'crawler up' runs that happens every five minutes by itself."""
    with open_backend() as backend:
        started = backend.queue.run()
    if as_json:
        told = {"entries": started.entries, "crawl_ids": [str(crawl_id) for crawl_id in started.crawl_ids]}
        echo(orjson.dumps(told).decode())
    elif started.entries:
        batches = ", ".join(str(crawl_id) for crawl_id in started.crawl_ids)
        entries = count(started.entries, "entry", "entries")
        console().print(f"{entries} on the way: crawl {batches}. What else waits follows.", soft_wrap=True)
    else:
        console().print("Nothing to start: nothing waits, or as many as may be are under way.")


@queue.command()
def retry(
    ids: Ids = None,
    status: Status = None,
    category: Category = None,
    active: Active = None,
    host: Host = None,
    prefix: Prefix = None,
    everything: Everything = False,
) -> None:
    """Let entries that failed wait again; those that went well only by id or --status."""
    _change(BulkAction.RETRY, ids, _filter(status, category, active, host, prefix), everything=everything)


@queue.command()
def deactivate(
    ids: Ids = None,
    status: Status = None,
    category: Category = None,
    host: Host = None,
    prefix: Prefix = None,
    everything: Everything = False,
) -> None:
    """Keep entries, but do not fetch them."""
    _change(BulkAction.DEACTIVATE, ids, _filter(status, category, None, host, prefix), everything=everything)


@queue.command()
def reactivate(
    ids: Ids = None,
    status: Status = None,
    category: Category = None,
    host: Host = None,
    prefix: Prefix = None,
    everything: Everything = False,
) -> None:
    """Fetch entries again that were deactivated."""
    _change(BulkAction.REACTIVATE, ids, _filter(status, category, None, host, prefix), everything=everything)


@queue.command()
def delete(
    ids: Ids = None,
    status: Status = None,
    category: Category = None,
    active: Active = None,
    host: Host = None,
    prefix: Prefix = None,
    everything: Everything = False,
) -> None:
    """Delete entries; pages that were fetched for them stay."""
    _change(BulkAction.DELETE, ids, _filter(status, category, active, host, prefix), everything=everything)


def _change(action: BulkAction, ids: list[int] | None, chosen: QueueFilter, *, everything: bool) -> None:
    which = Chosen.of(ids or (), chosen, everything=everything)
    with open_backend() as backend:
        changed = backend.queue.change(action, which)
    console().print(f"{count(changed, 'entry', 'entries')} changed." if changed else "No entry changed.")


def _filter(
    status: EntryStatus | None, category: str | None, active: bool | None, host: str | None, prefix: str | None
) -> QueueFilter:
    return QueueFilter(status=status, category=category, active=active, host=host, prefix=prefix)


@contextmanager
def _pieces(file: Path) -> Iterator[Iterator[bytes]]:
    """Read a file in pieces, with a progress bar."""
    try:
        opened = file.open("rb")
        size = file.stat().st_size
    except OSError as exc:
        raise Invalid(f"{file} cannot be read: {(exc.strerror or str(exc)).lower()}.") from exc
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    screen = Stderr()
    with opened, Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as progress:
        task = progress.add_task(f"Reading {file}", total=size)

        def pieces() -> Iterator[bytes]:
            while piece := opened.read(CHUNK_BYTES):
                progress.advance(task, len(piece))
                yield piece

        yield pieces()


def _tell(report: ImportReport, *, as_json: bool) -> None:
    if as_json:
        echo(report.model_dump_json(indent=2))
        return
    known = f"; {report.duplicates:,} there already" if report.duplicates else ""
    bad = f"; {report.bad:,} bad" if report.bad else ""
    console().print(f"{count(report.added, 'entry', 'entries')} added{known}{bad}.")
    errors = Stderr()
    for problem in report.problems[:SHOWN_PROBLEMS]:
        errors.print(clean(f"Line {problem.line}: {problem.reason}"), soft_wrap=True)
    if (more := report.bad - SHOWN_PROBLEMS) > 0:
        errors.print(f"… and {count(more, 'bad row')} more; --json lists the first thousand.", soft_wrap=True)


def _row(entry: QueueEntry) -> list[str | Text]:
    state = entry.status.value if entry.is_active else f"{entry.status.value}, inactive"
    return [
        str(entry.id),
        clean(entry.source_url),
        clean(entry.category or ""),
        str(entry.priority),
        state,
        str(entry.attempts),
        moment(entry.last_attempted_at),
        clean(entry.last_error or ""),
    ]
