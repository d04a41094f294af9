"""Traps: endless URLs are refused by their shape, ordinary ones are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.urls.traps import MAX_PARAMETERS, MAX_SEGMENTS, trap
from crawler.domain.urls.url import parse


def caught(path: str) -> str | None:
    return trap(parse("https://example.com" + path))


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("/a/a/a", "'a' 3 times in a row in the path"),
        ("/x/a/b/a/b/a/b/y", "'a/b' 3 times in a row in the path"),
        ("/a/b/c/a/b/c/a/b/c", "'a/b/c' 3 times in a row in the path"),
        ("/a/x/a/y/a/z/a", "'a' 4 times in the path"),
        ("/1/1/1/1", "'1' 4 times in the path"),
        ("/a////b", "'' 3 times in a row in the path"),
        ("/" + "/".join(f"s{n}" for n in range(MAX_SEGMENTS + 1)), "more than 20 path segments"),
        ("/?" + "&".join(f"p{n}={n}" for n in range(MAX_PARAMETERS + 1)), "more than 20 query parameters"),
        ("/?" + "&".join(f"p{n}" for n in range(300)), "more than 20 query parameters"),
        ("/list?f=red&f=red&f=red", "one query parameter 3 times"),
        ("/calendar/2101/01", "a calendar in the year 2101"),
        ("/calendar/1969/12/", "a calendar in the year 1969"),
        ("/Kalender/9999/1/31", "a calendar in the year 9999"),
        ("/calendar/10000/01/", "a calendar in the year 10000"),
        ("/events/month/2150-05/", "a calendar in the year 2150"),
        ("/events/2150-05-01/", "a calendar in the year 2150"),
        ("/calendar?month=2150-05", "a calendar in the year 2150"),
        ("/cal?view=1&date=1900-01-01", "a calendar in the year 1900"),
        ("/cal?year=2150&month=5", "a calendar in the year 2150"),
        ("/list?tribe-bar-date=2150-05-01", "a calendar in the year 2150"),
    ],
)
def test_endless_shapes_are_caught_by_their_rule(path: str, rule: str) -> None:
    assert caught(path) == rule


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/docs/18/sql-select.html",
        "/docs/v1/v2/v1/v2",
        "/3/library/asyncio-task.html",
        "/api/v1/projects/1/pages/1/versions/1",
        "/en/docs/en/latest/en",
        "/blog/2024/01/01/happy-new-year",
        "/2001/01/01/01",
        "/tiles/0/0/0.png",
        "/tiles/0/0/0/x",
        "/1865/04/15/president-shot",
        "/archive/1923/05/",
        "/article/4567/12",
        "/event/5821/10",
        "/events/2025-05-01/",
        "/calendar/2026/12",
        "/calendar/1970/01",
        "/calendar/2100/12/31",
        "/films?year=1923",
        "/rfc/rfc9309.html",
        "/products/9999-11",
        "/a//b//c",
        "/search?" + "&".join(f"p{n}={n}" for n in range(MAX_PARAMETERS)),
        "/list?f=red&f=green&f=blue&g=red",
        "/" + "/".join(f"s{n}" for n in range(MAX_SEGMENTS)),
        "/" + "/".join(f"s{n}" for n in range(MAX_SEGMENTS)) + "/",
    ],
)
def test_ordinary_shapes_are_left_alone(path: str) -> None:
    assert caught(path) is None


@pytest.mark.parametrize("step", ["/a", "/a/b", "/loop", "/page/1", "/"])
def test_every_growing_path_is_caught_in_the_end(step: str) -> None:
    assert caught(step * 25) is not None


def test_a_calendar_of_months_ends_in_both_directions() -> None:
    for years in (range(2020, 10_000), range(2020, 1000, -1)):
        assert any(caught(f"/calendar/{year}/01") for year in years)


@given(st.lists(st.from_regex(r"[a-z0-9.]{1,6}", fullmatch=True), unique=True, max_size=MAX_SEGMENTS))
def test_distinct_segments_are_never_a_repetition(segments: list[str]) -> None:
    rule = caught("/" + "/".join(segments))
    assert rule is None or "times" not in rule
