"""`/projects`: create, change, list and delete projects (websites to crawl and watch).

Decided in `handlers/crawls/manage_projects.py`; settings and their limits in `domain/crawls/crawl.py`; the preview in
`handlers/crawls/preview_scope.py`.
"""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from pydantic import ConfigDict, Field, WithJsonSchema, model_validator

from crawler.domain.crawls.crawl import MAX_PATTERNS, MAX_WRITTEN, CrawlConfig, Pattern
from crawler.domain.crawls.project import Project
from crawler.domain.reasons import Reason
from crawler.entrypoints.api.shapes.config import ConfigShown
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.cursors import Cursor, Limit, decode_id, encode, listed
from crawler.entrypoints.http.etags import NOT_MODIFIED, tagged
from crawler.entrypoints.http.idempotency import DoOnce
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Body, Listed, Text, Wire
from crawler.errors import Forbidden

router = APIRouter(tags=["projects"])

MOST_CHARACTERS = 200_000

_PATTERNS = {
    "anyOf": [
        {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 512}, "maxItems": MAX_PATTERNS},
        {"type": "string", "maxLength": MAX_WRITTEN, "description": "Several, separated by commas"},
    ]
}
Patterns = Annotated[tuple[Pattern, ...], WithJsonSchema(_PATTERNS)]


class Options(CrawlConfig, Body):
    """How to crawl. What is not given is as the project's settings say, or the default."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"max_pages": 100, "exclude_patterns": ["/tag/"], "delay_seconds": 1}}
    )

    include_patterns: Patterns = Field((), max_length=MAX_PATTERNS, description="Regular expressions (RE2)")
    exclude_patterns: Patterns = Field((), max_length=MAX_PATTERNS, description="They beat include_patterns")

    @model_validator(mode="after")
    def _is_small(self) -> Self:
        """They are read with every project and every crawl."""
        if len(self.model_dump_json(exclude_unset=True)) > MOST_CHARACTERS:
            raise ValueError(f"all options together have {MOST_CHARACTERS} characters at most")
        return self

    def given(self) -> dict[str, Any]:
        return self.model_dump(exclude_unset=True, include=set(CrawlConfig.model_fields))


class NewProject(Body):
    model_config = ConfigDict(json_schema_extra={"example": {"name": "Example", "website_url": "https://example.org/"}})

    name: Text = Field(min_length=1, max_length=200, description="One line, used once")
    website_url: Text | None = Field(None, max_length=2000, description="Null: every crawl names its seed_url")
    settings: Options | None = None


_REMOVABLE = ("website_url", "muted_until")


class ProjectChange(Body):
    """Only what is given changes; of the settings, too."""

    model_config = ConfigDict(json_schema_extra={"example": {"settings": {"delay_seconds": 2}}})

    name: Text | None = Field(None, min_length=1, max_length=200)
    website_url: Text | None = Field(None, max_length=2000)
    is_active: bool | None = Field(None, description="Only active projects are crawled")
    flagged_for_review: bool | None = None
    tags: list[Annotated[Text, Field(max_length=40)]] | None = Field(None, max_length=20, description="To filter by")
    muted_until: datetime | None = Field(None, description="No notifications until then; null: they are sent")
    settings: Options | None = None

    def changes(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in self.model_fields_set}
        if isinstance(given.get("settings"), Options):
            given["settings"] = given["settings"].given()
        # Null removes the website's URL and a mute. The other fields cannot be removed.
        return {name: value for name, value in given.items() if value is not None or name in _REMOVABLE}


class ProjectShown(Wire):
    id: UUID
    name: str
    website_url: str | None
    settings: ConfigShown
    is_active: bool
    flagged_for_review: bool
    phase_status: str = Field(description="Where its latest crawl stands")
    tags: tuple[str, ...] = ()
    muted_until: datetime | None = Field(None, description="No notifications until then")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, project: Project) -> "ProjectShown":
        return cls.model_validate(project.model_dump())


class PreviewAsked(Body):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {"urls": ["https://example.org/docs/", "/cart/"], "config": {"exclude_patterns": ["/cart"]}}
        }
    )

    urls: list[Annotated[Text, Field(max_length=10_000)]] = Field(min_length=1, max_length=1000, fail_fast=True)
    config: Options | None = Field(None, description="Options to try, over the project's settings")
    seed_url: Text | None = Field(None, max_length=2000)
    shopify: bool = Field(default=False, description="As if the homepage looked like a Shopify shop (preset auto)")


class Previewed(Wire):
    url: str
    admitted: bool
    rule: str = Field(description="The rule that decides")
    normalized_url: str | None
    priority: int | None = Field(description="Of an admitted one: 0 homepage, 1 include pattern, 2 others")
    reason: Reason | None = Field(description="Of a refused one")


class Preview(Wire):
    urls: list[Previewed]


@router.post(
    "/projects",
    status_code=201,
    response_model=ProjectShown,
    summary="Make a project",
    responses=problems(409),
)
def create_project(body: NewProject, caller: Caller, tools: Tools, once: DoOnce) -> Response:
    if caller.project_ids is not None:
        raise Forbidden("This API key is limited to its projects; it cannot make others.")

    def create() -> ProjectShown:
        settings = body.settings.given() if body.settings else None
        return ProjectShown.of(
            tools.projects.manage.create(name=body.name, website_url=body.website_url, settings=settings)
        )

    return once(body, create, 201)


@router.get("/projects", summary="Projects, oldest first")
def list_projects(
    caller: Caller,
    tools: Tools,
    search: Annotated[
        Text, Query(max_length=2000, description="A part of the name or address, or the beginning of the id")
    ] = "",
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Listed[ProjectShown]:
    after = decode_id("projects", cursor)
    found = tools.store.list_projects(limit + 1, after, only=caller.project_ids, search=search)
    return listed(found, limit, ProjectShown.of, lambda row: encode("projects", str(row.id)))


@router.get(
    "/projects/{project_id}",
    response_model=ProjectShown,
    summary="One project",
    responses={**problems(404), **NOT_MODIFIED},
)
def get_project(request: Request, project_id: OwnProject, tools: Tools) -> Response:
    return tagged(request, ProjectShown.of(tools.store.get_project(project_id)))


@router.patch("/projects/{project_id}", summary="Change a project", responses=problems(404, 409))
def change_project(project_id: OwnProject, body: ProjectChange, tools: Tools) -> ProjectShown:
    return ProjectShown.of(tools.projects.manage.change(project_id, body.changes()))


@router.delete(
    "/projects/{project_id}",
    status_code=204,
    response_class=Response,
    summary="Forget a project with all its crawls and pages",
    responses=problems(404),
)
def delete_project(project_id: OwnProject, tools: Tools) -> Response:
    tools.projects.manage.delete(project_id)
    return Response(status_code=204)


@router.post(
    "/projects/{project_id}/scope/preview",
    summary="Which of these URLs would be crawled, and by which rule",
    responses=problems(404),
)
def preview_scope(project_id: OwnProject, body: PreviewAsked, tools: Tools) -> Preview:
    config = body.config.given() if body.config else {}
    found = tools.projects.preview_scope(
        project_id, body.urls, config=config, seed_url=body.seed_url, shopify=body.shopify
    )
    return Preview(urls=[Previewed(**row._asdict()) for row in found])
