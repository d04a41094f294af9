"""Places of senders: nobody has more than a few, who waits is hinted when one is free, and nobody else waits."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from uuid import UUID

import pytest

from crawler.domain.notices.notice import Channel
from crawler.handlers.notices.sender_places import (
    AT_WORK,
    MOST_OF_ONE,
    MOST_OF_QUICK,
    SLOW_AT_WORK,
    SLOW_SECONDS,
    THREADS,
    Receiver,
    SenderPlaces,
)

HANGS = SLOW_SECONDS * 3


def hook(host: str) -> Receiver:
    return Receiver.of("webhook", f"https://{host}/x")


class Told:
    """Places of which it is known who was hinted, and a clock that is moved."""

    def __init__(self) -> None:
        self.now = 0.0
        self.hinted: list[UUID] = []
        self.places = SenderPlaces(lambda crawl_id, _: self.hinted.append(crawl_id), lambda: self.now)

    def tell(self, host: str, seconds: float, project: int = 0) -> bool:
        with self.places.telling(hook(host), UUID(int=project)) as is_free:
            self.now += seconds
        return is_free

    @contextmanager
    def hanging(self, hosts: list[str], projects: int = 0) -> Iterator[int]:
        """How many of these hold a place."""
        with ExitStack() as held:
            yield sum(
                held.enter_context(self.places.telling(hook(host), UUID(int=projects + n), UUID(int=projects + n)))
                for n, host in enumerate(hosts)
            )


@pytest.fixture
def told() -> Told:
    return Told()


def test_one_name_has_a_few_places_and_the_next_goes_on_when_one_is_free(told: Told) -> None:
    places, hinted = told.places, told.hinted
    with ExitStack() as held:
        first = ExitStack()
        assert all(first.enter_context(places.place({"project", f"host-{n}"})) for n in range(MOST_OF_ONE))
        waits = [UUID(int=1), UUID(int=2), UUID(int=2)]
        assert not any(held.enter_context(places.place({"project", "host"}, one)) for one in waits)
        assert held.enter_context(places.place({"other"})), "others have theirs"
        assert held.enter_context(places.place({"host"})), "who found no place holds none"
        assert hinted == []
        first.close()
    assert hinted == [UUID(int=1), UUID(int=2)], "each once, in their order"
    with places.place({"project"}) as is_free:
        assert is_free
    kept = vars(places)
    assert kept["_held"] == kept["_waiting"] == kept["_waits_for"] == {}, "nothing is kept of who came and went"


def test_a_place_is_free_again_after_a_failure(told: Told) -> None:
    for _ in range(max(AT_WORK, MOST_OF_ONE) + 1):
        with suppress(OSError), told.places.place({"project"}) as is_free:
            assert is_free
            raise OSError
        with suppress(OSError), told.places.telling(hook("a.test"), UUID(int=1)) as is_free:
            assert is_free
            raise OSError


def test_forty_receivers_that_hang_for_the_first_time_leave_a_place_to_a_stranger(told: Told) -> None:
    with told.hanging([f"hangs-{n}.test" for n in range(40)], projects=1) as held:
        assert held == 40
        assert told.tell("stranger.test", 0.1, project=999)


def test_receivers_that_took_long_the_last_time_have_a_minority_together(told: Told) -> None:
    hosts = [f"hangs-{n}.test" for n in range(THREADS)]
    for host in hosts:
        told.tell(host, HANGS, project=1)
    with told.hanging(hosts, projects=100) as held:
        assert held == THREADS // 4
        assert told.tell("stranger.test", 0.1, project=999), "who is not known is not one of them"
        told.hinted.clear()
    assert len(set(told.hinted)) == THREADS // 4, "as many go on as have done"


def test_however_many_are_new_those_that_answered_before_are_told(told: Told) -> None:
    assert told.tell("known.test", 0.1)
    with told.hanging([f"new-{n}.test" for n in range(THREADS * 2)], projects=1) as held:
        assert held == THREADS * 3 // 4
        assert told.tell("known.test", 0.1)
        assert not told.tell("stranger.test", 0.1)


def test_new_names_of_a_project_whose_receivers_hang_count_as_slow(told: Told) -> None:
    for n in range(40):
        told.tell(f"old-{n}.test", HANGS, project=n)
    with told.hanging([f"fresh-{n}.test" for n in range(40)]) as held:
        assert held == THREADS // 4


def test_a_receiver_that_answers_again_is_no_longer_slow(told: Told) -> None:
    told.tell("a.test", HANGS)
    told.tell("a.test", 0.1)
    with told.hanging(["a.test"] * THREADS, projects=1) as held:
        assert held == MOST_OF_QUICK
    told.tell("a.test", HANGS)
    with told.hanging(["a.test"] * THREADS, projects=1) as held:
        assert held == MOST_OF_ONE


def test_what_hangs_beside_it_makes_no_receiver_slow(told: Told) -> None:
    """Anybody can name a receiver that others need, and one that hangs beside it."""
    told.tell("shared.test", 0.1)
    with told.hanging([f"hangs-{n}.test" for n in range(THREADS)]):
        told.now += HANGS
    assert told.tell("shared.test", 0.1, project=999)
    with told.hanging(["shared.test"] * MOST_OF_QUICK) as held:
        assert held == MOST_OF_QUICK


def test_a_crawl_that_waits_for_a_receiver_is_not_prepared_again_before_it_is_free(told: Told) -> None:
    crawl = UUID(int=7)
    with told.hanging(["a.test", "a.test"], projects=1):
        with told.places.telling(hook("a.test"), crawl, crawl) as is_free:
            assert not is_free
        with told.places.place({"project"}, crawl) as is_free:
            assert not is_free
    assert told.hinted == [crawl]
    with told.places.place({"project"}, crawl) as is_free:
        assert is_free


def test_a_crawl_that_was_passed_over_goes_on_when_somebody_looks_for_it(told: Told) -> None:
    """Those who were hinted when places became free may be gone by then, and hint nobody."""
    gone, waits = [UUID(int=7), UUID(int=8)], UUID(int=9)
    with told.hanging(["a.test", "a.test"], projects=1):
        for crawl in (*gone, waits):
            with told.places.telling(hook("a.test"), crawl, crawl) as is_free:
                assert not is_free
    assert told.hinted == gone
    with told.places.place({"project"}, waits) as is_free:
        assert is_free
    kept = vars(told.places)
    assert kept["_waiting"] == kept["_waits_for"] == {}


def test_apprise_is_a_process_for_each_message_so_there_are_few(told: Told) -> None:
    receivers = [Receiver.of("apprise-2", f"slack://…{n}") for n in range(THREADS)]
    with ExitStack() as held:
        new = sum(held.enter_context(told.places.telling(one, UUID(int=1))) for one in receivers)
        assert new == 6
    told.places.took(receivers[0], 0.1)
    with ExitStack() as held:
        for one in receivers[20:]:
            held.enter_context(told.places.telling(one, UUID(int=1)))
        assert held.enter_context(told.places.telling(receivers[0], UUID(int=2)))


def test_who_waits_for_a_receiver_does_not_keep_others_from_preparing() -> None:
    places = SenderPlaces(lambda *_: None)
    come, go = threading.Barrier(AT_WORK + 2), threading.Event()

    def send(number: int) -> None:
        with places.place({number}), places.telling(hook(f"{number}.test"), UUID(int=number)):
            come.wait(20)
            go.wait(20)

    with ThreadPoolExecutor(AT_WORK + 1) as threads:
        sent = [threads.submit(send, n) for n in range(AT_WORK + 1)]
        come.wait(20)
        with places.place({"stranger"}) as is_free:
            assert is_free
        go.set()
        assert [one.result(20) for one in sent] == [None] * (AT_WORK + 1)


def test_projects_that_take_long_to_prepare_leave_work_to_others() -> None:
    places = SenderPlaces(lambda *_: None)
    come, go = threading.Barrier(SLOW_AT_WORK + 1), threading.Event()

    def prepare(number: int) -> None:
        places.took(number, HANGS)
        with places.place({number}) as is_free:
            if is_free:
                with suppress(threading.BrokenBarrierError):
                    come.wait(20)
                go.wait(20)

    def stranger() -> bool:
        with places.place({"stranger"}) as is_free:
            return is_free

    with ThreadPoolExecutor(THREADS) as threads:
        for number in range(THREADS * 2):
            threads.submit(prepare, number)
        come.wait(20)
        try:
            assert threads.submit(stranger).result(20)
        finally:
            come.abort()
            go.set()


def test_ports_that_hang_take_no_place_of_a_popular_host(told: Told) -> None:
    """Whoever names a filtered port of it must not make it slow for all."""
    assert told.tell("popular.test", 0.1)
    assert told.tell("popular.test:81", HANGS)
    with told.hanging(["popular.test:81"] * MOST_OF_ONE), told.hanging(["popular.test"] * MOST_OF_QUICK) as sent:
        assert sent == MOST_OF_QUICK


@pytest.mark.parametrize(
    ("channel", "address", "host"),
    [
        ("webhook", "https://A.test:8443/x", "a.test:8443"),
        ("webhook", "https://user:word@a.test/x", "a.test"),
        ("webhook-3", "http://[::1]:8/", "[::1]:8"),
        ("email-2", "Somebody@Example.ORG", "example.org"),
        ("apprise", "slack://…3f9a1c", "slack://…3f9a1c"),
    ],
)
def test_what_decides_how_long_it_takes(channel: str, address: str, host: str) -> None:
    assert Receiver.of(channel, address) == (Channel(channel.partition("-")[0]), host)
