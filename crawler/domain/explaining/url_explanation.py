"""Why a crawl did with a URL what it did: the facts, and the sentences people read."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from crawler.domain.crawls.crawl import CrawlStatus, FetchState
from crawler.domain.crawls.frontier import HostState, Priority, Wait
from crawler.domain.engine.ledger import Source
from crawler.domain.reason_words import meaning
from crawler.domain.reasons import Reason
from crawler.domain.retries import ABSENT
from crawler.domain.urls.scope import Admission, Refusal

# The ledger's rule is then what refused the URL; for every other reason it is what admitted it.
_BY_SCOPE = frozenset(
    {Reason.EXCLUDED, Reason.NOT_INCLUDED, Reason.MAX_DEPTH, Reason.TRAP, Reason.TOO_LONG, Reason.SCHEME}
)
_BY_ROBOTS = frozenset({Reason.ROBOTS, Reason.ROBOTS_UNREACHABLE})
PRIORITY_WORDS = {
    Priority.HOMEPAGE: "the homepage, before all others",
    Priority.INCLUDED: "an include pattern wants it, before the others",
    Priority.OTHER: "an ordinary page, after those an include pattern wants",
    Priority.PROBE: "a probe, after all others",
}
SOURCE_WORDS = {
    Source.SEED: "where the crawl begins",
    Source.LIST: "on the list of given URLs",
    Source.LINK: "linked from",
    Source.REDIRECT: "a redirect of",
    Source.CANONICAL: "named as canonical by",
    Source.SITEMAP: "listed in the sitemap",
    Source.KNOWN: "known from the crawl before; no link led to it",
}
_WAIT_WORDS = {
    Wait.READY: "its turn is now: it goes as soon as a worker has a free hand",
    Wait.GAP: "the gap after the last request to {host}",
    Wait.BLOCKED: "{host}, which is left alone after a complaint or because its robots.txt cannot be read",
    Wait.ROBOTS: "the robots.txt of {host}, which is being read",
    Wait.PAUSED: "somebody to resume the crawl",
    Wait.HOST_CAP: "one of the requests that are open at {host} to end",
    Wait.CRAWL_CAP: "one of the crawl's open requests to end",
    Wait.BUDGET: "room: the crawl has as many pages under way as it may still store",
    Wait.RETRY: "its next try",
}


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class LedgerUrl(NamedTuple):
    """A URL's row, as far as it explains something. The names are the columns'."""

    normalized_url: str
    url: str
    depth: int
    priority: int
    fetch_state: str
    reason: str | None
    rule: str | None
    source: str
    attempts: int
    variants: int
    parent: str | None
    final_url: str | None
    http_status: int | None
    content_hash: bytes | None
    version_id: UUID | None
    error_message: str | None
    found_at: datetime | None
    fetched_at: datetime | None
    rendering: dict[str, Any] | None = None


class Lead(NamedTuple):
    """Something a page points to that may be a spelling of the URL."""

    page: str
    key: str
    """The page's normalized URL."""
    depth: int
    how: str
    spelling: str
    followed: bool


class Mention(_Value):
    """A page that leads to the URL."""

    page: str
    how: Source
    spelling: str
    followed: bool = True
    """False: nofollow forbids to go there from this page."""


class Attempt(_Value):
    """One request for the URL."""

    at: datetime
    lane: str
    status: int | None
    elapsed_ms: int | None
    certain: bool = True
    """False: its worker died, so it may or may not have gone out."""
    meaning: str = ""


class StoredPage(_Value):
    page_id: UUID
    version_id: UUID | None
    content_hash: str | None
    title: str | None
    byte_length: int | None
    crawl_method: str | None
    unchanged: bool
    first_seen_at: datetime | None
    last_changed_at: datetime | None


class Queued(NamedTuple):
    """Requests to the URL's host between its discovery and its own first request."""

    by_this_crawl: int
    by_others: int
    complaints: int
    """How many of these requests were answered with 429 or 503."""


class Ruling(_Value):
    """What the rules said of the URL."""

    admitted_by: str | None
    refused_by: str | None
    reason: Reason | None = None


class Waited(_Value):
    seconds: float
    """From its discovery to its first request, or to its end when no request is known."""
    requests_before: int
    requests_of_other_crawls: int
    complaints: int
    gap_seconds: float
    gap_because: str


class WaitsNow(_Value):
    why: str
    seconds: float | None
    """None: nobody can say."""
    before: int | None
    """URLs of this crawl that wait at the same host and come first."""
    words: str


class ProbeNote(_Value):
    """A request beyond the crawl's pages: what became of a page that is missing, or a second look at one."""

    purpose: str
    """missing or again."""
    outcome: str | None
    """gone, moved, alive, blocked, excluded, not_reached; of a second look `seen`. None while it waits."""
    http_status: int | None
    reason: str | None
    final_url: str | None
    at: datetime | None
    """When it was answered; None if it was never asked for."""
    words: str


