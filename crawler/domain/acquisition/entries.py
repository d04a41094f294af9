"""An entry of the acquisition queue: one URL of anybody's site, its category, and where it stands."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from crawler.domain.acquisition.entry_choices import DEFAULT_PRIORITY, LAST_PRIORITY, EntryStatus
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, FetchState, QueryParams
from crawler.domain.crawls.project import ACQUISITION_ID, Project
from crawler.domain.engine.ledger import EntryEnd, UrlEnd, page_id
from crawler.domain.reasons import Reason
from crawler.domain.urls.url import QueryRule, Unusable, Url, normalize, read
from crawler.errors import Invalid

MAX_CATEGORY = 64
MAX_ERROR = 1000

ACQUISITION_NAME = "acquisition"
# Whoever lists /item?id=1 and /item?id=2 means two pages: only what is known to track visitors tells none apart.
_RULE = QueryRule(QueryParams.KEEP, frozenset())
_PRIORITIES = {str(number): number for number in range(LAST_PRIORITY + 1)}
_WRONG_PRIORITY = f"The priority must be a whole number from 0 (first) to {LAST_PRIORITY}."
_WRONG_CATEGORY = f"The category must be one line of at most {MAX_CATEGORY} visible characters."


_NEXT: dict[EntryStatus, frozenset[EntryStatus]] = {
    EntryStatus.PENDING: frozenset({EntryStatus.FETCHING}),
    # Back to pending when its batch died before its turn.
    EntryStatus.FETCHING: frozenset({EntryStatus.FETCHED, EntryStatus.FAILED, EntryStatus.PENDING}),
    EntryStatus.FETCHED: frozenset({EntryStatus.EXTRACTING, EntryStatus.PENDING}),
    # Back to fetched when whoever extracted it died.
    EntryStatus.EXTRACTING: frozenset({EntryStatus.DONE, EntryStatus.FAILED, EntryStatus.FETCHED}),
    EntryStatus.DONE: frozenset({EntryStatus.PENDING}),
    EntryStatus.FAILED: frozenset({EntryStatus.PENDING}),
}


def sources_of(status: EntryStatus) -> frozenset[EntryStatus]:
    """The statuses from which an entry may become this one: the guard of every statement that changes a status."""
    return frozenset(source for source, targets in _NEXT.items() if status in targets)


class QueueEntry(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: int
    project_id: UUID | None = Field(description="Null is the built-in project `acquisition`")
    source_url: str
    normalized_url: str = Field(description="Host, path and query without scheme: unique in the queue")
    host: str
    status: EntryStatus
    category: str | None
    priority: int = Field(description="0 to 9, lower first")
    attempts: int = Field(description="Requests that were made for it in all")
    last_error: str | None
    last_attempted_at: datetime | None
    is_active: bool = Field(description="False: it is kept, but not fetched")
    page_id: UUID | None
    crawl_id: UUID | None = Field(description="The batch that fetches or fetched it")
    extraction_id: UUID | None = Field(
        description="What was read from its page; of unchanged content, by an earlier one"
    )
    created_at: datetime
    updated_at: datetime


class NewEntry(NamedTuple):
    url: str
    key: str
    host: str
    category: str | None
    priority: int


def new_entry(url: str, category: str = "", priority: str = "") -> NewEntry | str:
    """An entry from cells as they are written, or a sentence that says which will not do. It never quotes the URL."""
    found = read(url)
    if isinstance(found, Unusable):
        return found.rule
    category, priority = category.strip(), priority.strip()
    if len(category) > MAX_CATEGORY or not category.isprintable():
        return _WRONG_CATEGORY
    rank = _PRIORITIES.get(priority, None if priority else DEFAULT_PRIORITY)
    if rank is None:
        return _WRONG_PRIORITY
    return NewEntry(found.href, entry_key(found), found.host, category or None, rank)


def entry_key(url: Url) -> str:
    """Spellings of one page share it, http and https alike."""
    return normalize(url, _RULE).partition("://")[2]


class RowProblem(BaseModel):
    model_config = ConfigDict(frozen=True)

    line: int = Field(description="Of the file, or the position in the list, from 1")
    reason: str


class ImportReport(BaseModel):
    """What became of a list of URLs. Bad rows are all counted; the first of them are listed."""

    model_config = ConfigDict(frozen=True)

    added: int = 0
    duplicates: int = Field(0, description="In the queue already, or earlier in the same list; left as they are")
    bad: int = 0
    problems: Sequence[RowProblem] = ()


class QueueFilter(BaseModel):
    """Which entries; what is left out matches all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    status: EntryStatus | None = None
    category: str | None = Field(None, max_length=MAX_CATEGORY)
    active: bool | None = None
    host: str | None = Field(None, max_length=260, description="example.org or example.org:8080")
    prefix: str | None = Field(None, max_length=2000, description="Of the URL; its scheme does not count")

    @property
    def key_prefix(self) -> str | None:
        """The beginning of keys that the filter wants, as keys are written."""
        if self.prefix is None:
            return None
        written = self.prefix.strip().lower()
        return written.partition("://")[2] if "://" in written else written

    @property
    def matches_all(self) -> bool:
        """Also with a prefix that says nothing, such as `https://`."""
        return self.model_copy(update={"prefix": self.key_prefix or None}) == QueueFilter()


