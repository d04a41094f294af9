"""Pick an element of a stored page: the page inert, a selector of the element, and what it named in earlier versions.

How selectors are found: `domain/watching/picking.py`. All of it runs in a judge, which strangers' pages cannot hold up.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.judging import OpenJudge, Unjudged
from crawler.domain.pages.lists import PageSnapshot, VersionRow
from crawler.domain.urls.keys import keys_of
from crawler.domain.watching.fields import checked_selector
from crawler.domain.watching.picking import (
    Candidates,
    Picked,
    StoredVersion,
    candidates_of,
    choose,
    inert_page,
    matches,
    unread,
)
from crawler.errors import Invalid, NotFound

VERSIONS = 10
TOO_SLOW = "It takes too long to read."


class Versions(Protocol):
    def get_snapshot(self, project_id: UUID, page_id: UUID, version_id: UUID | None = None) -> PageSnapshot: ...
    def list_versions(
        self, project_id: UUID, page_id: UUID, before: tuple[datetime, UUID] | None, limit: int
    ) -> list[VersionRow]: ...


class KnownPages(Protocol):
    def known(self, project_id: UUID, keys: Sequence[str]) -> dict[str, UUID]: ...


class PickSelector:
    def __init__(self, projects: ProjectReader, pages: KnownPages, versions: Versions, open_judge: OpenJudge) -> None:
        self._projects = projects
        self._pages = pages
        self._versions = versions
        self._open_judge = open_judge

    def page_at(self, project_id: UUID, url: str) -> UUID:
        key = keys_of(self._projects.get_project(project_id).settings)(url)
        found = self._pages.known(project_id, [key]).get(key) if key else None
        if found is None:
            raise NotFound("The project has no page at this address.")
        return found

    def inert(self, project_id: UUID, page_id: UUID) -> str:
        """The newest version, rendered inert."""
        with self._open_judge() as judge:
            return judge.one(inert_page, next(self._stored(project_id, page_id, 1)))

    def __call__(
        self, project_id: UUID, page_id: UUID, *, element: int | None = None, text: str = "", selector: str = ""
    ) -> Picked:
        """What a selector named in the last versions: the given one; or that of the element with this number on the
        inert page, or of the smallest one with this text."""
        if not selector and not text and element is None:
            raise Invalid("Say what to pick: an element, a text or a selector.")
        given = checked_selector(selector, json=False) if selector else None
        with self._open_judge() as judge:
            newest = self._stored(project_id, page_id, 1)
            named = Candidates((given,)) if given else judge.one(candidates_of, next(newest), element, text)
            tried = named.alone
            if not tried:
                raise NotFound("No selector names this element alone; write one by hand.")
            found = [
                tuple(unread(one, TOO_SLOW) for _ in tried) if isinstance(known, Unjudged) else known
                for one, known in judge.each(matches, self._stored(project_id, page_id, VERSIONS), tried)
            ]
        chosen = choose(tried, found)
        at = tried.index(chosen)
        versions = tuple(version[at] for version in found)
        return Picked(page_id=page_id, selector=chosen, text=named.text, alike=named.alike, versions=versions)

    def _stored(self, project_id: UUID, page_id: UUID, most: int) -> Iterator[StoredVersion]:
        """Read one after the other: all of them together can be large."""
        rows = self._versions.list_versions(project_id, page_id, None, most)
        if not rows:
            raise NotFound(f"Nothing of page {page_id} is stored.")
        yield from (self._version(project_id, page_id, row) for row in rows)

    def _version(self, project_id: UUID, page_id: UUID, row: VersionRow) -> StoredVersion:
        snapshot = self._versions.get_snapshot(project_id, page_id, row.id)
        return StoredVersion(row.id, row.fetched_at, snapshot.url, snapshot.content, snapshot.content_type)
