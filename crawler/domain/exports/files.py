"""A crawl's pages as files for people and programs. Pure: pages in, bytes out, one page at a time."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from crawler.domain.exports.page_names import PageNames
from crawler.domain.exports.warc_export import as_warc
from crawler.domain.markdown.page import MarkdownPage, aggregate
from crawler.errors import Invalid

_NO_TEXT_IN_YAML = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0xFEFF, 0xFFFE, 0xFFFF)}


class ExportedPage(NamedTuple):
    """One URL the crawl asked for, as it was then. The order of the fields is that of the CSV's columns."""

    url: str
    normalized_url: str
    status: str
    """success, failed or skipped."""
    reason: str | None
    http_status: int | None
    depth: int
    title: str | None
    h1: str | None
    meta_description: str | None
    content_text: str | None
    word_count: int | None
    language: str | None
    links_found: list[str]
    content_hash: str | None
    """SHA-256 in hex."""
    crawl_method: str | None
    error_message: str | None
    crawled_at: datetime | None


class ExportedMarkdown(NamedTuple):
    """One page that the crawl stored, as markdown."""

    page_id: UUID
    page: MarkdownPage


class PageFile(NamedTuple):
    """One page's own file, beside the one for all."""

    path: str
    """Below the export's directory."""
    content: bytes


class Rows(StrEnum):
    """What a format is made of."""

    ASKED = "asked"
    """`ExportedPage`s"""
    MARKDOWN = "markdown"
    """`ExportedMarkdown`s"""
    ARCHIVE = "archive"
    """`ArchivedPage`s"""


class ExportFormat(NamedTuple):
    name: str
    file_name: str
    media_type: str
    rows: Rows
    render: Callable[[Iterable[Any]], Iterator[bytes]]
    page_files: Callable[[], Callable[[ExportedMarkdown], PageFile]] | None = None
    """Makes what names and fills the file of each page of one export."""


def as_jsonl(pages: Iterable[ExportedPage]) -> Iterator[bytes]:
    """One JSON object a line."""
    for page in pages:
        row = page._asdict() | {"crawled_at": _moment(page)}
        yield json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def as_csv(pages: Iterable[ExportedPage]) -> Iterator[bytes]:
    """A heading, then one row a page; links are separated by spaces, which no URL holds."""
    line = io.StringIO()
    writer = csv.writer(line)

    def written(cells: Iterable[object]) -> bytes:
        writer.writerow(cells)
        text = line.getvalue()
        line.seek(0)
        line.truncate()
        return text.encode()

    yield written(ExportedPage._fields)
    for page in pages:
        row = page._replace(links_found=" ".join(page.links_found))._asdict() | {"crawled_at": _moment(page)}  # type: ignore[arg-type]
        yield written(harmless(cell) for cell in row.values())


def as_markdown(pages: Iterable[ExportedMarkdown]) -> Iterator[bytes]:
    """The whole site as one text, each page below a line with its URL and depth."""
    return (piece.encode("utf-8", "replace") for piece in aggregate(exported.page for exported in pages))


PAGES_FOLDER = "markdown"
"""Where the files of single pages are, below the export's directory."""


def markdown_files() -> Callable[[ExportedMarkdown], PageFile]:
    names = PageNames(".md")
    return lambda exported: PageFile(f"{PAGES_FOLDER}/{names(exported.page.url)}", _headed(exported.page))


def _headed(page: MarkdownPage) -> bytes:
    """A page's markdown below its URL and title as front matter, which is YAML. Strings of JSON are strings of YAML."""
    said = {"url": page.url, "title": page.title or ""}
    head = "".join(f"{name}: {_quoted(text)}\n" for name, text in said.items())
    return f"---\n{head}---\n\n{page.markdown}\n".encode("utf-8", "replace")


def _quoted(text: str) -> str:
    return json.dumps(" ".join(text.split()), ensure_ascii=False).translate(_NO_TEXT_IN_YAML)


def as_markdown_lines(pages: Iterable[ExportedMarkdown]) -> Iterator[bytes]:
    """One JSON object a page: all that is needed to write the files elsewhere."""
    for page_id, page in pages:
        row = {"page_id": str(page_id), **page._asdict()}
        yield json.dumps(row, separators=(",", ":")).encode() + b"\n"


def read_markdown_line(line: bytes) -> ExportedMarkdown:
    row = orjson.loads(line)
    return ExportedMarkdown(
        UUID(row["page_id"]), MarkdownPage(**{name: row.get(name) for name in MarkdownPage._fields})
    )


# The last four are their full-width forms, which some spreadsheets take for the same.
_SIGNS = "=+@＝＋－＠-"
_FORMULA = re.compile(rf"\A(?=[\t\r\n{_SIGNS}])|(?<=[;\t\r\n])(?=[{_SIGNS}])")
_MARKED = re.compile(rf"\A'(?=[\t\r\n{_SIGNS}])|(?<=[;\t\r\n])'(?=[{_SIGNS}])")


def harmless(cell: object) -> object:
    """Spreadsheets run what begins like a formula, and a page's title is anybody's text.

    Where commas are decimal, they take a semicolon for the end of a cell, and then the end of a line, too.
    """
    return _FORMULA.sub("'", cell) if isinstance(cell, str) else cell


def unharmed(cell: str) -> str:
    """What `harmless` made harmless, as it was."""
    return _MARKED.sub("", cell)


def _moment(page: ExportedPage) -> str | None:
    return page.crawled_at.isoformat() if page.crawled_at else None


FORMATS = {
    each.name: each
    for each in (
        ExportFormat("jsonl", "pages.jsonl", "application/x-ndjson", Rows.ASKED, as_jsonl),
        ExportFormat("csv", "pages.csv", "text/csv; charset=utf-8", Rows.ASKED, as_csv),
        ExportFormat("markdown", "site.md", "text/markdown; charset=utf-8", Rows.MARKDOWN, as_markdown, markdown_files),
        ExportFormat("warc", "crawl.warc.gz", "application/warc", Rows.ARCHIVE, as_warc),
    )
}

MARKDOWN_PAGES = ExportFormat(
    "markdown_pages", "markdown.jsonl", "application/x-ndjson", Rows.MARKDOWN, as_markdown_lines
)
"""Between a service and whoever writes the files of `markdown` elsewhere."""


def export_format(name: str) -> ExportFormat:
    """The format of that name, or one sentence that names those there are."""
    try:
        return FORMATS[name]
    except KeyError:
        *others, last = FORMATS
        raise Invalid(f"There is no export format {name!r}; choose {', '.join(others)} or {last}.") from None
