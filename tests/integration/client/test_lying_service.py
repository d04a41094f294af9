"""`crawler.client` against services that answer without end, too slowly or wrongly: each is an error of its own."""

import contextlib
import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request as Asked
from websockets.http11 import Response
from websockets.sync.server import ServerConnection, serve

from crawler.client import Client, NoAnswer, NotAService, Problem
from crawler.client.client import TIMEOUT_SECONDS
from tests.integration.raw_server import Request, Respond, response, serving

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
PIECE = b"a" * 2**16
PROJECT = UUID(int=1)
JSON = "Content-Type: application/json"


@contextmanager
def client_of(respond: Respond) -> Iterator[Client]:
    with serving(respond) as server, Client(server.url(), "k", sleep=lambda _: None) as client:
        yield client


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, limit in (("MOST_BYTES", 2**20), ("MOST_DOWNLOADED", 2**21), ("MOST_EMPTY_LOOKS", 20)):
        monkeypatch.setattr(f"crawler.client.connection.{name}", limit)


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of a second in all, though a single read may take longer."""
    for name in ("ANSWER_SECONDS", "DOWNLOAD_SECONDS"):
        monkeypatch.setattr(f"crawler.client.connection.{name}", 0.25 - TIMEOUT_SECONDS)


def endless(head: bytes, piece: bytes = PIECE, seconds: float = 0.0, most: int = 2**26) -> Respond:
    def respond(stream: socket.socket, __: Request) -> None:
        stream.sendall(head)
        for _ in range(most // len(piece) if not seconds else int(30 / seconds)):
            stream.sendall(piece)
            time.sleep(seconds)

    return respond


@pytest.mark.parametrize(
    "head",
    [
        HEAD,
        HEAD.replace(b"200 OK", b"302 Found\r\nLocation: http://127.0.0.1:9/"),
        HEAD.replace(b"200 OK", b"500 No").replace(b"json", b"problem+json"),
    ],
)
def test_an_answer_without_end_is_not_held_in_memory(head: bytes) -> None:
    sent = 0

    def respond(stream: socket.socket, __: Request) -> None:
        nonlocal sent
        stream.sendall(head)
        for _ in range(2**10):
            stream.sendall(PIECE)
            sent += len(PIECE)

    with client_of(respond) as client, pytest.raises(NotAService):
        client.settings()
    assert sent < 2**25, "the rest was not read"


def test_an_answer_that_unpacks_to_too_much_is_not_held_in_memory() -> None:
    bomb = gzip.compress(b'"' + b"a" * 2**21 + b'"')
    answer = response(bomb, "200 OK", JSON, "Content-Encoding: gzip")
    with client_of(lambda *_: answer) as client, pytest.raises(NotAService, match="more than 1048576 bytes"):
        client.settings()


@pytest.mark.parametrize("value", [b"[]", b"{}", b"1.5", b'""'])
@pytest.mark.parametrize("status", ["200 OK", "500 No"])
def test_an_answer_of_very_many_values_is_not_held_in_memory(
    monkeypatch: pytest.MonkeyPatch, value: bytes, status: str
) -> None:
    monkeypatch.setattr("crawler.client.connection.MOST_VALUES", 20_000)
    body = b'{"code": "x", "items": [' + b",".join([value] * 30_000) + b"]}"
    kind = JSON if status == "200 OK" else "Content-Type: application/problem+json"
    answer = response(gzip.compress(body), status, kind, "Content-Encoding: gzip")
    with client_of(lambda *_: answer) as client, pytest.raises(NotAService, match="not as a crawler service"):
        client.settings()


def test_a_download_without_end_is_an_error_and_leaves_no_file(tmp_path: Path) -> None:
    with client_of(endless(HEAD)) as client, pytest.raises(NotAService, match="more than 2097152 bytes"):
        client.crawls.export(uuid4(), "jsonl", tmp_path / "pages.jsonl")
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (HEAD, b" "),
        (b"HTTP/1.1 200 OK\r\nX-Long: ", b"x"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (HEAD.replace(b"200 OK", b"500 No").replace(b"json", b"problem+json"), b" "),
    ],
)
def test_an_answer_that_trickles_has_an_end(head: bytes, piece: bytes) -> None:
    began = time.monotonic()
    with client_of(endless(head, piece, 0.02)) as client, pytest.raises((NoAnswer, NotAService)):
        client.settings()
    assert time.monotonic() - began < 15


@pytest.mark.usefixtures("hurry")
def test_a_download_that_trickles_has_an_end(tmp_path: Path) -> None:
    began = time.monotonic()
    with client_of(endless(HEAD, b" ", 0.02)) as client, pytest.raises(NoAnswer, match="does not end"):
        client.crawls.export(uuid4(), "jsonl", tmp_path / "pages.jsonl")
    assert time.monotonic() - began < 15


@pytest.mark.slow
@pytest.mark.parametrize(("slowest", "pause", "gap"), [(2**40, 3.2, 0.0), (2**14, 0.0, 0.7)])
def test_a_download_may_be_read_slowly_and_take_long_if_it_goes_on(
    monkeypatch: pytest.MonkeyPatch, slowest: int, pause: float, gap: float
) -> None:
    monkeypatch.setattr("crawler.client.connection.SLOWEST_BYTES", slowest)
    monkeypatch.setattr("crawler.client.connection.DOWNLOAD_SECONDS", 3.0 - TIMEOUT_SECONDS)

    def respond(stream: socket.socket, __: Request) -> None:
        stream.sendall(HEAD)
        for _ in range(5):
            stream.sendall(PIECE)
            time.sleep(gap)

    with client_of(respond) as client, client.crawls.export_pieces(uuid4(), "jsonl") as pieces:
        got = 0
        for number, piece in enumerate(pieces):
            got += len(piece)
            time.sleep(0 if number else pause)
    assert got == 5 * len(PIECE)


def parts(of: Callable[[int], object]) -> tuple[Respond, list[str]]:
    asked: list[str] = []

    def respond(_: socket.socket, request: Request) -> bytes | None:
        asked.append(request.path)
        return response(json.dumps(of(len(asked))).encode(), "200 OK", JSON) if len(asked) < 100 else None

    return respond, asked


def test_a_list_of_ever_new_empty_parts_has_an_end() -> None:
    respond, asked = parts(lambda number: {"items": [], "next_cursor": str(number)})
    with client_of(respond) as client, pytest.raises(NotAService, match="empty parts"):
        list(client.projects.all())
    assert len(asked) == 10


def test_a_filter_may_find_nothing_for_many_parts_but_not_for_ever() -> None:
    respond, asked = parts(lambda number: {"items": [], "next_cursor": str(number) if number < 19 else None})
    with client_of(respond) as client:
        assert list(client.pages.of(PROJECT, title="rare")) == []
    respond, also_asked = parts(lambda number: {"items": [], "next_cursor": str(number)})
    with client_of(respond) as client, pytest.raises(NotAService, match="empty parts"):
        list(client.crawls.urls(PROJECT))
    assert (len(asked), len(also_asked)) == (19, 20)


def test_a_feed_and_a_change_of_the_queue_that_stand_still_have_an_end() -> None:
    feed, asked = parts(lambda number: {"items": [], "next_cursor": str(number), "has_more": True})
    with client_of(feed) as client, pytest.raises(NotAService):
        list(client.documents.of(PROJECT))
    change, also_asked = parts(lambda _: {"changed": 1, "next_after": 5})
    with client_of(change) as client, pytest.raises(NotAService):
        client.queue.change("retry", everything=True)
    assert (len(asked), len(also_asked)) == (1, 2)


def test_a_number_is_no_list() -> None:
    respond, _ = parts(lambda _: {"items": 5, "next_cursor": None})
    with client_of(respond) as client, pytest.raises(NotAService, match="no list"):
        list(client.projects.all())


Mood = Callable[[ServerConnection], None]


@contextmanager
def watched(mood: Mood, seq: str | None = "5", refusal: bytes | None = None) -> Iterator[tuple[Client, list[str]]]:
    asked: list[str] = []

    def refuse(_: ServerConnection, request: Asked) -> Response | None:
        asked.append(request.path)
        return None if refusal is None else Response(401, "No", Headers(), refusal)

    def head(_: ServerConnection, __: Asked, sent: Response) -> Response:
        if seq is not None:
            sent.headers["crawler-seq"] = seq
        return sent

    with serve(mood, "127.0.0.1", 0, process_request=refuse, process_response=head) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        with Client(f"http://127.0.0.1:{server.socket.getsockname()[1]}", "k", retries=2) as client:
            yield client, asked
        server.shutdown()
        thread.join(10)


def says(message: str) -> Mood:
    def mood(connection: ServerConnection) -> None:
        with contextlib.suppress(Exception):
            connection.send(message)
            connection.recv(timeout=1)

    return mood


def heard(client: Client, most: int = 30) -> None:
    for _, _ in zip(client.crawls.watch(PROJECT), range(most), strict=False):
        pass
    raise AssertionError("it goes on and on")


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.client.live.PAUSE_SECONDS", 0.0)
    monkeypatch.setattr("crawler.client.live.QUIET_SECONDS", 0.02)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("seq", [None, "x", "-1", "9" * 5000, "²"])
def test_a_websocket_without_a_number_to_begin_with_is_told(seq: str | None) -> None:
    with watched(says("{}"), seq) as (client, _), pytest.raises(NotAService, match="opens a WebSocket"):
        heard(client)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("message", ["[" * 200_000, "5", '"' + "a" * 3_000_000 + '"'])
def test_what_is_no_event_is_told(message: str) -> None:
    with watched(says(message)) as (client, asked), pytest.raises(NotAService) as told:
        heard(client)
    assert len(asked) == 1
    assert not isinstance(told.value.__cause__, RecursionError)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("body", [b"[" * 200_000, b"5", b'{"code": [], "detail": {}}'])
def test_a_refused_websocket_is_told(body: bytes) -> None:
    with watched(says(""), refusal=body) as (client, _), pytest.raises((NotAService, Problem)) as told:
        heard(client)
    assert not isinstance(told.value.__context__, RecursionError)


@pytest.mark.usefixtures("at_once")
def test_a_websocket_that_closes_at_once_is_tried_a_few_times() -> None:
    with watched(lambda _: None) as (client, asked), pytest.raises(NoAnswer, match="closes the WebSocket"):
        heard(client)
    assert len(asked) == 3


@pytest.mark.usefixtures("at_once")
def test_a_websocket_that_closes_after_an_event_is_opened_again() -> None:
    numbers = iter(range(6, 100))

    def one_event(connection: ServerConnection) -> None:
        event = {"type": "page", "seq": next(numbers), "crawl_id": str(PROJECT), "data": {}}
        connection.send(json.dumps({**event, "at": "2026-01-01T00:00:00Z", "project_id": str(PROJECT)}))

    with watched(one_event) as (client, asked):
        seen: list[int] = []
        for event in client.crawls.watch(PROJECT):
            seen += [event.seq] if event else []
            if len(seen) == 6:
                break
    assert seen == list(range(6, 12))
    assert [path.partition("?")[2] for path in asked[:3]] == ["", "after=6", "after=7"]
