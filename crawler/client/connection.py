"""The client's HTTP connection: requests, retries where they are safe, and error responses as exceptions."""

import itertools
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, urlsplit
from uuid import uuid4

import requests
from pydantic_core import from_json

from crawler.client.errors import ClientError, NoAnswer, NotAService, problem
from crawler.client.timed_reading import TimedAdapter, TimeLeft, time_left
from crawler.client.value import Kind, read

PREFIX = "/api/v1"
LIST_PART = 200
CHUNK_BYTES = 64 * 1024
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
MOST_BYTES = 256 * 2**20
"""Of an answer that is held in memory, unpacked. The largest honest one is a part of the feed: 200 documents' texts."""
MOST_VALUES = 10_000_000
"""In such an answer, about: a value of a few bytes takes up to a hundred in memory."""
MOST_DOWNLOADED = 2**40
"""Of an export, which goes piece by piece to where somebody wants it."""
ANSWER_SECONDS = 150.0
"""Seconds by which the whole answer may take longer than a single read."""
DOWNLOAD_SECONDS = 600.0
"""The same for a download, and a second more with each `SLOWEST_BYTES` of it: large ones may take hours."""
SLOWEST_BYTES = 16 * 1024
MOST_EMPTY_PARTS = 10
"""Of a list, in a row."""
MOST_EMPTY_LOOKS = 10_000
"""The same where the service looks at 5,000 rows for a part: a filter may honestly find nothing among millions."""
_SERVER_AWAY = {502, 503, 504}
_SHOWN = 200
Sent = TypeVar("Sent")


class Call(NamedTuple):
    method: str
    path: str
    query: Mapping[str, Any] | None = None
    body: Any = None
    key: str | None = None
    """The Idempotency-Key: with one, a start that is sent twice happens once."""
    repeatable: bool = False
    """Whether sending the request twice has the same effect as sending it once, so that it may be retried."""
    expected: int | None = None
    """An error status that is a valid response to this request."""
    pieces: Iterable[bytes] | None = None
    """A long body that is sent in pieces, instead of `body`. It cannot be sent twice."""
    media_type: str | None = None
    patience: float = 0.0
    """Seconds by which the response may take longer than others."""


