"""`/crawls/{id}/report`: problems a crawl found on its site, such as broken links; full tables as CSV.

Made by `handlers/crawls/report_crawl.py`; what counts as a finding: `adapters/reports/queries.py`.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from crawler.domain.exports.reports import HEADINGS, FindingKind
from crawler.entrypoints.dashboard.serving.render import is_part, page
from crawler.entrypoints.http.access import OwnCrawl, Tools
from crawler.entrypoints.http.cursors import InvalidCursor, decode, encode
from crawler.errors import Conflict

router = APIRouter()

SHOWN = 50
New = Annotated[bool, Query()]


@router.get("/crawls/{crawl_id}/report")
def report(request: Request, crawl: OwnCrawl, tools: Tools) -> Response:
    project = tools.store.get_project(crawl.project_id)
    found, why_not = None, None
    if crawl.status.is_over:
        try:
            found = tools.crawls.report(crawl.id, first=3)
        except Conflict as exc:
            why_not = exc.message
    return page(
        request, "crawl_report.html", here="report", crawl=crawl, project=project, report=found, why_not=why_not
    )


@router.get("/crawls/{crawl_id}/report/{kind}")
def findings(
    request: Request,
    crawl: OwnCrawl,
    kind: FindingKind,
    tools: Tools,
    new: New = False,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    found = tools.crawls.report.page(crawl.id, kind, new_only=new, after=_position(kind, cursor), limit=SHOWN)
    return page(
        request,
        "parts/finding_rows.html" if is_part(request) else "crawl_findings.html",
        here="report",
        crawl=crawl,
        project=tools.store.get_project(crawl.project_id),
        kind=kind,
        heading=HEADINGS[kind],
        rows=found.items,
        following=encode(f"findings-{kind}", str(found.next_after)) if found.next_after is not None else None,
        filters={"new": new},
        first=cursor is None,
    )


def _position(kind: FindingKind, cursor: str | None) -> int:
    parts = decode(f"findings-{kind}", cursor)
    if parts is None:
        return 0
    if not parts[0].isascii() or not parts[0].isdigit() or len(parts[0]) > 9:
        raise InvalidCursor
    return int(parts[0])
