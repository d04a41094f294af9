"""`/categories`: selectors that extract fields from pages of the acquisition queue. Needs a key for all projects.

Decided in `handlers/acquisition/manage_categories.py`.
"""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import ConfigDict, Field, computed_field

from crawler.domain.acquisition.categories import CategoryShown, DryRun
from crawler.domain.acquisition.entries import MAX_CATEGORY
from crawler.domain.acquisition.selectors import SelectorSet
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import WholeSystem
from crawler.entrypoints.http.cursors import MOST, Cursor, Limit, part_of
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import LAST_ID, OLD_NAME, Body, Flag, Listed, Text

router = APIRouter(tags=["queue"], dependencies=[WholeSystem])

Name = Annotated[Text, Path(min_length=1, max_length=MAX_CATEGORY)]
_EXAMPLE: dict[str, Any] = {
    "include": [{"selector": "main"}],
    "exclude": [{"selector": ".related"}],
    "fields": {
        "name": {"selector": "h1", "required": True},
        "photos": {"selector": "img.photo", "attribute": "src", "many": True},
        "price": {"selector": "//span[@itemprop='price']/@content", "kind": "xpath"},
    },
}


class Selectors(SelectorSet, Body):
    """Nothing at all is the default extractor. A selector may also be written as text: `.price`, `xpath://b`."""

    model_config = ConfigDict(json_schema_extra={"example": _EXAMPLE})


class TryOrder(Body):
    """Exactly one of `page_id`, `url` and `queue_id`."""

    model_config = ConfigDict(json_schema_extra={"example": {"queue_id": 17, "selectors": {"fields": {"name": "h1"}}}})

    page_id: UUID | None = None
    url: str | None = Field(None, max_length=2000, description="Of an entry, or of a page of any project")
    queue_id: int | None = Field(None, ge=1, le=LAST_ID)
    selectors: SelectorSet | None = Field(None, description="Instead of the category's own; they are not saved")


class Categories(Listed[CategoryShown]):
    @computed_field(json_schema_extra=OLD_NAME)  # type: ignore[prop-decorator]
    @property
    def categories(self) -> list[CategoryShown]:
        return self.items


@router.get("/categories", summary="Categories, defined or only named by entries, with the fill-rate of their fields")
def list_categories(tools: Tools, cursor: Cursor = None, limit: Limit = MOST) -> Categories:
    known = tools.acquisition.manage_categories.list_all()
    shown, following = part_of("categories", known, cursor, limit, lambda category: category.name)
    return Categories(items=list(shown), next_cursor=following)


@router.get("/categories/{name}", summary="One category", responses=problems(404))
def get_category(name: Name, tools: Tools) -> CategoryShown:
    return tools.acquisition.manage_categories.show(name)


@router.put("/categories/{name}", summary="Define a category, or change its selectors")
def set_category(name: Name, body: Selectors, tools: Tools) -> CategoryShown:
    selectors = body.model_dump(include=set(SelectorSet.model_fields))
    return tools.acquisition.manage_categories.set(name, selectors)


@router.delete(
    "/categories/{name}",
    status_code=204,
    response_class=Response,
    summary="Delete a category; what was extracted stays",
    responses=problems(404, 409),
)
def delete_category(
    name: Name,
    tools: Tools,
    force: Annotated[Flag, Query(description="Also while entries of it are still to be read")] = False,
) -> Response:
    tools.acquisition.manage_categories.delete(name, force=force)
    return Response(status_code=204)


@router.post(
    "/categories/{name}/try",
    summary="What its selectors, or others, read from a stored page; nothing is kept",
    responses=problems(404),
)
def try_category(name: Name, body: TryOrder, tools: Tools) -> DryRun:
    selectors = None if body.selectors is None else body.selectors.model_dump()
    return tools.acquisition.manage_categories.try_on(
        name, selectors=selectors, page_id=body.page_id, url=body.url, queue_id=body.queue_id
    )
