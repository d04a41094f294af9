"""`Client`: the entry point of the Python client."""

import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from crawler.client.categories import Categories
from crawler.client.change_feeds import ChangeFeeds
from crawler.client.connection import Call, Connection, given, path
from crawler.client.crawl_values import Crawl, Progress
from crawler.client.crawls import Crawls
from crawler.client.credentials import Credentials
from crawler.client.documents import Documents
from crawler.client.errors import StillRunning
from crawler.client.hosts import Hosts
from crawler.client.keys import Keys
from crawler.client.logins import Logins
from crawler.client.noise import Noise
from crawler.client.notifications import Notifications
from crawler.client.pages import Pages
from crawler.client.projects import Projects
from crawler.client.queue import Queue
from crawler.client.recipients import Mutes, Recipients
from crawler.client.reports import Reports
from crawler.client.schedules import Schedules
from crawler.client.scraping import ScrapedPage, ScrapeJob, SiteMap, read_scraped
from crawler.client.system import Health, RuntimeSettings
from crawler.client.value import read
from crawler.client.watching import Watching

TIMEOUT_SECONDS = 35.0
"""A little longer than the service's own deadline."""
RETRIES = 3
LOOK_SECONDS = 1.0
SCRAPE_SECONDS = 20.0


class Client:
    """A running service, seen with one key. For one thread at a time.

    >>> with Client("http://127.0.0.1:8800", key="crk_…") as client:
    ...     project = client.projects.create("Example", "https://example.org/")
    ...     crawl_id = client.crawls.start(project.id, max_pages=100)
    ...     crawl = client.wait(crawl_id, timeout=600, on_progress=lambda at: print(f"{at.progress:.0f} %"))
    ...     for page in client.pages.of(project.id, status="success"):
    ...         print(page.url, page.title)

    Reads, and whatever does no more when it is sent twice, are tried `retries` times more when the service is not
    there. Starts carry an idempotency key of their own, so that a start whose answer was lost happens once.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT_SECONDS,
        retries: int = RETRIES,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._sleep = sleep
        self._connection = Connection(url, key, timeout=timeout, retries=retries, sleep=sleep)
        self.projects = Projects(self._connection)
        self.credentials = Credentials(self._connection)
        self.logins = Logins(self._connection)
        self.crawls = Crawls(self._connection)
        self.pages = Pages(self._connection)
        self.reports = Reports(self._connection)
        self.hosts = Hosts(self._connection)
        self.keys = Keys(self._connection)
        self.schedules = Schedules(self._connection)
        self.change_feeds = ChangeFeeds(self._connection)
        self.noise = Noise(self._connection)
        self.recipients = Recipients(self._connection)
        self.mutes = Mutes(self._connection)
        self.watching = Watching(self._connection)
        self.notifications = Notifications(self._connection)
        self.queue = Queue(self._connection)
        self.documents = Documents(self._connection)
        self.categories = Categories(self._connection)

    @property
    def url(self) -> str:
        return self._connection.url

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def health(self) -> Health:
        """Each server behind the service; that one is missing is an answer, too."""
        call = Call("GET", "/health", repeatable=True, expected=503)
        return read(Health, self._connection.json(call))

    def scrape(
        self,
        url: str,
        *,
        formats: Sequence[str] = ("markdown", "metadata"),
        only_main_content: bool | None = None,
        include_selectors: Sequence[str] | None = None,
        exclude_selectors: Sequence[str] | None = None,
        render: str | None = None,
        wait_for: float | None = None,
        headers: Mapping[str, str] | None = None,
        max_age: int | None = None,
        timeout: float = SCRAPE_SECONDS,
        project_id: UUID | str | None = None,
    ) -> ScrapedPage | ScrapeJob:
        """One page now; a `ScrapeJob` when it does not come within `timeout` seconds: `scraped` has it later.

        >>> page = client.scrape("https://example.org/", formats=["markdown", "links"], max_age=3600)
        """
        body = given(
            url=url,
            formats=list(formats),
            only_main_content=only_main_content,
            include_selectors=list(include_selectors) if include_selectors else None,
            exclude_selectors=list(exclude_selectors) if exclude_selectors else None,
            render=render,
            wait_for=wait_for,
            headers=dict(headers) if headers else None,
            max_age=max_age,
            timeout=timeout,
            project_id=str(project_id) if project_id else None,
        )
        call = Call("POST", "/scrape", body=body, repeatable=True, patience=timeout)
        return read_scraped(self._connection.json(call))

    def scraped(self, crawl_id: UUID | str) -> ScrapedPage | ScrapeJob:
        """A page that did not come in time."""
        return read_scraped(self._connection.get(path("scrape", crawl_id)))

    def map(
        self,
        url: str,
        *,
        search: str | None = None,
        sitemap: str | None = None,
        include_subdomains: bool | None = None,
        ignore_query: bool | None = None,
        limit: int | None = None,
        timeout: float = SCRAPE_SECONDS,
        project_id: UUID | str | None = None,
    ) -> SiteMap:
        """The URLs of a site: its sitemaps, what is stored, and the links of one page.

        >>> [one.url for one in client.map("https://example.org/", search="kettle").urls]
        """
        body = given(
            url=url,
            search=search,
            sitemap=sitemap,
            include_subdomains=include_subdomains,
            ignore_query=ignore_query,
            limit=limit,
            timeout=timeout,
            project_id=str(project_id) if project_id else None,
        )
        return read(SiteMap, self._connection.json(Call("POST", "/map", body=body, repeatable=True, patience=timeout)))

    def settings(self) -> RuntimeSettings:
        return read(RuntimeSettings, self._connection.get("/settings"))

    def replace_settings(self, **values: Any) -> RuntimeSettings:
        """What is left out or None goes back to the environment's value."""
        return read(RuntimeSettings, self._connection.json(Call("PUT", "/settings", body=values, repeatable=True)))

    def wait(
        self,
        crawl_id: UUID | str,
        timeout: float | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        *,
        look_seconds: float = LOOK_SECONDS,
    ) -> Crawl:
        """The crawl when it is over, however it ended; `StillRunning` when that takes longer than `timeout` seconds.

        What changed is known a moment later: `crawls.changes` says whether it is.
        """
        until = None if timeout is None else time.monotonic() + timeout
        crawl = self.crawls.get(crawl_id)
        while not crawl.is_over:
            latest = self.crawls.progress(crawl.project_id)
            is_ours = latest.crawl_id == crawl.id
            if is_ours and on_progress is not None:
                on_progress(latest)
            if latest.is_over or not is_ours:
                crawl = self.crawls.get(crawl_id)
            if not crawl.is_over:
                self._pause(crawl.id, look_seconds, until)
        return crawl

    def _pause(self, crawl_id: UUID, seconds: float, until: float | None) -> None:
        if until is None:
            self._sleep(seconds)
            return
        left = until - time.monotonic()
        if left <= 0:
            raise StillRunning(f"Crawl {crawl_id} is not over yet.")
        self._sleep(min(seconds, left))
