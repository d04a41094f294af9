"""Every error the client raises.

::

    ClientError
    ├── NoAnswer        nobody answers, or not in time, or the connection broke
    ├── NotAService     something answers, but not a service this client understands
    ├── StillRunning    `wait` had no more time (a TimeoutError, too)
    └── Problem         the service says no: `status`, `code` and a sentence
        ├── Invalid     422  what was sent is not usable
        ├── NotFound    404  there is no such thing, or the key does not see it
        ├── NotAllowed  401, 403, 429
        ├── Conflict    409  the present state does not allow it; `crawl_id` names the crawl in the way
        └── Unavailable 502, 503, 504  a server is missing; worth another try

`str(error)` is a sentence for people, `code` is stable for programs.
"""

from collections.abc import Mapping
from typing import Any

_UNFINISHED = "idempotency_in_progress"


class ClientError(Exception):
    """Something went wrong."""

    code = "client_error"
    passing = False
    """Whether a retry may succeed soon."""
    retry_seconds: float | None = None
    """Seconds after which to retry, if the service says so."""


class NoAnswer(ClientError):
    """Nobody answers."""

    code = "no_answer"

    def __init__(self, sentence: str, *, passing: bool = True) -> None:
        super().__init__(sentence)
        self.passing = passing


class NotAService(ClientError):
    """Something answers, but not a service this client understands."""

    code = "not_a_service"


class StillRunning(ClientError, TimeoutError):
    """A crawl took longer than somebody wanted to wait."""

    code = "still_running"


class Problem(ClientError):
    """The service says no."""

    def __init__(self, status: int, code: str, sentence: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code
        self.details = dict(details or {})
        """The whole body of the error response."""

    @property
    def crawl_id(self) -> str | None:
        """The crawl that is in the way, where one is."""
        return self.details.get("crawl_id")


class Invalid(Problem):
    """What was sent is not usable."""


class NotFound(Problem):
    """There is no such thing, or the key does not see it."""


class NotAllowed(Problem):
    """The key is missing, wrong, or for less than this."""


class Conflict(Problem):
    """The present state does not allow it."""


class Unavailable(Problem):
    """A server is missing."""

    passing = True


_KINDS: dict[int, type[Problem]] = {
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    422: Invalid,
    429: NotAllowed,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def problem(
    status: int, code: str, sentence: str, details: Mapping[str, Any] | None = None, retry_seconds: float | None = None
) -> Problem:
    made = _KINDS.get(status, Problem)(status, code, sentence, details)
    made.retry_seconds = retry_seconds
    # An equal request is still in progress: a retry gets its response.
    made.passing = made.passing or code == _UNFINISHED
    return made
