"""The URLs of web archives: streamed in any pieces, bad records told by number, good ones kept."""

import gzip
import io
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, count
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawler.domain.acquisition import warc_import
from crawler.domain.acquisition.entries import NewEntry, RowProblem
from crawler.domain.acquisition.warc_import import QueueWarc, TooLargeArchive
from crawler.errors import Invalid
from crawler.handlers.acquisition.fill_queue import FilledFile, _Filling

URLS = [f"https://example.org/{number}" for number in range(5)]


def archive(*urls: str, packed: bool = True, body: bytes = b"<p>Text</p>\r\n\r\nWARC/1.0\r\n" * 50) -> bytes:
    held = io.BytesIO()
    writer = WARCWriter(held, gzip=packed)
    writer.write_record(writer.create_warcinfo_record("a.warc", {"software": "test"}))
    for url in urls:
        head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
        record = writer.create_warc_record(
            url, "response", payload=io.BytesIO(body), length=len(body), http_headers=head
        )
        asked = StatusAndHeaders("GET / HTTP/1.1", [("Host", "example.org")], is_http_request=True)
        writer.write_record(record)
        writer.write_record(writer.create_warc_record(url, "request", http_headers=asked))
    return held.getvalue()


def read(data: bytes, size: int = 1000, **given_: Any) -> list[NewEntry | RowProblem]:
    reader = QueueWarc(**given_)
    rows = [row for at in range(0, len(data), size) for some in reader.feed(data[at : at + size]) for row in some]
    return rows + reader.end()


def urls(rows: list[NewEntry | RowProblem]) -> list[str]:
    return [row.url for row in rows if isinstance(row, NewEntry)]


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
def test_each_page_of_an_archive_is_an_entry_whatever_the_pieces(packed: bool, size: int) -> None:
    rows = read(archive(*URLS, packed=packed), size, category="hotel", priority="3")
    assert urls(rows) == URLS
    assert {(row.category, row.priority) for row in rows if isinstance(row, NewEntry)} == {("hotel", 3)}
    assert not [row for row in rows if isinstance(row, RowProblem)]


def test_an_archive_that_is_packed_as_a_whole_is_read() -> None:
    assert urls(read(gzip.compress(archive(*URLS, packed=False)))) == URLS


def test_a_large_record_is_passed_over_without_being_kept() -> None:
    reader = QueueWarc()
    data = archive("https://example.org/a", packed=False, body=b"x" * 3_000_000) + archive(URLS[1], packed=False)
    largest = 0
    rows: list[NewEntry | RowProblem] = []
    for at in range(0, len(data), 10_000):
        rows += chain(*reader.feed(data[at : at + 10_000]))
        largest = max(largest, len(reader._held))
    assert urls(rows + reader.end()) == ["https://example.org/a", URLS[1]]
    assert largest < 200_000


def test_a_packed_record_that_unpacks_to_gigabytes_goes_through_in_pieces() -> None:
    data = archive("https://example.org/a", body=b"\0" * 50_000_000) + archive(URLS[1])
    assert len(data) < 200_000
    assert urls(read(data, 64_000)) == ["https://example.org/a", URLS[1]]


def test_bad_records_are_told_by_number_and_the_good_ones_land() -> None:
    data = (
        archive(URLS[0], packed=False)
        + b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n"
        + b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: ftp://example.org/\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
        + b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\nContent-Length: many\r\n\r\nxyz"
        + b"\r\n\r\ngarbage that is no record at all\r\n\r\n"
        + b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: <http://b.example/>\r\nContent-Length: 1\r\n\r\na"
    )
    rows = read(data, 50)
    assert urls(rows) == [URLS[0], "http://b.example/"]
    problems = [(row.line, row.reason) for row in rows if isinstance(row, RowProblem)]
    assert [line for line, _ in problems] == [4, 5, 6, 7]
    assert "names no URL" in problems[0][1]
    assert "how long" in problems[2][1]


def test_a_damaged_part_of_a_packed_archive_costs_only_itself() -> None:
    first, second, third = (archive(url) for url in URLS[:3])
    broken = second[:40] + b"\xff" * 60 + second[100:]
    rows = read(first + broken + third, 64)
    assert urls(rows)[0] == URLS[0]
    assert urls(rows)[-1] == URLS[2]
    assert any(isinstance(row, RowProblem) for row in rows)


