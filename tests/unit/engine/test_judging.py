"""What an answer means for its URL."""

import pytest

from crawler.domain.crawls.fetching import FetchRequest, FetchResult
from crawler.domain.engine.judging import Judgement, ResponseVerdict, judge
from crawler.domain.reasons import FAILED, SKIPPED, Reason

URL = "https://example.com/a"


def answer(status: int = 0, *, etag: str | None = None, **fields: object) -> FetchResult:
    return FetchResult(FetchRequest(URL, etag=etag), URL, status, **fields)  # type: ignore[arg-type]


def verdict(result: FetchResult, *, attempts: int = 0, hops: int = 0) -> Judgement:
    return judge(result, attempts=attempts, hops=hops)


@pytest.mark.parametrize("status", [200, 201, 203, 204, 205, 226])
def test_a_success_is_stored_even_when_it_is_empty(status: int) -> None:
    assert verdict(answer(status)) == Judgement(ResponseVerdict.STORE)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (404, Reason.NOT_FOUND),
        (410, Reason.NOT_FOUND),
        (401, Reason.FORBIDDEN),
        (403, Reason.FORBIDDEN),
        (402, Reason.FORBIDDEN),
        (451, Reason.FORBIDDEN),
        (400, Reason.NOT_FOUND),
        (418, Reason.NOT_FOUND),
    ],
)
def test_client_errors_are_skipped(status: int, reason: Reason) -> None:
    assert verdict(answer(status)) == Judgement(ResponseVerdict.SKIP, reason)


@pytest.mark.parametrize("status", [500, 501, 502, 504, 599])
def test_server_errors_fail_and_are_not_retried(status: int) -> None:
    assert verdict(answer(status)) == Judgement(ResponseVerdict.FAIL, Reason.HTTP_5XX)


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_host_is_blocked_and_the_url_retried_until_its_fifth_refusal(status: int) -> None:
    busy = answer(status, headers={"retry-after": "120"})
    for attempts in range(4):
        told = verdict(busy, attempts=attempts)
        assert told == Judgement(ResponseVerdict.RETRY, Reason.RATE_LIMITED, block_host=True, retry_after="120")
    fifth = verdict(busy, attempts=4)
    assert fifth == Judgement(ResponseVerdict.FAIL, Reason.RATE_LIMITED, block_host=True, retry_after="120")


@pytest.mark.parametrize("value", ["-5", "garbage", "Wed, 21 Oct 2099 07:28:00 GMT"])
def test_retry_after_is_handed_on_as_it_came(value: str) -> None:
    assert verdict(answer(429, headers={"retry-after": value})).retry_after == value
    assert verdict(answer(429)).retry_after is None


@pytest.mark.parametrize("reason", [Reason.CONNECT, Reason.TIMEOUT, Reason.DNS])
def test_transient_failures_get_three_retries_at_growing_distance(reason: Reason) -> None:
    lost = answer(failure=reason)
    told = [verdict(lost, attempts=attempts) for attempts in range(4)]
    assert [each.retry_in_seconds for each in told] == [2.0, 4.0, 8.0, None]
    assert told[3] == Judgement(ResponseVerdict.FAIL, reason)
    assert {each.verdict for each in told[:3]} == {ResponseVerdict.RETRY}
    assert not any(each.block_host for each in told)


def test_retries_are_spread_by_a_tenth() -> None:
    lost = answer(failure=Reason.TIMEOUT)
    waits = [judge(lost, attempts=2, hops=0, jitter=jitter).retry_in_seconds for jitter in (-1.0, 0.0, 1.0)]
    assert waits == pytest.approx([7.2, 8.0, 8.8])


@pytest.mark.parametrize("reason", [Reason.TLS, Reason.PROTOCOL, Reason.TOO_LARGE, Reason.REDIRECT_LOOP])
def test_lasting_failures_fail_at_once(reason: Reason) -> None:
    assert verdict(answer(failure=reason)) == Judgement(ResponseVerdict.FAIL, reason)


@pytest.mark.parametrize("reason", [Reason.EGRESS, Reason.CONTENT_TYPE])
def test_what_we_do_not_want_is_skipped(reason: Reason) -> None:
    assert verdict(answer(failure=reason)) == Judgement(ResponseVerdict.SKIP, reason)


def test_not_modified_is_unchanged_only_if_we_asked_for_it() -> None:
    assert verdict(answer(304, etag='"1"')) == Judgement(ResponseVerdict.UNCHANGED)
    assert verdict(answer(304))[:2] == (ResponseVerdict.FAIL, Reason.PROTOCOL)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed_until_the_limit(status: int) -> None:
    moved = answer(status, location="/b")
    assert verdict(moved, hops=4) == Judgement(ResponseVerdict.REDIRECT, target="/b")
    assert verdict(moved, hops=5)[:2] == (ResponseVerdict.FAIL, Reason.REDIRECT_LOOP)
    assert judge(moved, attempts=0, hops=0, max_redirects=0).reason is Reason.REDIRECT_LOOP
    assert verdict(answer(status))[:2] == (ResponseVerdict.FAIL, Reason.PROTOCOL)


@pytest.mark.parametrize(("location", "words"), [("", "itself"), ("#top", "itself"), ("/b", "more than 5")])
def test_a_redirect_to_itself_is_called_so(location: str, words: str) -> None:
    moved = answer(302)
    moved.location = moved.url + location
    assert words in verdict(moved, hops=5).error


@pytest.mark.parametrize("status", [0, 101, 199, 206, 600, 999])
def test_answers_nobody_should_give_are_protocol_errors(status: int) -> None:
    assert verdict(answer(status))[:2] == (ResponseVerdict.FAIL, Reason.PROTOCOL)


@pytest.mark.parametrize("trouble", [Reason.CONTENT_TYPE, Reason.TOO_LARGE, Reason.TIMEOUT])
def test_the_status_counts_before_trouble_with_the_body(trouble: Reason) -> None:
    assert verdict(answer(404, failure=trouble)).reason is Reason.NOT_FOUND
    assert verdict(answer(429, failure=trouble)).block_host
    assert verdict(answer(301, failure=trouble, location="/b")).target == "/b"
    assert verdict(answer(200, failure=trouble)).reason is trouble


def test_egress_counts_before_any_status() -> None:
    assert verdict(answer(302, failure=Reason.EGRESS, location="/x")) == Judgement(ResponseVerdict.SKIP, Reason.EGRESS)


def test_skips_have_skip_reasons_and_failures_have_failure_reasons() -> None:
    results = [answer(status, location="/x") for status in range(100, 1000)]
    results += [answer(failure=reason) for reason in FAILED | SKIPPED]
    for result in results:
        told = verdict(result, attempts=9, hops=9)
        if told.verdict is ResponseVerdict.SKIP:
            assert told.reason in SKIPPED
        elif told.verdict is ResponseVerdict.FAIL:
            assert told.reason in FAILED
