"""A timeline of a schedule's runs and a project's other crawls: what was due, and its result."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.domain.notices.schedule import SlotOutcome

_KINDS = {
    CrawlType.INITIAL: "first crawl",
    CrawlType.MANUAL: "by hand",
    CrawlType.SCHEDULED: "scheduled",
    CrawlType.FETCH_ONLY: "list of URLs",
}
MOST_SLOTS = 40
"""Of a schedule, looked at to tell who began a crawl."""
_COUNTED = ("new_pages", "changed_pages", "removed_pages")

Slots = Sequence[tuple[datetime, str, UUID | None]]


class Line(NamedTuple):
    at: datetime
    slot_at: datetime | None
    outcome: str | None
    """The outcome of the schedule's slot, if the crawl had one."""
    kind: str
    crawl_id: UUID | None
    crawl: CrawlJob | None

    @property
    def counts(self) -> dict[str, int] | None:
        summary = self.crawl.change_summary if self.crawl else None
        return {**summary["summary"], "moved_pages": summary.get("moved_pages", 0)} if summary else None

    @property
    def changes(self) -> int | None:
        counts = self.counts
        return sum(counts.get(name, 0) for name in (*_COUNTED, "moved_pages")) if counts else None

    @property
    def seconds(self) -> float | None:
        if self.crawl is None or self.crawl.started_at is None or self.crawl.completed_at is None:
            return None
        return max(0.0, (self.crawl.completed_at - self.crawl.started_at).total_seconds())


def lines(slots: Slots, crawls: Sequence[CrawlJob], most: int) -> list[Line]:
    """Runs and crawls, newest first. `crawls` are the project's newest crawls."""
    known = {crawl.id: crawl for crawl in crawls}
    found = [_of_slot(at, outcome, crawl_id, known) for at, outcome, crawl_id in slots]
    slotted = {line.crawl_id for line in found}
    found += [_of_crawl(crawl, slots) for crawl in crawls if crawl.id not in slotted]
    return sorted(found, key=lambda line: line.at, reverse=True)[:most]


def _of_slot(at: datetime, outcome: str, crawl_id: UUID | None, known: Mapping[UUID, CrawlJob]) -> Line:
    kind = "scheduled" if outcome != SlotOutcome.STARTING else "scheduled, being started"
    return Line(at, at, outcome, kind, crawl_id, known.get(crawl_id) if crawl_id else None)


def kind_of(crawl: CrawlJob, slots: Slots) -> str:
    """How a crawl came about. One that somebody asked for may be told of like a scheduled one, but none of the
    schedule's `slots` began it. A crawl from before those at hand is taken for what it is stored as."""
    if crawl.crawl_type is not CrawlType.SCHEDULED:
        return _KINDS[crawl.crawl_type]
    if crawl.retry_of is not None:
        return "another try"
    is_known = len(slots) < MOST_SLOTS or min(at for at, _, _ in slots) <= crawl.created_at
    began = any(crawl.id == one for _, _, one in slots)
    return "scheduled" if began or not is_known else "by hand"


def _of_crawl(crawl: CrawlJob, slots: Slots) -> Line:
    return Line(crawl.started_at or crawl.created_at, None, None, kind_of(crawl, slots), crawl.id, crawl)