def test_an_archive_that_is_cut_off_says_so() -> None:
    for packed in (True, False):
        rows = read(archive(*URLS[:2], packed=packed)[:-200])
        assert URLS[0] in urls(rows)
        assert isinstance(rows[-1], RowProblem)
        assert "ends in the middle" in rows[-1].reason


def test_what_is_no_archive_is_refused() -> None:
    with pytest.raises(Invalid):
        read(b"")


def test_a_packed_list_is_refused_and_said_to_be_packed() -> None:
    with pytest.raises(Invalid, match=r"gzip.*[Uu]npack"):
        read(gzip.compress(b"url,category\nhttps://example.org/,hotel\n"))


@given(st.binary(max_size=300), st.integers(1, 50))
def test_no_bytes_make_it_fail(data: bytes, size: int) -> None:
    for head in (b"WARC/1.0\r\n", b"\x1f\x8b\x08", b""):
        try:
            read(head + data, size)
        except Invalid:
            continue


def members(*records: bytes) -> bytes:
    return b"".join(map(gzip.compress, records))


def record_of(url: str, body: bytes = b"<p>Text</p>", length: int | None = None) -> bytes:
    heading = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Length: {length or len(body)}"
    return heading.encode() + b"\r\n\r\n" + body + b"\r\n\r\n"


@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
@pytest.mark.parametrize("length", [12, 16, 100, 10_000_000])
def test_a_packed_record_that_claims_to_be_longer_than_it_is_takes_none_behind_it(size: int, length: int) -> None:
    records = [record_of(URLS[0]), record_of(URLS[1], length=length), record_of(URLS[2]), record_of(URLS[3])]
    rows = read(members(*records), size)
    assert urls(rows) == URLS[:4]
    problems = [row for row in rows if isinstance(row, RowProblem)]
    assert [problem.line for problem in problems] == ([2] if length > 15 else [])


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_packed_record_without_an_end_of_its_heading_takes_none_behind_it(size: int) -> None:
    rows = read(members(record_of(URLS[0]), b"WARC/1.0\r\nWARC-Type: resp", record_of(URLS[2])), size)
    assert urls(rows) == [URLS[0], URLS[2]]
    assert [row.line for row in rows if isinstance(row, RowProblem)] == [2]


@pytest.mark.parametrize("block", [1, 5, 40, 300])
def test_an_archive_packed_in_blocks_that_know_nothing_of_records_is_read(block: int) -> None:
    plain = b"".join(map(record_of, URLS))
    rows = read(members(*(plain[at : at + block] for at in range(0, len(plain), block))), 64)
    assert urls(rows) == URLS
    assert not [row for row in rows if isinstance(row, RowProblem)]


def test_headings_that_never_end_are_passed_over_in_a_time_that_grows_with_the_file() -> None:
    """Each might be the beginning of a record; a record after them counts."""
    good = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\nContent-Length: 0\r\n\r\n"
    data = b"WARC/1.0\r\n" + b"WARC/1.0\n" * 200_000 + b"x" * 70_000 + b"\n" + good
    file = QueueWarc()
    rows: list[NewEntry | RowProblem] = []
    began = time.process_time()
    for at in range(0, len(data), 65_536):
        rows += chain(*file.feed(data[at : at + 65_536]))
    rows += file.end()
    assert time.process_time() - began < 3
    assert [row.url for row in rows if isinstance(row, NewEntry)] == ["http://a.example/"]
    assert len(rows) < 5


def test_a_heading_near_the_end_of_a_broken_one_counts() -> None:
    good = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\n" + b"X: y\r\n" * 1000
    data = b"WARC/1.0\r\n" + b"y" * 63_000 + b"\n" + good + b"Content-Length: 0\r\n\r\n"
    file = QueueWarc()
    rows = [*chain(*file.feed(data)), *file.end()]
    assert [row.url for row in rows if isinstance(row, NewEntry)] == ["http://a.example/"]


