"""Watching a project over its WebSocket: every event once and in order, or told that some are gone."""

import json
import logging
import os
import re
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import pytest
import redis
from websockets.exceptions import ConnectionClosed, InvalidStatus

from crawler.adapters.operating import event_stream, event_tail
from crawler.adapters.operating.event_stream import StreamKeys
from crawler.bootstrap import build
from crawler.domain.api_keys import Scope
from crawler.domain.crawls.crawl import CrawlJob
from crawler.entrypoints.api.app import create_app
from crawler.entrypoints.api.live import audience
from crawler.entrypoints.api.live import reader as live_reader
from tests.integration.api.conftest import Service
from tests.integration.api.live_server import (
    SECONDS,
    ServiceProcess,
    Watcher,
    eventually,
    served,
    service_process,
    watching,
)
from tests.site.client import Site

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture
def port(service: Service) -> Iterator[int]:
    with served(create_app(service.engine.tools)) as port:
        yield port


@pytest.fixture
def crawl(service: Service) -> CrawlJob:
    """Under way; its first event, that it is, was told."""
    return service.engine.start(service.engine.project("http://127.0.0.1/"))


def tell(service: Service, crawl: CrawlJob, *numbers: int, kind: str = "page") -> None:
    service.engine.tools.events.publish_many(crawl.id, kind, [{"n": n} for n in numbers])


def told(events: list[dict[str, Any]]) -> list[int]:
    return [event["data"]["n"] for event in events]


def in_order(events: list[dict[str, Any]]) -> bool:
    numbers = [event["seq"] for event in events]
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def closed(watcher: Watcher) -> tuple[int, str]:
    """Reads on until we are hung up on, and says how."""
    _, end = to_the_end(watcher)
    assert end.rcvd is not None
    return end.rcvd.code, end.rcvd.reason


def to_the_end(watcher: Watcher) -> tuple[list[dict[str, Any]], ConnectionClosed]:
    events: list[dict[str, Any]] = []
    while True:
        try:
            events.append(watcher.next())
        except ConnectionClosed as exc:
            return events, exc


def refused(port: int, service: Service, project_id: object, **options: Any) -> dict[str, Any]:
    """The answer to the handshake."""
    with pytest.raises(InvalidStatus) as caught, watching(port, service, str(project_id), **options):
        pass
    response = caught.value.response
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["x-content-type-options"] == "nosniff"
    body: dict[str, Any] = json.loads(response.body or b"")
    assert body["status"] == response.status_code
    return body


# -- what is told -------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize("direct", [True, False], ids=["our protocol", "any server"])
def test_a_crawl_is_watched_from_its_start_to_its_end(service: Service, site: Site, direct: bool) -> None:
    engine = service.engine
    project = engine.project(site.url(), delay_seconds=0, max_concurrent=8)
    with served(create_app(engine.tools), direct=direct) as port, watching(port, service, project.id) as watcher:
        done = engine.run(engine.start(project))
        events = watcher.until("completed")
        assert in_order(events)
        assert {event["crawl_id"] for event in events} == {str(done.id)}
        assert all(set(event) == {"seq", "type", "crawl_id", "at", "data"} for event in events)
        kinds = {event["type"] for event in events}
        assert kinds == {"status", "page", "progress", "completed"}
        assert (events[0]["type"], events[0]["data"]["status"]) == ("status", "in_progress")
        pages = [event["data"] for event in events if event["type"] == "page"]
        assert sorted(page["url"] for page in pages) == sorted(row["url"] for row in engine.ledger(done).values())
        result = events[-1]["data"]
        assert (result["status"], result["pages_crawled"]) == ("completed", done.pages_crawled)
        assert (result["total_discovered"], result["lightweight"]) == (done.total_discovered, done.pages_crawled)
        assert result["duration_seconds"] > 0


@pytest.mark.slow
def test_crawls_that_begin_later_are_watched_too(service: Service, port: int) -> None:
    project = service.engine.project("http://127.0.0.1/")
    with watching(port, service, project.id) as watcher:
        for _ in range(2):
            crawl = service.engine.start(project)
            service.engine.tools.crawls.control.pause(crawl.id)
            service.engine.tools.crawls.control.cancel(crawl.id)
            events = watcher.take(3)
            assert [event["type"] for event in events] == ["status", "status", "completed"]
            assert [event["data"].get("paused") for event in events] == [False, True, None]
            assert events[-1]["data"]["status"] == "cancelled"
            assert {event["crawl_id"] for event in events} == {str(crawl.id)}


