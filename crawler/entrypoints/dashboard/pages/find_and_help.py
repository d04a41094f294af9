"""`/help`: what each room is for, signs and keys; below it the documentation.

`/find`: projects, pages of a project and commands by letters.
"""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from crawler.domain.api_keys import ApiKey
from crawler.domain.api_keys import Scope as KeyScope
from crawler.domain.pages.lists import PageFilter
from crawler.entrypoints.dashboard.serving.navigation import MAIN, PROJECT, SYSTEM
from crawler.entrypoints.dashboard.serving.render import is_part, page
from crawler.entrypoints.dashboard.views.manual import contents, image, manual_page
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.shapes import Text
from crawler.errors import NotFound

router = APIRouter()

SHOWN = 8
LEAST_LETTERS = 2


@router.get("/help")
def help_page(request: Request) -> Response:
    titles = {chapter.path: chapter.title for _, chapters in contents() for chapter in chapters}
    return page(request, "help.html", titles=titles)


@router.get("/help/images/{name}")
def manual_image(name: Text) -> Response:
    found = image(name)
    if found is None:
        raise NotFound("There is no such image.")
    return Response(found.read_bytes(), media_type="image/png")


@router.get("/help/{path:path}")
def manual(request: Request, path: Text) -> Response:
    chapter = manual_page(path)
    if chapter is None:
        raise NotFound("There is no such chapter in the documentation.")
    return page(request, "manual.html", path=path, chapter=chapter, contents=contents())


@router.get("/find")
def find(
    request: Request,
    caller: Caller,
    tools: Tools,
    q: Annotated[Text, Query(max_length=200)] = "",
    project: Annotated[UUID | None, Query()] = None,
) -> Response:
    words = q.strip()
    of = tools.store.get_project(project) if project and caller.sees(project) else None
    rows = tools.projects.overview(search=words, only=caller.project_ids, limit=SHOWN)
    if of is None:
        seen = tools.projects.overview(only=caller.project_ids, limit=2)
        of = tools.store.get_project(seen[0].id) if len(seen) == 1 else None
    pages = []
    if of and len(words) >= LEAST_LETTERS:
        pages = tools.pages.reader.list_pages(of.id, PageFilter(contains=words), None, SHOWN).rows
    return page(
        request,
        "parts/found.html" if is_part(request) else "find.html",
        q=words,
        commands=_commands(caller, words.lower(), project if of and of.id == project else None),
        projects=rows,
        pages=pages,
        of=of,
    )


def _commands(caller: ApiKey, words: str, project: UUID | None) -> list[tuple[str, str]]:
    """Ways that the caller may go, by their names."""
    is_whole = caller.project_ids is None
    is_admin = is_whole and caller.scope.allows(KeyScope.ADMIN)
    can_add = is_whole and caller.scope.allows(KeyScope.WRITE)
    found = [("New project", "/projects/new"), ("Import a list of URLs", "/import")] if can_add else []
    ways = [*MAIN, *(SYSTEM if is_admin else ())]
    found += [(way.words, way.path) for way in ways if (not way.admin or is_admin) and (not way.whole or is_whole)]
    if project:
        found = [(f"This project: {way.words}", way.path.replace("{id}", str(project))) for way in PROJECT] + found
    found += [("Help", "/help")]
    return [(said, path) for said, path in dict(found).items() if words in said.lower()][:SHOWN]
