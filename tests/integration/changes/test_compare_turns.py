"""Comparisons share their worker: a short one never waits for a long one, and one that cannot be made says so."""

import time
from uuid import UUID, uuid4

import pytest

from crawler.adapters.acquisition import pdf_texts
from crawler.adapters.changes import compare_turns
from crawler.adapters.changes.compare_turns import HELD_SECONDS, WAITING_SECONDS, CompareTurns
from crawler.domain.changes import compare_turns as compare_in_domain
from crawler.domain.changes.compare_turns import LONG_SECONDS, MOST_ATTEMPTS, SHORT_SECONDS, Start
from crawler.domain.changes.summary import Compared
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.judging import Look
from crawler.errors import RedisUnavailable
from crawler.handlers.changes.compare_in_turn import CompareInTurn
from crawler.handlers.changes.describe_changes import DescribeChanges
from tests.integration.changes.test_files import KINDS, serve
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site
from tests.unit.pages.pdfs import pdf_of


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def turns(crawler: Engine, clock: Clock) -> CompareTurns:
    return CompareTurns(crawler.tools.redis, clock)


def ids(count: int) -> list[tuple[UUID, UUID]]:
    return [(uuid4(), uuid4()) for _ in range(count)]


# -- who goes first -----------------------------------------------------------------------------


def test_comparisons_of_several_projects_begin_at_once(turns: CompareTurns) -> None:
    assert [turns.begin(*one).start for one in ids(5)] == [Start.NOW] * 5


def test_one_project_has_one_comparison_at_a_time_and_a_crawl_is_compared_once(turns: CompareTurns) -> None:
    project, first, second = uuid4(), uuid4(), uuid4()
    assert turns.begin(project, first, "one").start is Start.NOW
    assert turns.begin(project, first, "another message").start is Start.ELSEWHERE
    assert turns.begin(project, second, "two").start is Start.LATER
    assert turns.begin(project, second, "three").start is Start.ELSEWHERE, "two will do it"
    turns.leave(project, first, is_over=True)
    assert turns.begin(project, second, "two").start is Start.NOW


def test_only_one_long_comparison_goes_on_and_those_that_waited_come_next(turns: CompareTurns, clock: Clock) -> None:
    (one, two, three) = ids(3)
    for each in (one, two, three):
        assert turns.begin(*each).start is Start.NOW
        clock.now += 1
    assert turns.take_long(one[1])
    assert turns.take_long(one[1]), "it has it"
    for each in (two, three):
        assert not turns.take_long(each[1])
        turns.put_off(*each, was_long=False)
        clock.now += 1
    assert turns.others_wait(one[1])
    assert turns.begin(*two).start is Start.LATER, "it is known to be long, so it does not even begin"
    turns.leave(*one, is_over=True)
    assert turns.begin(*three).start is Start.LATER, "the other has waited longer"
    begun = turns.begin(*two)
    assert (begun.start, begun.is_long, begun.attempts) == (Start.NOW, True, 1)


def test_who_yields_goes_behind_the_others_and_may_go_on_for_longer_next_time(turns: CompareTurns) -> None:
    one, two = ids(2)
    for each in (one, two):
        turns.begin(*each)
    assert turns.take_long(one[1])
    turns.put_off(*two, was_long=False)
    turns.put_off(*one, was_long=True)
    assert turns.begin(*one).start is Start.LATER
    assert turns.begin(*two).start is Start.NOW
    turns.leave(*two, is_over=True)
    again = turns.begin(*one)
    assert (again.start, again.seconds) == (Start.NOW, 2 * LONG_SECONDS)


def test_a_message_that_was_lost_holds_up_nobody(turns: CompareTurns, clock: Clock) -> None:
    one, two = ids(2)
    for each in (one, two):
        turns.begin(*each)
        turns.put_off(*each, was_long=False)
        clock.now += 1
    clock.now += WAITING_SECONDS / 2
    assert turns.begin(*two).start is Start.LATER
    clock.now += WAITING_SECONDS / 2
    assert turns.begin(*two).start is Start.NOW


# -- a comparison that cannot be made -----------------------------------------------------------------


class Broken:
    """A comparison in which something always goes wrong."""

    def __init__(self, engine: Engine, error: Exception) -> None:
        self._engine = engine
        self._error = error

    def __call__(self, _: UUID, __: Look) -> CrawlJob:
        raise self._error

    def give_up(self, crawl_id: UUID, reason: str) -> CrawlJob:
        return self._engine.tools.changes.diff_crawl.give_up(crawl_id, reason)

    def is_early(self, crawl_id: UUID) -> bool:
        return self._engine.tools.changes.diff_crawl.is_early(crawl_id)


def editions(crawler: Engine, site: Site) -> tuple[CrawlJob, CrawlJob]:
    """Two crawls of which the second is still to be compared."""
    lay(site, {"/": page(body="<p>One.</p>")})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/": page(body="<p>Two.</p>")})
    second = crawler.again(first)
    uncompared(crawler, second)
    return first, second


