"""From a pasted address to a running crawl: a project for the page or its site, and the crawl.

A page that is watched is crawled again every day. How addresses are read: `domain/urls/typed_url.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Protocol
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob
from crawler.domain.crawls.project import Project, name_after
from crawler.domain.notices.schedule import Frequency, NotifyOn
from crawler.domain.urls.typed_url import typed_url
from crawler.errors import Conflict, CrawlRunning, EgressRefused, Invalid, InvalidUrl

MOST_LINES = 200
"""Addresses that are taken from one list."""
_NAMES = 50
"""Projects of the same name that are counted through."""
_ONE_PAGE = {"max_pages": 1, "max_depth": 0, "use_sitemaps": False, "query_params": "keep"}


def settings_of_one_page() -> dict[str, Any]:
    """Settings of a project that is one page and nothing else."""
    return dict(_ONE_PAGE)


def settings_of_whole_site() -> dict[str, Any]:
    """Settings that make such a project its whole site again."""
    return CrawlConfig().model_dump(mode="json", include=set(_ONE_PAGE))


class Watch(StrEnum):
    PAGE = "page"
    SITE = "site"


class Started(NamedTuple):
    project: Project
    crawl: CrawlJob | None
    """None if one was running already."""


class Refused(NamedTuple):
    line: str
    why: str


class Imported(NamedTuple):
    started: tuple[Started, ...]
    refused: tuple[Refused, ...]


class Projects(Protocol):
    def create(self, *, name: str, website_url: str | None, settings: Mapping[str, Any] | None = None) -> Project: ...
    def change(self, project_id: UUID, changes: Mapping[str, Any]) -> Project: ...


class NamedProjects(Protocol):
    def find_project(self, name: str) -> Project | None: ...


class Start(Protocol):
    def __call__(self, project_id: UUID, /) -> CrawlJob: ...


class SetSchedule(Protocol):
    def __call__(self, project_id: UUID, given: dict[str, Any], /) -> object: ...


class WatchUrl:
    def __init__(
        self,
        projects: Projects,
        store: NamedProjects,
        start: Start,
        set_schedule: SetSchedule,
        clock: Clock,
        check_reach: Callable[[str], None],
    ) -> None:
        self._projects = projects
        self._store = store
        self._start = start
        self._set_schedule = set_schedule
        self._clock = clock
        self._check_reach = check_reach

    def __call__(self, text: str, what: Watch, *, zone: str = "UTC", tags: Sequence[str] = ()) -> Started:
        """The project of this address, new or known, with a crawl that begins. Raises Invalid for no address."""
        href = self.address(text)
        project, is_new = self._project(href, what, tags)
        if is_new and what is Watch.PAGE:
            self.again(project.id, zone, notify_on=NotifyOn.ANY.value)
        try:
            crawl = self._start(project.id)
        except CrawlRunning:
            crawl = None
        return Started(project, crawl)

    def address(self, text: str) -> str:
        """The address that somebody typed. Raises Invalid for none, and for one that a crawl could not reach anyway."""
        href = typed_url(text).href
        try:
            self._check_reach(href)
        except EgressRefused as exc:
            raise InvalidUrl(exc.message) from exc
        return href

    def all(self, lines: Sequence[str], what: Watch, *, zone: str = "UTC", tags: Sequence[str] = ()) -> Imported:
        """Each line an address. What is none is told with its reason; the others are started."""
        started: list[Started] = []
        refused: list[Refused] = []
        for line in dict.fromkeys(lines):
            if len(started) + len(refused) >= MOST_LINES:
                refused.append(Refused(line, f"Only the first {MOST_LINES} addresses of a list are taken."))
                break
            try:
                started.append(self(line, what, zone=zone, tags=tags))
            except (Invalid, Conflict, EgressRefused) as exc:
                refused.append(Refused(line, exc.message))
        return Imported(tuple(started), tuple(refused))

    def again(self, project_id: UUID, zone: str, frequency: Frequency = Frequency.DAILY, **more: Any) -> None:
        """Crawl it again and again, at this time of the day or week in this time zone. `more`: whom to tell."""
        known = _zone(zone)
        at = self._clock().astimezone(known)
        given: dict[str, Any] = {"enabled": True, "frequency": frequency.value}
        given |= {"time": f"{at:%H:%M}", "timezone": known.key}
        if frequency is Frequency.WEEKLY:
            given["day_of_week"] = at.weekday()
        self._set_schedule(project_id, {**given, **more})

    def _project(self, href: str, what: Watch, tags: Sequence[str]) -> tuple[Project, bool]:
        """The project, and whether it is new."""
        settings = _ONE_PAGE if what is Watch.PAGE else {}
        name = name_after(href.partition("://")[2].rstrip("/"))
        for number in range(1, _NAMES):
            called = name if number == 1 else f"{name[:190]} ({number})"
            known = self._store.find_project(called)
            if known is None:
                made = self._projects.create(name=called, website_url=href, settings=settings)
                return self._projects.change(made.id, {"tags": tuple(tags)}) if tags else made, True
            if known.website_url == href and (known.settings.max_pages == 1) == (what is Watch.PAGE):
                return known, False
        raise Conflict(f"There are many projects named {name!r} already; give this one a name of its own.")


def _zone(name: str) -> ZoneInfo:
    """The time zone a browser named; UTC if it is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")
