"""`/projects/{id}/changes`: all crawls of a project that found changes.

The query is in `adapters/changes/history.py`.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from crawler.entrypoints.dashboard.serving.render import is_part, page
from crawler.entrypoints.dashboard.views.periods import PERIODS, known, since
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.cursors import decode_id, encode
from crawler.entrypoints.http.shapes import Text

router = APIRouter()

SHOWN = 25
PAGES = 2
"""Of one crawl, with the first line that changed."""


@router.get("/projects/{project_id}/changes")
def project_changes(
    request: Request,
    project_id: OwnProject,
    tools: Tools,
    all: Annotated[bool, Query()] = False,  # noqa: A002 - what people read in the address
    period: Annotated[str, Query(max_length=10)] = "",
    cursor: Annotated[Text | None, Query(max_length=8000)] = None,
) -> Response:
    before = decode_id("changes", cursor)
    project = tools.store.get_project(project_id)
    found = tools.changes.history(project_id, before, SHOWN, quiet=all, since=since(period, tools.clock()))
    ids = [row.id for row in found.rows]
    return page(
        request,
        "parts/changed_crawl_rows.html" if is_part(request) else "project_changes.html",
        here="changes",
        project=project,
        rows=found.rows,
        told=tools.notices.notifications.sent_for(ids),
        entries=tools.changes.feed.of_crawls(ids),
        pages_shown=PAGES,
        periods=PERIODS,
        compared=found.compared,
        following=encode("changes", str(found.looked_until)) if found.looked_until else None,
        filters={"all": all, "period": known(period)},
        first=cursor is None,
    )
