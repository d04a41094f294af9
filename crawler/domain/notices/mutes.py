"""Mutes: a page or a watch rule of which nobody is told until a moment. A project has `muted_until` for that."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from crawler.domain.moments import ZonedMoment
from crawler.domain.urls.url import parse
from crawler.domain.watching.telling import TellReason
from crawler.errors import InvalidConfig, InvalidUrl

MOST_MUTES = 500


class MuteOrder(BaseModel):
    """A mute as it is written: of a page or of a rule."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    page: str | None = Field(None, max_length=2000, description="A page's URL: nobody is told of its changes")
    rule: UUID | None = Field(None, description="A watch rule's id: it tells nothing")
    until: ZonedMoment

    @field_validator("page")
    @classmethod
    def _is_url(cls, value: str | None) -> str | None:
        try:
            return None if value is None else parse(value).href
        except InvalidUrl as exc:
            raise ValueError(exc.message) from exc

    @model_validator(mode="after")
    def _is_one_thing(self) -> "MuteOrder":
        if (self.page is None) == (self.rule is None):
            raise ValueError("a mute is of a page or of a rule; a whole project has its muted_until")
        return self


def mute_order(**given: object) -> MuteOrder:
    """Raises InvalidConfig with a sentence if something in it is wrong."""
    try:
        return MuteOrder.model_validate(given)
    except ValidationError as exc:
        raise InvalidConfig(f"{exc.errors()[0]['msg'].removeprefix('Value error, ').rstrip('.')}.") from exc


class Mute(MuteOrder):
    id: UUID
    project_id: UUID
    created_at: datetime


def unmuted(reasons: Sequence[TellReason], mutes: Iterable[MuteOrder], now: datetime) -> list[TellReason]:
    """Reasons without those of pages and rules that are muted."""
    holding = [mute for mute in mutes if now < mute.until]
    pages = {mute.page for mute in holding if mute.page is not None}
    rules = {str(mute.rule) for mute in holding if mute.rule is not None}
    return [reason for reason in reasons if reason.url not in pages and reason.rule not in rules]
