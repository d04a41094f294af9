"""One answer becomes rows to write and links to follow. No I/O: the batch writes later."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from crawler.domain.clock import from_seconds
from crawler.domain.crawls.crawl import FetchState
from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.crawls.frontier import End, Lane, Lease
from crawler.domain.engine.judging import Judgement, Verdict
from crawler.domain.engine.ledger import (
    LIGHT,
    RENDERED,
    Outline,
    Picture,
    Previous,
    ProbeEnd,
    Request,
    Snapshot,
    StoredPage,
    Unchanged,
    Unfetched,
    UrlEnd,
    UrlKey,
    Version,
    page_id,
    version_id,
)
from crawler.domain.engine.snapshots import name_of, snapshot
from crawler.domain.pages.files import file_page, is_pdf
from crawler.domain.pages.parsing import Extracted, UnparsablePage, extract
from crawler.domain.reasons import FAILED, Reason
from crawler.domain.rendering.rendered_page import RenderedPage
from crawler.domain.rendering.url_shapes import Findings
from crawler.domain.urls.scope import Refusal
from crawler.domain.urls.url import Unusable, Url, read, resolver, shortened
from crawler.handlers.engine.crawl_context import CrawlContext

MAX_LINKS = 5000
MAX_UNUSABLE = 100
MAX_HEADERS = 64
# A stored answer is for many to read: what it said to one visitor only is not kept.
_PRIVATE_HEADERS = frozenset(
    {"set-cookie", "set-cookie2", "www-authenticate", "proxy-authenticate", "authentication-info"}
)


@dataclass(slots=True)
class Settled:
    """What one lease came to."""

    lease: Lease
    context: CrawlContext
    end: End
    key: UrlKey
    lateness_ms: int = 0
    at_ms: int = 0
    moved_url: str = ""
    request: Request | None = None
    url_end: UrlEnd | None = None
    page: StoredPage | None = None
    """Its language is found out when the batch is written."""
    declared_language: str | None = None
    version: Version | None = None
    snapshot: Snapshot | None = None
    unchanged: Unchanged | None = None
    unfetched: Unfetched | None = None
    probe: ProbeEnd | None = None
    links: Sequence[Url] = ()
    kept_links: Sequence[str] = ()
    """As an earlier crawl wrote them down; read only where they are new, which few are."""
    unusable: Sequence[Unusable] = ()
    """Links that nobody can follow, cut to what can be shown."""
    canonical: Url | None = None
    redirect: Url | None = None
    sitemaps: list[str] = field(default_factory=list)
    listed: list[Url] = field(default_factory=list)
    """URLs a sitemap names."""
    note: Reason | None = None
    """What there is to say about a page that is stored."""
    rendering: dict[str, Any] | None = None
    """Why this page alone goes to a browser, or does not."""
    compared: dict[str, Any] | None = None
    finding: Findings | None = None
    picture: Picture | None = None


def log_request(lease: Lease, result: FetchResult, lane: Lane = Lane.HTTP) -> Request | None:
    """A request for the audit; none when nothing went onto the wire."""
    if not result.sent_at:
        return None
    return Request(
        from_seconds(result.sent_at),
        lease.crawl_id,
        lease.host,
        lease.kind.value,
        lane.value,
        result.status or None,
        int(result.elapsed_seconds * 1000),
        url=lease.url,
    )


def record_verdict(
    settled: Settled, result: FetchResult, judgement: Judgement, previous: Previous | None, now: datetime
) -> Settled:
    """Fill in what the judgement means for this URL, if it brought no page to store (`read_page`, `store_page`)."""
    match judgement.verdict:
        case Verdict.UNCHANGED if previous is not None:
            settled.canonical = _usable(previous.canonical_url)
            _unchanged(settled, result, previous, (), now)
            if settled.context.follows_links:
                settled.kept_links = previous.links_followed
                settled.unusable = [Unusable(raw, Reason(reason), rule) for raw, reason, rule in _kept(previous)]
        case Verdict.REDIRECT:
            _redirect(settled, result, judgement, now)
        case Verdict.RETRY:
            settled.end = End.RETRY
        case _:
            reason = judgement.reason or Reason.PROTOCOL
            record_refused(settled, reason, result.error or judgement.error or None, now, result)
    return settled


def record_refused(
    settled: Settled,
    reason: Reason,
    error: str | None,
    now: datetime,
    result: FetchResult | None = None,
    rule: str | None = None,
    final_url: str | None = None,
) -> Settled:
    """Skipped or failed: the ledger says why; the page row, if it was asked for, keeps its last good content."""
    settled.end = End.DROPPED
    state = FetchState.FAILED if reason in FAILED else FetchState.SKIPPED
    status = (result.status or None) if result else None
    settled.url_end = UrlEnd(
        settled.key, state, reason, rule, _tries(settled.lease), final_url, status, None, None, error, now
    )
    if result is not None:
        project = settled.context.crawl.project_id
        identity = page_id(project, settled.key.normalized_url)
        settled.unfetched = Unfetched(
            settled.key, identity, project, settled.lease.url, state.value, reason, error, status, now
        )
    return settled


def record_existing(settled: Settled, previous: Previous | None, now: datetime) -> Settled:
    """It has a document, and is not fetched again; where it led when it was, the crawl goes on."""
    record_refused(settled, Reason.EXISTS, None, now)
    if previous is not None and settled.context.follows_links:
        settled.canonical = _usable(previous.canonical_url)
        settled.kept_links = previous.links_followed
    return settled


def _tries(lease: Lease) -> int:
    return lease.attempts + lease.losses + 1


def read_page(settled: Settled, result: FetchResult, now: datetime) -> Extracted | None:
    """None when it cannot be read; then it is settled as failed."""
    config = settled.context.crawl.config
    if is_pdf(result.content_type, result.body):
        return file_page(result.body, result.url)
    try:
        return extract(
            result.body,
            url=result.url,
            content_type=result.content_type,
            headers=result.headers,
            hash_chars=config.hash_chars,
            max_links=config.max_links_per_page or MAX_LINKS,
            detect_language=False,
        )
    except UnparsablePage as exc:
        record_refused(settled, Reason.PARSE, exc.message, now, result)
        return None


def store_page(
    settled: Settled, result: FetchResult, page: Extracted, previous: Previous | None, now: datetime
) -> None:
    context = settled.context
    links, urls, unusable = _resolve_links(page)
    settled.canonical = _usable(page.canonical, page.base_url)
    follow = [] if page.nofollow else [u for link, u in zip(links, urls, strict=True) if "nofollow" not in link[2]]
    outline = Outline(
        _json([link[0] for link in links]),
        _json([url.href for url in follow]) if len(follow) < len(links) else None,
        _json([list(link) for link in unusable]) if unusable else None,
        settled.canonical.href if settled.canonical else None,
        page.noindex,
    )
    if previous is not None and _is_same(settled, result, page, previous):
        _unchanged(settled, result, previous, follow, now, outline if _differs(outline, follow, previous) else None)
    else:
        _new_content(settled, result, page, links, outline, now)
    _picture(settled, result, now)
    if context.follows_links:
        settled.links, settled.unusable = follow, unusable


def _is_same(settled: Settled, result: FetchResult, page: Extracted, previous: Previous) -> bool:
    """For the queue only the same bytes are: its selectors see more than the text."""
    if previous.content_hash != page.content_hash:
        return False
    if not settled.context.crawl.from_queue:
        return True
    return previous.snapshot_id == name_of(result.body)


def _differs(outline: Outline, follow: Sequence[Url], previous: Previous) -> bool:
    known = (previous.links_followed, _kept(previous), previous.canonical_url, previous.noindex)
    unusable = orjson.loads(outline.links_unusable or "[]")
    return ([url.href for url in follow], unusable, outline.canonical_url, outline.noindex) != known


def _kept(previous: Previous) -> list[list[str]]:
    return previous.links_unusable or []


def _usable(href: str | None, base: str | None = None) -> Url | None:
    url = read(href, base) if href else None
    return url if isinstance(url, Url) else None


def _resolve_links(page: Extracted) -> tuple[list[tuple[str, str, str]], list[Url], list[Unusable]]:
    """The page's links as absolute URLs, once each, with anchor and rel; then those that are none."""
    links: dict[str, tuple[tuple[str, str, str], Url]] = {}
    unusable: list[Unusable] = []
    resolve = resolver(page.base_url)
    for raw, anchor, rel in page.links:
        url = resolve(raw)
        if isinstance(url, Url):
            if url.href not in links:
                links[url.href] = ((url.href, anchor, rel), url)
        elif url is not None and len(unusable) < MAX_UNUSABLE:
            unusable.append(url._replace(raw=shortened(raw, page.base_url)))
    return [link for link, _ in links.values()], [url for _, url in links.values()], unusable


