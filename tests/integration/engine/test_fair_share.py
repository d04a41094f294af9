"""A shift leaves slots to others: hosts of one crawl that never answer do not hold up another crawl."""

import time
from pathlib import Path
from uuid import UUID

import pytest

from crawler.bootstrap import judging
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.crawls.frontier import Kind, Lane
from crawler.handlers.engine import claim_urls, few_slots, many_slots, work_shift
from crawler.handlers.engine.few_slots import FewSlots
from crawler.handlers.engine.lease_result import LeaseResult
from crawler.handlers.pages import bounded_reading
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine, InlineHints
from tests.site.client import Site
from tests.unit.pages.test_calm_markup import between_samples

SLOTS = 8
CONFIG = {"delay_seconds": 0, "max_concurrent": 64, "use_sitemaps": False}


def test_a_crawl_that_hangs_with_all_it_may_have_in_flight_holds_nobody_up(
    crawler: Engine, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_shift, "STOP_SECONDS", 0.0)
    tools = crawler.tools
    tools.engine.work_shift.max_active = SLOTS
    slow = [f"/slow{number}" for number in range(4 * SLOTS)]
    lay(site, {"/": slow, **dict.fromkeys(slow, ())})
    site.set_fault("/slow*", hang=True)
    large = crawler.start(crawler.project(site.url()), config=CONFIG)
    started: list[CrawlJob] = []
    (tmp_path / "quick").mkdir()
    with Site(tmp_path / "quick", hosts=1, pages=4) as quick:
        lay(quick, {"/": ["/a", "/b"], "/a": (), "/b": ()})
        until = time.monotonic() + 25  # less than a request that hangs takes

        def is_over() -> bool:
            """Asked in every round of the shift: the small crawl comes when the large one has all it can have."""
            stats = tools.frontier.stats((started or [large])[0].id)
            if not started and stats and stats.in_flight >= SLOTS * 3 // 4:
                started.append(crawler.start(crawler.project(quick.url()), config=CONFIG))
                return False
            return time.monotonic() > until or bool(started and stats and stats.finished)

        tools.engine.work_shift(Lane.HTTP, "shift", is_over)
        assert crawler.ends(started[0]) == {"/": "done", "/a": "done", "/b": "done"}


