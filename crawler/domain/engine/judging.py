"""Judge a response: page, redirect, retry, skip or failure. Pure: randomness comes in as `jitter`.

Numbers of tries and waits are in `domain/retries.py`; host blocks in `domain/hosts/politeness.py`.
"""

from enum import StrEnum
from typing import NamedTuple

from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.reasons import SKIPPED, Reason
from crawler.domain.retries import MAX_RATE_LIMITED, most_tries, retry_delay
from crawler.domain.urls.url import Url, read


class ResponseVerdict(StrEnum):
    STORE = "store"
    UNCHANGED = "unchanged"
    REDIRECT = "redirect"
    RETRY = "retry"
    SKIP = "skip"
    FAIL = "fail"


class Judgement(NamedTuple):
    verdict: ResponseVerdict
    reason: Reason | None = None
    retry_in_seconds: float | None = None
    """With ResponseVerdict.RETRY: the shortest wait. None: retry when the host's block ends."""
    block_host: bool = False
    retry_after: str | None = None
    """The Retry-After header as it came, when the host answered 429 or 503."""
    target: str = ""
    """With ResponseVerdict.REDIRECT: the Location header as it came."""
    error: str = ""
    """An explanation for display, where the fetch succeeded and the response is still unusable."""


# Status codes of a server that refuses; any other 4xx means that this URL has nothing for us.
_FORBIDDEN = frozenset({401, 402, 403, 405, 406, 407, 423, 451})
_BUSY = frozenset({429, 503})
_TRANSIENT = frozenset({Reason.CONNECT, Reason.TIMEOUT, Reason.DNS})
# Failures of the body alone: they do not matter when the status already says no.
_BODY_TROUBLE = frozenset({None, Reason.CONTENT_TYPE, Reason.TOO_LARGE, Reason.TIMEOUT})


def judge(
    result: FetchResult,
    *,
    attempts: int,
    hops: int,
    max_redirects: int = 5,
    max_attempts: int = most_tries(),
    jitter: float = 0.0,
) -> Judgement:
    """`attempts`: earlier tries of this URL that ended in "retry later"; `hops`: redirects followed so far."""
    if result.status >= 300 and result.failure in _BODY_TROUBLE:
        return _judge_status(result, attempts, hops, max_redirects)
    if result.failure is not None:
        return _judge_failure(result.failure, attempts, max_attempts, jitter)
    if result.status < 200 or result.status == 206:  # we never request a range
        error = f"A page cannot be answered with status {result.status}."
        return Judgement(ResponseVerdict.FAIL, Reason.PROTOCOL, error=error)
    if result.truncated:
        # The body is shorter than announced. Half a page, stored, would look like a change.
        retry = _judge_failure(Reason.CONNECT, attempts, max_attempts, jitter)
        return retry if retry.verdict is ResponseVerdict.RETRY else Judgement(ResponseVerdict.FAIL, Reason.PROTOCOL)
    return Judgement(ResponseVerdict.STORE)


def _judge_failure(failure: Reason, attempts: int, max_attempts: int, jitter: float) -> Judgement:
    if failure in _TRANSIENT and attempts + 1 < max_attempts:
        return Judgement(ResponseVerdict.RETRY, failure, retry_delay(attempts + 1, jitter))
    return Judgement(ResponseVerdict.SKIP if failure in SKIPPED else ResponseVerdict.FAIL, failure)


def _judge_status(result: FetchResult, attempts: int, hops: int, max_redirects: int) -> Judgement:
    status = result.status
    if status in _BUSY:
        return _judge_busy(result, attempts)
    if status >= 500:
        return Judgement(ResponseVerdict.FAIL, Reason.HTTP_5XX if status < 600 else Reason.PROTOCOL)
    if status >= 400:
        return Judgement(ResponseVerdict.SKIP, Reason.FORBIDDEN if status in _FORBIDDEN else Reason.NOT_FOUND)
    if status == 304:
        error = "It says it did not change, but nobody asked that."
        return (
            Judgement(ResponseVerdict.UNCHANGED)
            if result.request.etag
            else Judgement(ResponseVerdict.FAIL, Reason.PROTOCOL, error=error)
        )
    if not result.location:
        return Judgement(ResponseVerdict.FAIL, Reason.PROTOCOL, error="It redirects without saying where to.")
    if hops >= max_redirects:
        target = read(result.location, result.url)
        to_itself = isinstance(target, Url) and target.href == result.url
        error = "It redirects to itself." if to_itself else f"There are more than {max_redirects} redirects."
        return Judgement(ResponseVerdict.FAIL, Reason.REDIRECT_LOOP, error=error)
    return Judgement(ResponseVerdict.REDIRECT, target=result.location)


def _judge_busy(result: FetchResult, attempts: int) -> Judgement:
    """Judge a 429 or 503. The host is blocked either way; the URL is retried until it was refused too often."""
    given_up = attempts + 1 >= MAX_RATE_LIMITED
    return Judgement(
        ResponseVerdict.FAIL if given_up else ResponseVerdict.RETRY,
        Reason.RATE_LIMITED,
        block_host=True,
        retry_after=result.headers.get("retry-after"),
    )
