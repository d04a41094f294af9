"""Record a probe's response: a request beyond the crawl's pages, which checks on a page and never stores one.

A missing page that answers is queued as a page of this crawl: it is watched as long as it answers.

Which pages are probed: `domain/changes/probes.py`. What the response means: `judge_probe` in
`domain/changes/removals.py`.
"""

from datetime import datetime

from crawler.domain.changes.probes import SEEN, ProbeTask, Purpose
from crawler.domain.changes.removals import ProbeResult, Removal, judge_probe
from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.crawls.frontier import End
from crawler.domain.diffs.soft_not_found import says_not_found
from crawler.domain.engine.judging import Judgement, ResponseVerdict
from crawler.domain.engine.ledger import ProbeEnd
from crawler.domain.engine.snapshots import snapshot
from crawler.domain.reasons import Reason
from crawler.domain.urls.url import Url, parse, read
from crawler.handlers.engine.lease_result import LeaseResult


def record_probe(
    settled: LeaseResult, task: ProbeTask, result: FetchResult, judgement: Judgement, now: datetime
) -> LeaseResult:
    if judgement.verdict is ResponseVerdict.RETRY and not judgement.block_host:
        settled.end = End.RETRY
        return settled
    if task.rendered and judgement.verdict is not ResponseVerdict.STORE:
        # Nothing to compare; what failed in a browser says nothing about the host.
        return refuse_probe(settled, judgement.reason or Reason.REDIRECTED, now)
    target = read(judgement.target, result.url) if judgement.verdict is ResponseVerdict.REDIRECT else None
    if isinstance(target, Url) and settled.context.key(target) == settled.key.normalized_url:
        settled.end = End.MOVED
        settled.moved_url = target.href
    elif task.purpose is not Purpose.MISSING and judgement.verdict is ResponseVerdict.STORE:
        _keep_second_look(settled, result, now)
    else:
        _tell_fate(settled, result, judgement, target.href if isinstance(target, Url) else None, now)
        if task.purpose is Purpose.MISSING and _is_page(settled, judgement):
            settled.known, settled.known_depth = parse(settled.lease.url), task.depth
    return settled


def _is_page(settled: LeaseResult, judgement: Judgement) -> bool:
    """Whether the missing page is still there. One that only says “not found” is not."""
    alive = settled.probe is not None and settled.probe.outcome == Removal.ALIVE.value
    return alive and judgement.verdict is ResponseVerdict.STORE


def refuse_probe(settled: LeaseResult, reason: Reason, now: datetime) -> LeaseResult:
    """Settle a probe that may not be requested, or whose response may not be kept."""
    settled.end = End.DROPPED
    settled.probe = ProbeEnd(settled.key, Removal.BLOCKED.value, reason, None, None, None, now)
    return settled


def _tell_fate(
    settled: LeaseResult, result: FetchResult, judgement: Judgement, target: str | None, now: datetime
) -> None:
    found = judge_probe(judgement, result.status, result.failure)
    if found.kind is Removal.MOVED and target is None:  # a redirect whose target is no usable URL
        found = found._replace(kind=Removal.BLOCKED, reason=Reason.PROTOCOL)
    if found.kind is Removal.ALIVE and says_not_found(result.body, result.content_type):
        found = ProbeResult(Removal.GONE, Reason.NOT_FOUND)
    silenced = settled.lease.host if found.silences_host else None
    status = result.status or None
    settled.probe = ProbeEnd(settled.key, found.kind.value, found.reason, status, target, None, now, silenced)


def _keep_second_look(settled: LeaseResult, result: FetchResult, now: datetime) -> None:
    settled.snapshot = snapshot(result.body, result.content_type, now)
    settled.probe = ProbeEnd(settled.key, SEEN, None, result.status, None, settled.snapshot.id, now)
