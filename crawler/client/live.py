"""Live events over a WebSocket, with reconnects; each event is delivered once."""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from crawler.client.connection import Connection
from crawler.client.crawl_values import Event
from crawler.client.errors import ClientError, NoAnswer, NotAService, Unavailable, problem
from crawler.client.value import read

QUIET_SECONDS = 0.25
PAUSE_SECONDS = 1.0
OPEN_SECONDS = 15.0
LASTING_SECONDS = 30.0
"""A connection that was open so long was a good one, even if nothing happened: proxies end quiet ones."""
MOST_BYTES = 2**20
"""Of one event, unpacked."""
_TOO_BIG = 1009
_LONGEST_NUMBER = 16
_GONE = {4401: ("unauthorized", "The key was revoked."), 4404: ("not_found", "The project was deleted.")}


def watch(connection: Connection, path: str, after: int | None) -> Iterator[Event | None]:
    failures, place = 0, _Place(after)
    while True:
        began, was_good = time.monotonic(), False
        try:
            for event in _told(connection, path, place):
                was_good = was_good or event is not None or time.monotonic() - began >= LASTING_SECONDS
                place.after = event.seq if event else place.after
                yield event
        except NoAnswer:
            failures = 0 if was_good else failures + 1
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
        with connect(
            address, additional_headers=connection.authorization(), open_timeout=OPEN_SECONDS, max_size=MOST_BYTES
        ) as socket:
            if place.after is None and socket.response is not None:
                place.after = _newest(socket.response.headers, connection.url)
            yield from map(_event, _messages(socket))
    except InvalidStatus as exc:
        raise _refusal(exc.response, connection.url) from exc
    except ConnectionClosed as exc:
        code = exc.rcvd.code if exc.rcvd else 0
        if code in _GONE:
            raise problem(code - 4000, *_GONE[code]) from exc
        if exc.sent and exc.sent.code == _TOO_BIG:
            raise NotAService(f"{connection.url} sends an event of more than {MOST_BYTES} bytes.") from exc
        raise NoAnswer(f"{connection.url} closes the WebSocket before anything comes.") from exc
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


def _newest(headers: Any, url: str) -> int:
    """The number of the newest event when the connection was opened."""
    number = headers.get("crawler-seq", "")
    if not (number.isascii() and number.isdigit() and len(number) <= _LONGEST_NUMBER):
        raise NotAService(f"{url} opens a WebSocket, but not as a crawler service does.")
    return int(number)


def _event(message: str | None) -> Event | None:
    if message is None:
        return None
    try:
        return read(Event, from_json(message))
    except ValueError as exc:
        raise NotAService("What came over the WebSocket is no event.") from exc


def _refusal(response: Any, url: str) -> ClientError:
    try:
        told = from_json(response.body or b"")
        return problem(response.status_code, str(told["code"]), str(told["detail"]), told)
    except (ValueError, KeyError, TypeError):
        return NotAService(f"{url} answers {response.status_code}, but not as a crawler service does.")