def uncompared(crawler: Engine, crawl: CrawlJob) -> None:
    crawler.rows(
        "UPDATE crawl_jobs SET diffed_at = NULL, change_summary = NULL WHERE id = :id RETURNING id", id=crawl.id
    )


@pytest.mark.slow
def test_one_that_breaks_each_time_is_failed_with_its_reason_and_the_next_crawl_misses_nothing(
    crawler: Engine, site: Site, turns: CompareTurns, clock: Clock
) -> None:
    first, second = editions(crawler, site)
    compare = CompareInTurn(crawler.tools.store, Broken(crawler, KeyError("x")), turns, clock)
    for _ in range(MOST_ATTEMPTS - 1):
        with pytest.raises(KeyError):
            compare(second.id)
    assert compare(second.id) is Start.NOW
    found = crawler.tools.changes.describe(crawler.tools.store.get_crawl(second.id))
    assert (found.state, found.reason) == (Compared.FAILED, "Comparing it broke 3 times (KeyError).")
    lay(site, {"/other": page(body="<p>Else.</p>")})
    third = crawler.again(second)
    assert third.compared_to == first.id
    assert (third.change_summary or {})["changed_page_urls"] == [site.url("/")]


def test_a_crawl_waits_until_the_one_before_was_compared_or_has_failed(
    crawler: Engine, site: Site, turns: CompareTurns, clock: Clock
) -> None:
    """Compared with one that fails later, it would miss what changed until then."""
    first, second = editions(crawler, site)
    crawler.tools.changes.diff_crawl(second.id)
    lay(site, {"/other": page(body="<p>Else.</p>")})
    third = crawler.again(second)
    for crawl in (second, third):
        uncompared(crawler, crawl)
    compare = CompareInTurn(crawler.tools.store, crawler.tools.changes.diff_crawl, turns, clock)
    assert compare(third.id) is Start.LATER
    assert crawler.tools.redis.keys("cr:compare:*") == [], "who waits takes no turn"
    crawler.tools.changes.diff_crawl.give_up(second.id, "It broke.")
    assert compare(third.id) is Start.NOW
    third = crawler.tools.store.get_crawl(third.id)
    assert third.compared_to == first.id
    assert (third.change_summary or {})["changed_page_urls"] == [site.url("/")]


@pytest.mark.slow
def test_one_whose_process_is_killed_each_time_is_failed_and_not_begun_for_ever(
    crawler: Engine, site: Site, turns: CompareTurns, clock: Clock
) -> None:
    _, second = editions(crawler, site)
    for _ in range(MOST_ATTEMPTS):
        assert turns.begin(second.project_id, second.id).start is Start.NOW
        crawler.tools.redis.delete(turns._project(second.project_id))  # as it expires when nobody refreshes it
    compare = CompareInTurn(crawler.tools.store, crawler.tools.changes.diff_crawl, turns, clock)
    assert compare(second.id) is Start.NOW
    found = crawler.tools.changes.describe(crawler.tools.store.get_crawl(second.id))
    assert found.state is Compared.FAILED
    assert found.reason == "The process that compared it was ended each time, 3 times."
    crawler.tools.changes.diff_crawl(second.id)
    found = crawler.tools.changes.describe(crawler.tools.store.get_crawl(second.id))
    assert (found.state, found.reason) == (Compared.YES, None), "somebody asked for it again"


@pytest.mark.slow
def test_a_server_that_does_not_answer_is_no_failure_of_the_comparison(
    crawler: Engine, site: Site, turns: CompareTurns, clock: Clock
) -> None:
    _, second = editions(crawler, site)
    compare = CompareInTurn(crawler.tools.store, Broken(crawler, RedisUnavailable()), turns, clock)
    for _ in range(2 * MOST_ATTEMPTS):
        with pytest.raises(RedisUnavailable):
            compare(second.id)
    assert not crawler.tools.store.get_crawl(second.id).comparison_failed


@pytest.mark.slow
def test_a_long_comparison_ends_when_others_have_the_long_turn_and_is_made_later(
    crawler: Engine, site: Site, turns: CompareTurns, clock: Clock
) -> None:
    _, second = editions(crawler, site)

    class Long(Broken):
        used = SHORT_SECONDS * 2

        def __call__(self, crawl_id: UUID, look: Look) -> CrawlJob:
            look(SHORT_SECONDS / 2)
            look(self.used)
            return self._engine.tools.changes.diff_crawl(crawl_id, look)

    (other,) = ids(1)
    turns.begin(*other)
    assert turns.take_long(other[1])
    compare = CompareInTurn(crawler.tools.store, Long(crawler, KeyError()), turns, clock)
    assert compare(second.id, "a message") is Start.LATER
    assert compare(second.id, "a message") is Start.LATER
    turns.leave(*other, is_over=True)
    assert compare(second.id, "a message") is Start.NOW
    assert crawler.tools.redis.keys("cr:compare:*") == [], "nothing is left behind"


