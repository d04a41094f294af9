"""`POST /scrape`: one page now, in the forms that are asked for, through the same engine as all crawls.

Fetched by `handlers/crawls/scrape_pages.py`, shown by `domain/markdown/page_formats.py`.
"""

import base64
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from crawler.domain.crawls.crawl import CrawlJob, RenderMode
from crawler.domain.engine.ledger import RENDERED
from crawler.domain.hosts.credentials import MAX_NAME, MAX_VALUE
from crawler.domain.markdown.page_formats import PageFormat, Wanted
from crawler.entrypoints.http.access import OwnCrawl, Tools, own_or_single
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.page_waits import LONGEST_SECONDS, Later, Mapped, PageWaits, Scrape, Scraped
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Body, Text, Wire
from crawler.errors import NotFound
from crawler.handlers.crawls.map_site import MOST_URLS, MapOptions
from crawler.handlers.crawls.scrape_pages import ScrapeOptions, ShownPage

router = APIRouter(tags=["pages"])

MOST_AGE_SECONDS = 366 * 86_400


class ScrapePage(Wanted, Body):
    """One page, and how it is to be fetched and shown."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"url": "https://example.org/", "formats": ["markdown", "links"]}}
    )

    url: Text = Field(min_length=1, max_length=2000)
    project_id: UUID | None = Field(
        None, description="Whose credentials, settings and store are used; null is the built-in one of single pages"
    )
    max_age: int = Field(
        0, ge=0, le=MOST_AGE_SECONDS, description="Seconds: what is stored and not older is taken; 0 always fetches"
    )
    timeout: float = Field(
        20, gt=0, le=LONGEST_SECONDS, allow_inf_nan=False, description="Seconds after which 202 and a job are answered"
    )
    render: RenderMode = Field(RenderMode.AUTO, description="Whether a browser is used; auto: where the page needs it")
    wait_for: float = Field(
        0, ge=0, le=10, allow_inf_nan=False, description="Seconds a browser waits once more when the page is quiet"
    )
    headers: dict[
        Annotated[Text, Field(min_length=1, max_length=MAX_NAME)], Annotated[Text, Field(max_length=MAX_VALUE)]
    ] = Field(default_factory=dict, max_length=20, description="Sent to the URL's own origin, kept encrypted")

    def options(self) -> ScrapeOptions:
        wanted = Wanted.model_validate(self.model_dump(include=set(Wanted.model_fields)))
        return ScrapeOptions(wanted, self.render, self.wait_for, self.headers or None)


class PageMetadata(Wire):
    title: str | None
    description: str | None
    language: str | None
    content_type: str
    http_status: int | None
    meta: dict[str, str] = Field(description="What the head says, by the page's own names")


class ScrapedPage(Wire):
    url: str = Field(description="Where redirects led")
    page_id: UUID
    version_id: UUID
    project_id: UUID
    fetched_at: datetime
    from_store: bool
    rendered: bool = Field(description="Whether a browser was used")
    markdown: str | None = None
    html: str | None = None
    raw_html: str | None = None
    text: str | None = None
    links: list[str] | None = None
    screenshot: str | None = Field(None, description="PNG in base64")
    metadata: PageMetadata | None = None

    @classmethod
    def of(cls, shown: ShownPage, project_id: UUID, wanted: Wanted, *, from_store: bool) -> "ScrapedPage":
        version, shaped, picture = shown
        metadata = PageMetadata(
            title=version.title,
            description=version.description,
            language=version.language,
            content_type=version.content_type,
            http_status=version.http_status,
            meta=shaped.meta or {},
        )
        return cls(
            url=version.url,
            page_id=version.page_id,
            version_id=version.version_id,
            project_id=project_id,
            fetched_at=version.seen_at,
            from_store=from_store,
            rendered=version.method == RENDERED,
            markdown=shaped.markdown,
            html=shaped.html,
            raw_html=shaped.raw_html,
            text=shaped.text,
            links=shaped.links,
            screenshot=base64.b64encode(picture).decode() if picture else None,
            metadata=metadata if PageFormat.METADATA in wanted.formats else None,
        )


class ScrapeJob(Wire):
    """The page did not come in time. `GET /scrape/{crawl_id}` has it when it is there."""

    crawl_id: UUID
    status: str


class SitemapUse(StrEnum):
    INCLUDE = "include"
    SKIP = "skip"
    ONLY = "only"


class MapBody(Body):
    """The site, and which of its URLs."""

    model_config = ConfigDict(json_schema_extra={"example": {"url": "https://example.org/", "search": "kettle"}})

    url: Text = Field(min_length=1, max_length=2000)
    project_id: UUID | None = Field(None, description="Whose settings are used; null is the built-in one")
    search: Text = Field("", max_length=500, description="Only URLs and titles with one of these words, best first")
    sitemap: SitemapUse = SitemapUse.INCLUDE
    include_subdomains: bool = False
    ignore_query: bool = Field(default=False, description="Without what stands behind the question mark")
    limit: int = Field(5000, ge=1, le=MOST_URLS)
    timeout: float = Field(20, gt=0, le=LONGEST_SECONDS, allow_inf_nan=False, description="Seconds to wait at most")

    def options(self) -> MapOptions:
        return MapOptions(
            use_sitemaps=self.sitemap is not SitemapUse.SKIP,
            only_sitemaps=self.sitemap is SitemapUse.ONLY,
            subdomains=self.include_subdomains,
            ignore_query=self.ignore_query,
            search=self.search,
            limit=self.limit,
        )


class MapEntry(Wire):
    url: str
    title: str | None
    description: str | None


class SiteMapShown(Wire):
    urls: list[MapEntry]
    complete: bool = Field(description="False: the time was over before all sitemaps were read")


_LATER: dict[int | str, dict[str, Any]] = {
    202: {"model": ScrapeJob, "description": "Not in time: the host must wait, or answers slowly"}
}


@router.post(
    "/scrape",
    response_model=ScrapedPage,
    summary="One page now, from the web or from the store",
    responses={**_LATER, **problems(404, 409)},
)
async def scrape_page(request: Request, body: ScrapePage, caller: Caller) -> Response:
    waits: PageWaits = request.app.state.waits
    project_id = own_or_single(caller, body.project_id)
    options = body.options()
    asked = Scrape(project_id, body.url, options, timedelta(seconds=body.max_age), body.timeout)
    found = await waits.scrape(asked, caller.id)
    if isinstance(found, Later):
        return _later(found.crawl)
    return await run_in_threadpool(_page, found, options.wanted)


@router.get(
    "/scrape/{crawl_id}",
    response_model=ScrapedPage,
    summary="A page that did not come in time",
    responses={**_LATER, **problems(404)},
)
async def get_scraped_page(request: Request, crawl: OwnCrawl, tools: Tools) -> Response:
    waits: PageWaits = request.app.state.waits
    scrape = tools.crawls.scrape
    wanted = await run_in_threadpool(scrape.wanted, crawl.id)
    if wanted is None:
        raise NotFound(f"There is no page that was asked for as {crawl.id}.")
    end = await run_in_threadpool(scrape.find_end, crawl, crawl.seed_url)
    if end is None:
        return _later(crawl)
    version = await run_in_threadpool(scrape.version, crawl, end)
    shown = await waits.show(version, wanted)
    return await run_in_threadpool(_page, Scraped(shown, crawl.project_id, crawl.id), wanted)


@router.post(
    "/map",
    response_model=SiteMapShown,
    summary="The URLs of a site, without crawling it",
    responses=problems(404, 409),
)
async def map_site(request: Request, body: MapBody, caller: Caller) -> Response:
    waits: PageWaits = request.app.state.waits
    project_id = own_or_single(caller, body.project_id)
    found = await waits.map(project_id, body.url, body.options(), caller, body.timeout)
    return await run_in_threadpool(_urls, found)


def _later(crawl: CrawlJob) -> Response:
    return JSONResponse(ScrapeJob(crawl_id=crawl.id, status=crawl.status).model_dump(mode="json"), 202)


def _urls(found: Mapped) -> Response:
    shown = SiteMapShown(urls=[MapEntry(**one._asdict()) for one in found.urls], complete=found.complete)
    return Response(shown.model_dump_json(), media_type="application/json")


def _page(found: Scraped, wanted: Wanted) -> Response:
    shown = ScrapedPage.of(found.page, found.project_id, wanted, from_store=found.from_store)
    return Response(shown.model_dump_json(), media_type="application/json")
