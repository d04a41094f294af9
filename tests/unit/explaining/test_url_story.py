"""From what the ledger, the scope and the frontier say to words."""

from datetime import UTC, datetime
from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlStatus, FetchState
from crawler.domain.crawls.frontier import HostState, Priority, Wait
from crawler.domain.engine.ledger import Source
from crawler.domain.explaining.url_explanation import (
    PRIORITY_WORDS,
    SOURCE_WORDS,
    Attempt,
    LedgerUrl,
    Mention,
    Ruling,
    known_verdict,
    ruling,
    unknown_verdict,
    wait_words,
    with_meanings,
    would_be,
)
from crawler.domain.reasons import NOTES, Reason
from crawler.domain.urls.scope import Admission, Refusal

IN_SCOPE = Admission(2, "in scope")
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def row(**columns: Any) -> LedgerUrl:
    values: dict[str, Any] = dict.fromkeys(LedgerUrl._fields)
    values |= {"normalized_url": "http://a.test/x", "url": "http://a.test/x", "depth": 1, "priority": 2}
    values |= {"fetch_state": "done", "rule": "in scope", "source": "link", "attempts": 1, "variants": 0}
    return LedgerUrl(**{**values, **columns})


def host(**times: Any) -> HostState:
    return HostState("a.test", 0, 0, 0, 0, 0, 0, 0, paused=False, incidents=0)._replace(**times)


@pytest.mark.parametrize(
    ("columns", "admitted", "refused"),
    [
        ({}, "in scope", None),
        ({"rule": "include pattern 'x'"}, "include pattern 'x'", None),
        ({"reason": "unchanged"}, "in scope", None),
        ({"reason": "excluded", "rule": "exclude pattern 'x'"}, None, "exclude pattern 'x'"),
        ({"reason": "max_depth", "rule": "too far"}, None, "too far"),
        ({"reason": "trap", "rule": "a calendar"}, None, "a calendar"),
        ({"reason": "off_domain", "rule": "path outside '/docs'"}, None, "path outside '/docs'"),
        ({"reason": "robots", "rule": "line 2: Disallow: /"}, "in scope", "robots.txt, line 2: Disallow: /"),
        ({"reason": "robots_unreachable", "rule": "not read"}, "in scope", "not read"),
        ({"reason": "not_found"}, "in scope", None),
        ({"reason": "max_pages"}, "in scope", None),
        (
            {"reason": "off_domain", "rule": "host b.test is not in scope", "final_url": "http://b.test/"},
            "in scope",
            "it redirects off the site: host b.test is not in scope",
        ),
        ({"reason": "connect", "rule": "nobody answered", "error_message": "nobody answered"}, "in scope", None),
    ],
)
def test_the_ledgers_rule_admitted_the_url_unless_its_reason_is_a_refusal(
    columns: dict[str, Any], admitted: str | None, refused: str | None
) -> None:
    found = ruling(row(**columns), IN_SCOPE)
    assert (found.admitted_by, found.refused_by) == (admitted, refused)


def test_an_unseen_url_is_refused_by_the_scope_before_robots_txt() -> None:
    refusal = Refusal(Reason.TRAP, "endless")
    assert would_be(refusal, "line 1: Disallow: /") == Ruling(
        admitted_by=None, refused_by="endless", reason=Reason.TRAP
    )
    assert would_be(IN_SCOPE, "line 1: Disallow: /").reason is Reason.ROBOTS
    assert would_be(IN_SCOPE, None) == Ruling(admitted_by="in scope", refused_by=None)


@pytest.mark.parametrize("reason", sorted(set(Reason) - NOTES))
@pytest.mark.parametrize("state", [FetchState.SKIPPED, FetchState.FAILED])
def test_the_verdict_names_every_reason_in_one_sentence(reason: Reason, state: FetchState) -> None:
    url = row(fetch_state=state.value, reason=reason.value, final_url="http://b.test/")
    verdict = known_verdict(url, ruling(url, IN_SCOPE), None)
    assert verdict.endswith(".")
    assert "None" not in verdict
    assert reason.value in verdict or reason is Reason.REDIRECTED


def test_an_unseen_url_is_not_blamed_on_the_wrong_thing() -> None:
    admitted, refused = would_be(IN_SCOPE, None), would_be(Refusal(Reason.OFF_DOMAIN, "host b is not in scope"), None)
    link = Mention(page="http://a.test/", how=Source.LINK, spelling="x")
    shy = link.model_copy(update={"followed": False})
    over = CrawlStatus.COMPLETED

    def told(found: Ruling, *mentions: Mention, status: CrawlStatus = over, pruned: bool = False) -> str:
        return unknown_verdict(found, mentions, status, pruned=pruned)

    assert "no longer kept" in told(admitted, pruned=True)
    assert "never saw it: no page" in told(admitted)
    assert "so far" in told(admitted, status=CrawlStatus.IN_PROGRESS)
    assert "never saw it and would not" in told(refused)
    assert "linked but not crawled (off_domain)" in told(refused, link)
    assert "nofollow" in told(admitted, shy)
    assert "nofollow" not in told(admitted, shy, link)


@pytest.mark.parametrize("why", Wait)
def test_every_way_to_wait_has_words(why: Wait) -> None:
    words = wait_words(why, host())
    assert words
    assert "{" not in words
    assert "crawler host resume a.test" in wait_words(Wait.PAUSED, host(paused=True))


def test_every_source_and_priority_has_words() -> None:
    assert set(SOURCE_WORDS) == set(Source)
    assert set(PRIORITY_WORDS) == {value for name, value in vars(Priority).items() if name.isupper()}


def test_the_last_attempt_of_an_ended_url_is_its_result_and_the_others_are_read_from_their_answers() -> None:
    def attempt(status: int | None, *, certain: bool = True) -> Attempt:
        return Attempt(at=NOW, lane="http", status=status, elapsed_ms=1, certain=certain)

    tries = [attempt(429), attempt(None), attempt(None, certain=False), attempt(301), attempt(200)]
    assert [a.meaning for a in with_meanings(tries, row())] == [
        "the host asked to be left alone",
        "no answer, tried again later",
        "its worker was lost",
        "the same page under another spelling",
        "done",
    ]
    queued = with_meanings(tries[:2], row(fetch_state="queued"))
    assert queued[-1].meaning == "no answer, tried again later", "it has not ended"
    failed = with_meanings(tries[:2], row(fetch_state="failed", reason="timeout"))
    assert failed[-1].meaning == "timeout"
