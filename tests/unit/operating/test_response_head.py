"""Raw header lines to values."""

import pytest

from crawler.adapters.curl.response_head import parse_head


@pytest.mark.parametrize(
    ("line", "status", "version"),
    [(b"HTTP/1.1 200 OK\r\n", 200, "1.1"), (b"HTTP/2 404 \r\n", 404, "2"), (b"HTTP/1.0 301\n", 301, "1.0")],
)
def test_the_status_line_gives_status_and_version(line: bytes, status: int, version: str) -> None:
    assert parse_head([line])[:2] == (status, version)


def test_names_are_lower_case_and_repeated_fields_joined_in_order() -> None:
    lines = [b"HTTP/1.1 200 OK\r\n", b"Link: <a>\r\n", b"X-Empty:\r\n", b"LINK : <b>\n", b"X-Time:  10:00 \r\n"]
    assert parse_head(lines).headers == {"link": "<a>, <b>", "x-empty": "", "x-time": "10:00"}


def test_utf8_is_read_as_utf8_and_anything_else_as_latin1() -> None:
    first = b"HTTP/1.1 302 Found\r\n"
    assert parse_head([first, "Location: /größe\r\n".encode()]).headers["location"] == "/größe"
    assert parse_head([first, "Location: /größe\r\n".encode("latin-1")]).headers["location"] == "/größe"


@pytest.mark.parametrize("fields", [("otherbot: noindex", "nofollow"), ("nofollow", "otherbot: noindex")])
def test_a_robots_field_for_everybody_stays_so_beside_one_for_a_named_robot(fields: tuple[str, ...]) -> None:
    lines = [b"HTTP/1.1 200 OK\r\n", *(f"X-Robots-Tag: {field}\r\n".encode() for field in fields)]
    assert parse_head(lines).headers["x-robots-tag"] == "nofollow, otherbot: noindex"
