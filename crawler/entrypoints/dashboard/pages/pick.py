"""`/projects/{id}/pages/{page_id}/pick`: click an element of the stored page to get a selector of it.

The page stands in a frame without scripts, made inert before (`domain/watching/picking.py`); the frame's own policy
lets nothing load. Which selector is found: `handlers/watching/pick_selector.py`.
"""

from typing import Annotated
from urllib.parse import urlsplit
from uuid import UUID

import re2
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from crawler.domain.pages.lists import PageFilter
from crawler.domain.watching.picking import MOST_ELEMENTS
from crawler.entrypoints.dashboard.pages.one_page import around
from crawler.entrypoints.dashboard.serving.render import go, is_part, page
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.shapes import Text
from crawler.errors import CrawlerError, Invalid, JudgesBusy, NotFound, TooSlowToTry

router = APIRouter()

INERT = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'; sandbox allow-same-origin",
    "X-Frame-Options": "SAMEORIGIN",
}
_TOLD = (Invalid, NotFound, JudgesBusy, TooSlowToTry)
Element = Annotated[int | None, Query(ge=0, lt=MOST_ELEMENTS)]
Written = Annotated[Text, Query(max_length=600)]


@router.get("/projects/{project_id}/pick")
def choose(project_id: OwnProject, tools: Tools) -> Response:
    """To the picker: of the only page, or of one that is chosen among several."""
    found = tools.pages.reader.list_pages(project_id, PageFilter(), None, 2).rows
    if len(found) == 1:
        return go(f"/projects/{project_id}/pages/{found[0].id}/pick")
    return go(f"/projects/{project_id}/pages?pick=true")


@router.get("/projects/{project_id}/pages/{page_id}/pick")
def pick(
    request: Request,
    project_id: OwnProject,
    page_id: UUID,
    tools: Tools,
    element: Element = None,
    text: Written = "",
    selector: Written = "",
) -> Response:
    picked, wrong = None, None
    if element is not None or text or selector:
        try:
            picked = tools.watching.pick(project_id, page_id, element=element, text=text, selector=selector)
        except _TOLD as exc:
            wrong = exc.message
    found = tools.pages.reader.get_page(project_id, page_id)
    return page(
        request,
        "parts/picked.html" if is_part(request) else "pick.html",
        picked=picked,
        wrong=wrong,
        written=selector or (picked.selector if picked else ""),
        pattern=f"{re2.escape(urlsplit(found.row.url).path)}$",
        **around(tools, project_id, found, "pick"),
    )


@router.get("/projects/{project_id}/pages/{page_id}/inert")
def inert(project_id: OwnProject, page_id: UUID, tools: Tools) -> Response:
    """Somebody else's page without anything that runs, loads or leads elsewhere."""
    try:
        return HTMLResponse(tools.watching.pick.inert(project_id, page_id), headers=INERT)
    except CrawlerError as exc:
        if not isinstance(exc, _TOLD):
            raise
        return Response(exc.message, 404, INERT, "text/plain; charset=utf-8")
