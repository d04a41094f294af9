"""What Firecrawl's clients send, as far as it means something here. Fields that are not known are ignored, as there."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from crawler.domain.crawls.crawl import CrawlConfig, QueryParams
from crawler.domain.crawls.project import MAX_NAME as LONGEST_NAME
from crawler.domain.hosts.credentials import MAX_NAME, MAX_VALUE
from crawler.domain.markdown.page_formats import MAX_SELECTORS, PageFormat, Wanted
from crawler.domain.notices.hooks import EVENTS, Hook
from crawler.domain.patterns import check_url_pattern
from crawler.domain.urls.url import parse
from crawler.entrypoints.firecrawl.path_patterns import url_pattern
from crawler.entrypoints.firecrawl.refusals import NotOffered
from crawler.entrypoints.http.page_waits import LONGEST_SECONDS
from crawler.entrypoints.http.shapes import Text, check_storable
from crawler.errors import Invalid
from crawler.handlers.crawls.scrape_pages import ScrapeOptions
from crawler.handlers.crawls.start_crawl import explain

MOST_WAIT_SECONDS = 10
DEFAULT_TIMEOUT_MS = 60_000
TWO_DAYS_MS = 172_800_000
"""How old a stored page may be unless the caller says it: as there."""
MOST_BATCH = 1000
CHANGE_TRACKING = "changeTracking"
_FORMATS = {
    "markdown": PageFormat.MARKDOWN,
    "html": PageFormat.HTML,
    "rawHtml": PageFormat.RAW_HTML,
    "links": PageFormat.LINKS,
    "screenshot": PageFormat.SCREENSHOT,
    CHANGE_TRACKING: None,
}
_BY_MODEL = {"json", "summary", "query", "question", "highlights", "branding", "product", "menu"}
_KEPT = "every page that is fetched is kept"
_NOT_HERE = {"images", "attributes", "audio", "video"}
Pattern = Annotated[Text, Field(max_length=512)]
_HAS_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE).match


def _with_scheme(written: str) -> str:
    """As there: `example.org` alone is meant as http."""
    stripped = written.strip()
    return written if _HAS_SCHEME(stripped) else f"http://{stripped}"


Address = Annotated[Text, Field(min_length=1, max_length=2000), AfterValidator(_with_scheme)]


class Sent(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        check_storable(value)
        return value


class WantedFormat(Sent):
    type: str = Field(max_length=50)
    modes: list[Annotated[str, Field(max_length=50)]] = Field(default_factory=list, max_length=5)


def _format(value: Any) -> Any:
    return {"type": value} if isinstance(value, str) else value


Format = Annotated[WantedFormat, BeforeValidator(_format)]


class PageOptions(Sent):
    """`scrapeOptions`, and what stands beside the URL of one page."""

    formats: list[Format] = Field(default_factory=lambda: [WantedFormat(type="markdown")], max_length=20)
    only_main_content: bool = True
    include_tags: list[Pattern] = Field(default_factory=list, max_length=MAX_SELECTORS)
    exclude_tags: list[Pattern] = Field(default_factory=list, max_length=MAX_SELECTORS)
    wait_for: int = Field(0, ge=0, le=600_000)
    timeout: int = Field(DEFAULT_TIMEOUT_MS, gt=0, le=86_400_000)
    max_age: int = Field(0, ge=0, le=10**13)
    headers: dict[Annotated[Text, Field(max_length=MAX_NAME)], Annotated[Text, Field(max_length=MAX_VALUE)]] = Field(
        default_factory=dict, max_length=20
    )
    actions: list[Any] = Field(default_factory=list, max_length=100)
    zero_data_retention: bool = False
    redact_pii: Any = Field(None, alias="redactPII")
    lockdown: bool = False
    min_age: int | None = None
    threat_protection: Any = None
    check_prompt_injection: bool = False
    profile: Any = None

    @property
    def change_tracking(self) -> WantedFormat | None:
        return next((one for one in self.formats if one.type == CHANGE_TRACKING), None)

    @property
    def timeout_seconds(self) -> float:
        return min(self.timeout / 1000, LONGEST_SECONDS)

    def options(self) -> ScrapeOptions:
        if self.actions:
            raise NotOffered("Actions on a page are not offered here.")
        self._refuse_promises()
        for one in self.formats:
            _check_format(one)
        forms = [form for one in self.formats if (form := _FORMATS[one.type])]
        try:
            wanted = Wanted(
                formats=tuple(dict.fromkeys((*forms, PageFormat.METADATA))),
                only_main_content=self.only_main_content,
                include_selectors=tuple(self.include_tags),
                exclude_selectors=tuple(self.exclude_tags),
            )
        except ValidationError as exc:
            raise Invalid(explain(exc)) from exc
        wait = min(self.wait_for / 1000, MOST_WAIT_SECONDS)
        return ScrapeOptions(wanted, wait_seconds=wait, headers=self.headers or None)

    def _refuse_promises(self) -> None:
        """What only tunes how a page is fetched may be ignored; what the caller relies on may not."""
        scans = isinstance(self.threat_protection, dict) and self.threat_protection.get("mode") != "off"
        promises = {
            "zeroDataRetention": (self.zero_data_retention, _KEPT),
            "redactPII": (self.redact_pii, "nothing is removed from pages"),
            "lockdown": (self.lockdown, "a page that is not stored is fetched"),
            "minAge": (self.min_age, "a page that is not stored is fetched"),
            "threatProtection": (scans, "addresses are not scanned"),
            "checkPromptInjection": (self.check_prompt_injection, "text of pages is not judged"),
            "profile": (self.profile, "browsers keep no profiles"),
        }
        for name, (asked, words) in promises.items():
            if asked:
                raise NotOffered(f"{name} is not offered here: {words}.")


def _check_format(one: WantedFormat) -> None:
    if one.type in _BY_MODEL or "json" in one.modes:
        raise NotOffered(f"The format {one.type!r} is not offered here: this server has no language model.")
    if one.type in _NOT_HERE:
        raise NotOffered(f"The format {one.type!r} is not offered here.")
    if one.type not in _FORMATS:
        raise Invalid(f"formats: {one.type!r} is none; there are {', '.join(_FORMATS)}.")


class Webhook(Sent):
    """Where the events of a job or a monitor go; an address alone means all of them."""

    url: Annotated[Text, Field(max_length=2000)]
    headers: dict[Annotated[Text, Field(max_length=MAX_NAME)], Annotated[Text, Field(max_length=MAX_VALUE)]] = Field(
        default_factory=dict, max_length=20
    )
    metadata: dict[Annotated[Text, Field(max_length=100)], Annotated[Text, Field(max_length=1000)]] = Field(
        default_factory=dict, max_length=20
    )
    events: list[Annotated[Text, Field(max_length=50)]] = Field(default_factory=list, max_length=20)

    def hook(self, kind: str, tracked: WantedFormat | None = None) -> Hook:
        for event in self.events:
            if event.removeprefix(f"{kind}.") not in EVENTS[kind]:
                raise Invalid(f"webhook.events: {event!r} is none; there are {', '.join(EVENTS[kind])}.")
        modes = None if tracked is None else tuple(tracked.modes)
        return Hook(kind=kind, url=self.url, metadata=self.metadata, events=tuple(self.events), modes=modes)


JobWebhook = Annotated[Webhook, BeforeValidator(lambda given: {"url": given} if isinstance(given, str) else given)]


class ScrapeBody(PageOptions):
    url: Address | None = None
    alexandria: Any = None
    max_age: int = Field(TWO_DAYS_MS, ge=0, le=10**13)

    @property
    def address(self) -> str:
        if self.alexandria is not None:
            raise NotOffered("Tools of other services are not offered here.")
        if self.url is None:
            raise Invalid("url: it is missing.")
        return self.url


class BatchBody(PageOptions):
    urls: list[Annotated[Text, Field(max_length=2000), AfterValidator(_with_scheme)]] = Field(
        min_length=1, max_length=MOST_BATCH, fail_fast=True
    )
    ignore_invalid_urls: bool = Field(default=False, alias="ignoreInvalidURLs")
    append_to_id: Text | None = Field(None, max_length=100)
    webhook: JobWebhook | None = None


class CrawlOptions(Sent):
    limit: int = Field(10_000, ge=1, le=10_000_000)
    max_discovery_depth: int | None = Field(None, ge=0, le=1000)
    include_paths: list[Pattern] = Field(default_factory=list, max_length=50)
    exclude_paths: list[Pattern] = Field(default_factory=list, max_length=50)
    regex_on_full_url: bool = Field(default=False, alias="regexOnFullURL")
    crawl_entire_domain: bool = False
    allow_subdomains: bool = False
    allow_external_links: bool = False
    ignore_query_parameters: bool = False
    sitemap: Literal["include", "skip", "only"] = "include"
    delay: float | None = Field(None, ge=0, le=3600, allow_inf_nan=False)
    max_concurrency: int | None = Field(None, ge=1, le=1_000_000)
    prompt: Text | None = Field(None, max_length=10_000)
    ignore_robots_txt: bool = False
    zero_data_retention: bool = False

    def settings(self, url: str, ceiling: int) -> dict[str, Any]:
        """The settings of a crawl of ours that goes after the same pages."""
        if self.prompt:
            raise NotOffered("Options from a prompt are not offered here: this server has no language model.")
        if self.allow_external_links:
            raise NotOffered("A crawl stays on its site here; name other sites' pages in a batch.")
        if self.ignore_robots_txt:
            raise NotOffered("robots.txt is kept at this door.")
        if self.zero_data_retention:
            raise NotOffered(f"zeroDataRetention is not offered here: {_KEPT}.")
        path = parse(url).path
        # Pages of sitemaps have depth 0 there, and 1 here.
        is_listed = self.sitemap == "only" or (self.sitemap == "include" and self.max_discovery_depth == 0)
        given: dict[str, Any] = {
            "max_pages": min(self.limit, ceiling),
            "max_depth": None if is_listed else self.max_discovery_depth,
            "follow_links": not is_listed,
            "include_patterns": self._patterns(self.include_paths),
            "exclude_patterns": self._patterns(self.exclude_paths),
            "path_prefix": "" if self.crawl_entire_domain or path == "/" else path,
            "allow_subdomains": self.allow_subdomains,
            "query_params": QueryParams.DROP if self.ignore_query_parameters else QueryParams.KEEP,
            "use_sitemaps": self.sitemap != "skip",
        }
        if self.delay is not None:
            given["delay_seconds"] = max(self.delay, CrawlConfig().delay_seconds)
        if self.max_concurrency is not None:
            given["max_concurrent"] = min(self.max_concurrency, 256)
        return given

    def _patterns(self, written: list[str]) -> list[str]:
        for one in written:
            check_url_pattern(one)  # what is made of it might be valid, and mean something else
        return written if self.regex_on_full_url else [url_pattern(one) for one in written]


class CrawlBody(CrawlOptions):
    url: Address
    scrape_options: PageOptions = Field(default_factory=PageOptions)
    webhook: JobWebhook | None = None


class MapBody(Sent):
    url: Address
    search: Text = Field("", max_length=500)
    sitemap: Literal["include", "skip", "only"] = "include"
    include_subdomains: bool = True
    ignore_query_parameters: bool = True
    limit: int = Field(5000, ge=1, le=100_000)
    timeout: int = Field(DEFAULT_TIMEOUT_MS, gt=0, le=86_400_000)


class SearchBody(Sent):
    query: Text = Field(min_length=1, max_length=500)
    limit: int = Field(10, ge=1, le=100)


class MonitorSchedule(Sent):
    cron: Text | None = Field(None, max_length=200)
    text: Text | None = Field(None, max_length=200)
    timezone: Text = Field("UTC", max_length=50)


class MonitorTarget(Sent):
    type: Literal["scrape", "crawl", "search"]
    url: Address | None = None
    urls: list[Address] = Field(default_factory=list, max_length=100)
    crawl_options: CrawlOptions = Field(default_factory=CrawlOptions)
    scrape_options: PageOptions = Field(default_factory=PageOptions)

    @property
    def addresses(self) -> list[str]:
        if self.type == "search":
            raise NotOffered("A monitor of the web's search results is not offered here.")
        if self.scrape_options.options().headers:
            raise NotOffered("Headers are not kept with a monitor; give them to its project as credentials.")
        given = [*([self.url] if self.url else ()), *self.urls]
        if not given or (self.type == "crawl" and len(given) > 1):
            raise Invalid("targets: a target of type crawl needs one url, one of type scrape needs urls.")
        return given


class MonitorEmail(Sent):
    enabled: bool = False
    recipients: list[Annotated[Text, Field(max_length=255)]] = Field(default_factory=list, max_length=1)


class MonitorNotification(Sent):
    email: MonitorEmail | None = None


class MonitorChange(Sent):
    name: Text | None = Field(None, min_length=1, max_length=LONGEST_NAME)
    status: Literal["active", "paused"] | None = None
    schedule: MonitorSchedule | None = None
    targets: list[MonitorTarget] | None = Field(None, max_length=50)
    notification: MonitorNotification | None = None
    webhook: JobWebhook | None = None


class NewMonitor(MonitorChange):
    name: Text = Field(min_length=1, max_length=LONGEST_NAME)
    schedule: MonitorSchedule
    targets: list[MonitorTarget] = Field(min_length=1, max_length=50)

    @model_validator(mode="after")
    def _has_a_time(self) -> "NewMonitor":
        if bool(self.schedule.cron) == bool(self.schedule.text):
            raise ValueError("schedule: give either cron or text")
        return self