@pytest.mark.slow
def test_pdfs_that_take_long_to_read_need_the_long_turn(
    crawler: Engine, site: Site, turns: CompareTurns, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody counted their time: three projects with a few of them took all processes for minutes."""
    monkeypatch.setattr(pdf_texts, "QUICK_SECONDS", 0.1)
    monkeypatch.setattr(compare_in_domain, "SHORT_SECONDS", 0.1)
    first, second = (pdf_of(f"The fee is {fee} euros. " + "a) Tj (b" * 8_000) for fee in (12, 13))
    serve(site, {"/fees.pdf": ("application/pdf", first)})
    crawl = crawler.crawl(site.url(), content_types=KINDS)
    serve(site, {"/fees.pdf": ("application/pdf", second)})
    crawl = crawler.again(crawl)
    uncompared(crawler, crawl)
    crawler.tools.pages.read_pdf._kept.clear()
    (other,) = ids(1)
    turns.begin(*other)
    assert turns.take_long(other[1])
    compare = CompareInTurn(crawler.tools.store, crawler.tools.changes.diff_crawl, turns, clock)
    assert compare(crawl.id, "a message") is Start.LATER
    assert crawler.tools.store.get_crawl(crawl.id).change_summary is None
    turns.leave(*other, is_over=True)
    assert compare(crawl.id, "a message") is Start.NOW
    assert [page.note for page in crawler.tools.changes.describe.texts(crawl, 20, 20)] == [None], "it was read"


@pytest.mark.slow
def test_a_worker_that_is_to_stop_leaves_the_comparison_to_another_and_that_is_no_failure(
    crawler: Engine, site: Site, turns: CompareTurns, clock: Clock
) -> None:
    _, second = editions(crawler, site)
    compare = CompareInTurn(crawler.tools.store, crawler.tools.changes.diff_crawl, turns, clock)
    for _ in range(2 * MOST_ATTEMPTS):
        assert compare(second.id, "a message", lambda: True) is Start.LATER
    assert compare(second.id, "a message") is Start.NOW
    assert not crawler.tools.store.get_crawl(second.id).comparison_failed


def test_what_a_dead_worker_held_is_free_after_a_while(crawler: Engine, turns: CompareTurns) -> None:
    (one,) = ids(1)
    turns.begin(*one)
    turns.take_long(one[1])
    for key in (turns._project(one[0]), turns._long):
        assert 0 < int(crawler.tools.redis.pttl(key)) <= 1000 * HELD_SECONDS


def test_a_comparison_holds_its_turn_as_long_as_its_process_works(
    turns: CompareTurns, crawler: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_turns, "RENEW_SECONDS", 0.01)
    (one,) = ids(1)
    turns.begin(*one)
    with turns.held(*one):
        crawler.tools.redis.delete(turns._project(one[0]))  # as it expires when nobody is asked for a minute
        while crawler.tools.redis.get(turns._project(one[0])) is None:
            time.sleep(0.01)
        assert turns.begin(*one, "the message that was sent again").start is Start.ELSEWHERE
    turns.leave(*one, is_over=True)
    assert crawler.tools.redis.keys("cr:compare:*") == [], "it is not taken again"


def test_a_message_that_comes_again_compares_nothing_again_unless_it_says_so(
    crawler: Engine, site: Site, turns: CompareTurns, clock: Clock
) -> None:
    _, second = editions(crawler, site)
    made: list[UUID] = []

    class Counted(Broken):
        def __call__(self, crawl_id: UUID, look: Look) -> CrawlJob:
            made.append(crawl_id)
            return self._engine.tools.changes.diff_crawl(crawl_id, look)

    compare = CompareInTurn(crawler.tools.store, Counted(crawler, KeyError()), turns, clock)
    assert [compare(second.id, message) for message in ("one", "one", "two")] == [Start.NOW] * 3
    assert made == [second.id], "and each goes on with what follows: whoever compared it may have been lost before that"
    assert compare(second.id, "three", again=True) is Start.NOW
    assert made == [second.id] * 2


@pytest.mark.slow
def test_who_asks_while_a_crawl_is_compared_hears_that_it_is_not_yet_and_never_that_there_is_nothing(
    crawler: Engine, site: Site
) -> None:
    _, second = editions(crawler, site)
    tools = crawler.tools
    tools.changes.diff_crawl(second.id)

    class ComparedMeanwhile:
        """The comparison ends right after the first question."""

        def __init__(self) -> None:
            self.answers = iter((False, True))

        def is_diffed(self, _: UUID) -> bool:
            return next(self.answers)

        def get_crawl(self, crawl_id: UUID) -> CrawlJob:
            return tools.store.get_crawl(crawl_id)

    describe = DescribeChanges(ComparedMeanwhile(), lambda *_: (), tools.changes.digest)
    read_before = second.model_copy(update={"change_summary": None})
    assert describe(read_before).state is Compared.NOT_YET
    assert describe(read_before).state is Compared.YES
