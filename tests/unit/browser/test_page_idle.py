"""A page is taken when it had time to show what it loaded. On a busy machine it gets as few turns as we do."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from crawler.adapters.browser import page_idle
from crawler.adapters.browser.channels import MOST_MESSAGES, MOST_SAID
from crawler.adapters.browser.page_idle import Network, settle
from crawler.domain.reasons import Reason
from crawler.domain.rendering.unfed import Unfed


def network_of(most: int = 1000) -> Network:
    return Network("a.org", most, lambda: None)


@dataclass
class Clock:
    now: float = 100.0

    def monotonic(self) -> float:
        return self.now


class World:
    """A document that is complete and still; each question takes so long."""

    def __init__(self, clock: Clock, seconds: float, *, is_busy: bool) -> None:
        self._clock = clock
        self._seconds = seconds
        self._is_busy = is_busy
        self.asked = 0

    async def ask(self, _: str) -> Any:
        self.asked += 1
        self._clock.now += self._seconds
        return [True, "complete", 1000.0, False]

    async def is_waiting(self) -> bool:
        return self._is_busy


@dataclass(frozen=True)
class Case:
    seconds: float
    turns: int
    """How often the page is asked before it is taken."""
    is_busy: bool = False
    """Whether it says that it is being filled."""


BUSY = [Case(0.002, 41, is_busy=True), Case(0.3, 26, is_busy=True), Case(0.9, 10, is_busy=True)]


@pytest.mark.parametrize("case", [Case(0.002, 6), Case(0.3, 4), Case(0.9, 4), *BUSY])
def test_time_counts_by_turns(monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    clock = Clock()

    async def sleep(seconds: float) -> None:
        clock.now += seconds

    monkeypatch.setattr(page_idle, "time", clock)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    network, world = network_of(), World(clock, case.seconds, is_busy=case.is_busy)
    asyncio.run(settle(world, network))  # type: ignore[arg-type]
    assert world.asked == case.turns


@dataclass(frozen=True)
class Asked:
    url: str
    resource_type: str
    failure: str = "net::ERR_CONNECTION_REFUSED"

    @property
    def headers(self) -> dict[str, str]:
        return {"accept": "*/*"}


@dataclass(frozen=True)
class Answer:
    request: Asked
    status: int
    type: str = "application/json"

    @property
    def url(self) -> str:
        return self.request.url

    @property
    def headers(self) -> dict[str, str]:
        return {"content-type": self.type}


class Tab:
    def __init__(self) -> None:
        self._heard: dict[str, Callable[[Any], None]] = {}

    def on(self, event: str, heard: Callable[[Any], None]) -> None:
        self._heard[event] = heard

    def say(self, event: str, what: object) -> None:
        self._heard[event](what)


class Socket(Tab):
    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url


@pytest.mark.parametrize("kind", ["xhr", "fetch", "script"])
@pytest.mark.parametrize(
    ("event", "reason"),
    [("response", Reason.HTTP_5XX), ("requestfailed", Reason.CONNECT), ("request", Reason.TIMEOUT)],
)
def test_what_fills_a_page_and_did_not_come_is_noted(kind: str, event: str, reason: Reason) -> None:
    network, tab, asked = network_of(), Tab(), Asked("https://talk.a.org/embed.js", kind)
    network.watch(tab)  # type: ignore[arg-type]
    tab.say(event, Answer(asked, 503) if event == "response" else asked)
    assert network.unfed() == (Unfed("/embed.js", reason),)


@pytest.mark.parametrize(("kind", "expected"), [("script", (Unfed("/embed.js", Reason.PROTOCOL),)), ("fetch", ())])
def test_a_web_page_is_no_script_but_may_be_data(kind: str, expected: tuple[Unfed, ...]) -> None:
    network, tab, asked = network_of(), Tab(), Asked("https://a.org/embed.js", kind)
    network.watch(tab)  # type: ignore[arg-type]
    tab.say("response", Answer(asked, 200, "text/html; charset=utf-8"))
    assert network.unfed() == expected


def test_a_socket_is_waited_for_while_it_is_open() -> None:
    network, tab, socket = network_of(), Tab(), Socket("wss://a.org/live")
    network.watch(tab)  # type: ignore[arg-type]
    assert (network.is_expecting(), network.unfed()) == (False, ())
    tab.say("websocket", socket)
    assert (network.is_expecting(), network.unfed()) == (True, (Unfed("/live", Reason.TIMEOUT),))
    socket.say("framereceived", "hello")
    assert (network.is_expecting(), network.unfed()) == (True, ())
    socket.say("close", socket)
    assert (network.is_expecting(), network.unfed()) == (False, ())


def test_a_broken_socket_and_those_of_other_sites_are_not_waited_for() -> None:
    network, tab, broken, foreign = network_of(), Tab(), Socket("wss://a.org/live"), Socket("wss://b.org/ads")
    network.watch(tab)  # type: ignore[arg-type]
    for socket in (broken, foreign):
        tab.say("websocket", socket)
    broken.say("socketerror", "503")
    assert not network.is_expecting()
    assert network.unfed() == (Unfed("/live", Reason.CONNECT),)


def test_a_stream_of_events_is_waited_for_while_it_is_open() -> None:
    network, tab, stream = network_of(), Tab(), Asked("https://a.org/events", "eventsource")
    network.watch(tab)  # type: ignore[arg-type]
    tab.say("request", stream)
    assert (network.is_expecting(), network.unfed()) == (True, ())
    tab.say("response", Answer(stream, 503))
    tab.say("requestfinished", stream)
    assert (network.is_expecting(), network.unfed()) == (False, (Unfed("/events", Reason.HTTP_5XX),))


@pytest.mark.parametrize("asked", [Asked("https://a.org/x.css", "stylesheet"), Asked("https://b.org/x.js", "script")])
def test_what_fills_no_page_of_the_site_is_not(asked: Asked) -> None:
    network, tab = network_of(), Tab()
    network.watch(tab)  # type: ignore[arg-type]
    tab.say("requestfailed", asked)
    assert network.unfed() == ()


def test_whoever_watches_hears_of_requests_beyond_a_number() -> None:
    told: list[int] = []
    network, tab = Network("a.org", 2, lambda: told.append(network.requests)), Tab()
    network.watch(tab)  # type: ignore[arg-type]
    for number in range(4):
        tab.say("request", Asked(f"https://a.org/{number}", "image"))
    assert told == [3, 4]


@pytest.mark.parametrize(
    ("event", "most", "is_flooded"), [("framereceived", MOST_MESSAGES, False), ("framesent", MOST_SAID, True)]
)
def test_a_page_that_hears_much_is_kept_as_it_stands_and_one_that_talks_without_end_is_a_flood(
    event: str, most: int, is_flooded: bool
) -> None:
    told: list[str] = []
    network, tab, socket = Network("a.org", 1000, lambda: told.append("more")), Tab(), Socket("wss://a.org/live")
    network.watch(tab)  # type: ignore[arg-type]
    tab.say("websocket", socket)
    for _ in range(most):
        socket.say(event, "x")
    assert (told, network.is_flooded) == ([], False)
    socket.say(event, "x")
    assert (told, network.is_flooded) == (["more"], is_flooded)


def test_a_page_may_answer_whatever_it_hears() -> None:
    network, tab, socket = network_of(), Tab(), Socket("wss://a.org/live")
    network.watch(tab)  # type: ignore[arg-type]
    tab.say("websocket", socket)
    for event in ("framereceived", "framesent") * MOST_SAID:
        socket.say(event, "x")
    assert not network.is_flooded
