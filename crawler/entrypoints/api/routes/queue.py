"""`/queue`: the acquisition queue, URLs of many sites fetched in batches. Needs a key for all projects.

Decided in `handlers/acquisition/fill_queue.py` and `run_queue.py` beside it; lists and bulk changes in
`adapters/acquisition/queue_store.py`.
"""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from crawler.adapters.acquisition.queue_store import place_of
from crawler.domain.acquisition.entries import (
    DEFAULT_PRIORITY,
    LAST_PRIORITY,
    MAX_CATEGORY,
    Chosen,
    EntryStatus,
    ImportReport,
    QueueEntry,
    QueueFilter,
)
from crawler.domain.acquisition.entry_choices import BulkAction, Sort
from crawler.domain.acquisition.extractions import Extraction, as_jsonl
from crawler.domain.acquisition.extractions import as_csv as extractions_as_csv
from crawler.domain.acquisition.queue_csv import as_csv
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import WholeSystem
from crawler.entrypoints.http.cursors import Cursor, Limit, decode_queue_place, encode, listed
from crawler.entrypoints.http.limits import BULK_SECONDS, MOST_QUEUE_URLS, import_turn, one_import
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import LAST_ID, Body, Flag, Listed, Text, Wire
from crawler.entrypoints.http.streaming import stream
from crawler.errors import Invalid

router = APIRouter(tags=["queue"], dependencies=[WholeSystem])

MOST_IDS = 10_000
_CSV = {"schema": {"type": "string"}, "example": "url,category,priority\nhttps://example.org/,hotel,5\n"}

_BYTES = {"schema": {"type": "string", "format": "binary"}}
_FILES = {"text/csv": _CSV, "application/warc": _BYTES, "application/octet-stream": _BYTES}
"""The file's type is told by its first bytes. Clients made from the description know how to send octets."""

Category = Annotated[Text | None, Query(max_length=MAX_CATEGORY)]
Host = Annotated[Text | None, Query(max_length=260, description="example.org or example.org:8080")]
Prefix = Annotated[Text | None, Query(max_length=2000, description="Of the URL; its scheme does not count")]
Active = Annotated[Flag | None, Query(description="False: those that are kept, but not fetched")]


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

    urls: list[Annotated[str, Field(max_length=10_000)]] = Field(
        min_length=1, max_length=MOST_QUEUE_URLS, fail_fast=True
    )
    category: str | None = Field(None, max_length=MAX_CATEGORY)
    priority: int = Field(DEFAULT_PRIORITY, ge=0, le=LAST_PRIORITY, description="Lower first")
    project_id: UUID | None = Field(None, description="Whose settings hold; null is the project `acquisition`")


class HandOff(Wire):
    waiting: int = Field(description="Not sent yet: no task is set, or the broker is away")
    sent: int


class Counts(Wire):
    counts: dict[EntryStatus, int]
    undefined: int = Field(description="Entries whose category nobody has defined: the default extractor reads them")
    classification: HandOff = Field(description="Extractions on their way to whoever classifies them")


class EntryShown(Wire):
    entry: QueueEntry
    extraction: Extraction | None = Field(description="What was read from its page; null before that")


