"""Lists of URLs as people and programs write them: what can be read is read, the rest is told by line."""

import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.acquisition.entries import NewEntry, RowProblem
from crawler.domain.acquisition.queue_csv import MAX_ROW, MAX_ROW_LINES, ExportedEntry, QueueCsv, as_csv
from crawler.errors import Invalid


def read(data: bytes, piece: int = 7) -> tuple[list[NewEntry], dict[int, str]]:
    file = QueueCsv()
    rows = [row for at in range(0, len(data), piece) for row in file.feed(data[at : at + piece])] + file.end()
    return (
        [row for row in rows if isinstance(row, NewEntry)],
        {row.line: row.reason for row in rows if isinstance(row, RowProblem)},
    )


def short(entries: list[NewEntry]) -> list[tuple[str, str | None, int]]:
    return [(entry.key, entry.category, entry.priority) for entry in entries]


TWO = [("a.example/x", "hotel", 1), ("b.example/", None, 5)]


@pytest.mark.parametrize("piece", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "url,category,priority\nhttp://a.example/x,hotel,1\nhttp://b.example/,,\n",
        "Priority;URL;Category\r\n1;http://a.example/x;hotel\r\n;https://b.example/;\r\n",
        "CATEGORY\turl\tpriority\rhotel\thttp://a.example/x\t1\r\thttp://b.example/\r",
        '"url","category","priority","notes"\n"http://a.example/x","hotel","1","two\nlines"\nhttp://b.example\n',
        "sep=;\r\nurl;category;priority\r\nhttp://a.example/x;hotel;1\r\nhttp://b.example/;;\r\n",
        '"SEP=,"\nurl,category,priority\nhttp://a.example/x,hotel,1\nhttp://b.example/\n',
        "\n\nurl,category,priority,,\n\n http://a.example/x , hotel , 1 ,,\n   \nhttp://b.example/",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_any_order_case_delimiter_encoding_and_line_end_is_read(text: str, encoding: str, piece: int) -> None:
    entries, problems = read(text.encode(encoding), piece)
    assert short(entries) == TWO
    assert problems == {}


def test_http_and_https_and_other_spellings_of_a_page_have_one_key() -> None:
    spellings = ["http://A.example/X/", "https://a.example/x", "http://a.example:80/x?utm_source=mail#part"]
    entries, _ = read(("url\n" + "\n".join(spellings)).encode())
    assert {entry.key for entry in entries} == {"a.example/x"}
    others, _ = read(b"url\nhttp://a.example/x?id=1\nhttp://a.example/x?id=2\nhttp://a.example:8080/x?id=2\n")
    assert len({entry.key for entry in others}) == 3, "whoever lists them means three pages"


def test_each_bad_row_is_told_by_line_and_the_others_land() -> None:
    text = (
        "url,category,priority\n"
        "http://a.example/,x,11\n"  # 2
        "ftp://a.example/,x,1\n"  # 3
        "http://a.example/,x,1,http://lost.example/\n"  # 4
        f"http://a.example/,{'x' * 65},1\n"  # 5
        ",x,1\n"  # 6
        "http://user:secret@a.example/,x,1\n"  # 7
        "http://good.example/,x,1\n"  # 8
        "http://a.example/,x,-1\n"  # 9
        "http://a.example/,x,１\n"  # 10
        "http://a\x00.example/,x,1\n"  # 11
        f"http://a.example/{'y' * 3000},x,1\n"  # 12
    )
    entries, problems = read(text.encode())
    assert [entry.key for entry in entries] == ["good.example/"]
    assert sorted(problems) == [2, 3, 4, 5, 6, 7, 9, 10, 11, 12]
    assert "whole number from 0" in problems[2]
    assert "4 cells, but the heading names 3" in problems[4]
    assert "NUL" in problems[11]
    assert "secret" not in str(problems)


def test_bytes_that_are_no_text_cost_their_row_alone() -> None:
    entries, problems = read(b"url,category\nhttp://a.example/,caf\xe9\nhttp://b.example/,caf\xc3\xa9\n")
    assert short(entries) == [("b.example/", "café", 5)]
    assert "UTF-8" in problems[2]


@pytest.mark.parametrize(
    ("rows", "bad"),
    [
        ('"http://open.example/\nhttp://a.example/\nhttp://b.example/\n', {2}),
        ('"http://open.example/\n"http://a.example/"\n"http://b.example/",x\n', {2}),
        ('http://a.example/\n"http://open.example/,x\nhttp://b.example/', {3}),
        ('http://a.example/\nhttp://b.example/\n"', {4}),
        ('"http://a.example/"x\nhttp://b.example/\nhttp://a.example/', {2}),
        ('"a\n"b\n"c\nhttp://a.example/\nhttp://b.example/', {2, 3, 4}),
    ],
)
def test_an_open_quote_costs_its_row_alone(rows: str, bad: set[int]) -> None:
    entries, problems = read(f"url,category\n{rows}".encode())
    assert {entry.key for entry in entries} == {"a.example/", "b.example/"}
    assert set(problems) == bad


def test_rows_behind_a_quote_that_never_closes_are_found_again() -> None:
    many = "".join(f"http://a.example/{number}\n" for number in range(5 * MAX_ROW_LINES))
    entries, problems = read(f'url\n"http://open.example/\n{many}'.encode(), 64)
    assert len(entries) == 5 * MAX_ROW_LINES
    assert set(problems) == {2}


def test_a_cell_of_many_megabytes_is_passed_over_without_being_kept() -> None:
    def pieces() -> Iterator[bytes]:
        yield b"url,category\nhttp://a.example/,"
        for _ in range(640):
            yield b"x" * 16_384
        yield b'\nhttp://b.example/,"'
        for _ in range(640):
            yield b"y" * 16_384
        yield b'"\nhttp://c.example/,z\n'

    file, rows = QueueCsv(), []
    tracemalloc.start()
    for piece in pieces():
        rows += file.feed(piece)
    rows += file.end()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [row.line if isinstance(row, RowProblem) else row.key for row in rows] == [2, 3, "c.example/"]
    assert peak < 20 * MAX_ROW


@pytest.mark.parametrize(
    "text", ["", "\n\n", "address,category\nhttp://a.example/", "http://a.example/\n", "url,URL\n"]
)
def test_a_file_without_a_heading_is_refused_as_a_whole(text: str) -> None:
    with pytest.raises(Invalid, match="first line"):
        read(text.encode())


@given(st.binary(max_size=400), st.integers(1, 50))
def test_no_bytes_break_the_reader_and_pieces_do_not_matter(data: bytes, piece: int) -> None:
    heading = b"url,category,priority\n"
    assert read(heading + data, piece) == read(heading + data, 10_000)


def entry(category: str, last_error: str | None = None) -> ExportedEntry:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    active = True
    return ExportedEntry("http://a.example/x", category, 1, "failed", active, 4, last_error, None, None, None, now, now)


def test_an_export_runs_in_no_spreadsheet_and_can_be_read_in_again() -> None:
    entries = [entry('=HYPERLINK("http://evil")', "@SUM(1)\n+1"), entry("-1")]
    data = b"".join(as_csv(entries))
    assert b"'=HYPERLINK" in data
    assert b"'@SUM" in data
    again, problems = read(data)
    assert short(again) == [("a.example/x", '=HYPERLINK("http://evil")', 1), ("a.example/x", "-1", 1)]
    assert problems == {}
    assert b"".join(as_csv([])).startswith(b"url,category,priority,")