@pytest.mark.slow
def test_an_archive_that_unpacks_to_very_many_times_its_size_is_refused_soon() -> None:
    bomb = gzip.compress(record_of(URLS[0])) + gzip.compress(b"\n" * 300 * 2**20)
    with pytest.raises(Invalid, match="100 times"):
        read(bomb, 65_536)


def test_an_archive_of_pages_that_are_packed_well_is_no_bomb() -> None:
    body = b"<p>The same again and again.</p>" * 2**15  # 1 MB, packed to a three-hundredth
    assert urls(read(archive(*URLS, body=body), 65_536)) == URLS


EMPTY = b"WARC/1.0\r\nContent-Length: 0\r\n\r\n"
"""A record of no kind: it gives no row."""


@pytest.mark.parametrize(
    "data",
    [
        EMPTY * 300,
        gzip.compress(EMPTY * 300),
        gzip.compress(EMPTY) + gzip.compress(b"") * 300,
        EMPTY + b"WARC/1.0\r\n" * 7_000,
        EMPTY + b"garbage" * 50_000,
    ],
    ids=["plain", "packed", "empty parts", "headings without an end", "garbage"],
)
def test_the_records_of_an_archive_are_bounded_whatever_they_are(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc_import, "MOST_RECORDS", 200)
    with pytest.raises(TooLargeArchive, match=r"more than .* records or other parts: split it"):
        read(data, is_bounded=True)
    read(data)


def test_the_unpacked_bytes_of_an_archive_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc_import, "MOST_UNPACKED", 100_000)
    data = archive(*URLS, body=b"x" * 30_000)
    with pytest.raises(TooLargeArchive, match=r"unpacks to more than .* GiB: split it"):
        read(data, is_bounded=True)
    assert urls(read(data)) == URLS


def test_a_gigabyte_of_pages_keeps_the_bounds() -> None:
    assert warc_import.MOST_RECORDS > 3 * 300_000
    assert warc_import.MOST_UNPACKED > 3 * 10 * 2**30


def test_no_more_than_a_short_while_of_work_is_done_at_once() -> None:
    """However much of it is packed into a piece."""
    batches = QueueWarc().feed(gzip.compress(b"WARC/1.0\n\n" * 100_000))
    assert max(map(len, batches)) < 7_000


def test_reading_many_records_from_one_piece_takes_a_time_that_grows_with_them() -> None:
    took = []
    for number in (20_000, 80_000):
        reader, began = QueueWarc(), time.process_time()
        assert not [*chain(*reader.feed(EMPTY * number)), *reader.end()]
        took.append(time.process_time() - began)
        assert reader.records == number
    assert took[1] < 10 * took[0]


def test_what_begins_with_very_many_empty_parts_is_no_archive_and_refused_soon() -> None:
    """Not after all of them."""
    with pytest.raises(Invalid, match="holds no web archive"):
        for _ in QueueWarc().feed(gzip.compress(b"") * (warc_import.MOST_BEFORE_RECORDS + 2)):
            pass


class Entries:
    """Takes all entries, and counts them."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, entries: Sequence[NewEntry], _project_id: UUID | None) -> int:
        self.count += len(entries)
        return len(entries)

    def analyze(self) -> None:
        raise AssertionError("there are few")


def test_many_small_parts_of_an_archive_share_a_turn() -> None:
    """Each turn is followed by a pause, and thousands of pauses take longer than the work."""
    turns = count()
    entries = Entries()

    @contextmanager
    def turn() -> Iterator[None]:
        next(turns)
        yield

    file = FilledFile(_Filling(entries, None), QueueWarc(), turn)
    file.feed(archive(*URLS) + gzip.compress(b"") * 5_000)
    assert file.end().added == entries.count == len(URLS)
    assert next(turns) < 500


def test_what_was_read_in_a_turn_in_which_an_archive_became_too_large_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warc_import, "MOST_RECORDS", 200)
    entries = Entries()
    file = FilledFile(_Filling(entries, None), QueueWarc(is_bounded=True))
    with pytest.raises(Invalid, match=f"{len(URLS)} URLs before it were added"):
        file.feed(archive(*URLS) + gzip.compress(b"") * 300)
    assert entries.count == len(URLS)