class BulkChange(NamedTuple):
    changed: int
    next_after: int | None
    """The last id that was looked at, if there are more to look at."""


class Chosen(NamedTuple):
    """Entries by their ids, or by what they have in common."""

    ids: tuple[int, ...] = ()
    filter: QueueFilter | None = None

    @classmethod
    def of(cls, ids: Sequence[int], chosen: QueueFilter | None, *, everything: bool = False) -> Self:
        """Exactly one of the three, so that no slip of the hand means all of them."""
        filtered = chosen is not None and not chosen.matches_all
        if sum((bool(ids), filtered, everything)) != 1:
            raise Invalid("Say which entries are meant: by ids, by a filter, or all of them (`--all`).")
        return cls(tuple(ids), None if ids else chosen or QueueFilter())

    def retried(self) -> frozenset[EntryStatus]:
        """What a retry touches: what failed; what went well only if it is meant by name."""
        named = bool(self.ids) or (self.filter is not None and self.filter.status is not None)
        return sources_of(EntryStatus.PENDING) - {EntryStatus.FETCHING} if named else frozenset({EntryStatus.FAILED})


class Waiting(NamedTuple):
    """An entry that was claimed."""

    id: int
    url: str
    project_id: UUID


def entry_end(end: UrlEnd, project_id: UUID, moved_to: str | None) -> EntryEnd:
    fetched = end.state is FetchState.DONE
    return EntryEnd(
        end.key,
        (EntryStatus.FETCHED if fetched else EntryStatus.FAILED).value,
        page_id(project_id, end.key.normalized_url) if fetched else None,
        end.attempts,
        None if fetched else error_words(end.reason, end.error_message, end.http_status),
        end.fetched_at,
        moved_to,
    )


def error_words(reason: str | None, error: str | None, http_status: int | None) -> str:
    detail = f": {error}" if error else f" (HTTP {http_status})" if http_status else ""
    return f"{reason or 'unknown'}{detail}".replace("\x00", "")[:MAX_ERROR]


class LedgerEnd(NamedTuple):
    """How the ledger of a batch says a URL ended."""

    state: str
    reason: str | None
    final_url: str | None
    error: str | None
    http_status: int | None


class Stranded(NamedTuple):
    """An entry that is `fetching` although its batch is over; the last three are None when that is gone."""

    id: int
    crawl_id: UUID
    source_url: str
    url: str | None
    """The URL in the ledger: where its redirects had led so far."""
    project_id: UUID | None
    config: dict[str, Any] | None
    end: LedgerEnd | None


class StrandedEnd(NamedTuple):
    """What becomes of a stranded entry."""

    id: int
    crawl_id: UUID
    status: EntryStatus
    page_id: UUID | None
    error: str | None


NOT_TRIED = frozenset({Reason.HOST_BLOCKED, Reason.CANCELLED, Reason.MAX_PAGES})
"""Reasons of the batch, not of the URL: the entry gets another chance."""
_NOT_ASKED = "Its batch was over before its turn came"


def stranded_end(entry: Stranded, url: str | None, end: LedgerEnd | None, *, is_own: bool = True) -> StrandedEnd:
    """`url` and `end` are those of where its redirects lead; not its own is an end to which another has led."""
    known = end is not None and end.state != FetchState.QUEUED and end.reason not in NOT_TRIED
    if end is None or url is None or entry.project_id is None or not known:
        why = f" ({end.reason})." if end and end.reason else "."
        return StrandedEnd(entry.id, entry.crawl_id, EntryStatus.PENDING, None, _NOT_ASKED + why)
    if end.state == FetchState.DONE:
        page = page_id(entry.project_id, url)
        return StrandedEnd(entry.id, entry.crawl_id, EntryStatus.FETCHED, page, None)
    words = error_words(end.reason, end.error, end.http_status)
    status = EntryStatus.FAILED if is_own else EntryStatus.PENDING
    return StrandedEnd(entry.id, entry.crawl_id, status, None, words)


def acquisition(now: datetime) -> Project:
    """The project of entries that name none."""
    return Project(
        id=ACQUISITION_ID,
        name=ACQUISITION_NAME,
        settings=CrawlConfig(query_params=QueryParams.KEEP, use_sitemaps=False),
        created_at=now,
        updated_at=now,
    )


# A gap of none would lift the host's own cap on requests in flight to the batch's: these are strangers' hosts.
_LEAST_DELAY_SECONDS = 0.001
_MOST_AT_ONCE = 256
_REQUESTS_PER_URL = 10
"""Tries and redirects of one URL, generously: the budget of a batch must never be what ends it."""


def batch_config(project: CrawlConfig, urls: int) -> CrawlConfig:
    """A project's settings for a batch: politeness, robots and rendering as set, limits of one website left out.

    Pages are told apart as entries are.
    """
    return project.model_copy(
        update={
            "max_pages": urls * _REQUESTS_PER_URL,
            "max_concurrent": _MOST_AT_ONCE,
            "delay_seconds": max(project.delay_seconds, _LEAST_DELAY_SECONDS),
            "query_params": _RULE.mode,
            "use_sitemaps": False,
            "learn_noise": False,
        }
    )


class QueueBatch(NamedTuple):
    """A crawl made of claimed entries, with each entry's key in its ledger."""

    crawl: CrawlJob
    keys: dict[int, str]
