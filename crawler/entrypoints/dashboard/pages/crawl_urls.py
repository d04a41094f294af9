"""`/crawls/{id}/urls`, `/crawls/{id}/explain`: every URL of a crawl, and why one was crawled, skipped or failed.

Decided in `handlers/crawls/explain_url.py`; the list is in `adapters/crawls/url_reader.py`, the words in
`domain/reason_words.py`.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from crawler.domain.crawls.crawl import FetchState
from crawler.domain.explaining.url_explanation import PRIORITY_WORDS, SOURCE_WORDS
from crawler.domain.pages.lists import UrlFilter
from crawler.domain.reason_words import MEANINGS
from crawler.domain.reasons import FAILED, NOTES, SKIPPED, Reason
from crawler.entrypoints.dashboard.serving.render import is_part, page
from crawler.entrypoints.http.access import OwnCrawl, Tools
from crawler.entrypoints.http.cursors import decode, encode
from crawler.entrypoints.http.limits import heavy_read
from crawler.entrypoints.http.shapes import Text
from crawler.errors import Invalid

router = APIRouter()

SHOWN = 50
GROUPS = (("Failed", sorted(FAILED)), ("Skipped", sorted(SKIPPED)), ("Notes on stored pages", sorted(NOTES)))
Short = Annotated[str, Query(max_length=40)]


@router.get("/crawls/{crawl_id}/urls")
def urls(
    request: Request,
    crawl: OwnCrawl,
    tools: Tools,
    state: Short = "",
    reason: Short = "",
    prefix: Annotated[Text, Query(max_length=2000)] = "",
    cursor: Annotated[Text | None, Query(max_length=8000)] = None,
) -> Response:
    state = state if state in set(FetchState) else ""
    reason = reason if reason in set(Reason) else ""
    after = decode("urls", cursor)
    chosen = UrlFilter(state or None, None, Reason(reason) if reason else None, prefix.strip().lower() or None)
    part = tools.crawls.urls.list_urls(crawl.id, chosen, after[0] if after else None, SHOWN + 1)
    last = part.rows[SHOWN - 1].normalized_url if len(part.rows) > SHOWN else part.looked_until
    return page(
        request,
        "parts/url_rows.html" if is_part(request) else "crawl_urls.html",
        here="urls",
        crawl=crawl,
        project=tools.store.get_project(crawl.project_id),
        rows=part.rows[:SHOWN],
        following=encode("urls", last) if last else None,
        filters={"state": state, "reason": reason, "prefix": prefix.strip()},
        groups=GROUPS,
        meanings=MEANINGS,
        first=cursor is None,
    )


@router.get("/crawls/{crawl_id}/explain")
def explain(
    request: Request, crawl: OwnCrawl, tools: Tools, url: Annotated[Text, Query(max_length=8000)] = ""
) -> Response:
    found, wrong = None, None
    if url.strip():
        try:
            with heavy_read():
                found = tools.crawls.explain_url(crawl.id, url.strip())
        except Invalid as exc:
            wrong = exc.message
    return page(
        request,
        "crawl_explain.html",
        200 if wrong is None else 422,
        here="urls",
        crawl=crawl,
        project=tools.store.get_project(crawl.project_id),
        url=url.strip(),
        found=found,
        wrong=wrong,
        sources=SOURCE_WORDS,
        priorities=PRIORITY_WORDS,
    )
