"""Hosts as people write them, and what is said of their robots.txt."""

from datetime import UTC, datetime

import pytest

from crawler.domain.hosts.overview import HostRow, host_name, robots_words
from crawler.errors import InvalidUrl

NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "host"),
    [
        ("example.org", "example.org"),
        (" Example.ORG. ", "example.org"),
        ("https://example.org/a?b#c", "example.org"),
        ("example.org/path", "example.org"),
        ("example.org:8080", "example.org:8080"),
        ("example.org:80", "example.org"),
        ("example.org:443", "example.org"),
        ("http://example.org:443/", "example.org:443"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("127.0.0.1:9", "127.0.0.1:9"),
        ("[::1]:8000", "[::1]:8000"),
    ],
)
def test_a_host_is_known_by_the_name_politeness_goes_by(written: str, host: str) -> None:
    assert host_name(written) == host


@pytest.mark.parametrize("written", ["", "   ", "a b", "ftp://example.org", "u:p@example.org", "host:99999", "a\\b"])
def test_what_is_no_host_is_refused_with_an_example(written: str) -> None:
    with pytest.raises(InvalidUrl, match="is not a host; write one like"):
        host_name(written)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (HostRow("a"), "not read yet"),
        (HostRow("a", robots_status=200, robots_fetched_at=NOW), "read and obeyed"),
        (HostRow("a", robots_status=404, robots_fetched_at=NOW), "there is none (answer 404)"),
        (
            HostRow("a", robots_status=500, robots_fetched_at=NOW, robots_failing_since=NOW),
            "cannot be read (it answers",
        ),
        (HostRow("a", robots_fetched_at=NOW, robots_failing_since=NOW, robots_failure="dns"), "cannot be read (dns)"),
    ],
)
def test_the_state_of_robots_txt_is_told(row: HostRow, words: str) -> None:
    assert robots_words(row).startswith(words)
