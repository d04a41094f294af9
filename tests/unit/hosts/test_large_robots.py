"""A robots.txt made to be large costs little CPU, to be read and for each link, and many of them do not fill memory."""

import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from crawler.domain.hosts import robots_rules
from crawler.domain.hosts.host import HostRecord
from crawler.domain.hosts.robots import Robots
from crawler.domain.reasons import Reason
from crawler.handlers.engine.robots_and_backoff import RobotsAndBackoff

AGENT = "crawler/0.1 (+https://example.org/bot)"
SITE = "https://example.com"
SHORT = b"User-agent: *\n" + b"".join(b"Disallow:/%x\n" % number for number in range(34_000))
LONG = b"User-agent: *\n" + b"".join(b"Disallow:/" + b"a" * length + b"\n" for length in range(990))


def cpu_seconds(what: Callable[[], object], times: int = 3) -> float:
    spent = []
    for _ in range(times):
        started = time.process_time()
        what()
        spent.append(time.process_time() - started)
    return min(spent)


def test_a_full_file_of_short_rules_is_read_in_ten_microseconds_a_rule() -> None:
    assert cpu_seconds(lambda: Robots.parse(SHORT).permits(f"{SITE}/x", AGENT)) < 34_000 * 0.00001


@pytest.mark.parametrize("rule", [b"Disallow:/%x\n", b"Allow:/%x$\n", b"Disallow:/%x*\n", b"Allow:/%x/index.html\n"])
def test_a_full_file_of_short_rules_takes_few_bytes(rule: bytes) -> None:
    body = (b"User-agent: *\n" + b"".join(rule % number for number in range(40_000)))[:510_000]
    tracemalloc.start()
    try:
        robots = Robots.parse(body)
        assert robots.permits(f"{SITE}/1234", AGENT) == rule.startswith(b"A")
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert kept < 2_000_000
    assert kept < 2 * robots.size(AGENT)


@pytest.mark.parametrize("rule", [b"Disallow:/%x\n", b"Allow:/%x$\n", b"Disallow:/%x*\n", b"Allow:/%x/index.html\n"])
def test_a_link_is_judged_in_less_than_a_millisecond_by_as_many_rules_as_there_may_be(rule: bytes) -> None:
    robots = Robots.parse(b"User-agent: *\n" + b"".join(rule % number for number in range(4096, 30_000)))
    links = [f"{SITE}/{number:x}" for number in range(200)] + [f"{SITE}/x{number}{'/a' * 900}" for number in range(200)]
    robots.permits(links[0], AGENT)
    assert cpu_seconds(lambda: [robots.permits(link, AGENT) for link in links]) < 0.001 * len(links)


@pytest.mark.parametrize(
    "body",
    [
        LONG,
        b"User-agent: *\n" + b"".join(b"Disallow:/" + b"*a" * 850 + b"*z%d\n" % number for number in range(290)),
        *(
            b"User-agent: *\n" + b"".join(b"Disallow: /*" + b"a" * (size + n) + b"ba\n" for n in range(300))
            for size in (20, 200, 500, 850)
        ),
    ],
)
def test_a_long_link_is_judged_in_few_milliseconds_by_long_rules(body: bytes) -> None:
    robots = Robots.parse(body)
    links = [f"{SITE}/{'a' * 1900}{number}" for number in range(50)]
    robots.permits(links[0], AGENT)
    assert cpu_seconds(lambda: [robots.permits(link, AGENT) for link in links]) < 0.005 * len(links)


def test_rules_of_a_full_file_are_obeyed_to_the_last() -> None:
    body = SHORT + b"Allow: /84cf/open\nDisallow: /*.pdf$\n"
    expected = {"/84cf": False, "/84cf/open": True, "/zz": True, "/zz.pdf": False, "/0": False}
    robots = Robots.parse(body)
    assert {path: robots.permits(SITE + path, AGENT) for path in expected} == expected


# ---- the hosts of one process


