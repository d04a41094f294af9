"""A category of the acquisition queue: how its pages are read, and how well that goes."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from crawler.domain.acquisition.entries import MAX_CATEGORY
from crawler.domain.acquisition.field_fill import FieldFill
from crawler.domain.acquisition.selectors import SelectorSet
from crawler.errors import Conflict, Invalid

_NAME = re.compile(r"[^\x00-\x1f\x7f/]+")


class CategoryInUse(Conflict):
    """Entries that are not done name this category."""

    code = "category_in_use"


class Category(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str
    selectors: SelectorSet
    created_at: datetime
    updated_at: datetime


class CategoryShown(BaseModel):
    """A category with what is known of its pages."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(description="'' stands for entries without a category")
    defined: bool = Field(
        description="False: entries name it, but it has no selectors; the default extractor reads them"
    )
    selectors: SelectorSet
    revision: str
    entries: int = Field(description="In the queue, whatever their state")
    extractions: int = Field(description="Made so far")
    fill: Sequence[FieldFill]
    alarms: Sequence[str] = Field(description="Fields whose fill-rate dropped")
    created_at: datetime | None
    updated_at: datetime | None


class DryRun(BaseModel):
    """What selectors give of one stored page. Nothing of it is kept."""

    model_config = ConfigDict(frozen=True)

    page_id: UUID
    url: str
    category: str
    revision: str
    fields: dict[str, Any]
    text: str
    language: str | None
    matches: dict[str, int] = Field(description="Elements each selector found, by its place")
    problem: str | None = Field(description="Why an entry with this page would fail, if it would")
    seconds: float


def checked_name(name: str) -> str:
    """A category's name as entries spell it. Raises Invalid when it is none."""
    name = name.strip()
    if not name or len(name) > MAX_CATEGORY or not name.isprintable() or not _NAME.fullmatch(name):
        raise Invalid(f"A category's name is one line of 1 to {MAX_CATEGORY} visible characters without '/'.")
    return name
