"""Live events over a WebSocket, with reconnects; each event is delivered once."""

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from crawler.client.connection import Connection
from crawler.client.crawl_values import Event
from crawler.client.errors import ClientError, NoAnswer, NotAService, Unavailable, problem
from crawler.client.value import read

QUIET_SECONDS = 0.25
PAUSE_SECONDS = 1.0
OPEN_SECONDS = 15.0
_GONE = {4401: ("unauthorized", "The key was revoked."), 4404: ("not_found", "The project was deleted.")}


def watch(connection: Connection, path: str, after: int | None) -> Iterator[Event | None]:
    failures, place = 0, _Place(after)
    while True:
        try:
            for event in _told(connection, path, place):
                failures, place.after = 0, event.seq if event else place.after
                yield event
        except NoAnswer:
            failures += 1
            if failures > connection.retries:
                raise
        except Unavailable:
            pass  # unavailable for a moment, for instance while it restarts
        yield None
        time.sleep(PAUSE_SECONDS)


@dataclass
class _Place:
    after: int | None
    """The number of the last delivered event; at first, the one the caller gave."""


def _told(connection: Connection, path: str, place: _Place) -> Iterator[Event | None]:
    """Events of one connection, until it breaks."""
    # Imported here: only callers that watch need the WebSocket library.
    from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus  # noqa: PLC0415
    from websockets.sync.client import connect  # noqa: PLC0415

    query = "" if place.after is None else f"?after={place.after}"
    address = "ws" + connection.url.removeprefix("http") + path + query
    try:
        with connect(address, additional_headers=connection.authorization(), open_timeout=OPEN_SECONDS) as socket:
            if place.after is None and socket.response is not None:
                place.after = int(socket.response.headers["crawler-seq"])
            yield from map(_event, _messages(socket))
    except InvalidStatus as exc:
        raise _refusal(exc.response, connection.url) from exc
    except ConnectionClosed as exc:
        code = exc.rcvd.code if exc.rcvd else 0
        if code in _GONE:
            raise problem(code - 4000, *_GONE[code]) from exc
    except (OSError, InvalidHandshake) as exc:
        raise NoAnswer(f"{connection.url} cannot be reached.") from exc


def _messages(socket: Any) -> Iterator[str | None]:
    """Messages of the socket, or None when none came for a moment.

    None comes first: from then on no event is missed.
    """
    message: str | None = None
    while True:
        yield message
        message = None
        with suppress(TimeoutError):
            message = socket.recv(timeout=QUIET_SECONDS)


def _event(message: str | None) -> Event | None:
    if message is None:
        return None
    try:
        return read(Event, json.loads(message))
    except ValueError as exc:
        raise NotAService("What came over the WebSocket is no event.") from exc


def _refusal(response: Any, url: str) -> ClientError:
    try:
        told = json.loads(response.body or b"")
        return problem(response.status_code, told["code"], told["detail"], told)
    except (ValueError, KeyError, TypeError):
        return NotAService(f"{url} answers {response.status_code}, but not as a crawler service does.")