def _new_content(
    settled: Settled,
    result: FetchResult,
    page: Extracted,
    links: list[tuple[str, str, str]],
    outline: Outline,
    now: datetime,
) -> None:
    crawl = settled.context.crawl
    identity = page_id(crawl.project_id, settled.key.normalized_url)
    version = version_id(identity, crawl.id, page.content_hash)
    settled.end = End.STORED
    settled.snapshot = snapshot(result.body, result.content_type, now)
    settled.declared_language = page.declared_language
    settled.page = StoredPage(
        key=settled.key,
        id=identity,
        project_id=crawl.project_id,
        url=result.url,
        title=page.title,
        h1=page.h1,
        meta_description=page.meta_description,
        content_text=page.text,
        word_count=page.word_count,
        links_found=outline.links_found,
        reason=settled.note,
        content_hash=page.content_hash,
        canonical_url=outline.canonical_url,
        noindex=outline.noindex,
        etag=clean_header(result.headers.get("etag")),
        last_modified=clean_header(result.headers.get("last-modified")),
        language=page.language,
        crawl_method=_method(result),
        http_status=result.status,
        byte_length=len(result.body),
        version_id=version,
        fetched_at=now,
        links_followed=outline.links_followed,
        links_unusable=outline.links_unusable,
    )
    settled.version = Version(
        version,
        identity,
        crawl.id,
        settled.snapshot.id,
        page.content_hash,
        page.title,
        _json([{"url": url, "anchor": anchor, "rel": rel} for url, anchor, rel in links]),
        _json(_kept_headers(result.headers)),
        _json(page.hreflang),
        result.url,
        _method(result),
        now,
    )
    settled.url_end = UrlEnd(
        settled.key,
        FetchState.DONE,
        settled.note,
        None,
        _tries(settled.lease),
        result.url if result.url != settled.lease.url else None,
        result.status,
        page.content_hash,
        version,
        None,
        now,
    )


