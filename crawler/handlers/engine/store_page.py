"""Store a page: turn a parsed page into rows to write and links to follow. No I/O: the batch writes later.

Pages are parsed in `domain/pages/parsing.py`; the rows are written by `adapters/engine/page_commit.py`.

Links that the page marks nofollow are dropped here (`_followed`).
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

import orjson

from crawler.domain.crawls.crawl import FetchState
from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.crawls.frontier import End
from crawler.domain.engine.ledger import (
    LIGHT,
    LIGHT_COPY,
    RENDERED,
    Outline,
    PageWrite,
    Picture,
    Previous,
    Unchanged,
    UrlEnd,
    Version,
    light_copy_id,
    page_id,
    version_id,
)
from crawler.domain.engine.snapshots import name_of, snapshot
from crawler.domain.pages.parsing import ParsedPage
from crawler.domain.reasons import Reason
from crawler.domain.rendering.rendered_page import RenderedPage
from crawler.domain.urls.url import MAX_LENGTH, Unusable, Url, read, resolver, shortened
from crawler.handlers.engine.lease_result import LeaseResult, tries_of

MAX_UNUSABLE = 100
MAX_ROUTES = 100
MAX_LINK_CHARS, MAX_CHARS_A_LINK = 1_000_000, 100
"""Of all links of a page together, or of each if they are many. With one long `<base>` a page of a few bytes for each
link would take a hundred times its size in rows and memory."""
MAX_HEADERS = 64
# Stored headers are read by many: those meant for one visitor only are not kept.
_PRIVATE_HEADERS = frozenset(
    {"set-cookie", "set-cookie2", "www-authenticate", "proxy-authenticate", "authentication-info"}
)


def store_page(
    settled: LeaseResult, result: FetchResult, page: ParsedPage, previous: Previous | None, now: datetime
) -> None:
    context = settled.context
    links, urls, unusable = _resolve_links(page)
    unusable += _hash_routes(page)
    settled.canonical = usable(page.canonical, page.base_url)
    follow = _followed(page, links, urls, follow_nofollow=context.crawl.config.follow_nofollow)
    outline = Outline(
        links_found=_json([link[0] for link in links]),
        links_followed=_json([url.href for url in follow]) if len(follow) < len(links) else None,
        links_unusable=_json([list(link) for link in unusable]) if unusable else None,
        canonical_url=settled.canonical.href if settled.canonical else None,
        noindex=page.noindex,
    )
    if previous is not None and _is_same(settled, result, page, previous):
        new_outline = outline if _differs(outline, follow, previous) else None
        record_unchanged(settled, result, previous, follow, now, new_outline)
    else:
        _new_content(settled, result, page, links, outline, now)
    _picture(settled, result, now)
    if settled.says_same_light and settled.url_end:
        settled.rendering = {**(settled.rendering or {}), LIGHT_COPY: str(settled.url_end.version_id)}
    if context.follows_links:
        settled.links, settled.unusable = follow, unusable


def keep_light_copy(
    settled: LeaseResult, result: FetchResult, page: ParsedPage, previous: Previous, now: datetime
) -> None:
    """Keep what the server sent of a page that goes on to the browser. The same as before is kept already."""
    is_kept = previous.version_id and not previous.is_lost
    if previous.method == LIGHT and previous.content_hash == page.content_hash and is_kept:
        copy = previous.version_id
    else:
        links, _, _ = _resolve_links(page)
        crawl = settled.context.crawl
        identity = page_id(crawl.project_id, settled.key.normalized_url)
        copy = light_copy_id(identity, crawl.id, page.content_hash)
        settled.snapshot = snapshot(result.body, result.content_type, now)
        settled.light_copy = _version(copy, identity, settled, result, page, links, now)
    settled.rendering = {**(settled.rendering or {}), LIGHT_COPY: str(copy)}


def record_unchanged(
    settled: LeaseResult,
    result: FetchResult,
    previous: Previous,
    follow: Sequence[Url],
    now: datetime,
    outline: Outline | None = None,
) -> None:
    """Record that a page did not change. `outline`: its links, canonical URL and noindex, if those are new."""
    settled.end = End.STORED
    settled.unchanged = Unchanged(
        key=settled.key,
        page_id=page_id(settled.context.crawl.project_id, settled.key.normalized_url),
        etag=_clean_header(result.headers.get("etag")),
        last_modified=_clean_header(result.headers.get("last-modified")),
        fetched_at=now,
        crawl_method=_method(result),
        reason=settled.note or Reason.UNCHANGED,
        outline=outline,
    )
    settled.url_end = UrlEnd(
        key=settled.key,
        state=FetchState.DONE,
        reason=settled.note or Reason.UNCHANGED,
        rule=None,
        attempts=tries_of(settled.lease),
        final_url=None,
        http_status=result.status,
        content_hash=previous.content_hash,
        version_id=previous.version_id,
        error_message=None,
        fetched_at=now,
    )
    settled.links = follow if settled.context.follows_links else ()


def _is_same(settled: LeaseResult, result: FetchResult, page: ParsedPage, previous: Previous) -> bool:
    """Whether the page is unchanged. For the acquisition queue, and for pages that somebody watches, only the same
    bytes are: selectors see all of them.

    What was fetched in the other way is another version, although it says the same: later crawls are compared with the
    version that was fetched as theirs. So is one whose bytes are lost: these are stored in their place.
    """
    if previous.content_hash != page.content_hash or previous.method not in (None, _method(result)):
        return False
    if previous.is_lost:
        return False
    if not settled.context.is_by_bytes(settled.lease.url):
        return True
    return previous.snapshot_id == name_of(result.body)


def _differs(outline: Outline, follow: Sequence[Url], previous: Previous) -> bool:
    known = (previous.links_followed, previous.links_unusable or [], previous.canonical_url, previous.noindex)
    unusable = orjson.loads(outline.links_unusable or "[]")
    return ([url.href for url in follow], unusable, outline.canonical_url, outline.noindex) != known


def _followed(
    page: ParsedPage, links: Sequence[tuple[str, str, str]], urls: Sequence[Url], *, follow_nofollow: bool
) -> Sequence[Url]:
    """The links that the page lets be followed: it may say nofollow for all of them, or for each."""
    if follow_nofollow:
        return urls
    return [] if page.nofollow else [url for link, url in zip(links, urls, strict=True) if "nofollow" not in link[2]]


def usable(href: str | None, base: str | None = None) -> Url | None:
    url = read(href, base) if href else None
    return url if isinstance(url, Url) else None


def _resolve_links(page: ParsedPage) -> tuple[list[tuple[str, str, str]], list[Url], list[Unusable]]:
    """The page's links as absolute URLs, once each, with anchor text and rel; then those that are no usable URL."""
    links: dict[str, tuple[tuple[str, str, str], Url]] = {}
    unusable: list[Unusable] = []
    resolve = resolver(page.base_url)
    left = max(MAX_LINK_CHARS, MAX_CHARS_A_LINK * len(page.links))
    for raw, anchor, rel in page.links:
        if left <= 0:
            break
        url = resolve(raw)
        if isinstance(url, Url):
            if url.href not in links:
                links[url.href] = ((url.href, anchor, rel), url)
                left -= len(url.href)
        elif url is not None and len(unusable) < MAX_UNUSABLE:
            unusable.append(url._replace(raw=shortened(raw, page.base_url)))
    return [link for link, _ in links.values()], [url for _, url in links.values()], unusable