def test_other_projects_are_not_told(service: Service, port: int, crawl: CrawlJob) -> None:
    other = service.engine.start(service.engine.project("http://127.0.0.2/"))
    with watching(port, service, crawl.project_id) as watcher:
        tell(service, other, 1)
        tell(service, crawl, 2)
        assert told([watcher.next()]) == [2]


# -- what was missed ----------------------------------------------------------------------------


@pytest.mark.slow
def test_what_was_missed_comes_first_and_then_what_comes(service: Service, port: int, crawl: CrawlJob) -> None:
    with watching(port, service, crawl.project_id) as watcher:
        tell(service, crawl, *range(10))
        seen = watcher.take(4)
    tell(service, crawl, 10, 11)
    with watching(port, service, crawl.project_id, seen[-1]["seq"]) as watcher:
        missed = watcher.take(8)
        tell(service, crawl, 12)
        missed.append(watcher.next())
    assert told(seen + missed) == list(range(13))
    assert in_order(seen + missed)


def test_after_0_is_all_that_is_kept_and_none_is_only_what_is_new(service: Service, port: int, crawl: CrawlJob) -> None:
    for n in range(100):
        tell(service, crawl, n)
    with watching(port, service, crawl.project_id, 0) as all_, watching(port, service, crawl.project_id) as new:
        tell(service, crawl, 100)
        assert all_.next()["type"] == "status"
        assert told(all_.take(101)) == list(range(101))
        assert told([new.next()]) == [100]


def test_the_handshake_tells_where_one_begins(service: Service, port: int, crawl: CrawlJob) -> None:
    """So that a connection lost before its first event loses nothing."""
    with watching(port, service, crawl.project_id) as watcher:
        assert watcher.connection.response is not None
        begun = int(watcher.connection.response.headers["crawler-seq"])
    tell(service, crawl, 1)
    with watching(port, service, crawl.project_id, begun) as watcher:
        event = watcher.next()
    assert (event["seq"], event["data"]) == (begun + 1, {"n": 1})


@pytest.mark.slow
def test_what_is_no_longer_kept_is_told_as_a_gap(service: Service, port: int, crawl: CrawlJob) -> None:
    with watching(port, service, crawl.project_id) as watcher:
        tell(service, crawl, 0)
        seen = watcher.next()["seq"]
    for n in range(1, 11):
        tell(service, crawl, n)
    service.engine.tools.redis.xtrim(StreamKeys.of(crawl.project_id).stream, maxlen=3, approximate=False)
    with watching(port, service, crawl.project_id, seen) as watcher:
        gap, *kept = watcher.take(4)
    assert (gap["type"], gap["crawl_id"]) == ("gap", None)
    assert gap["data"] == {"after": seen, "before": seen + 8}
    assert told(kept) == [8, 9, 10]
    assert in_order([gap, *kept]), "whoever comes back with the gap's number goes on behind it"


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("again", [True, False], ids=["then more was told", "then nothing"])
def test_nothing_kept_at_all_is_a_gap_too(service: Service, port: int, crawl: CrawlJob, again: bool) -> None:
    seen = service.engine.tools.events.read(crawl.id)[-1].seq
    tell(service, crawl, 1)
    service.engine.tools.redis.flushdb()
    if again:
        tell(service, crawl, 2)
    with watching(port, service, crawl.project_id, seen) as watcher:
        assert watcher.next()["type"] == "gap"
        tell(service, crawl, 3)
        assert told(watcher.take(1 + again))[-1] == 3


def test_nothing_missed_is_no_gap_although_all_has_expired(service: Service, port: int, crawl: CrawlJob) -> None:
    seen = service.engine.tools.events.read(crawl.id)[-1].seq
    service.engine.tools.redis.delete(StreamKeys.of(crawl.project_id).stream)
    with watching(port, service, crawl.project_id, seen) as watcher:
        tell(service, crawl, 1)
        event = watcher.next()
    assert (event["type"], event["seq"]) == ("page", seen + 1)


def test_who_watches_while_redis_forgets_is_told_so(
    service: Service, port: int, crawl: CrawlJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_tail, "WAIT_SECONDS", 1)
    with watching(port, service, crawl.project_id) as watcher:
        tell(service, crawl, 1)
        watcher.next()
        service.engine.tools.redis.flushdb()
        assert watcher.next()["type"] == "gap"
        tell(service, crawl, 2)
        assert told([watcher.next()]) == [2]


def test_who_watches_hears_on_when_redis_has_hung_up(service: Service, port: int, crawl: CrawlJob) -> None:
    with watching(port, service, crawl.project_id) as watcher:
        tell(service, crawl, 1)
        first = watcher.next()
        service.engine.tools.redis.client_kill_filter(_type="normal", skipme=True)
        tell(service, crawl, 2)
        assert in_order([first, watcher.next()])


