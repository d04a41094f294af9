"""A page that takes too long to be read costs itself, and a bounded time of the process that all crawls share."""

import gzip
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import pytest

from crawler.adapters.judging.judge_pool import JudgePool
from crawler.bootstrap.judging import READING
from crawler.domain.pages.files import any_page
from crawler.domain.pages.parsing import UnparsablePage
from crawler.handlers.pages import bounded_reading
from crawler.handlers.pages.bounded_reading import BoundedReading
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
from tests.site.client import Site
from tests.unit.pages.test_calm_markup import HOSTILE, between_samples

URL = "http://example.org/"


@pytest.fixture(scope="module")
def pool() -> Iterator[JudgePool]:
    made = JudgePool(1)
    yield made
    made.close()


@pytest.fixture
def reading(pool: JudgePool, monkeypatch: pytest.MonkeyPatch) -> BoundedReading:
    monkeypatch.setattr(bounded_reading, "PAGE_SECONDS", 0.2)
    monkeypatch.setattr(bounded_reading, "LEAST_SECONDS", 0.05)
    return BoundedReading(partial(pool.open, READING))


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", ["divs", "ruby", "attributes"])
def test_markup_that_would_take_minutes_is_given_up(reading: BoundedReading, name: str) -> None:
    began = time.process_time()
    with pytest.raises(UnparsablePage, match="too large"):
        reading("somebody", any_page, 20 * HOSTILE[name].replace(b"<a a0", b"<a c"), "text/html", URL, {}, {})
    assert time.process_time() - began < 2, "of this process"


def test_a_large_page_of_people_is_read_by_the_judge_as_it_is_here(reading: BoundedReading) -> None:
    body = b"<title>T</title>" + b"".join(b"<p><a href=/%d>link %d</a>\n" % (n, n) for n in range(5_500))
    given = "text/html", URL, {"content-language": "de"}, {"max_links": 7_000, "detect_language": False}
    assert reading("somebody", any_page, body, *given) == any_page(body, *given)


@pytest.mark.slow
def test_large_pages_are_read_here_until_one_takes_long(pool: JudgePool, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    reading = BoundedReading(partial(pool.open, READING), lambda: now[0])
    monkeypatch.setattr(bounded_reading, "UNUSUAL_SECONDS", 0.03)
    given = "text/html", URL, dict[str, str](), dict[str, object]()

    def seconds_here(body: bytes) -> float:
        began = time.process_time()
        with suppress(UnparsablePage):
            reading("somebody", any_page, body, *given)
        return time.process_time() - began

    hostile = between_samples(b"<div>", 60_000)
    first, second = seconds_here(hostile), seconds_here(hostile)
    now[0] = bounded_reading.CAREFUL_SECONDS
    third = seconds_here(hostile)
    assert 2 * second < min(first, third), "the second by the judge"


@pytest.mark.slow
def test_who_wastes_time_again_and_again_gets_less_of_it_and_then_none(
    pool: JudgePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_reading, "PAGE_SECONDS", 0.2)
    monkeypatch.setattr(bounded_reading, "LEAST_SECONDS", 0.05)
    now = [0.0]
    reading = BoundedReading(partial(pool.open, READING), lambda: now[0])
    given = "text/html", URL, dict[str, str](), dict[str, object]()
    hostile = between_samples(b"<div>", 2_000_000)
    allowed = []
    for _ in range(bounded_reading.MOST_IN_VAIN):
        allowed.append(reading.seconds("somebody"))
        with pytest.raises(UnparsablePage, match="too large"):
            reading("somebody", any_page, hostile, *given)
    assert allowed == sorted(allowed, reverse=True)
    with pytest.raises(UnparsablePage, match="not tried"):
        reading("somebody", any_page, b"<p>x</p>" * 9_000, *given)
    assert reading("somebody", any_page, b"<p>small</p>", *given).text == "small"
    assert reading("other", any_page, b"<p>x</p>" * 9_000, *given).word_count == 9_000
    now[0] = bounded_reading.PAUSE_SECONDS
    monkeypatch.setattr(bounded_reading, "LEAST_SECONDS", 5.0)
    for _ in range(bounded_reading.MOST_IN_VAIN):
        reading("somebody", any_page, b"<p>x</p>" * 9_000, *given)
    monkeypatch.setattr(bounded_reading, "LEAST_SECONDS", 0.05)
    assert reading.seconds("somebody") == bounded_reading.PAGE_SECONDS, "what goes well is forgiven"


def test_a_crawl_with_such_a_page_stores_the_others_and_says_why(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_reading, "PAGE_SECONDS", 0.2)
    lay(
        site,
        {"/": ["/bomb", "/good"], "/bomb": between_samples(b"<div>", 1_000_000).decode(), "/good": "<h1>Good</h1>"},
    )
    began = time.process_time()
    crawl = crawler.crawl(site.url())
    assert time.process_time() - began < 10
    assert crawler.ends(crawl) == {"/": "done", "/bomb": "parse", "/good": "done"}


def test_a_small_feed_that_unpacks_to_very_much_is_given_up(reading: BoundedReading) -> None:
    feed = gzip.compress(b"<rss><channel>" + b"<a/>" * 1_900_000)
    assert len(feed) < 10_000
    began = time.process_time()
    with pytest.raises(UnparsablePage, match="too large"):
        reading("somebody", any_page, feed, "application/rss+xml", URL, {}, {})
    assert time.process_time() - began < 0.5, "of this process"


def test_a_large_page_in_a_charset_of_old_is_read_by_the_judge(reading: BoundedReading) -> None:
    """What its bytes cost is not known before they are read."""
    began = time.process_time()
    with suppress(UnparsablePage):
        reading("somebody", any_page, b"\x81a" * 4_000_000, "text/html; charset=shift_jis", URL, {}, {})
    assert time.process_time() - began < 0.5, "of this process"
