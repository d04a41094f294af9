"""The client's HTTP connection: requests, retries where they are safe, and error responses as exceptions."""

import itertools
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit
from uuid import uuid4

import requests

from crawler.client.errors import ClientError, NoAnswer, NotAService, problem
from crawler.client.value import Kind, read

PREFIX = "/api/v1"
LIST_PART = 200
CHUNK_BYTES = 64 * 1024
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
_SERVER_AWAY = {502, 503, 504}
_SHOWN = 200


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
        self._session = requests.Session()
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
        with closing(self._answer(call)) as answer:
            if answer.status_code == 204:
                return None
            try:
                return answer.json()
            except (ValueError, RecursionError) as exc:  # no JSON, a number without end, or nested too deep
                raise NotAService(f"{self.url} answers, but not as a crawler service does.") from exc

    def listed(self, path: str, kind: type[Kind], **query: Any) -> Iterator[Kind]:
        """All items of a paginated list. The next part is requested only when it is read."""
        cursor = None
        while True:
            part, before = self.get(path, **query, limit=LIST_PART, cursor=cursor), cursor
            try:
                items, cursor = part["items"], part["next_cursor"]
            except (KeyError, TypeError) as exc:
                raise NotAService(f"{self.url}{path} is no list this client understands.") from exc
            if cursor is not None and cursor == before:
                raise NotAService(f"{self.url}{path} gives the same part of its list again and again.")
            yield from (read(kind, item) for item in items)
            if cursor is None:
                return

    def whole(self, path: str, **query: Any) -> requests.Response:
        """A response that is not JSON, read completely."""
        return self._answer(Call("GET", path, query, repeatable=True))

    @contextmanager
    def stream(self, path: str, **query: Any) -> Iterator[Iterator[bytes]]:
        """A long response, in pieces. If it is cut off, that is an error: a part is never taken for the whole."""
        with closing(self._answer(Call("GET", path, query, repeatable=True), stream=True)) as answer:
            yield self._pieces(answer)

    def _pieces(self, answer: requests.Response) -> Iterator[bytes]:
        try:
            yield from answer.iter_content(CHUNK_BYTES)
        except requests.RequestException as exc:
            raise self._no_answer(exc) from exc

    def _answer(self, call: Call, *, stream: bool = False) -> requests.Response:
        for attempt in itertools.count():
            try:
                return self._once(call, stream=stream)
            except ClientError as exc:
                if not (call.repeatable and exc.passing and attempt < self.retries):
                    raise
                self._sleep(_pause(attempt, exc.retry_seconds))
        raise AssertionError("unreachable")

    def _once(self, call: Call, *, stream: bool) -> requests.Response:
        try:
            answer = self._session.request(
                call.method,
                self.url + call.path,
                params=_written(call.query or {}),
                json=call.body,
                data=call.pieces,
                headers=given(**{"Idempotency-Key": call.key, "Content-Type": call.media_type}),
                timeout=self._timeout + call.patience,
                stream=stream,
                # The service never redirects; following a redirect could send the key to somebody else.
                allow_redirects=False,
            )
        except requests.RequestException as exc:
            raise self._no_answer(exc) from exc
        if 200 <= answer.status_code < 300 or (answer.status_code == call.expected and not _is_problem(answer)):
            return answer
        with closing(answer):
            raise self._refusal(answer)

    def _no_answer(self, exc: requests.RequestException) -> NoAnswer:
        if isinstance(exc, requests.Timeout):
            return NoAnswer(f"{self.url} does not answer within {self._timeout:g} s.")
        if isinstance(exc, requests.exceptions.SSLError):
            return NoAnswer(f"{self.url} has no certificate that is trusted here.", passing=False)
        broke = isinstance(exc, requests.exceptions.ChunkedEncodingError)
        return NoAnswer(f"{self.url} {'broke off its answer' if broke else 'cannot be reached'}.")

    def _refusal(self, answer: requests.Response) -> ClientError:
        """The exception for an error response. A proxy's error has no `code`."""
        status, wait = answer.status_code, _seconds(answer.headers.get("Retry-After"))
        try:
            told = answer.json() if _is_problem(answer) else None
        except (requests.RequestException, ValueError, RecursionError):
            told = None
        if isinstance(told, dict) and isinstance(told.get("code"), str):
            return problem(status, told["code"], str(told.get("detail") or told["code"]), told, wait)
        if status in _SERVER_AWAY:
            return problem(status, f"http_{status}", f"{self.url} is not there at the moment ({status}).", None, wait)
        return NotAService(f"{self.url} answers {status}, but not as a crawler service does.")


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


def _is_problem(answer: requests.Response) -> bool:
    return answer.headers.get("Content-Type", "").partition(";")[0].strip() == "application/problem+json"


def _seconds(retry_after: str | None) -> float | None:
    return float(retry_after) if retry_after and retry_after.isascii() and retry_after.isdigit() else None


def _pause(attempt: int, wanted: float | None) -> float:
    """Seconds to wait before a retry: doubled each time, with jitter so that clients do not retry all at once."""
    pause = FIRST_PAUSE_SECONDS * 2**attempt if wanted is None else wanted
    return min(pause, LONGEST_PAUSE_SECONDS) * random.uniform(1.0, 1.2)  # noqa: S311 - no secret