class Store:
    def __init__(self, body: bytes) -> None:
        self.body = body
        self.reads = 0

    def find_host(self, host: str) -> HostRecord:
        self.reads += 1
        return HostRecord(200, self.body + f"# {host}".encode(), datetime(2026, 1, 1, tzinfo=UTC))


def asking(body: bytes) -> tuple[RobotsAndBackoff, Store, Any]:
    store: Any = Store(body)
    nothing: Any = SimpleNamespace()
    now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=1)
    crawl = SimpleNamespace(config=SimpleNamespace(respect_robots_txt=True), created_at=now)
    return RobotsAndBackoff(nothing, store, lambda: now, AGENT), store, SimpleNamespace(crawl=crawl)


@pytest.mark.slow
def test_large_files_of_many_hosts_do_not_fill_memory_and_are_still_obeyed() -> None:
    robots, _, context = asking(LONG)
    tracemalloc.start()
    try:
        for number in range(150):
            host = f"h{number}.example.com"
            assert robots.ask(context, host, f"https://{host}/aaa").reason is Reason.ROBOTS
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert kept < 140_000_000
    assert robots.ask(context, "h0.example.com", "https://h0.example.com/aaa").reason is Reason.ROBOTS


def test_small_files_of_many_hosts_are_all_kept_and_the_oldest_goes_first() -> None:
    robots, store, context = asking(b"User-agent: *\nDisallow: /a\n")
    for number in range(5000):
        robots.ask(context, f"h{number}", f"https://h{number}/b")
    robots.ask(context, "h0", "https://h0/b")
    assert store.reads == 5000
    robots.ask(context, "new", "https://new/b")
    for host, reads in (("h0", 5001), ("h1", 5002)):
        robots.ask(context, host, f"https://{host}/b")
        assert store.reads == reads


# ---- the verdict is protego's

pieces = st.sampled_from(
    ["/", "a", "b", "*", "$", "%2F", "%2f", "%61", "%2A", "%25", "%", "%4", "%C3", "%A4", "%0a", "ä", "\\", "?", "=",
     "&", "index.html", "http://", "~", "+", ";", "."]
)  # fmt: skip
rules = st.lists(
    st.tuples(st.sampled_from(["Allow", "Disallow"]), st.lists(pieces, max_size=5).map("".join)), max_size=6
)


@given(rules, st.lists(pieces, max_size=6).map("".join), st.integers(0, 1))
def test_packed_rules_say_the_same(rules: list[tuple[str, str]], path: str, most: int) -> None:
    text = "\n".join(["User-agent: *", *(f"{kind}: /{value}" for kind, value in rules)])
    before = robots_rules.MOST_UNPACKED
    robots_rules.MOST_UNPACKED = most
    try:
        packed = Robots.parse(text.encode()).permits(f"{SITE}/{path}", AGENT)
    finally:
        robots_rules.MOST_UNPACKED = before
    assert packed == Robots.parse(text.encode()).permits(f"{SITE}/{path}", AGENT)


@given(st.lists(st.sampled_from(["a", "ab", "b", "ba", "aab"]), max_size=300), st.text("ab", max_size=20))
def test_long_urls_are_searched_for_what_they_have(words: list[str], part: str) -> None:
    path = "/" + "".join(words) + "c" * 2000
    assert Robots.parse(f"User-agent: *\nDisallow: /*{part}*c".encode()).permits(SITE + path, AGENT) == (
        part not in path
    )


@given(rules, st.lists(pieces, max_size=6).map("".join))
def test_the_verdict_on_any_spelling_is_that_of_protego(rules: list[tuple[str, str]], path: str) -> None:
    text = "User-agent: *\n" + "\n".join(f"{kind}: /{value}\n{kind}: {value}" for kind, value in rules)
    url = f"{SITE}/{path}"
    assert Robots.parse(text.encode()).permits(url, AGENT) == Protego.parse(text).can_fetch(url, "*")