# -- processes ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_killed_process_loses_nothing(service: Service, crawl: CrawlJob) -> None:
    tools = service.engine.tools
    with ExitStack() as stack:
        doomed, other = (stack.enter_context(service_process(tools)) for _ in range(2))
        with (
            watching(doomed.port, service, crawl.project_id) as watcher,
            watching(other.port, service, crawl.project_id) as steady,
        ):
            for n in range(0, 30, 3):
                tell(service, crawl, n, n + 1, n + 2)
            seen = watcher.take(10)
            doomed.kill()
            tell(service, crawl, 30, 31)
            seen += to_the_end(watcher)[0]
            with watching(other.port, service, crawl.project_id, seen[-1]["seq"]) as again:
                tell(service, crawl, 32)
                while told(seen[-1:]) != [32]:
                    seen.append(again.next())
            assert told(seen) == list(range(33))
            assert in_order(seen)
            assert steady.take(33) == seen, "whichever process tells it, it is the same"


@pytest.mark.slow
def test_a_process_that_is_asked_to_end_says_so_and_ends(service: Service, crawl: CrawlJob) -> None:
    with service_process(service.engine.tools) as process:
        watchers = ExitStack()
        reading = watchers.enter_context(watching(process.port, service, crawl.project_id))
        watchers.enter_context(watching(process.port, service, crawl.project_id, max_queue=1))
        tell(service, crawl, 1)
        reading.next()
        ender = threading.Thread(target=process.end)
        ender.start()
        code, _ = closed(reading)
        assert code == 1012
        ender.join(20)
        assert not ender.is_alive()
        watchers.close()


# -- many, and slow ones ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "direct", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["our protocol", "any server"]
)
def test_a_reader_that_does_not_read_is_dropped_and_the_others_go_on(
    service: Service, crawl: CrawlJob, monkeypatch: pytest.MonkeyPatch, direct: bool
) -> None:
    monkeypatch.setattr(live_reader, "STALL_SECONDS", 3.0)
    app = create_app(service.engine.tools)
    with (
        served(app, direct=direct) as port,
        watching(port, service, crawl.project_id, max_queue=1) as slow,
        watching(port, service, crawl.project_id) as quick,
    ):
        text = secrets.token_hex(100_000)
        for n in range(150):
            service.engine.tools.events.publish(crawl.id, "page", {"n": n, "text": text})
        assert told(quick.take(150)) == list(range(150))
        tell(service, crawl, 150)
        assert told([quick.next()]) == [150]
        assert eventually(lambda: len(app.state.audience._seats) == 1, SECONDS)
        got, end = to_the_end(slow)
        assert len(got) < 150
        assert told(got) == list(range(len(got))), "as far as it came, it is whole"
        # Who does not even read that it is dropped is cut off.
        assert end.rcvd is None or end.rcvd.code == 4408
        with watching(port, service, crawl.project_id, got[-1]["seq"]) as back:
            assert told([back.next()]) == [len(got)]


@pytest.mark.slow
def test_a_reader_that_is_only_behind_catches_up(
    service: Service, port: int, crawl: CrawlJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_reader, "MOST_BACKLOG", 1000)
    with watching(port, service, crawl.project_id, max_queue=1) as watcher:
        for n in range(300):
            service.engine.tools.events.publish(crawl.id, "page", {"n": n, "text": "x" * 50_000})
        events = watcher.take(300)
    assert told(events) == list(range(300))
    assert in_order(events)


@pytest.mark.slow
def test_200_readers_get_everything_from_one_reader_of_the_stream_in_bounded_memory(
    service: Service, crawl: CrawlJob
) -> None:
    with service_process(service.engine.tools) as process, ExitStack() as stack:
        watchers = [
            stack.enter_context(watching(process.port, service, crawl.project_id, compression=None)) for _ in range(200)
        ]
        before = psutil.Process(process.pid).memory_info().rss
        for n in range(0, 100, 10):
            tell(service, crawl, *range(n, n + 10))
        reading = [client for client in clients(service) if client["cmd"] == "xread"]
        assert len(reading) == 1
        tell(service, crawl, 100, kind="completed")
        for watcher in watchers:
            events = watcher.take(101)
            assert told(events) == list(range(101))
        grown = psutil.Process(process.pid).memory_info().rss - before
        assert grown < 40e6, f"{grown / 1e6:.0f} MB more"


def clients(service: Service) -> list[dict[str, str]]:
    connection: redis.Redis = service.engine.tools.redis
    found: Any = connection.client_list()
    return list(found)


