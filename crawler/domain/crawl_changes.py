"""What a crawl found changed, as it is shown: counts, URLs, and the changed pages' versions."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

_SHORT = ("compared_to", "summary", "is_significant")


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class Compared(StrEnum):
    YES = "compared"
    NOT_YET = "not_yet"
    NOTHING = "nothing_to_compare_with"


class ChangeCounts(_Value):
    new_pages: int
    removed_pages: int
    changed_pages: int
    unchanged_pages: int


class ShortChanges(_Value):
    """Without the URLs: those are in `changes`."""

    compared_to: UUID
    summary: ChangeCounts
    is_significant: bool


class ChangedPage(_Value):
    """A changed page, with what it was in the crawl before and what it was in this one."""

    url: str
    page_id: UUID
    from_version: UUID
    to_version: UUID


class CrawlChanges(_Value):
    crawl_id: UUID
    compared_to: UUID | None = None
    state: Compared
    summary: ChangeCounts | None = None
    new_page_urls: tuple[str, ...] = ()
    removed_page_urls: tuple[str, ...] = ()
    changed_page_urls: tuple[str, ...] = ()
    is_significant: bool = False
    not_compared: int = Field(0, description="Pages of one crawl about which the other could not tell")
    not_compared_urls: tuple[str, ...] = ()
    changed_share: float = 0.0
    changed_pages: tuple[ChangedPage, ...] | None = Field(
        None, description="With include=pages; without those whose URL lists or versions are no longer kept"
    )


def short_changes(summary: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Of a crawl's change summary, what fits into a list of crawls."""
    return {name: summary[name] for name in _SHORT} if summary else None