def _unchanged(
    settled: Settled,
    result: FetchResult,
    previous: Previous,
    follow: Sequence[Url],
    now: datetime,
    outline: Outline | None = None,
) -> None:
    identity = page_id(settled.context.crawl.project_id, settled.key.normalized_url)
    settled.end = End.STORED
    settled.unchanged = Unchanged(
        settled.key,
        identity,
        clean_header(result.headers.get("etag")),
        clean_header(result.headers.get("last-modified")),
        now,
        _method(result),
        settled.note or Reason.UNCHANGED,
        outline,
    )
    settled.url_end = UrlEnd(
        settled.key,
        FetchState.DONE,
        settled.note or Reason.UNCHANGED,
        None,
        _tries(settled.lease),
        None,
        result.status,
        previous.content_hash,
        previous.version_id,
        None,
        now,
    )
    settled.links = follow if settled.context.follows_links else ()


def _method(result: FetchResult) -> str:
    return RENDERED if isinstance(result, RenderedPage) else LIGHT


def _picture(settled: Settled, result: FetchResult, now: datetime) -> None:
    """Kept with the version it shows; a version that has one keeps it."""
    if isinstance(result, RenderedPage) and result.screenshot and settled.url_end and settled.url_end.version_id:
        shot = result.screenshot
        settled.picture = Picture(settled.url_end.version_id, shot.image, shot.thumbnail, now)


def _redirect(settled: Settled, result: FetchResult, judgement: Judgement, now: datetime) -> None:
    """To the same page under another spelling: ask again there. To another: that one is discovered."""
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


def _leaves_scope(settled: Settled, target: Url) -> str | None:
    """The rule by which a redirect leads off the site; the homepage's own takes the scope along."""
    context = settled.context
    verdict = context.scope.candidate(target, 0).verdict
    off_domain = isinstance(verdict, Refusal) and verdict.reason is Reason.OFF_DOMAIN
    return verdict.rule if off_domain and not context.may_leave(settled.key.normalized_url) else None


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def clean_header(value: str | None) -> str | None:
    """Postgres takes no NUL, and nobody needs a header of many kilobytes."""
    return value.replace("\x00", "")[:1000] if value else None


def _kept_headers(headers: Mapping[str, str]) -> dict[str, str | None]:
    kept = [name for name in headers if name not in _PRIVATE_HEADERS]
    return {name: clean_header(headers[name]) for name in kept[:MAX_HEADERS]}