@pytest.mark.slow
def test_news_waits_while_a_crawl_runs_and_many_watch_but_not_when_it_is_over(
    service: Service, port: int, crawl: CrawlJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_tail, "MOST_PER_SECOND", 0.05)
    with watching(port, service, crawl.project_id) as watcher:
        tell(service, crawl, *range(20))
        assert told([watcher.next()]) == [0]
        with pytest.raises(TimeoutError):
            watcher.next(1)
        tell(service, crawl, 20, kind="completed")
        assert told(watcher.take(20)) == list(range(1, 21)), "at the pace of before this would take minutes"


def test_no_more_watch_with_one_key_than_may(
    service: Service, port: int, crawl: CrawlJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audience, "MOST_PER_KEY", 2)
    with watching(port, service, crawl.project_id) as first:
        with watching(port, service, crawl.project_id):
            problem = refused(port, service, crawl.project_id)
            assert (problem["status"], problem["code"]) == (429, "too_many_readers")
            other = service.as_(Scope.READ)
            with watching(port, other, crawl.project_id):
                monkeypatch.setattr(audience, "MOST_READERS", 3)
                assert refused(port, service.as_(Scope.READ), crawl.project_id)["code"] == "too_many_readers"
        tell(service, crawl, 1)
        first.next()
        with watching(port, service, crawl.project_id):
            pass


@pytest.mark.slow
def test_keys_that_have_many_seats_leave_some_to_others(
    service: Service, port: int, crawl: CrawlJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audience, "MOST_READERS", 4)
    other = service.as_(Scope.READ)
    with watching(port, service, crawl.project_id), watching(port, service, crawl.project_id):
        assert refused(port, service, crawl.project_id)["code"] == "too_many_readers"
        with watching(port, other, crawl.project_id):
            assert refused(port, other, crawl.project_id)["code"] == "too_many_readers"
            with watching(port, service.as_(Scope.READ), crawl.project_id):
                pass


# -- who may ------------------------------------------------------------------------------------


def test_a_stranger_is_refused_and_a_reading_key_is_enough(
    service: Service, port: int, crawl: CrawlJob, caplog: pytest.LogCaptureFixture
) -> None:
    problem = refused(port, service, crawl.project_id, headers={"Authorization": "Bearer crk_wrong"})
    assert (problem["status"], problem["code"]) == (401, "unauthorized")
    assert [record.message for record in caplog.records if record.levelno >= logging.ERROR] == []
    with watching(port, service.as_(Scope.READ, crawl.project_id), crawl.project_id) as watcher:
        tell(service, crawl, 1)
        assert watcher.next()["data"] == {"n": 1}


@pytest.mark.slow
def test_a_key_in_the_query_opens_nothing_and_stands_in_no_log(
    service: Service, crawl: CrawlJob, capfd: pytest.CaptureFixture[str]
) -> None:
    with service_process(service.engine.tools) as process:
        query = f"key={service.secret}"
        assert refused(process.port, service, crawl.project_id, query=query, headers={"Authorization": ""})
        with watching(process.port, service, crawl.project_id, query=query):
            pass
    said = "".join(capfd.readouterr())
    assert service.secret not in said
    assert "error" not in said.lower(), "a refusal is none"


@pytest.mark.slow
def test_a_foreign_project_is_as_unknown_as_one_that_is_not_there(service: Service, port: int, crawl: CrawlJob) -> None:
    mine = service.project(name="mine")
    limited = service.as_(Scope.ADMIN, mine["id"])
    missing = uuid4()
    foreign, unknown = (refused(port, limited, each) for each in (crawl.project_id, missing))
    assert (foreign["status"], foreign["code"]) == (404, "not_found")
    assert foreign["detail"].replace(str(crawl.project_id), str(missing)) == unknown["detail"]
    assert refused(port, service, missing) == unknown


