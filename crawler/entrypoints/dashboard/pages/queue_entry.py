"""`/queue/{id}`: one entry of the acquisition queue: its state, why it failed, and the extracted fields.

Why it failed, in words: `entrypoints/dashboard/views/queue_failures.py`.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from crawler.domain.acquisition.entries import EntryStatus
from crawler.domain.crawls.project import ACQUISITION_ID
from crawler.entrypoints.dashboard.serving.render import page
from crawler.entrypoints.dashboard.views.queue_failures import trouble_of
from crawler.entrypoints.dashboard.views.queue_filters import STATUSES
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import WholeSystem
from crawler.entrypoints.http.shapes import LAST_ID

router = APIRouter(dependencies=[WholeSystem])

MOST_TEXT = 40_000
"""Characters of text that are shown; the API has the whole text."""
STEPS = (
    (EntryStatus.PENDING, "Waits"),
    (EntryStatus.FETCHING, "Is fetched"),
    (EntryStatus.FETCHED, "Stored"),
    (EntryStatus.EXTRACTING, "Is read"),
    (EntryStatus.DONE, "Done"),
)


@router.get("/queue/{entry_id}")
def entry(request: Request, entry_id: Annotated[int, Path(ge=1, le=LAST_ID)], tools: Tools) -> Response:
    found = tools.acquisition.queue.get(entry_id)
    project_id = found.project_id or ACQUISITION_ID
    return page(
        request,
        "queue_entry.html",
        section="queue",
        here="entries",
        entry=found,
        extraction=tools.acquisition.extractions.find(found.extraction_id) if found.extraction_id else None,
        trouble=trouble_of(found),
        project=None if found.project_id is None else tools.store.get_project(found.project_id),
        page_kept=bool(found.page_id and tools.acquisition.overview.project_of_page(found.page_id) == project_id),
        project_id=project_id,
        batch=tools.store.find_crawl(found.crawl_id) if found.crawl_id else None,
        defined=bool(found.category and tools.acquisition.categories.find(found.category)),
        classifies=tools.settings.classify_task is not None,
        statuses=STATUSES,
        steps=STEPS,
        most=MOST_TEXT,
    )
