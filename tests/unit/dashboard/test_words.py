"""How things read: short, exact, and tame whatever was crawled."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.entrypoints.dashboard.serving import words

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("  two\n lines\t", "two lines"),
        ("\x1b[31mred\x07", "\ufffd[31mred\ufffd"),
        ("a\u202egnp.exe", "a\ufffdgnp.exe"),
        ("\u2066x\u2069", "\ufffdx\ufffd"),
        ("x" * 200, "x" * 159 + "…"),
    ],
)
def test_text_of_others_is_one_short_tame_line(text: str, shown: str) -> None:
    assert words.plain(text) == shown


def test_a_megabyte_is_cut_before_it_is_looked_at() -> None:
    assert words.plain("é\u202e " * 1_000_000, 50).endswith("…")
    assert len(words.plain("x " * 1_000_000, 50)) == 50


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "just now"), (9, "just now"), (12, "12 s ago"), (90, "2 min ago"), (5399, "90 min ago"), (7200, "2 h ago"),
     (47 * 3600, "47 h ago"), (72 * 3600, "3 days ago"), (-5, "in a moment"), (-600, "in 10 min"),
     (-172_800, "in 2 days")],
)  # fmt: skip
def test_moments_are_told_as_people_do(seconds: int, said: str) -> None:
    assert words.ago(NOW - timedelta(seconds=seconds), NOW) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(None, "–"), (0, "0 s"), (0.012, "12 ms"), (0.97, "1.0 s"), (9.94, "9.9 s"), (59, "59 s"), (61, "1 min 01 s"),
     (3661, "1 h 01 min"), (200_000, "2 days")],
)  # fmt: skip
def test_durations_have_the_precision_that_helps(seconds: float | None, said: str) -> None:
    assert words.duration(seconds) == said


@pytest.mark.parametrize(
    ("value", "said"), [(0, "0"), (1234567, "1,234,567"), (3.25, "3.2"), (12.0, "12"), (None, "–"), (123.4, "123")]
)
def test_numbers_can_be_read(value: float | None, said: str) -> None:
    assert words.number(value) == said


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (123_456_789, "123 MB"), (5 * 10**12, "5000 GB")]
)
def test_sizes_can_be_read(count: int, said: str) -> None:
    assert words.size(count) == said


@pytest.mark.parametrize(
    ("url", "may"),
    [("http://a/", True), ("HTTPS://a/", True), ("javascript:alert(1)", False), (" javascript:x", False),
     ("data:text/html,x", False), ("//a/", False), ("ftp://a/", False), ("", False)],
)  # fmt: skip
def test_only_web_addresses_become_links(url: str, may: bool) -> None:
    assert words.is_web(url) is may


def test_a_url_is_split_into_what_people_look_for() -> None:
    assert words.split_url("https://a.example:8080/x?y=1#z") == ("a.example:8080", "/x?y=1")
    assert words.split_url("https://a.example") == ("a.example", "/")
    assert words.split_url("javascript:alert(1)") == ("", "javascript:alert(1)")
    assert words.split_url("http://[") == ("", "http://[")
