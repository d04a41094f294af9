"""What several handlers of notices ask of the record."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

from crawler.domain.notices.schedule import Schedule


class ScheduleFinder(Protocol):
    def find(self, project_id: UUID) -> Schedule | None: ...


class SentNotices(Protocol):
    def sent_for(self, crawl_ids: Sequence[UUID]) -> Mapping[UUID, Sequence[tuple[str, str]]]:
        """Of each crawl, the channels that were used and what became of each notice."""


class SentNotice(Protocol):
    """A notification as it is kept."""

    @property
    def id(self) -> UUID: ...
    @property
    def project_id(self) -> UUID: ...
    @property
    def channel(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def payload(self) -> dict[str, Any]: ...


class ScheduleMirror(Protocol):
    """The entries of beat, which fire at each schedule's next run."""

    def mirror(self, schedule: Schedule) -> None: ...
