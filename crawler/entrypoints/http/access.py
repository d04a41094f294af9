"""Dependencies that check access to ids in a path. What the caller's key may not see is answered with 404.

Whose key it is, and its scope: `auth.py`. What a key may see: `ApiKey` in `domain/api_keys.py`.
"""

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Path
from starlette.requests import HTTPConnection

from crawler.bootstrap import App
from crawler.domain.api_keys import ApiKey
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.project import SINGLE_PAGES_ID
from crawler.entrypoints.http.auth import Caller
from crawler.errors import Forbidden, NotFound


def tools_of(connection: HTTPConnection) -> App:
    tools: App = connection.app.state.tools
    return tools


Tools = Annotated[App, Depends(tools_of)]


def sees_project(caller: ApiKey, project_id: UUID) -> UUID:
    """Check only whether the key may see the project. Whether it exists is checked by the handler that reads it."""
    if not caller.sees(project_id):
        raise NotFound(f"There is no project {project_id}.")
    return project_id


def _project(project_id: Annotated[UUID, Path(description="The project's id")], caller: Caller) -> UUID:
    return sees_project(caller, project_id)


def _notebook(notebook_id: Annotated[UUID, Path(description="A project's id")], caller: Caller) -> UUID:
    return sees_project(caller, notebook_id)


CrawlId = Annotated[UUID, Path(description="The crawl's id")]


def _crawl(crawl_id: CrawlId, caller: Caller, tools: Tools) -> CrawlJob:
    return _seen(caller, crawl_id, tools.store.find_listed_crawl(crawl_id))


def _whole_crawl(crawl_id: CrawlId, caller: Caller, tools: Tools) -> CrawlJob:
    return _seen(caller, crawl_id, tools.store.find_crawl(crawl_id))


def _seen(caller: ApiKey, crawl_id: UUID, crawl: CrawlJob | None) -> CrawlJob:
    if crawl is None or not caller.sees(crawl.project_id):
        raise NotFound(f"There is no crawl {crawl_id}.")
    return crawl


def own_or_single(caller: ApiKey, project_id: UUID | None) -> UUID:
    """The project that is named; else the only one the key may see; else the built-in one of single pages."""
    if project_id is not None:
        return sees_project(caller, project_id)
    if caller.project_ids is None:
        return SINGLE_PAGES_ID
    if len(caller.project_ids) == 1:
        return caller.project_ids[0]
    raise Forbidden("This API key is limited to some projects: name the one that the page is for as project_id.")


OwnProject = Annotated[UUID, Depends(_project)]
OwnNotebook = Annotated[UUID, Depends(_notebook)]
OwnCrawl = Annotated[CrawlJob, Depends(_crawl)]
"""Its changes are counts, without URLs: a site may have a million."""
WholeCrawl = Annotated[CrawlJob, Depends(_whole_crawl)]
