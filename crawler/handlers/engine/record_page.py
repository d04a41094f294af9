"""Record what a page's response means for its URL: failed, skipped or redirected. No I/O: the batch writes later.

The response is judged in `domain/engine/judging.py`. A page that is stored: `store_page.py`.
"""

from datetime import datetime

from crawler.domain.crawls.crawl import FetchState
from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.crawls.frontier import End
from crawler.domain.engine.judging import Judgement, ResponseVerdict
from crawler.domain.engine.ledger import Previous, Unfetched, UrlEnd, page_id
from crawler.domain.pages.files import any_page
from crawler.domain.pages.parsing import ParsedPage, UnparsablePage
from crawler.domain.reasons import FAILED, Reason
from crawler.domain.rendering.rendered_page import RenderedPage
from crawler.domain.urls.scope import Refusal
from crawler.domain.urls.url import Unusable, Url, read
from crawler.handlers.engine.lease_result import LeaseResult, tries_of
from crawler.handlers.engine.store_page import record_unchanged, usable
from crawler.handlers.pages.bounded_reading import BoundedReading

MAX_LINKS = 5000


def read_page(
    settled: LeaseResult, result: FetchResult, now: datetime, robot: str, read_bounded: BoundedReading
) -> ParsedPage | None:
    """Parse the page. None when it cannot be parsed; then it is settled as failed."""
    config = settled.context.crawl.config
    options = {
        "hash_chars": config.hash_chars,
        "max_links": config.max_links_per_page or MAX_LINKS,
        "detect_language": False,
        "robot": robot,
        "hash_routes": isinstance(result, RenderedPage),
    }
    whose = settled.context.crawl.project_id
    try:
        return read_bounded(whose, any_page, result.body, result.content_type, result.url, result.headers, options)
    except UnparsablePage as exc:
        record_refused(settled, Reason.PARSE, exc.message, now, result)
        return None


def record_verdict(
    settled: LeaseResult, result: FetchResult, judgement: Judgement, previous: Previous | None, now: datetime
) -> LeaseResult:
    """Fill in what the judgement means for this URL, if it brought no page to store (`read_page`, `store_page`)."""
    match judgement.verdict:
        case ResponseVerdict.UNCHANGED if previous is not None:
            settled.canonical = usable(previous.canonical_url)
            record_unchanged(settled, result, previous, (), now)
            if settled.context.follows_links:
                settled.kept_links = previous.links_followed
                unusable = previous.links_unusable or []
                settled.unusable = [Unusable(raw, Reason(reason), rule) for raw, reason, rule in unusable]
        case ResponseVerdict.REDIRECT:
            _redirect(settled, result, judgement, now)
        case ResponseVerdict.RETRY:
            settled.end = End.RETRY
        case _:
            reason = judgement.reason or Reason.PROTOCOL
            record_refused(settled, reason, result.error or judgement.error or None, now, result)
    return settled


def record_refused(
    settled: LeaseResult,
    reason: Reason,
    error: str | None,
    now: datetime,
    result: FetchResult | None = None,
    rule: str | None = None,
    final_url: str | None = None,
) -> LeaseResult:
    """Record a URL as skipped or failed, with the reason. A page row that exists keeps its last good content."""
    settled.end = End.DROPPED
    state = FetchState.FAILED if reason in FAILED else FetchState.SKIPPED
    status = (result.status or None) if result else None
    settled.url_end = UrlEnd(
        key=settled.key,
        state=state,
        reason=reason,
        rule=rule,
        attempts=tries_of(settled.lease),
        final_url=final_url,
        http_status=status,
        content_hash=None,
        version_id=None,
        error_message=error,
        fetched_at=now,
    )
    if result is not None:
        project = settled.context.crawl.project_id
        settled.unfetched = Unfetched(
            key=settled.key,
            id=page_id(project, settled.key.normalized_url),
            project_id=project,
            url=settled.lease.url,
            status=state.value,
            reason=reason,
            error_message=error,
            http_status=status,
            fetched_at=now,
        )
    return settled


def record_existing(settled: LeaseResult, previous: Previous | None, now: datetime) -> LeaseResult:
    """Record a URL that is not fetched because it has a document. The crawl goes on with the links stored back then."""
    record_refused(settled, Reason.EXISTS, None, now)
    if previous is not None and settled.context.follows_links:
        settled.canonical = usable(previous.canonical_url)
        settled.kept_links = previous.links_followed
    return settled


def _redirect(settled: LeaseResult, result: FetchResult, judgement: Judgement, now: datetime) -> None:
    """Record a redirect. To another spelling of the same page: request that. To another page: discover it."""
    target = read(judgement.target, result.url)
    if isinstance(target, Unusable):
        record_refused(settled, target.reason, f"It redirects to something unusable. {target.rule}", now, result)
    elif settled.context.key(target) == settled.key.normalized_url:
        settled.end = End.MOVED
        settled.moved_url = target.href
    elif (away := _leaves_scope(settled, target)) is not None:
        record_refused(settled, Reason.OFF_DOMAIN, None, now, result, away, target.href)
    else:
        settled.redirect = target
        record_refused(settled, Reason.REDIRECTED, None, now, result, final_url=target.href)


def _leaves_scope(settled: LeaseResult, target: Url) -> str | None:
    """The scope rule by which a redirect leaves the site, or None. The homepage's redirect moves the scope instead."""
    context = settled.context
    verdict = context.scope.candidate(target, 0).verdict
    off_domain = isinstance(verdict, Refusal) and verdict.reason is Reason.OFF_DOMAIN
    return verdict.rule if off_domain and not context.may_leave(settled.key.normalized_url) else None