class Explanation(_Value):
    crawl_id: UUID
    url: str
    normalized_url: str
    known: bool
    """Whether it is one of the crawl's URLs. Links to other sites are kept with their pages only."""
    verdict: str
    state: FetchState | None = None
    reason: Reason | None = None
    meaning: str | None = None
    error_message: str | None = None
    http_status: int | None = None
    final_url: str | None = None
    source: Source | None = None
    parent: str | None = None
    found_at: datetime | None = None
    ended_at: datetime | None = None
    depth: int | None = None
    priority: int | None = None
    ruling: Ruling
    mentions: tuple[Mention, ...] = ()
    """Pages that lead to it besides its parent; the first few."""
    mention_count: int = 0
    variants: tuple[str, ...] = ()
    """Other spellings that were merged with this one; the first few."""
    variant_count: int = 0
    waited: Waited | None = None
    waits: WaitsNow | None = None
    attempt_count: int = 0
    attempts: tuple[Attempt, ...] = ()
    """Those the log of requests still knows."""
    stored: StoredPage | None = None
    rendering: str | None = None
    """Whether a browser was used for it, and why."""
    probe: ProbeNote | None = None
    """Whether it was asked for beyond the crawl's pages, and what that said."""


def ruling(row: LedgerUrl, verdict: Admission | Refusal) -> Ruling:
    """`verdict` is what the scope says of the URL today; the ledger's word comes first."""
    reason = Reason(row.reason) if row.reason else None
    admitted = verdict.rule if isinstance(verdict, Admission) else None
    if reason in _BY_SCOPE or (reason is Reason.OFF_DOMAIN and not row.final_url):
        return Ruling(admitted_by=None, refused_by=row.rule, reason=reason)
    if reason in _BY_ROBOTS:
        return Ruling(admitted_by=admitted, refused_by=_robots_rule(reason, row.rule), reason=reason)
    if reason is Reason.OFF_DOMAIN:
        return Ruling(admitted_by=admitted, refused_by=f"it redirects off the site: {row.rule}", reason=reason)
    if reason in ABSENT and row.http_status is None and row.rule == row.error_message:
        return Ruling(admitted_by=admitted, refused_by=None)
    return Ruling(admitted_by=row.rule or admitted, refused_by=None)


def would_be(verdict: Admission | Refusal, robots_line: str | None) -> Ruling:
    """What the rules would say of a URL the crawl has not met."""
    if isinstance(verdict, Refusal):
        return Ruling(admitted_by=None, refused_by=verdict.rule, reason=verdict.reason)
    if robots_line:
        refused = _robots_rule(Reason.ROBOTS, robots_line)
        return Ruling(admitted_by=verdict.rule, refused_by=refused, reason=Reason.ROBOTS)
    return Ruling(admitted_by=verdict.rule, refused_by=None)


def _robots_rule(reason: Reason | None, rule: str | None) -> str | None:
    return f"robots.txt, {rule}" if reason is Reason.ROBOTS else rule


def known_verdict(row: LedgerUrl, found: Ruling, waits: WaitsNow | None) -> str:
    """What became of a URL that the crawl met, as one sentence."""
    reason = Reason(row.reason) if row.reason else None
    if row.fetch_state == FetchState.QUEUED:
        return f"It waits: {waits.words}." if waits else "It waits for its turn."
    if row.fetch_state == FetchState.DONE:
        return "It was fetched and had not changed." if reason is Reason.UNCHANGED else "It was fetched and stored."
    if reason is Reason.REDIRECTED:
        return f"It was fetched and redirects to {row.final_url}."
    if found.refused_by:
        return f"It was not crawled ({reason}): {found.refused_by}."
    done = "It failed" if row.fetch_state == FetchState.FAILED else "It was skipped"
    status = f", the server answered {row.http_status}" if row.http_status else ""
    return f"{done} ({reason}){status}."


def unknown_verdict(found: Ruling, mentions: Sequence[Mention], status: CrawlStatus, *, pruned: bool) -> str:
    """Why a URL is not in the crawl's ledger, as one sentence."""
    if pruned:
        return "The list of this crawl's URLs is no longer kept ('crawler prune'), so nobody can say."
    if found.refused_by:
        met = "It was linked but not crawled" if mentions else "The crawl never saw it and would not crawl it"
        return f"{met} ({found.reason}): {found.refused_by}."
    if mentions and not any(mention.followed for mention in mentions):
        return "It was linked but not crawled: every link to it says nofollow."
    if mentions:
        return (
            "It is linked and in scope, but was not followed: the page has too many links, or only lists were fetched."
        )
    if not status.is_over:
        return f"The crawl has not seen it so far; it would be admitted: {found.admitted_by}."
    return f"The crawl never saw it: no page, sitemap or redirect led there. It would be admitted: {found.admitted_by}."


def reason_meaning(reason: Reason | None) -> str | None:
    return meaning(reason) if reason else None


def with_meanings(attempts: Sequence[Attempt], row: LedgerUrl) -> tuple[Attempt, ...]:
    """The log keeps no reason; the last attempt's is the URL's own, and of the others the status tells."""
    over = row.fetch_state != FetchState.QUEUED
    last = row.reason or row.fetch_state
    return tuple(
        attempt.model_copy(update={"meaning": last if over and number == len(attempts) else _meaning(attempt)})
        for number, attempt in enumerate(attempts, 1)
    )


def _meaning(attempt: Attempt) -> str:
    if not attempt.certain:
        return "its worker was lost"
    if attempt.status in (429, 503):
        return "the host asked to be left alone"
    if attempt.status is None:
        return "no answer, tried again later"
    if 300 <= attempt.status < 400:
        return "the same page under another spelling"
    return "tried again"


def wait_words(why: Wait, host: HostState) -> str:
    if why is Wait.PAUSED and host.paused:
        return f"somebody to resume {host.host} ('crawler host resume {host.host}')"
    words = _WAIT_WORDS[why].format(host=host.host)
    return words if why is Wait.READY else f"for {words}"