@pytest.mark.slow
@pytest.mark.quick(2)
@pytest.mark.parametrize(("project", "after"), [("none", None), (None, -1), (None, "x"), (None, 2**60)])
def test_what_cannot_be_asked_for_is_said(
    service: Service, port: int, crawl: CrawlJob, project: str | None, after: Any
) -> None:
    problem = refused(port, service, project or crawl.project_id, after=after)
    assert (problem["status"], problem["code"]) == (422, "invalid_request")


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    ("origin", "welcome"),
    [
        ("http://127.0.0.1:{port}", True),
        ("https://127.0.0.1:{port}", True),
        ("https://my.site", True),
        ("https://evil.site", False),
        ("http://127.0.0.1", False),
        ("http://127.0.0.1.evil.site:{port}", False),
        ("http://127.0.0.1:99999", False),
        ("null", False),
        ("file://", False),
    ],
)
def test_pages_of_other_sites_may_not_watch(service: Service, crawl: CrawlJob, origin: str, welcome: bool) -> None:
    settings = service.engine.tools.settings.model_copy(update={"cors_origins": ("https://my.site",)})
    with served(create_app(build(settings, store=service.engine.tools.store))) as port:
        headers = {"Origin": origin.format(port=port)}
        if welcome:
            with watching(port, service, crawl.project_id, headers=headers):
                return
        problem = refused(port, service, crawl.project_id, headers=headers)
        assert (problem["status"], problem["code"]) == (403, "forbidden")


def test_a_deleted_project_is_watched_no_longer(
    service: Service, port: int, crawl: CrawlJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audience, "CHECK_SECONDS", 0.2)
    with watching(port, service, crawl.project_id) as watcher:
        assert service("DELETE", f"/projects/{crawl.project_id}").status_code == 204
        assert watcher.next()["data"]["status"] == "cancelled"
        assert closed(watcher)[0] == 4404


def test_a_revoked_key_watches_no_longer(
    service: Service, port: int, crawl: CrawlJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audience, "CHECK_SECONDS", 0.2)
    made = service("POST", "/keys", json={"name": "short-lived", "scope": "read"}).json()
    caller = Service(service.client, service.engine, made["key"])
    with watching(port, caller, crawl.project_id) as watcher, watching(port, service, crawl.project_id) as steady:
        assert service("DELETE", f"/keys/{made['id']}").status_code == 204
        assert closed(watcher)[0] == 4401
        tell(service, crawl, 1)
        assert told([steady.next()]) == [1]


def test_what_a_watcher_says_is_of_no_interest(service: Service, port: int, crawl: CrawlJob) -> None:
    with watching(port, service, crawl.project_id) as watcher:
        watcher.connection.send("ping")
        assert watcher.connection.ping().wait(SECONDS)
        tell(service, crawl, 1)
        assert told([watcher.next()]) == [1]
        watcher.connection.send("x" * 5000)
        assert closed(watcher)[0] == 1009


@pytest.mark.slow
def test_who_talks_without_end_is_cut_off_before_it_is_read(service: Service, port: int, crawl: CrawlJob) -> None:
    empty = b"\x81\x80\0\0\0\0"
    with watching(port, service, crawl.project_id) as watcher:
        watcher.connection.socket.sendall(empty * 20)
        tell(service, crawl, 1)
        assert told([watcher.next()]) == [1]
        watcher.connection.socket.sendall(empty * 10_000)
        assert closed(watcher)[0] == 1008


# -- the documentation --------------------------------------------------------------------------


@pytest.mark.slow
def test_the_example_prints_each_event_once_although_the_service_is_killed_meanwhile(
    service: Service, crawl: CrawlJob
) -> None:
    tools = service.engine.tools
    begun = tools.events.read(crawl.id)[-1].seq
    first = ServiceProcess(tools)
    words = (f"ws://127.0.0.1:{first.port}", str(crawl.project_id), str(begun))
    watching_ = subprocess.Popen(
        [sys.executable, DOCS / "examples" / "watch.py", *words],
        env={**os.environ, "CRAWLER_API_KEY": service.secret},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert watching_.stdout is not None
    try:
        tell(service, crawl, 0, 1)
        lines = [watching_.stdout.readline() for _ in range(2)]
        first.kill()
        tell(service, crawl, 2, 3)
        with service_process(tools, first.port):
            tell(service, crawl, 4, kind="completed")
            lines += watching_.stdout.readlines()
        assert watching_.wait(SECONDS) == 0
    finally:
        first.end()
        watching_.kill()
        watching_.wait()
        watching_.stdout.close()
    assert told([json.loads(line) for line in lines]) == [0, 1, 2, 3, 4]


def test_the_documentation_names_the_codes_and_limits() -> None:
    text = " ".join((DOCS / "reference" / "websocket.md").read_text().split())
    told_codes = {str(why.value[0]) for why in live_reader.Farewell}
    assert set(re.findall(r"\| (\d{4}) \|", text)) == {"1008", "1012"} | told_codes
    for number in (audience.MOST_PER_KEY, audience.MOST_READERS, event_tail.MOST_PER_SECOND, event_stream.MAX_ENTRIES):
        assert f"{number:,} " in text
    assert f"{live_reader.MOST_BACKLOG // 1024} KB unread for {live_reader.STALL_SECONDS:.0f} s" in text
