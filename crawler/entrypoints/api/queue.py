"""`/queue`: URLs of many sites with their categories, worked off in batches. For keys that see all projects."""

import re
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from crawler.adapters.queue_store import place_of
from crawler.domain.queue_csv import as_csv
from crawler.domain.queue_entries import (
    DEFAULT_PRIORITY,
    LAST_PRIORITY,
    MAX_CATEGORY,
    BulkAction,
    Chosen,
    EntryStatus,
    ImportReport,
    QueueEntry,
    QueueFilter,
    Sort,
)
from crawler.entrypoints.api.auth import WholeSystem
from crawler.entrypoints.api.cursors import Cursor, InvalidCursor, Limit, decode, encode, listed
from crawler.entrypoints.api.owned import Tools
from crawler.entrypoints.api.problems import problems
from crawler.entrypoints.api.streaming import stream
from crawler.entrypoints.api.wire import Body, Listed, Text, Wire
from crawler.errors import Invalid

router = APIRouter(tags=["queue"], dependencies=[WholeSystem])

MOST_URLS = 1000
MOST_IDS = 10_000
BULK_SECONDS = 10.0
"""Well before whoever waits gives up."""
_NUMBER = re.compile(r"[0-9]{1,18}").fullmatch
_CSV = {"schema": {"type": "string"}, "example": "url,category,priority\nhttps://example.org/,hotel,5\n"}

Category = Annotated[Text | None, Query(max_length=MAX_CATEGORY)]
Host = Annotated[Text | None, Query(max_length=260, description="example.org or example.org:8080")]
Prefix = Annotated[Text | None, Query(max_length=2000, description="Of the URL; its scheme does not count")]
Active = Annotated[bool | None, Query(description="False: those that are kept, but not fetched")]


def _filter(
    status: EntryStatus | None = None,
    category: Category = None,
    active: Active = None,
    host: Host = None,
    prefix: Prefix = None,
) -> QueueFilter:
    return QueueFilter(status=status, category=category, active=active, host=host, prefix=prefix)


Filtered = Annotated[QueueFilter, Depends(_filter)]


class NewEntries(Body):
    model_config = ConfigDict(
        json_schema_extra={"example": {"urls": ["https://example.org/rooms"], "category": "hotel", "priority": 3}}
    )

    urls: list[str] = Field(min_length=1, max_length=MOST_URLS)
    category: str | None = Field(None, max_length=MAX_CATEGORY)
    priority: int = Field(DEFAULT_PRIORITY, ge=0, le=LAST_PRIORITY, description="Lower first")
    project_id: UUID | None = Field(None, description="Whose settings hold; null is the project `acquisition`")


class Counts(Wire):
    counts: dict[EntryStatus, int]


class BulkOrder(Body):
    """Exactly one of `ids`, `filter` and `all`."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"action": "retry", "filter": {"status": "failed", "category": "hotel"}}}
    )

    action: BulkAction = Field(description="retry: what failed; what went well only by ids or by its status")
    ids: list[Annotated[int, Field(ge=1, le=2**62)]] = Field([], max_length=MOST_IDS)
    filter: QueueFilter | None = None
    all: bool = False
    after: int = Field(0, ge=0, le=2**62, description="`next_after` of the part before")


class Changed(Wire):
    changed: int
    next_after: int | None = Field(
        description="Of very many only a part was changed: send the same again with this as `after`"
    )


class Run(Wire):
    entries: int = Field(description="How many were taken")
    crawl_ids: list[UUID] = Field(description="The batches that fetch them")


@router.get("/queue", summary="Entries of the queue")
def list_entries(
    tools: Tools,
    chosen: Filtered,
    sort: Annotated[Sort, Query(description="`priority`: as they are worked off")] = Sort.OLDEST,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Listed[QueueEntry]:
    kind = f"queue {sort.value}"
    found = tools.queue.list_entries(chosen, sort, _place(kind, sort, cursor), limit + 1)
    return listed(found, limit, lambda entry: entry, lambda entry: encode(kind, *place_of(entry, sort)))


def _place(kind: str, sort: Sort, cursor: str | None) -> list[str] | None:
    parts = decode(kind, cursor, 3 if sort is Sort.PRIORITY else 1)
    if parts is None:
        return None
    try:
        if not _NUMBER(parts[-1]) or (len(parts) > 1 and not re.fullmatch("[0-9]", parts[0])):
            raise InvalidCursor
        if len(parts) > 1 and datetime.fromisoformat(parts[1]).tzinfo is None:
            raise InvalidCursor
    except ValueError as exc:
        raise InvalidCursor from exc
    return parts


@router.post(
    "/queue", status_code=201, summary="Add URLs; those that are there stay as they are", responses=problems(404, 409)
)
def add_entries(body: NewEntries, tools: Tools) -> ImportReport:
    return tools.fill_queue.add(body.urls, category=body.category, priority=body.priority, project_id=body.project_id)


@router.get("/queue/counts", summary="How many entries have which status")
def count_entries(tools: Tools) -> Counts:
    return Counts(counts={EntryStatus(name): count for name, count in tools.queue.counts().items()})


@router.post(
    "/queue/import",
    summary="Add URLs from a CSV file of any size, sent as the body",
    description=(
        "The first line names the columns `url`, `category` and `priority` in any order; others are passed over. "
        "UTF-8 or UTF-16, separated by comma, semicolon or tab. Rows that cannot be read are told by line, the others "
        "land. If it breaks off, what came is there; the same file again adds the rest."
    ),
    responses=problems(404, 409),
    openapi_extra={"requestBody": {"required": True, "content": {"text/csv": _CSV}}},
)
async def import_entries(
    request: Request,
    tools: Tools,
    project_id: Annotated[UUID | None, Query(description="Whose settings hold; else the project `acquisition`")] = None,
) -> ImportReport:
    if request.headers.get("content-type", "").startswith("multipart/"):
        raise Invalid("Send the file itself as the body (text/csv), not a form.")
    file = await run_in_threadpool(tools.fill_queue.file, project_id)
    try:
        async for piece in request.stream():
            await run_in_threadpool(file.feed, piece)
    except ClientDisconnect as exc:
        raise Invalid("The file broke off; send it again to add the rest.") from exc
    return await run_in_threadpool(file.end)


@router.get("/queue/export", summary="Entries as CSV, streamed", response_class=StreamingResponse)
def export_entries(tools: Tools, chosen: Filtered) -> StreamingResponse:
    rows = tools.queue.rows(chosen)
    return stream(rows, as_csv(rows), "text/csv; charset=utf-8", "queue.csv")


@router.post("/queue/bulk", summary="Retry, deactivate, reactivate or delete many")
def change_entries(body: BulkOrder, tools: Tools) -> Changed:
    chosen = Chosen.of(body.ids, body.filter, everything=body.all)
    return Changed(**tools.queue.change(body.action, chosen, after=body.after, seconds=BULK_SECONDS)._asdict())


@router.post("/queue/run", status_code=202, summary="Fetch what waits now, instead of every five minutes")
def run_queue(tools: Tools) -> Run:
    tools.hints.ping()  # without a broker nobody would hear of the batches: say so before there are any
    run = tools.run_queue()
    return Run(entries=run.entries, crawl_ids=list(run.crawl_ids))
