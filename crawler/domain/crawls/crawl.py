"""A crawl: its configuration, type and status, and which changes of status are allowed."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Any, Final, Self
from uuid import UUID

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from crawler.domain.crawls.crawl_choices import IncludeMode, Preset, QueryParams, RenderMode
from crawler.domain.crawls.learned_params import MOST_LEARNED, LearnedParam
from crawler.domain.crawls.page_steps import MOST_STEPS, InvalidSteps, StepLine, page_steps
from crawler.domain.crawls.render_rule import RenderRule
from crawler.domain.ids import new_id
from crawler.domain.patterns import check_list
from crawler.errors import InvalidConfig, InvalidTransition

MAX_PATTERNS = 50
MAX_WRITTEN = MAX_PATTERNS * 520
"""Characters of patterns that are written as one text."""
MOST_LINKS = 50_000
SMALL_SITE = 200
"""Pages that a project may have whose pages are pictured without being asked, if a browser shows them anyway."""
STORED: Final = MappingProxyType({"stored": True})
"""Context of values that are read back: they were checked when they were written, perhaps by older rules."""

MAX_TOGETHER = 64_000
"""Characters of all lists: lists of crawls and projects show the options of hundreds."""
_LISTS = ("include_patterns", "exclude_patterns", "meaningful_params", "allowed_hosts", "start_urls", "page_steps")
Pattern = Annotated[str, StringConstraints(min_length=1, max_length=512)]
_Name = Annotated[str, StringConstraints(max_length=200)]
_Host = Annotated[str, StringConstraints(max_length=300)]


class CrawlStatus(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        return not _NEXT[self]


_NEXT: dict[CrawlStatus, frozenset[CrawlStatus]] = {
    CrawlStatus.PENDING: frozenset({CrawlStatus.IN_PROGRESS, CrawlStatus.CANCELLED}),
    CrawlStatus.IN_PROGRESS: frozenset({CrawlStatus.COMPLETED, CrawlStatus.FAILED, CrawlStatus.CANCELLED}),
    CrawlStatus.COMPLETED: frozenset(),
    CrawlStatus.FAILED: frozenset(),
    CrawlStatus.CANCELLED: frozenset(),
}


class CrawlType(StrEnum):
    INITIAL = "initial"
    MANUAL = "manual"
    SCHEDULED = "scheduled"
    FETCH_ONLY = "fetch_only"


class EndReason(StrEnum):
    EXHAUSTED = "exhausted"
    MAX_PAGES = "max_pages"
    MAX_DURATION = "max_duration"
    BLOCKED = "blocked"


class CrawlConfig(BaseModel):
    """How to crawl. Saved with the project and, as it was, with each crawl."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_pages: int = Field(200, gt=0, le=10_000_000, description="Stored pages at which the crawl stops")
    max_depth: int | None = Field(None, ge=0, le=1000, description="Links from the seed; null is unlimited")
    include_patterns: tuple[Pattern, ...] = Field((), max_length=MAX_PATTERNS)
    exclude_patterns: tuple[Pattern, ...] = Field((), max_length=MAX_PATTERNS)
    include_mode: IncludeMode = IncludeMode.ONLY
    preset: Preset = Preset.AUTO
    query_params: QueryParams = QueryParams.AUTO
    meaningful_params: tuple[_Name, ...] = Field(("page",), max_length=MAX_PATTERNS)
    learned_params: tuple[LearnedParam, ...] = Field(
        (), max_length=MOST_LEARNED, description="What crawls found out about other parameters, with `auto`"
    )
    allow_subdomains: bool = False
    allowed_hosts: tuple[_Host, ...] = Field((), max_length=1000)
    path_prefix: str = Field("", max_length=2000)
    max_concurrent: int = Field(5, gt=0, le=256)
    delay_seconds: float = Field(0.5, ge=0, le=3600, allow_inf_nan=False)
    respect_robots_txt: bool = True
    use_sitemaps: bool = True
    follow_links: bool = Field(default=True, description="False: only the pages to begin with and those of sitemaps")
    start_urls: tuple[Annotated[str, StringConstraints(min_length=1, max_length=2000)], ...] = Field(
        (), max_length=100, description="Further pages that the crawl begins with, also on other hosts"
    )
    max_duration_seconds: int = Field(86_400, gt=0, le=31 * 86_400)
    patience_seconds: int = Field(
        600, gt=0, le=31 * 86_400, description="How long a crawl waits for hosts that answer nothing but 429 or 503"
    )
    render: RenderMode = RenderMode.AUTO
    render_rule: RenderRule = Field(RenderRule(), description="When a page counts as an empty shell")
    screenshots: bool | None = Field(
        None,
        description="A picture of each new version. True renders every page; null: of pages that a browser shows "
        f"anyway, if `max_pages` is {SMALL_SITE} at most",
    )
    max_scrolls: int = Field(
        0, ge=0, le=50, description="Times a browser scrolls to the end of a page, or presses the button below its list"
    )
    render_wait_seconds: float = Field(
        0, ge=0, le=10, allow_inf_nan=False, description="Seconds a browser waits once more when a page is quiet"
    )
    page_steps: tuple[StepLine, ...] = Field(
        (), max_length=MOST_STEPS, description="What a browser does on a page before it is read; renders it"
    )
    content_types: tuple[_Name, ...] = Field(("text/html", "application/xhtml+xml"), max_length=20)
    hash_chars: int | None = Field(
        None, gt=0, le=1_000_000_000, description="Hash only so many characters of text; null is all"
    )
    max_links_per_page: int | None = Field(None, gt=0, le=MOST_LINKS)
    follow_nofollow: bool = Field(
        default=False, description="Follow links that a page marks nofollow; known pages are watched in any case"
    )
    learn_noise: bool | None = Field(
        None, description="Fetch some pages twice to learn what changes by itself; null: scheduled crawls do"
    )
    significant_new_pages: int = Field(5, ge=1, le=10_000_000, description="New pages that make changes significant")
    significant_changed_share: float = Field(
        0.1, gt=0, le=1, allow_inf_nan=False, description="Share of changed pages that makes changes significant"
    )
    prune_markdown: bool = Field(default=False, description="Leave out of markdown what looks like no content")
    ingest: bool = Field(default=False, description="Make a document of each page, for search and the feed")
    refresh: bool = Field(
        default=True, description="False, of a crawl that ingests: URLs that have a document are not fetched again"
    )

    @model_validator(mode="wrap")
    @classmethod
    def _read_back(cls, value: Any, check: ModelWrapValidatorHandler[Self], info: ValidationInfo) -> Self:
        """A stored option that cannot be read any more has its default: it must not hide its project, or all of them"""
        try:
            made = check(value)
        except ValidationError as exc:
            if info.context is not STORED or not isinstance(value, Mapping):
                raise
            wrong = {error["loc"][0] for error in exc.errors(include_input=False, include_url=False) if error["loc"]}
            return check({name: option for name, option in value.items() if name not in wrong})
        if info.context is not STORED and made.written > MAX_TOGETHER:
            raise ValueError(f"{', '.join(_LISTS)} have {MAX_TOGETHER:,} characters together at most")
        return made

    @field_validator("include_patterns", "exclude_patterns", mode="before")
    @classmethod
    def _split_at_commas(cls, value: Any) -> Any:
        """Patterns may come as one comma-separated string; items of a list are never split."""
        if isinstance(value, str):
            if len(value) > MAX_WRITTEN:
                raise ValueError(f"patterns have {MAX_WRITTEN} characters at most")
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("include_patterns", "exclude_patterns")
    @classmethod
    def _compiles(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if info.context is not STORED:
            check_list(value)
        return value

    @field_validator("page_steps", mode="before")
    @classmethod
    def _one_line_each(cls, value: Any) -> Any:
        return tuple(line.strip() for line in value.splitlines() if line.strip()) if isinstance(value, str) else value

    @field_validator("page_steps")
    @classmethod
    def _can_be_taken(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if info.context is not STORED:
            try:
                return tuple(step.line for step in page_steps(value))
            except InvalidSteps as exc:
                raise ValueError(exc.message) from exc
        return value

    @property
    def written(self) -> int:
        """Characters of what was written as lists."""
        return sum(len(text) for name in _LISTS for text in getattr(self, name))

    def within(self, max_pages_ceiling: int) -> Self:
        """This configuration, if the installation allows so many pages; else an error."""
        if self.max_pages > max_pages_ceiling:
            raise InvalidConfig(
                f"max_pages is {self.max_pages}, but at most {max_pages_ceiling} are allowed here; "
                "raise CRAWLER_MAX_PAGES_CEILING to allow more."
            )
        return self


COMPARISON_FAILED = "comparison_failed"
"""Key in a crawl's statistics, with a sentence that says why it could not be compared."""


FRONT_CRAWLS = 5
"""Crawls of one caller that others may have to wait for. Further ones go behind those of others, in any project."""
FRONT_SECONDS = 60
"""How long ago a crawl was started, at most, to count for that: who has five large ones running may start another."""


class CrawlJob(BaseModel):
    """One run over a project."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    project_id: UUID
    seed_url: str = Field(max_length=2000)
    domain: str
    crawl_type: CrawlType
    config: CrawlConfig
    status: CrawlStatus = CrawlStatus.PENDING
    paused: bool = False
    paused_at: datetime | None = None
    paused_seconds: float = 0.0
    """Total length of the pauses that have ended."""
    end_reason: EndReason | None = None
    error_message: str | None = None
    total_discovered: int = 0
    total_ingested: int = 0
    pages_crawled: int = 0
    pages_failed: int = 0
    pages_skipped: int = 0
    lightweight: int = 0
    rendered: int = 0
    rendering: dict[str, Any] | None = None
    """Whether the crawl's pages need a browser, and by which signal of the homepage; None before that is known."""
    stats: dict[str, Any] = Field(default_factory=dict)
    change_summary: dict[str, Any] | None = None
    compared_to: UUID | None = None
    retry_of: UUID | None = None
    from_queue: bool = False
    """Whether this is a batch of the acquisition queue: several of a project may run at once."""
    behind: bool = False
    """Whether it is one of many that a caller started at once, beyond the first `FRONT_CRAWLS`."""
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None = None
    completed_at: datetime | None = None

    @classmethod
    def create(
        cls,
        *,
        project_id: UUID,
        seed_url: str,
        domain: str,
        crawl_type: CrawlType,
        config: CrawlConfig,
        now: datetime,
        retry_of: UUID | None = None,
        from_queue: bool = False,
    ) -> Self:
        return cls(
            id=new_id(int(now.timestamp() * 1000)),
            project_id=project_id,
            seed_url=seed_url,
            domain=domain,
            crawl_type=crawl_type,
            config=config,
            retry_of=retry_of,
            from_queue=from_queue,
            created_at=now,
            updated_at=now,
        )

    @property
    def comparison_failed(self) -> str | None:
        """Why the crawl could not be compared with the one before; None if it could, or was not tried."""
        reason: str | None = self.stats.get(COMPARISON_FAILED)
        return reason

    @property
    def urls_left(self) -> int:
        """URLs that were found and have not ended. Sitemaps and probes in progress do not count."""
        return max(0, self.total_discovered - self.pages_crawled - self.pages_failed - self.pages_skipped)

    @property
    def runs_by_schedule(self) -> bool:
        """Whether it tells what it finds, as those do that a schedule starts: nobody sits and waits for it."""
        return self.crawl_type is CrawlType.SCHEDULED

    @property
    def goes_later(self) -> bool:
        """Whether what is done for it goes behind what somebody sits and waits for."""
        return self.behind or self.runs_by_schedule

    @property
    def learns_noise(self) -> bool:
        """Whether some pages are fetched twice: what differs between the two is noise, not a change."""
        asked = self.config.learn_noise
        return self.runs_by_schedule if asked is None else asked

    def working_seconds(self, now: datetime) -> float:
        """How long the crawl has been running, without its pauses."""
        spent = (now - (self.started_at or self.created_at)).total_seconds() - self.paused_seconds
        if self.paused and self.paused_at is not None:
            spent -= (now - self.paused_at).total_seconds()
        return spent

    def start(self, now: datetime) -> Self:
        return self._to(CrawlStatus.IN_PROGRESS, now, started_at=now)

    def complete(self, end_reason: EndReason, now: datetime) -> Self:
        return self._to(CrawlStatus.COMPLETED, now, end_reason=end_reason, completed_at=now)

    def fail(self, error_message: str, now: datetime) -> Self:
        return self._to(CrawlStatus.FAILED, now, error_message=error_message, completed_at=now)

    def cancel(self, now: datetime) -> Self:
        return self._to(CrawlStatus.CANCELLED, now, completed_at=now)

    def _to(self, status: CrawlStatus, now: datetime, **changes: Any) -> Self:
        if status not in _NEXT[self.status]:
            raise InvalidTransition(
                f"Crawl {self.id} is {self.status} and cannot become {status}.",
                crawl_id=str(self.id),
                status=str(self.status),
            )
        return self.model_copy(update={"status": status, "updated_at": now, **changes})


class FetchState(StrEnum):
    """Where a discovered URL stands with the engine."""

    QUEUED = "queued"
    DONE = "done"
    SKIPPED = "skipped"
    FAILED = "failed"


class IngestState(StrEnum):
    """Where a discovered URL stands with ingestion."""

    PENDING = "pending"
    INGESTED = "ingested"
    SKIPPED = "skipped"
    FAILED = "failed"
