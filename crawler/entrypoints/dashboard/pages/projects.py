"""`/`: the list of all projects.

Its states and the query are in `adapters/crawls/project_list.py`.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from crawler.adapters.crawls.project_list import STATES, ProjectLine
from crawler.entrypoints.dashboard.serving.render import is_part, page
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.cursors import decode, encode
from crawler.entrypoints.http.shapes import Text

router = APIRouter()

SHOWN = 50
Search = Annotated[Text, Query(max_length=200)]
State = Annotated[str, Query(max_length=20)]
Cursor = Annotated[Text | None, Query(max_length=2000)]


@router.get("/")
def projects(
    request: Request, caller: Caller, tools: Tools, q: Search = "", state: State = "", cursor: Cursor = None
) -> Response:
    after = decode("project-names", cursor)
    state = state if state in STATES else ""
    rows = tools.projects.overview(
        search=q.strip(),
        state=state,
        after=after[0] if after else None,
        only=caller.project_ids,
        limit=SHOWN + 1,
    )
    return page(
        request,
        "parts/project_rows.html" if is_part(request) else "projects.html",
        rows=rows[:SHOWN],
        following=_cursor(rows),
        filters={"q": q.strip(), "state": state},
        first=cursor is None,
    )


def _cursor(rows: list[ProjectLine]) -> str | None:
    return encode("project-names", rows[SHOWN - 1].name) if len(rows) > SHOWN else None
