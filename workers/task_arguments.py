"""Validation of task arguments: text that Postgres can store, limits for lists and sizes."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Self, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints, ValidationError, model_validator

from crawler.adapters.operating.queues import QUEUES
from crawler.domain.crawls.crawl import CrawlType
from crawler.domain.crawls.frontier import Lane
from crawler.errors import Invalid

T = TypeVar("T", bound=BaseModel)

MOST_URLS = 1000
LONGEST_URL = 8192
"""The longest URL that is accepted. Fetched URLs must be shorter; longer ones are skipped as `too_long`."""
LARGEST_CONFIG = 65_536
_IdempotencyKey = Annotated[str, StringConstraints(min_length=1, max_length=150)]
_GivenUrl = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_URL)]


class StartOrder(BaseModel):
    """Arguments of a start: a new crawl of a project, or a crawl whose row exists."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    project_id: UUID | None = None
    crawl_id: UUID | None = None
    seed_url: _GivenUrl | None = None
    crawl_type: CrawlType = CrawlType.MANUAL
    config: dict[str, Any] | None = None
    urls: list[_GivenUrl] | None = Field(None, max_length=MOST_URLS)
    idempotency_key: _IdempotencyKey | None = None

    @model_validator(mode="after")
    def _names_one_thing(self) -> Self:
        if (self.project_id is None) == (self.crawl_id is None):
            raise ValueError("give a project_id for a new crawl, or the crawl_id of one that waits to be started")
        return self


class CrawlOrder(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    crawl_id: UUID


class ComparisonOrder(CrawlOrder):
    again: StrictBool = False


class DocumentOrder(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    document_id: UUID


class NoticeOrder(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    notification_id: UUID


class ProjectOrder(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    project_id: UUID


def start_order(**given: Any) -> StartOrder:
    order = _valid(StartOrder, given)
    if order.config and len(json.dumps(order.config)) > LARGEST_CONFIG:
        raise Invalid(f"config is larger than {LARGEST_CONFIG} bytes.")
    _check_text(given)
    return order


def crawl_of(crawl_id: object) -> UUID:
    return _valid(CrawlOrder, {"crawl_id": crawl_id}).crawl_id


def comparison_of(crawl_id: object, *, again: object) -> tuple[UUID, bool]:
    order = _valid(ComparisonOrder, {"crawl_id": crawl_id, "again": again})
    return order.crawl_id, order.again


def notice_of(notification_id: object) -> UUID:
    return _valid(NoticeOrder, {"notification_id": notification_id}).notification_id


def project_of(project_id: object) -> UUID:
    return _valid(ProjectOrder, {"project_id": project_id}).project_id


def document_of(document_id: object) -> UUID:
    return _valid(DocumentOrder, {"document_id": document_id}).document_id


def lane_named(lane: object) -> Lane:
    if lane not in list(Lane):
        raise Invalid(f"lane: it must be {' or '.join(Lane)}.")
    return Lane(str(lane))


def queue_named(queue: object) -> str:
    if queue not in QUEUES:
        raise Invalid(f"queue: it must be one of {', '.join(QUEUES)}.")
    return str(queue)


def _valid(kind: type[T], given: Mapping[str, Any]) -> T:
    try:
        return kind.model_validate(given)
    except ValidationError as exc:
        raise Invalid(_sentence(exc)) from None


def _sentence(exc: ValidationError) -> str:
    first = exc.errors(include_input=False, include_url=False)[0]
    said = first["msg"].removeprefix("Value error, ")
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {said}." if where else f"{said[:1].upper()}{said[1:]}."


def _check_text(given: object) -> None:
    """Refuse text that Postgres cannot store, such as NUL."""
    left = [given]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += [*value, *value.values()]
        elif isinstance(value, list):
            left += value
        elif isinstance(value, str) and ("\x00" in value or not _is_unicode(value)):
            raise Invalid("A text among the arguments holds a NUL or half a character; leave it out.")


def _is_unicode(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
