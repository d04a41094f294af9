"""What a person types is checked before anything is started; each mistake is one sentence that names it."""

import io
import multiprocessing
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.adapters.pages.export_files import Folder, check_directory, write_whole
from crawler.domain.urls.url import parse
from crawler.entrypoints.cli.input.run_options import (
    Order,
    check_origin,
    checked_config,
    read_formats,
    read_headers,
    read_urls,
    shows_value,
)
from crawler.errors import CrawlerError, Invalid, InvalidConfig, InvalidUrl


def test_a_bad_line_of_a_list_is_named_by_its_number(tmp_path: Path) -> None:
    file = tmp_path / "urls.txt"
    file.write_text("\ufeffhttp://h.test/\n\n# a remark\n  http://h.test/b  \nno url\n")
    with pytest.raises(InvalidUrl, match=r"Line 5 of .*urls\.txt is not usable: The URL must begin"):
        read_urls(file)
    file.write_text("\ufeffhttp://h.test/\n\n  # a remark\n  http://h.test/b  \n")
    assert read_urls(file) == ("http://h.test/", "http://h.test/b")


@pytest.mark.parametrize("content", [b"", b"# nothing\n", b"\xff\xfe\x00"])
def test_a_list_without_urls_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "urls.txt"
    file.write_bytes(content)
    with pytest.raises(Invalid, match=r"urls\.txt"):
        read_urls(file)
    with pytest.raises(Invalid, match="cannot be read"):
        read_urls(tmp_path)


def test_headers_are_read_as_curl_reads_them() -> None:
    assert read_headers(["X-Key: a:b", "Cookie:"]) == {"X-Key": "a:b", "Cookie": ""}


def test_headers_come_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "headers.txt"
    file.write_text("X-Key: a:b\r\n\nCookie: c=d\n")
    monkeypatch.setenv("SITE_TOKEN", "Bearer t")
    found = read_headers([f"@{file}"], ["Authorization=SITE_TOKEN"])
    assert found == {"X-Key": "a:b", "Cookie": "c=d", "Authorization": "Bearer t"}
    monkeypatch.setattr(sys, "stdin", io.StringIO("X-More: piped\n"))
    assert read_headers(["@-"]) == {"X-More": "piped"}


def test_a_missing_file_or_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"none\.txt cannot be read: No such file"):
        read_headers([f"@{tmp_path}/none.txt"])
    with pytest.raises(Invalid, match="NO_SUCH_VARIABLE is not set"):
        read_headers([], ["X-Key=NO_SUCH_VARIABLE"])
    with pytest.raises(Invalid, match="NAME=VARIABLE"):
        read_headers([], ["X-Key"])


@pytest.mark.parametrize(
    ("header", "shows"), [("X-Key: v", True), ("X-Key:", False), ("X-Key", False), ("@f:v", False)]
)
def test_it_is_known_which_values_everybody_can_read(header: str, shows: bool) -> None:
    assert shows_value(header) is shows


@pytest.mark.parametrize("header", ["X-Key", ": v", "Host: other.test", "X Key: hunter2", "X-Key: hunter2\nX-More: 1"])
def test_a_header_that_cannot_be_sent_is_refused_without_its_value(header: str) -> None:
    with pytest.raises(Invalid, match="--header") as told:
        read_headers([header])
    assert "hunter2" not in str(told.value)


def test_headers_are_never_for_a_list_that_begins_elsewhere() -> None:
    seed = parse("https://h.test/")
    check_origin(seed, ["https://h.test/a", "https://other.test/"], {"X-Key": "1"})
    check_origin(seed, ["https://other.test/"], {})
    with pytest.raises(Invalid, match=r"begin --urls-file with a URL of https://h\.test"):
        check_origin(seed, ["https://other.test/"], {"X-Key": "1"})


def test_a_format_needs_a_place() -> None:
    place = Folder(Path("out"))
    assert read_formats(None, []) == ()
    assert [each.name for each in read_formats(place, [])] == ["jsonl"]
    assert [each.name for each in read_formats(place, ["csv", "jsonl", "csv"])] == ["csv", "jsonl"]
    with pytest.raises(Invalid, match="--export DIR"):
        read_formats(None, ["csv"])


def test_more_pages_than_allowed_are_refused_at_once() -> None:
    assert checked_config({"max_pages": 10, "max_depth": None}, 10) == {"max_pages": 10}
    with pytest.raises(InvalidConfig, match="--max-pages is 11, but at most 10"):
        checked_config({"max_pages": 11}, 10)
    with pytest.raises(InvalidConfig, match="--delay is not valid"):
        checked_config({"delay_seconds": -1}, 10)


@pytest.mark.parametrize(
    ("url", "opened"),
    [
        ("http://h.test/", ("h.test", 80)),
        ("https://h.test/", ("h.test", 443)),
        ("http://h.test:81/", ("h.test", 81)),
        ("http://[::1]:81/", ("[::1]", 81)),
    ],
)
def test_what_was_typed_is_opened_and_nothing_else(url: str, opened: tuple[str, int]) -> None:
    assert Order(seed=parse(url), project="p", config={}).opened == opened


def test_a_directory_that_cannot_be_written_is_refused_before_the_crawl(tmp_path: Path) -> None:
    check_directory(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(Invalid, match=r"cannot be written to .*; name another directory"):
        check_directory(tmp_path / "file")


def write_with_small_files(path: Path, said: Path) -> None:
    """As if the disk were full after a kilobyte. In a process of its own: the limit holds for its every file."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        write_whole(path, (b"x" * 100 for _ in range(1000)))
    except CrawlerError as exc:
        said.write_text(str(exc))


def test_a_full_disk_leaves_no_half_file(tmp_path: Path) -> None:
    path, said = tmp_path / "out" / "pages.jsonl", tmp_path / "said"
    path.parent.mkdir()
    path.write_bytes(b"the export before")
    writer = multiprocessing.get_context("fork").Process(target=write_with_small_files, args=(path, said))
    writer.start()
    writer.join()
    assert "pages.jsonl could not be written: file too large" in said.read_text()
    assert path.read_bytes() == b"the export before"
    assert list(path.parent.iterdir()) == [path]


def test_an_export_that_breaks_off_leaves_no_half_file(tmp_path: Path) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "pages.jsonl", chunks())
    assert list(tmp_path.iterdir()) == []