def _hash_routes(page: ParsedPage) -> Iterable[Unusable]:
    """Views of this site that are known by a fragment only, which no server hears of: said, and not fetched."""
    resolve, home = resolver(page.base_url), read(page.base_url)
    for route in page.hash_routes[:MAX_ROUTES]:
        before, _, fragment = route.partition("#")
        url = resolve(before) if before else home
        if isinstance(url, Url) and isinstance(home, Url) and url.host == home.host:
            yield Unusable(f"{url.href}#{fragment}"[:MAX_LENGTH], Reason.HASH_ROUTE, "a view behind a #")


def _new_content(
    settled: LeaseResult,
    result: FetchResult,
    page: ParsedPage,
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
    settled.page = PageWrite(
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
        etag=_clean_header(result.headers.get("etag")),
        last_modified=_clean_header(result.headers.get("last-modified")),
        language=page.language,
        crawl_method=_method(result),
        http_status=result.status,
        byte_length=len(result.body),
        version_id=version,
        fetched_at=now,
        links_followed=outline.links_followed,
        links_unusable=outline.links_unusable,
    )
    settled.version = _version(version, identity, settled, result, page, links, now)
    settled.url_end = UrlEnd(
        key=settled.key,
        state=FetchState.DONE,
        reason=settled.note,
        rule=None,
        attempts=tries_of(settled.lease),
        final_url=result.url if result.url != settled.lease.url else None,
        http_status=result.status,
        content_hash=page.content_hash,
        version_id=version,
        error_message=None,
        fetched_at=now,
    )


def _version(
    identity: UUID,
    page_identity: UUID,
    settled: LeaseResult,
    result: FetchResult,
    page: ParsedPage,
    links: Sequence[tuple[str, str, str]],
    now: datetime,
) -> Version:
    crawl = settled.context.crawl
    return Version(
        id=identity,
        page_id=page_identity,
        crawl_id=crawl.id,
        snapshot_id=name_of(result.body),
        content_hash=page.content_hash,
        title=page.title,
        links=_json([{"url": url, "anchor": anchor, "rel": rel} for url, anchor, rel in links]),
        headers=_json(_kept_headers(result.headers)),
        hreflang=_json(page.hreflang),
        final_url=result.url,
        crawl_method=_method(result),
        fetched_at=now,
    )


def _method(result: FetchResult) -> str:
    return RENDERED if isinstance(result, RenderedPage) else LIGHT


def _picture(settled: LeaseResult, result: FetchResult, now: datetime) -> None:
    """Keep a screenshot with the version it shows. A version that has one keeps it."""
    if isinstance(result, RenderedPage) and result.screenshot and settled.url_end and settled.url_end.version_id:
        shot = result.screenshot
        settled.picture = Picture(settled.url_end.version_id, shot.image, shot.thumbnail, now)


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _clean_header(value: str | None) -> str | None:
    """A header's value that Postgres can store: without NUL, and cut, because nobody needs many kilobytes of it."""
    return value.replace("\x00", "")[:1000] if value else None


def _kept_headers(headers: Mapping[str, str]) -> dict[str, str | None]:
    kept = [name for name in headers if name not in _PRIVATE_HEADERS]
    return {name: _clean_header(headers[name]) for name in kept[:MAX_HEADERS]}
