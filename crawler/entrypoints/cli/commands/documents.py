"""`crawler documents` and `crawler search`: list and search a project's pages as documents.

Search is in `handlers/documents/search_documents.py`; which pages become documents: `handlers/engine/batch_rows.py`.
"""

from typing import Annotated

import typer

from crawler.domain.documents.search_limits import LONGEST_QUERY, MOST_HITS
from crawler.entrypoints.cli.backend.naming import open_project
from crawler.entrypoints.cli.input.names import ProjectName
from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import Invalid
from crawler.lazy_module import on_first_use

with on_first_use():
    import orjson
    from rich.text import Text

    from crawler.domain.documents.document import Document
    from crawler.domain.documents.searching import SearchHit
    from crawler.entrypoints.cli.screen.stderr import Stderr
    from crawler.entrypoints.cli.screen.terminal import clean, console, moment, print_rows
    from crawler.entrypoints.cli.screen.terminal_text import count


HEADINGS = ("document", "url", "title", "chunks", "vectors", "ingested")
_NONE_MADE = (
    "This project has no documents to search. 'crawler project set PROJECT --setting ingest=true' makes them of the "
    "pages of its next crawls, while 'crawler up' runs."
)
AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]


def documents(
    project: ProjectName,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Show so many at most.")] = 50,
    as_json: AsJson = False,
) -> None:
    """A project's documents in the order in which they were made or changed, and how many there are."""
    with open_project(project) as (backend, project_id):
        found = backend.documents.listed(project_id, limit)
        counts = backend.documents.counts(project_id)
    if as_json:
        shown = {"counts": counts._asdict(), "documents": [document.model_dump(mode="json") for document in found]}
        echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
        return
    screen = console()
    if found:
        print_rows(screen, HEADINGS, map(_row, found), right=("chunks",))
    words = [count(counts.ingested, "document"), count(counts.chunks, "chunk")]
    words += [f"{n:,} {what}" for n, what in _rest(counts.pending, counts.failed, counts.removed) if n]
    if counts.without_vectors:
        words.append(f"{counts.without_vectors:,} without vectors yet")
    screen.print(", ".join(words), style="dim")
    if not any(counts):
        screen.print(_NONE_MADE)
    for why in sorted({document.embedding_error for document in found if document.embedding_error}):
        Stderr().print(Text.assemble("No vectors: ", clean(why)), soft_wrap=True)


def _rest(pending: int, failed: int, removed: int) -> tuple[tuple[int, str], ...]:
    return (pending, "still to be made"), (failed, "failed"), (removed, "taken out because their page is gone")


def _row(document: Document) -> list[str | Text]:
    gone = document.deleted_at is not None
    vectors = "yes" if document.embedded_with else ("due" if document.embedding_error else "")
    state = "page is gone" if gone else moment(document.ingested_at)[:-3]
    title = clean(document.title or "")
    return [str(document.id), clean(document.url), title, f"{document.chunk_count:,}", vectors, state]


def search(
    project: ProjectName,
    words: Annotated[
        list[str], typer.Argument(metavar="QUERY…", help='Words, "a phrase", OR, and -- before -without.')
    ],
    prefix: Annotated[str | None, typer.Option(metavar="URL", help="Only below this URL or path.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST_HITS, help="Show so many at most.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Find a project's documents by words, and by meaning where there are vectors."""
    query = " ".join(words).strip()
    if not query or len(query) > LONGEST_QUERY or "\x00" in query:
        raise Invalid(f"Say what to look for, in at most {LONGEST_QUERY} characters.")
    with open_project(project) as (backend, project_id):
        answer = backend.documents.search(project_id, query, prefix, limit)
        searched = bool(answer.hits) or any(backend.documents.counts(project_id))
    if as_json:
        shown = {"mode": answer.mode, "note": answer.note, "hits": [hit.model_dump(mode="json") for hit in answer.hits]}
        echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
        return
    screen = console()
    if not answer.hits:
        screen.print("Nothing was found." if searched else _NONE_MADE)
    for hit in answer.hits:
        screen.print(_told(hit), soft_wrap=True)
    if answer.note:
        Stderr().print(Text.assemble("By words alone: ", clean(answer.note)), soft_wrap=True)


def _told(hit: SearchHit) -> Text:
    """A search hit with matches in bold. Control characters in crawled text are removed."""
    where = " > ".join(hit.headings)
    lines = [Text.assemble((clean(hit.url).plain, "cyan"), "  ", clean(hit.title or ""))]
    if where and where != hit.title:
        lines.append(Text.assemble("  ", (clean(where).plain, "dim")))
    line = Text("  ")
    for part in hit.snippet:
        line.append(clean(part.text.replace("\n", " ")).plain, style="bold" if part.match else "")
    return Text("\n").join([*lines, line, Text("")])
