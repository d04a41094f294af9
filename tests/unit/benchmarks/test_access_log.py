"""What is read out of the server's log."""

import pytest

from benchmarks.access_log import FORMAT, Line, count_between, everyone_asked_ms, manners, parse, served

HTML = "text/html"


def asked(
    started: int, host: str = "a", *, took: int = 0, status: int = 200, kind: str = HTML, path: str = "/"
) -> Line:
    return Line(started, started + took, host, status, 1000, kind, path)


def test_a_line_of_the_format_gives_whole_milliseconds_and_the_path_without_its_query() -> None:
    text = "1700000001.250\t0.050\t127.0.0.1:8300\t200\t512\ttext/html; charset=utf-8\t/a b.html?x=1\t2\n"
    (line,) = parse([text])
    assert line == Line(
        1700000001200, 1700000001250, "127.0.0.1:8300", 200, 512, "text/html; charset=utf-8", "/a b.html"
    )


def test_the_format_names_as_many_fields_as_a_line_has() -> None:
    assert len(FORMAT.split("\\t")) == len(Line._fields) == 7


def test_a_line_that_is_still_being_written_is_left_out() -> None:
    whole = "1700000001.250\t0.000\ta:1\t200\t5\ttext/html\t/\n"
    assert len(parse([whole, whole[:-9]])) == 1


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        (asked(0), True),
        (asked(0, kind="text/html; charset=utf-8"), True),
        (asked(0, status=304, kind="-"), True),
        (asked(0, status=404), False),
        (asked(0, kind="text/css"), False),
        (asked(0, path="/robots.txt"), False),
        (asked(0, path="/sitemap.xml"), False),
    ],
)
def test_only_pages_count_as_pages(line: Line, counts: bool) -> None:
    assert line.is_page is counts


def test_speed_is_distinct_pages_between_the_first_request_and_the_last() -> None:
    lines = [asked(1000, path="/robots.txt"), asked(2000, path="/1"), asked(3000, path="/2"), asked(4000, path="/2")]
    found = served(lines)
    assert (len(found.pages), found.requests, found.seconds, found.pages_per_second) == (2, 3, 2.0, 1.0)
    assert found.megabytes == pytest.approx(0.003)


def test_a_log_without_pages_has_no_speed() -> None:
    assert served([asked(5, status=404)]).pages_per_second == 0.0


def test_pages_of_two_hosts_with_the_same_path_are_two_pages() -> None:
    assert len(served([asked(0, "a"), asked(1, "b")]).pages) == 2


def test_a_gap_one_millisecond_short_is_a_violation_and_an_exact_one_is_not() -> None:
    told = manners([asked(0), asked(1000), asked(1999), asked(500, "b")], gap_ms=1000)
    assert (told.hosts, told.requests, told.smallest_gap_ms, told.violations) == (2, 4, 999, 1)


def test_robots_txt_is_a_request_like_any_other_to_its_host() -> None:
    assert manners([asked(0, path="/robots.txt"), asked(900)], gap_ms=1000).violations == 1


def test_parallel_requests_are_counted_per_host() -> None:
    slow = [asked(0, took=100), asked(50, took=100), asked(50, "b", took=100)]
    assert manners(slow, gap_ms=0).parallel == 2
    assert manners([asked(0, took=50), asked(50, took=50)], gap_ms=0).parallel == 1
    assert manners([asked(7), asked(7)], gap_ms=0).parallel == 2


def test_time_begins_when_the_last_host_had_its_first_request() -> None:
    lines = [asked(10, "a"), asked(30, "b"), asked(40, "a"), asked(20, "c")]
    assert everyone_asked_ms(lines, 3) == 30
    assert everyone_asked_ms(lines, 4) is None
    assert count_between(lines, 20, 40) == 2