class ExtractionFormat(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"


class BulkOrder(Body):
    """Exactly one of `ids`, `filter` and `all`."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"action": "retry", "filter": {"status": "failed", "category": "hotel"}}}
    )

    action: BulkAction = Field(description="retry: what failed; what went well only by ids or by its status")
    ids: list[Annotated[int, Field(ge=1, le=LAST_ID)]] = Field([], max_length=MOST_IDS, fail_fast=True)
    filter: QueueFilter | None = None
    all: bool = False
    after: int = Field(0, ge=0, le=LAST_ID, description="`next_after` of the part before")


class Changed(Wire):
    changed: int
    next_after: int | None = Field(
        description="Of very many only a part was changed: send the same again with this as `after`"
    )


class Run(Wire):
    entries: int = Field(description="How many were taken")
    crawl_ids: list[UUID] = Field(description="The batches that fetch them")


@router.get("/queue", summary="Entries of the queue")
def list_queue_entries(
    tools: Tools,
    chosen: Filtered,
    sort: Annotated[Sort, Query(description="`priority`: as they are worked off")] = Sort.OLDEST,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Listed[QueueEntry]:
    kind = f"queue {sort.value}"
    found = tools.acquisition.queue.list_entries(chosen, sort, decode_queue_place(kind, sort, cursor), limit + 1)
    return listed(found, limit, lambda entry: entry, lambda entry: encode(kind, *place_of(entry, sort)))


@router.post(
    "/queue", status_code=201, summary="Add URLs; those that are there stay as they are", responses=problems(404, 409)
)
def add_queue_entries(body: NewEntries, tools: Tools) -> ImportReport:
    return tools.acquisition.fill_queue.add(
        body.urls, category=body.category, priority=body.priority, project_id=body.project_id
    )


@router.get("/queue/counts", summary="How many entries have which status")
def count_queue_entries(tools: Tools) -> Counts:
    counts = {EntryStatus(name): count for name, count in tools.acquisition.queue.counts().items()}
    return Counts(
        counts=counts,
        undefined=tools.acquisition.queue.undefined(),
        classification=HandOff(**tools.acquisition.outbox.counts()),
    )


@router.post(
    "/queue/import",
    summary="Add URLs from a CSV file or a web archive of any size, sent as the body",
    description=(
        "The first line names the columns `url`, `category` and `priority` in any order; others are passed over. "
        "UTF-8 or UTF-16, separated by comma, semicolon or tab. Rows that cannot be read are told by line, the others "
        "land. If it breaks off, what came is there; the same file again adds the rest. A web archive (WARC, packed or "
        "not) is told by its first bytes: the URL of each page in it is added, with the category and priority given."
    ),
    responses=problems(404, 409),
    openapi_extra={"requestBody": {"required": True, "content": _FILES}},
)
async def import_queue(
    request: Request,
    tools: Tools,
    project_id: Annotated[UUID | None, Query(description="Whose settings hold; else the project `acquisition`")] = None,
    category: Annotated[Text | None, Query(max_length=MAX_CATEGORY, description="Of an archive's URLs")] = None,
    priority: Annotated[int, Query(ge=0, le=LAST_PRIORITY, description="Of an archive's URLs")] = DEFAULT_PRIORITY,
) -> ImportReport:
    if request.headers.get("content-type", "").startswith("multipart/"):
        raise Invalid("Send the file itself as the body (text/csv), not a form.")
    with one_import():
        file = await run_in_threadpool(
            tools.acquisition.fill_queue.file, project_id, category=category, priority=priority, turn=import_turn
        )
        try:
            async for piece in request.stream():
                await run_in_threadpool(file.feed, piece)
        except ClientDisconnect as exc:
            raise Invalid("The file broke off; send it again to add the rest.") from exc
        return await run_in_threadpool(file.end)


@router.get("/queue/export", summary="Entries as CSV, streamed", response_class=StreamingResponse)
def export_queue(tools: Tools, chosen: Filtered) -> StreamingResponse:
    rows = tools.acquisition.queue.rows(chosen)
    return stream(rows, as_csv(rows), "text/csv; charset=utf-8", "queue.csv")


@router.get(
    "/queue/extractions",
    summary="What was read from the entries' pages, streamed",
    description="JSON lines, or CSV: with a `category` a column for each of its fields, else one with all as JSON.",
    response_class=StreamingResponse,
)
def export_extractions(
    tools: Tools, chosen: Filtered, kind: Annotated[ExtractionFormat, Query(alias="format")] = ExtractionFormat.JSONL
) -> StreamingResponse:
    rows = tools.acquisition.extractions.rows(chosen)
    if kind is ExtractionFormat.JSONL:
        return stream(rows, as_jsonl(rows), "application/x-ndjson", "extractions.jsonl")
    names = tools.acquisition.manage_categories.field_names(chosen.category)
    return stream(rows, extractions_as_csv(rows, names), "text/csv; charset=utf-8", "extractions.csv")


@router.post("/queue/bulk", summary="Retry, deactivate, reactivate or delete many")
def change_queue_entries(body: BulkOrder, tools: Tools) -> Changed:
    chosen = Chosen.of(body.ids, body.filter, everything=body.all)
    return Changed(
        **tools.acquisition.queue.change(body.action, chosen, after=body.after, seconds=BULK_SECONDS)._asdict()
    )


@router.post("/queue/run", status_code=202, summary="Fetch what waits now, instead of every five minutes")
def run_queue(tools: Tools) -> Run:
    tools.hints.ping()  # Without a broker no worker gets the batches: fail before any is made.
    run = tools.acquisition.run_queue()
    return Run(entries=run.entries, crawl_ids=list(run.crawl_ids))


@router.get("/queue/{entry_id:int}", summary="One entry, and what was read from its page", responses=problems(404))
def get_queue_entry(entry_id: Annotated[int, Path(ge=1, le=LAST_ID)], tools: Tools) -> EntryShown:
    entry = tools.acquisition.queue.get(entry_id)
    found = tools.acquisition.extractions.find(entry.extraction_id) if entry.extraction_id else None
    return EntryShown(entry=entry, extraction=found)