class Answer(NamedTuple):
    """A response, read completely."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Connection:
    def __init__(
        self,
        url: str,
        key: str | None,
        *,
        timeout: float,
        retries: int,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = base_url(url)
        self._timeout = timeout
        self.retries = retries
        self._sleep = sleep
        self._session = _Session()
        self._session.mount("http://", TimedAdapter())
        self._session.mount("https://", TimedAdapter())
        self._session.auth = _Bearer(key)
        self._key = key
        self._session.headers["Accept"] = "application/json, application/problem+json;q=0.9, */*;q=0.5"

    def close(self) -> None:
        self._session.close()

    def authorization(self) -> dict[str, str]:
        """The Authorization header, for requests over another connection such as a WebSocket."""
        return {"Authorization": f"Bearer {self._key}"} if self._key is not None else {}

    def get(self, path: str, **query: Any) -> Any:
        return self.json(Call("GET", path, query, repeatable=True))

    def start(self, path: str, body: Any, key: str | None) -> Any:
        """Send a start with an idempotency key that all its retries share."""
        return self.json(Call("POST", path, body=body, key=key or str(uuid4()), repeatable=True))

    def json(self, call: Call) -> Any:
        answer = self._answer(call)
        if answer.status == 204:
            return None
        try:
            return _values(answer.content)
        except ValueError as exc:  # no JSON, a number without end, nested too deep, or of too many values
            raise NotAService(f"{self.url} answers, but not as a crawler service does.") from exc

    def listed(self, path: str, kind: type[Kind], *, is_searched: bool = False, **query: Any) -> Iterator[Kind]:
        """All items of a paginated list. The next part is requested only when it is read.

        `is_searched`: the service looks for what the filter wants, and parts may be empty until it comes to some.
        """
        cursor, empty, most_empty = None, 0, MOST_EMPTY_LOOKS if is_searched else MOST_EMPTY_PARTS
        while True:
            part, before = self.get(path, **query, limit=LIST_PART, cursor=cursor), cursor
            try:
                items, cursor = list(part["items"]), part["next_cursor"]
            except (KeyError, TypeError) as exc:
                raise NotAService(f"{self.url}{path} is no list this client understands.") from exc
            empty = 0 if items else empty + 1
            if cursor is not None and cursor == before:
                raise NotAService(f"{self.url}{path} gives the same part of its list again and again.")
            if cursor is not None and empty >= most_empty:
                raise NotAService(f"{self.url}{path} gives empty parts of its list again and again.")
            yield from (read(kind, item) for item in items)
            if cursor is None:
                return

    def whole(self, path: str, **query: Any) -> Answer:
        """A response that is not JSON, read completely."""
        return self._answer(Call("GET", path, query, repeatable=True))

    @contextmanager
    def stream(self, path: str, **query: Any) -> Iterator[Iterator[bytes]]:
        """A long response, in pieces. If it is cut off, that is an error: a part is never taken for the whole."""
        left = TimeLeft(self._timeout + DOWNLOAD_SECONDS)
        call = Call("GET", path, query, repeatable=True)
        with closing(self._tried(call, lambda: self._once(call, left))) as answer:
            yield self._pieces(answer, left)

    def _pieces(self, answer: requests.Response, left: TimeLeft) -> Iterator[bytes]:
        for piece in self._read(answer, left, MOST_DOWNLOADED):
            given_at = time.monotonic()
            yield piece
            # Whoever reads may take any time, for instance to page through it: it is not the service's.
            left.add(time.monotonic() - given_at + len(piece) / SLOWEST_BYTES)

    def _read(self, answer: requests.Response, left: TimeLeft, most: int) -> Iterator[bytes]:
        got = 0
        try:
            for piece in answer.iter_content(CHUNK_BYTES):
                got += len(piece)
                if got > most:
                    raise NotAService(f"{self.url} answers with more than {most} bytes, as no crawler service does.")
                yield piece
        except requests.RequestException as exc:
            raise self._no_answer(exc, left) from exc

    def _answer(self, call: Call) -> Answer:
        return self._tried(call, lambda: self._read_once(call))

    def _read_once(self, call: Call) -> Answer:
        left = TimeLeft(self._timeout + call.patience + ANSWER_SECONDS)
        with closing(self._once(call, left)) as answer:
            content = b"".join(self._read(answer, left, MOST_BYTES))
            return Answer(answer.status_code, answer.headers, content)

    def _tried(self, call: Call, once: Callable[[], Sent]) -> Sent:
        for attempt in itertools.count():
            try:
                return once()
            except ClientError as exc:
                if not (call.repeatable and exc.passing and attempt < self.retries):
                    raise
                self._sleep(_pause(attempt, exc.retry_seconds))
        raise AssertionError("unreachable")

    def _once(self, call: Call, left: TimeLeft) -> requests.Response:
        """The head of the answer. Its body is read by the caller, who says how much of it."""
        token = time_left.set(left)
        try:
            answer = self._session.request(
                call.method,
                self.url + call.path,
                params=_written(call.query or {}),
                json=call.body,
                data=call.pieces,
                headers=given(**{"Idempotency-Key": call.key, "Content-Type": call.media_type}),
                timeout=self._timeout + call.patience,
                stream=True,
                # The service never redirects; following a redirect could send the key to somebody else.
                allow_redirects=False,
            )
        except requests.RequestException as exc:
            raise self._no_answer(exc, left) from exc
        finally:
            time_left.reset(token)
        if 200 <= answer.status_code < 300 or (answer.status_code == call.expected and not _is_problem(answer)):
            return answer
        with closing(answer):
            raise self._refusal(answer, left)

    def _no_answer(self, exc: requests.RequestException, left: TimeLeft) -> NoAnswer:
        if left.is_over:
            return NoAnswer(f"{self.url} answers so slowly that its answer does not end.", passing=False)
        if isinstance(exc, requests.Timeout):
            return NoAnswer(f"{self.url} does not answer within {self._timeout:g} s.")
        if isinstance(exc, requests.exceptions.SSLError):
            return NoAnswer(f"{self.url} has no certificate that is trusted here.", passing=False)
        broke = isinstance(exc, requests.exceptions.ChunkedEncodingError)
        return NoAnswer(f"{self.url} {'broke off its answer' if broke else 'cannot be reached'}.")

    def _refusal(self, answer: requests.Response, left: TimeLeft) -> ClientError:
        """The exception for an error response. A proxy's error has no `code`."""
        status, wait = answer.status_code, _seconds(answer.headers.get("Retry-After"))
        try:
            told = _values(b"".join(self._read(answer, left, MOST_BYTES))) if _is_problem(answer) else None
        except (ClientError, ValueError):
            told = None
        if isinstance(told, dict) and isinstance(told.get("code"), str):
            return problem(status, told["code"], str(told.get("detail") or told["code"]), told, wait)
        if status in _SERVER_AWAY:
            return problem(status, f"http_{status}", f"{self.url} is not there at the moment ({status}).", None, wait)
        return NotAService(f"{self.url} answers {status}, but not as a crawler service does.")


class _Session(requests.Session):
    def get_redirect_target(self, resp: requests.Response) -> str | None:  # noqa: ARG002 - its name
        """None: for a redirect, even for one that is not followed, requests would read the whole body."""
        return None


class _Bearer(requests.auth.AuthBase):
    """Sends the API key. A plain header would not do: requests replaces it by a password for the host in ~/.netrc."""

    def __init__(self, key: str | None) -> None:
        if key is not None and not (key.isascii() and key.isprintable() and key.strip()):
            raise ValueError("An API key is made of visible ASCII characters.")
        self._key = key

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._key is not None:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request


def base_url(url: str) -> str:
    """The URL before the API's paths, from an address with or without /api/v1."""
    parts = urlsplit(url.strip())
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise ValueError(f"A service's address looks like https://crawler.example.org, not {url[:_SHOWN]!r}.")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix(PREFIX)}{PREFIX}"


def path(*parts: object) -> str:
    return "".join(f"/{quote(str(part), safe='')}" for part in parts)


def given(**values: Any) -> dict[str, Any]:
    """The values without those that are None."""
    return {name: value for name, value in values.items() if value is not None}


def _written(query: Mapping[str, Any]) -> dict[str, Any]:
    return {name: str(v).lower() if isinstance(v, bool) else v for name, v in query.items() if v is not None}


def _values(content: bytes) -> Any:
    if sum(map(content.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise ValueError
    return from_json(content)


def _is_problem(answer: requests.Response) -> bool:
    return answer.headers.get("Content-Type", "").partition(";")[0].strip() == "application/problem+json"


def _seconds(retry_after: str | None) -> float | None:
    return float(retry_after) if retry_after and retry_after.isascii() and retry_after.isdigit() else None


def _pause(attempt: int, wanted: float | None) -> float:
    """Seconds to wait before a retry: doubled each time, with jitter so that clients do not retry all at once."""
    pause = FIRST_PAUSE_SECONDS * 2**attempt if wanted is None else wanted
    return min(pause, LONGEST_PAUSE_SECONDS) * random.uniform(1.0, 1.2)  # noqa: S311 - no secret