@pytest.mark.slow
@pytest.mark.parametrize("number", [4, SLOTS + 2], ids=["few crawls", "more crawls than slots"])
def test_new_crawls_that_hang_leave_a_slot_to_one_that_has_none(
    crawler: Engine, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Nobody knows yet that their pages hang."""
    monkeypatch.setattr(work_shift, "STOP_SECONDS", 0.0)
    monkeypatch.setattr(claim_urls, "MAX_PAIRS", SLOTS)
    monkeypatch.setattr(many_slots, "GIVE_WAY_SECONDS", 1.0)
    tools, shift = crawler.tools, crawler.tools.engine.work_shift
    monkeypatch.setattr(shift, "max_active", SLOTS)
    slow = [f"/slow{number}" for number in range(4 * SLOTS)]
    lay(site, {"/": slow, **dict.fromkeys(slow, ())})
    site.set_fault("/slow*", hang=True)
    hostile = [crawler.start(crawler.project(site.url()), config=CONFIG) for _ in range(number)]
    started: list[CrawlJob] = []
    (tmp_path / "quick").mkdir()
    with Site(tmp_path / "quick", hosts=1, pages=4) as quick:
        lay(quick, {"/": ["/a", "/b"], "/a": (), "/b": ()})
        began = time.monotonic()

        def is_over() -> bool:
            if not started and time.monotonic() - began > 3:
                held = sum(stats.in_flight for one in hostile if (stats := tools.frontier.stats(one.id)))
                assert held >= SLOTS * 3 // 4
                started.append(crawler.start(crawler.project(quick.url()), config=CONFIG))
            stats = tools.frontier.stats(started[0].id) if started else None
            return time.monotonic() - began > 12 or bool(stats and stats.finished)

        shift(Lane.HTTP, "shift", is_over)
        assert crawler.ends(started[0]) == {"/": "done", "/a": "done", "/b": "done"}


def test_a_crawl_that_is_over_ends_while_the_shift_still_waits_for_another(
    crawler: Engine, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_shift, "STOP_SECONDS", 0.0)
    tools = crawler.tools
    lay(site, {"/": ["/slow"], "/slow": ()})
    site.set_fault("/slow", hang=True)
    crawler.start(crawler.project(site.url()), config=CONFIG)
    (tmp_path / "quick").mkdir()
    with Site(tmp_path / "quick", hosts=1, pages=4) as quick:
        lay(quick, {"/": ["/a", "/b"], "/a": (), "/b": ()})
        other = crawler.start(crawler.project(quick.url()), config=CONFIG)
        until = time.monotonic() + 8  # less than a request that hangs takes
        hints = tools.hints
        assert isinstance(hints, InlineHints)

        def is_told() -> bool:
            return ("finish_crawl", other.id) in hints.sent

        tools.engine.work_shift(Lane.HTTP, "shift", lambda: is_told() or time.monotonic() > until)
        assert time.monotonic() < until
        assert hints.sent.count(("finish_crawl", other.id)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("slots", "few"), [(3, FewSlots(3)), (SLOTS, None)], ids=["browser lane", "HTTP lane"])
def test_pages_that_hang_hold_nobody_up_not_even_when_their_shift_is_over(
    crawler: Engine, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slots: int, few: FewSlots | None
) -> None:
    """A shift ends when its last page has ended, which may be half a minute later."""
    monkeypatch.setattr(work_shift, "STOP_SECONDS", 0.0)
    monkeypatch.setattr(few_slots, "HELD_UP_SECONDS", 0.1)
    tools, shift = crawler.tools, crawler.tools.engine.work_shift
    monkeypatch.setattr(shift, "max_active", slots)
    monkeypatch.setattr(shift, "few_slots", few)
    monkeypatch.setattr(shift, "shift_seconds", 0.5)
    slow = [f"/slow{number}" for number in range(6)]
    lay(site, {"/": slow, **dict.fromkeys(slow, ())})
    site.set_fault("/slow*", hang=True)
    large = crawler.start(crawler.project(site.url()), config=CONFIG)
    started: list[CrawlJob] = []
    (tmp_path / "quick").mkdir()
    with Site(tmp_path / "quick", hosts=1, pages=4) as quick:
        lay(quick, {"/": ["/a", "/b"], "/a": (), "/b": ()})
        began = time.monotonic()

        def is_over() -> bool:
            stats = tools.frontier.stats((started or [large])[0].id)
            now = time.monotonic()
            if not started and now - began > 1.5 and stats and stats.in_flight >= 2:
                started.append(crawler.start(crawler.project(quick.url()), config=CONFIG))
                return False
            return now - began > 14 or bool(started and stats and stats.finished)

        while not started:
            shift(Lane.HTTP, "shift", is_over)
        assert crawler.ends(started[0]) == {"/": "done", "/a": "done", "/b": "done"}


@pytest.mark.slow
def test_pages_of_several_new_crawls_give_way_to_one_that_has_no_slot_and_are_done_later(
    crawler: Engine, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the browser lane: nobody knows yet that the pages of a new crawl take long."""
    monkeypatch.setattr(work_shift, "STOP_SECONDS", 0.0)
    monkeypatch.setattr(few_slots, "GIVE_WAY_SECONDS", 0.5)
    tools, shift = crawler.tools, crawler.tools.engine.work_shift
    monkeypatch.setattr(shift, "max_active", 3)
    monkeypatch.setattr(shift, "few_slots", FewSlots(3))
    slow = [f"/slow{number}" for number in range(3)]
    lay(site, dict.fromkeys(slow, ()))
    site.set_fault("/slow*", hang=True)
    hostile = [crawler.start(crawler.project(site.url(path)), config=CONFIG) for path in slow]
    started: list[CrawlJob] = []
    (tmp_path / "quick").mkdir()
    with Site(tmp_path / "quick", hosts=1, pages=4) as quick:
        lay(quick, {"/": ["/a"], "/a": ()})
        until = time.monotonic() + 9  # less than a request that hangs takes

        def in_flight() -> int:
            return sum(stats.in_flight for one in hostile if (stats := tools.frontier.stats(one.id)))

        def is_over() -> bool:
            if not started and in_flight() == 3:
                started.append(crawler.start(crawler.project(quick.url()), config=CONFIG))
            stats = tools.frontier.stats(started[0].id) if started else None
            return time.monotonic() > until or bool(stats and stats.finished)

        shift(Lane.HTTP, "shift", is_over)
        assert crawler.ends(started[0]) == {"/": "done", "/a": "done"}
    site.mend()
    for one in hostile:
        crawler.run(one)
        assert list(crawler.ends(one).values()) == ["done"]


def test_a_crawl_goes_on_while_the_first_pages_of_others_take_long_to_be_read(
    crawler: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_shift, "STOP_SECONDS", 0.0)
    monkeypatch.setattr(bounded_reading, "PAGE_SECONDS", 4.0)
    monkeypatch.setattr(judging, "READING", judging.READING._replace(page_seconds=4.0, total_seconds=4.0))
    with Site(tmp_path, hosts=4, pages=6) as site:
        for number in range(3):
            lay(site, {"/": between_samples(b"<div>", 2_000_000).decode()}, host=number)
        lay(site, {"/": ["/a"], "/a": ()}, host=3)
        crawls = [crawler.start(crawler.project(site.url("/", n)), config=CONFIG) for n in range(4)]
        *hostile, stranger = crawls

        def is_over() -> bool:
            stats = crawler.tools.frontier.stats(stranger.id)
            return bool(stats and stats.finished)

        crawler.tools.engine.work_shift(Lane.HTTP, "shift", is_over)
    assert crawler.ends(stranger) == {"/": "done", "/a": "done"}
    assert [crawler.ends(one) for one in hostile] == 3 * [{"/": None}], "given back"


@pytest.mark.slow
def test_a_crawl_claims_and_is_processed_while_very_many_responses_of_another_wait(
    crawler: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shift = crawler.tools.engine.work_shift
    process, order = shift.process, list[UUID]()

    def slowly(result: FetchResult, lane: Lane) -> LeaseResult:
        lease = result.request.context.lease
        if lease.kind is Kind.PAGE:
            order.append(lease.crawl_id)
            time.sleep(0.03 if lease.crawl_id == large.id else 0)
        return process(result, lane)

    monkeypatch.setattr(shift, "process", slowly)
    pages = [f"/{number}" for number in range(60)]
    with Site(tmp_path, hosts=2, pages=4) as site:
        lay(site, {"/": pages, **dict.fromkeys(pages, ())}, host=0)
        lay(site, {"/": ()}, host=1)
        large = crawler.start(crawler.project(site.url("/", 0)), config=CONFIG)
        started: list[CrawlJob] = []

        def is_over() -> bool:
            if not started and len(order) > 1:
                started.append(crawler.start(crawler.project(site.url("/", 1)), config=CONFIG))
            stats = crawler.tools.frontier.stats(started[0].id) if started else None
            return bool(stats and stats.finished)

        shift(Lane.HTTP, "shift", is_over)
    assert order.index(started[0].id) < 30, "of 61"
