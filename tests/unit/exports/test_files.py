"""Exports hold one page a line, and nothing a spreadsheet would run."""

import csv
import io
import json
import re
from datetime import UTC, datetime
from uuid import UUID

import pytest
import yaml

from crawler.domain.exports.files import (
    ExportedMarkdown,
    ExportedPage,
    as_csv,
    as_jsonl,
    as_markdown_lines,
    export_format,
    read_markdown_line,
    unharmed,
)
from crawler.domain.markdown.page import MarkdownPage
from crawler.errors import Invalid

FIELDS = [
    "url", "normalized_url", "status", "reason", "http_status", "depth", "title", "h1", "meta_description",
    "content_text", "word_count", "language", "links_found", "content_hash", "crawl_method", "error_message",
    "crawled_at",
]  # fmt: skip


def page(**fields: object) -> ExportedPage:
    given: dict[str, object] = dict.fromkeys(FIELDS)
    given |= {"url": "http://h.test/A", "normalized_url": "http://h.test/a", "status": "success", "depth": 1}
    given |= {"links_found": ["http://h.test/b", "http://h.test/c"], "crawled_at": datetime(2030, 1, 2, tzinfo=UTC)}
    return ExportedPage(**(given | fields))  # type: ignore[arg-type]


def rows(*pages: ExportedPage) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(as_csv(pages)).decode(), newline="")))


def test_a_line_of_jsonl_has_the_promised_fields_in_their_order() -> None:
    (line,) = as_jsonl([page(content_text="two\nlines é")])
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    row = json.loads(line)
    assert list(row) == FIELDS
    assert row["content_text"] == "two\nlines é"
    assert row["crawled_at"] == "2030-01-02T00:00:00+00:00"


@pytest.mark.parametrize("text", ["x;=cmd|' /C calc'!A0;y", "first line\n=1+1", "a\t@SUM(1)", "\n=1", "-1;-1"])
def test_no_cell_is_a_formula_where_semicolons_or_lines_end_cells(text: str) -> None:
    data = b"".join(as_csv([page(title=text)])).decode()
    cells = [cell.strip('"') for cell in re.split(r"[;,\t\r\n]", data)]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    assert unharmed(rows(page(title=text))[0]["title"]) == text


def test_a_row_of_csv_has_the_same_fields() -> None:
    (row,) = rows(page(title='says "hi", twice', content_text="two\nlines"))
    assert list(row) == FIELDS
    assert row["title"] == 'says "hi", twice'
    assert row["content_text"] == "two\nlines"
    assert row["links_found"] == "http://h.test/b http://h.test/c"
    assert row["depth"] == "1"


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_no_cell_begins_like_a_formula(first: str) -> None:
    evil = f"{first}HYPERLINK(1)"
    texts = ("title", "h1", "meta_description", "content_text", "error_message", "language")
    (row,) = rows(page(**dict.fromkeys(texts, evil)))
    assert {name for name, cell in row.items() if cell == f"'{evil}"} == set(texts)


def test_an_export_without_pages_still_has_its_heading() -> None:
    assert b"".join(as_csv([])) == ",".join(FIELDS).encode() + b"\r\n"
    assert b"".join(as_jsonl([])) == b""


def test_markdown_is_the_site_in_one_text_and_a_file_for_each_page() -> None:
    chosen = export_format("markdown")
    home = ExportedMarkdown(UUID(int=1), MarkdownPage("http://h.test/", 0, "# Hé", "Hé"))
    inner = ExportedMarkdown(UUID(int=2), MarkdownPage("http://h.test/a", 1, "text \ud800"))
    assert b"".join(chosen.render([home, inner])).decode() == (
        "\n--- http://h.test/ (depth 1) ---\n# Hé\n--- http://h.test/a (depth 2) ---\ntext ?"
    )
    assert chosen.page_files is not None
    file = chosen.page_files()
    assert file(home) == ("markdown/index.md", '---\nurl: "http://h.test/"\ntitle: "Hé"\n---\n\n# Hé\n'.encode())
    assert file(inner).path == "markdown/a.md"
    assert chosen.file_name == "site.md"


@pytest.mark.parametrize(
    "title",
    ['A "quoted" title', "two\nlines --- # : x", "\x00\x1f\x7f\x85\u2028\ufeff", "- *a &b !c {d}", "\\n", "", None],
)
def test_a_page_file_says_its_url_and_title_whatever_they_are(title: str | None) -> None:
    page = MarkdownPage("http://h.test/a?b=\"c'", 1, "text", title)
    made = export_format("markdown").page_files
    assert made
    content = made()(ExportedMarkdown(UUID(int=1), page)).content.decode()
    _, head, text = content.split("---\n", 2)
    assert yaml.safe_load(head) == {"url": page.url, "title": " ".join((title or "").split())}
    assert text == "\ntext\n"
    (line,) = as_markdown_lines([ExportedMarkdown(UUID(int=1), page)])
    assert read_markdown_line(line).page == page, "so a service's files are the same"


@pytest.mark.parametrize("name", ["pdf", "xlsx"])
def test_a_format_that_is_not_there_is_refused_with_those_that_are(name: str) -> None:
    with pytest.raises(Invalid, match="choose jsonl, csv, markdown or warc"):
        export_format(name)
