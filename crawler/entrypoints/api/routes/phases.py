"""`/projects/{id}/phases/crawl`: start a crawl of a project, and read its progress.

Decided in `handlers/crawls/start_crawl.py`; the percentage in `domain/crawls/progress.py`.
"""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Request, Response
from pydantic import Field

from crawler.entrypoints.api.routes.projects import Options
from crawler.entrypoints.api.shapes.crawl import CrawlId
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.etags import NOT_MODIFIED, tagged
from crawler.entrypoints.http.idempotency import DoOnce
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Text, Wire

router = APIRouter(tags=["crawls"])

MOST_URLS = 10_000


class RunCrawl(Options):
    """Options for this crawl; given with the first one they become the project's settings."""

    seed_url: Text | None = Field(None, max_length=2000, description="Where it begins; default the project's website")
    fetch_only_urls: list[Annotated[Text, Field(max_length=2000)]] | None = Field(
        None, max_length=MOST_URLS, fail_fast=True, description="Fetch exactly these and follow nothing"
    )


class PhaseShown(Wire):
    status: str = Field(description="pending, in_progress, completed, failed or cancelled")
    crawl_id: UUID | None = Field(description="Null until the project's first crawl")
    progress: float = Field(description="Per cent; never falls, 100 only when completed")
    pages_crawled: int
    estimated_total: int
    paused: bool
    error_message: str | None
    stats: dict[str, Any]


@router.post(
    "/projects/{project_id}/phases/crawl/run",
    status_code=202,
    response_model=CrawlId,
    summary="Start a crawl",
    responses=problems(404, 409),
)
def run_phase_crawl(project_id: OwnProject, tools: Tools, once: DoOnce, body: RunCrawl | None = None) -> Response:
    asked = body or RunCrawl()

    def start() -> CrawlId:
        tools.hints.ping()  # Without a broker no worker gets the message: fail before the crawl's row is written.
        crawl = tools.crawls.start(
            project_id,
            seed_url=asked.seed_url,
            config=asked.given(),
            urls=asked.fetch_only_urls or (),
            idempotency_key=once.crawl_key,
        )
        return CrawlId(crawl_id=crawl.id)

    return once(asked, start, 202)


@router.get(
    "/projects/{project_id}/phases/crawl/status",
    response_model=PhaseShown,
    summary="How far the project's latest crawl is",
    responses={**problems(404), **NOT_MODIFIED},
)
def get_phase_status(request: Request, project_id: OwnProject, tools: Tools) -> Response:
    return tagged(request, PhaseShown(**tools.crawls.progress.of_project(project_id)._asdict()))
