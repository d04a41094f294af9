"""`/crawl/{id}/report`: problems a crawl found on its site, such as broken links and missing titles.

Made by `handlers/crawls/report_crawl.py`; what counts as a finding: `adapters/reports/queries.py`.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from crawler.domain.exports.reports import Finding, FindingKind, Report, as_csv
from crawler.entrypoints.http.access import OwnCrawl, Tools
from crawler.entrypoints.http.cursors import Cursor, InvalidCursor, Limit, decode, encode
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Flag, Listed
from crawler.entrypoints.http.streaming import stream

router = APIRouter(tags=["reports"])

Kinds = Annotated[list[FindingKind], Query(max_length=len(FindingKind), description="Of these kinds; default all")]
NewOnly = Annotated[Flag, Query(alias="new", description="Only what the crawl before did not have")]


@router.get(
    "/crawl/{crawl_id}/report",
    summary="Broken links, redirects, titles, SEO: how many of each kind, and the first few",
    responses=problems(404, 409),
)
def get_crawl_report(
    crawl: OwnCrawl,
    tools: Tools,
    kind: Kinds = [],  # noqa: B006 - FastAPI shows it as the default and never changes it
    new: NewOnly = False,
    first: Annotated[int, Query(ge=0, le=100, description="How many of each kind")] = 5,
) -> Report:
    return tools.crawls.report(crawl.id, kinds=kind or tuple(FindingKind), new_only=new, first=first)


@router.get(
    "/crawl/{crawl_id}/report/{kind}",
    summary="Every finding of one kind, the gravest first",
    responses=problems(404, 409),
)
def list_crawl_findings(
    crawl: OwnCrawl, kind: FindingKind, tools: Tools, new: NewOnly = False, cursor: Cursor = None, limit: Limit = 50
) -> Listed[Finding]:
    found = tools.crawls.report.page(crawl.id, kind, new_only=new, after=_position(kind, cursor), limit=limit)
    following = encode(f"report-{kind}", str(found.next_after)) if found.next_after is not None else None
    return Listed(items=found.items, next_cursor=following)


def _position(kind: FindingKind, cursor: str | None) -> int:
    parts = decode(f"report-{kind}", cursor)
    if parts is None:
        return 0
    if not parts[0].isascii() or not parts[0].isdigit() or len(parts[0]) > 9:
        raise InvalidCursor
    return int(parts[0])


@router.get(
    "/crawl/{crawl_id}/report.csv",
    summary="All findings as a table, streamed",
    response_class=Response,
    responses={200: {"description": "The file", "content": {"text/csv": {}}}, **problems(404, 409)},
)
def export_crawl_report(
    crawl: OwnCrawl,
    tools: Tools,
    kind: Kinds = [],  # noqa: B006
    new: NewOnly = False,
) -> Response:
    rows = tools.crawls.report.findings(crawl.id, kind or tuple(FindingKind), new_only=new)
    return stream(rows, as_csv(rows), "text/csv; charset=utf-8", "report.csv")
