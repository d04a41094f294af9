"""`/crawl/{id}/explain`, `/audit`, `/rebuild-frontier`: debug a crawl, check its politeness, repair its frontier.

Decided in `handlers/crawls/explain_url.py`, `adapters/operating/politeness_audit.py` and
`handlers/crawls/rebuild_frontier.py`.
"""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from crawler.adapters.operating.politeness_audit import HostAudit
from crawler.domain.explaining.url_explanation import Explanation
from crawler.entrypoints.http.access import OwnCrawl, Tools
from crawler.entrypoints.http.auth import AdminOnly
from crawler.entrypoints.http.limits import heavy_read
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Text, Wire

router = APIRouter(tags=["crawls"])


class HostAudited(Wire):
    host: str
    requests: int
    uncertain: int = Field(description="Of workers that died: they may or may not have been sent, and are in no gap")
    smallest_gap_seconds: float | None
    largest_parallelism: int
    owed_gap_seconds: float = Field(description="The longest that the project or robots.txt asked for")
    violations: int = Field(description="Gaps shorter than owed, and requests while too many were open")
    extra: int = Field(description="For robots.txt, sitemaps and probes")
    repeated: int = Field(description="For pages that had been asked for before")
    allowed_parallelism: int

    @classmethod
    def of(cls, found: HostAudit) -> "HostAudited":
        return cls(**found._asdict())


class Audit(Wire):
    violations: int
    hosts: list[HostAudited]


class Rebuilt(Wire):
    crawl_id: UUID
    queued: int = Field(description="URLs that wait now")


@router.get(
    "/crawl/{crawl_id}/explain",
    summary="Why a crawl did with a URL what it did",
    description="Who linked it, which rule admitted or refused it, what it waited for, each attempt, and the result. "
    "A URL that the crawl never met is judged by its rules.",
    responses=problems(404),
)
def explain_url(
    crawl: OwnCrawl,
    tools: Tools,
    url: Annotated[Text, Query(min_length=1, max_length=8000, description="In any spelling")],
) -> Explanation:
    with heavy_read():
        return tools.crawls.explain_url(crawl.id, url)


@router.get(
    "/crawl/{crawl_id}/audit",
    summary="Was the crawl polite? Counted by host",
    description="From the log of requests, whichever crawl made them; it is kept for `request_log_days`.",
    responses=problems(404),
)
def audit_crawl(crawl: OwnCrawl, tools: Tools) -> Audit:
    with heavy_read():
        hosts = tools.hosts.audit(crawl.id)
    return Audit(violations=sum(host.violations for host in hosts), hosts=[HostAudited.of(host) for host in hosts])


@router.post(
    "/crawl/{crawl_id}/rebuild-frontier",
    summary="Fill a running crawl's queue in Redis anew, from Postgres alone",
    dependencies=[AdminOnly],
    responses=problems(404, 409),
)
def rebuild_frontier(crawl: OwnCrawl, tools: Tools) -> Rebuilt:
    return Rebuilt(crawl_id=crawl.id, queued=tools.crawls.rebuild_frontier(crawl.id))
