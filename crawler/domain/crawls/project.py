"""A project: a website, or a list of URLs, to crawl and watch."""

from collections.abc import Iterable
from datetime import datetime
from hashlib import blake2b
from typing import Any, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, field_validator

from crawler.domain.crawls.crawl import CrawlConfig
from crawler.domain.ids import new_id
from crawler.domain.moments import StorableMoment
from crawler.errors import Invalid

MAX_NAME = 200
MOST_TAGS = 20
LONGEST_TAG = 40
_DIGEST_BYTES = 8

ACQUISITION_ID = UUID("0ac90151-7100-7000-8000-000000000001")
"""The project of queue entries that name none."""
SINGLE_PAGES_ID = UUID("0ac90151-7100-7000-8000-000000000002")
"""The project of pages that were asked for one by one."""
BUILT_IN = frozenset({ACQUISITION_ID, SINGLE_PAGES_ID})


def checked_name(name: str) -> str:
    """A name that is not too long. It is never cut: two long names would become one project."""
    if not 1 <= len(name) <= MAX_NAME or not name.strip() or not name.isprintable():
        raise Invalid(f"A project's name has 1 to {MAX_NAME} characters of text.")
    return name


def name_after(url: str) -> str:
    """The project name for a single URL. One that is too long is cut and ends in a hash of the whole URL."""
    if len(url) <= MAX_NAME:
        return url
    mark = blake2b(url.encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{url[: MAX_NAME - len(mark) - 1]}…{mark}"


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags in order, each once, without blanks around them. Raises ValueError for what is no tag."""
    found = tuple(sorted({" ".join(tag.split()).lower() for tag in tags} - {""}))
    if len(found) > MOST_TAGS:
        raise ValueError(f"a project has {MOST_TAGS} tags at most")
    if any(len(tag) > LONGEST_TAG or "," in tag or not tag.isprintable() for tag in found):
        raise ValueError(f"a tag has {LONGEST_TAG} characters at most, and no comma")
    return found


class Project(BaseModel):
    """A website to crawl and watch. The API calls it a notebook, too, with the same id."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    name: str = Field(min_length=1, max_length=MAX_NAME)
    website_url: str | None = Field(None, max_length=2000)
    settings: CrawlConfig = Field(default_factory=CrawlConfig)
    is_active: bool = True
    flagged_for_review: bool = False
    phase_status: str = "pending"
    tags: tuple[str, ...] = ()
    muted_until: StorableMoment | None = None
    """No notifications are sent until then."""
    created_at: datetime
    updated_at: datetime

    @field_validator("name")
    @classmethod
    def _can_be_read(cls, name: str) -> str:
        if not name.strip() or not name.isprintable():
            raise ValueError("a name is one line of visible text")
        return name

    @field_validator("tags")
    @classmethod
    def _few_short_tags(cls, tags: tuple[str, ...]) -> tuple[str, ...]:
        return checked_tags(tags)

    def is_muted(self, now: datetime) -> bool:
        return self.muted_until is not None and self.muted_until > now

    @classmethod
    def create(cls, *, name: str, website_url: str | None, now: datetime, settings: CrawlConfig | None = None) -> Self:
        return cls(
            id=new_id(int(now.timestamp() * 1000)),
            name=name,
            website_url=website_url,
            settings=settings or CrawlConfig(),
            created_at=now,
            updated_at=now,
        )

    def changed(self, now: datetime, **changes: Any) -> Self:
        """A copy with these fields changed, validated like a new project."""
        return type(self).model_validate({**self.model_dump(), **changes, "updated_at": now})
