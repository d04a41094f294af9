"""`/v2/scrape`, `/v2/map` and `/v2/search`: one page, the URLs of a site, and search over stored documents.

Fetched by `handlers/crawls/scrape_pages.py` and `map_site.py` beside it.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from crawler.domain.exports.firecrawl_documents import document, error_document
from crawler.domain.pages.scraped import MappedUrl
from crawler.entrypoints.firecrawl.answers import as_json
from crawler.entrypoints.firecrawl.bodies import MapBody, ScrapeBody, SearchBody
from crawler.entrypoints.firecrawl.refusals import TIMED_OUT, refusal
from crawler.entrypoints.http.access import Tools, own_or_single
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.page_waits import LONGEST_SECONDS, Later, PageEnded, PageWaits, Scrape
from crawler.errors import Invalid
from crawler.handlers.crawls.map_site import MOST_URLS, MapOptions

router = APIRouter()

MOST_PROJECTS = 20
"""Projects that one search goes through."""


@router.post("/scrape")
async def scrape(request: Request, body: ScrapeBody, tools: Tools, caller: Caller) -> Any:
    waits: PageWaits = request.app.state.waits
    url, tracked, options = body.address, body.change_tracking, body.options()
    project_id = own_or_single(caller, None)
    max_age = timedelta(0) if tracked else timedelta(milliseconds=min(body.max_age, 10**12))
    asked = Scrape(project_id, url, options, max_age, body.timeout_seconds)
    try:
        found = await waits.scrape(asked, caller.id)
    except PageEnded as exc:
        if not exc.end.http_status or exc.end.http_status < 400:
            raise
        return {"success": True, "data": error_document(exc.end, url, exc.message)}
    if isinstance(found, Later):
        return refusal(408, "The page did not come in time; it is still being fetched.", TIMED_OUT)
    told = document(*found.page, url, options.wanted, from_store=found.from_store)
    if tracked is not None:
        track = tools.changes.check_pages.track
        args = found.crawl_id, found.project_id, found.page.version, tracked.modes
        told["changeTracking"] = await run_in_threadpool(track, *args)
    return await run_in_threadpool(as_json, {"success": True, "data": told})


@router.post("/map")
async def map_site(request: Request, body: MapBody, caller: Caller) -> Any:
    waits: PageWaits = request.app.state.waits
    options = MapOptions(
        use_sitemaps=body.sitemap != "skip",
        only_sitemaps=body.sitemap == "only",
        subdomains=body.include_subdomains,
        ignore_query=body.ignore_query_parameters,
        search=body.search,
        limit=min(body.limit, MOST_URLS),
    )
    seconds = min(body.timeout / 1000, LONGEST_SECONDS)
    found = await waits.map(own_or_single(caller, None), body.url, options, caller, seconds)
    return await run_in_threadpool(_links, found.urls)


def _links(urls: Sequence[MappedUrl]) -> Response:
    links = [{name: value for name, value in one._asdict().items() if value is not None} for one in urls]
    return as_json({"success": True, "links": links})


@router.post("/search")
def search(body: SearchBody, tools: Tools, caller: Caller) -> Any:
    """Over the documents of projects that the key may see, not over the web."""
    if not body.query.strip():
        raise Invalid("query: it has no words.")
    projects = tools.store.list_projects(MOST_PROJECTS, only=caller.project_ids)
    hits = [
        hit for project in projects for hit in tools.documents.search(project.id, body.query, limit=body.limit).hits
    ]
    best = sorted(hits, key=lambda hit: hit.score, reverse=True)
    seen: dict[str, dict[str, Any]] = {}
    for hit in best:
        words = "".join(part.text for part in hit.snippet)
        seen.setdefault(hit.url, {"url": hit.url, "title": hit.title, "description": words, "position": len(seen) + 1})
    return as_json({"success": True, "data": {"web": list(seen.values())[: body.limit]}, "creditsUsed": 0})
