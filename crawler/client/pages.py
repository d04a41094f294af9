"""Client for pages: their content, earlier versions, diffs and screenshots."""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from crawler.client.connection import Connection, given, path
from crawler.client.value import Value, read


class Page(Value):
    """A page, without its text and links."""

    id: UUID
    url: str
    normalized_url: str
    title: str | None
    h1: str | None
    meta_description: str | None
    word_count: int | None
    status: str
    """The status: success, failed or skipped."""
    reason: str | None
    error_message: str | None
    http_status: int | None
    depth: int | None
    language: str | None
    crawl_method: str | None
    noindex: bool
    byte_length: int | None
    content_hash: str | None
    crawl_id: UUID | None
    crawled_at: datetime
    first_seen_at: datetime | None
    last_seen_at: datetime | None
    last_changed_at: datetime | None


class WholePage(Page):
    project_id: UUID
    content_text: str | None
    links_found: tuple[str, ...]
    canonical_url: str | None
    etag: str | None
    last_modified: str | None
    version_id: UUID | None


class Version(Value):
    id: UUID
    crawl_id: UUID
    """The crawl that first stored this version."""
    title: str | None
    content_hash: str
    crawl_method: str | None
    final_url: str | None
    byte_length: int | None
    """None when the HTML is no longer stored."""
    fetched_at: datetime


class Snapshot(Value):
    """The HTML of a page, as it was received."""

    content: bytes
    content_type: str
    version_id: UUID


class Diff(Value):
    from_version: UUID
    to_version: UUID
    added: int
    removed: int
    unified: str
    """The diff as `diff -u` writes it; empty when the text did not change."""
    exact: bool


class Pages:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of(
        self,
        project_id: UUID | str,
        *,
        status: str | None = None,
        reason: str | None = None,
        changed_since: datetime | None = None,
        prefix: str | None = None,
        title: str | None = None,
    ) -> Iterator[Page]:
        """A project's pages by URL; `changed_since` knows its time zone, `title` is words the title must have.

        >>> for page in client.pages.of(project.id, status="success", prefix="/docs"):
        ...     print(page.url, page.title)
        """
        since = changed_since.isoformat() if changed_since else None
        chosen = given(status=status, reason=reason, changed_since=since, prefix=prefix, q=title)
        return self._connection.listed(path("projects", project_id, "pages"), Page, is_searched=True, **chosen)

    def get(self, project_id: UUID | str, page_id: UUID | str) -> WholePage:
        """With its text and links."""
        return read(WholePage, self._connection.get(path("projects", project_id, "pages", page_id)))

    def markdown(self, project_id: UUID | str, page_id: UUID | str, version: UUID | str | None = None) -> str:
        where = path("projects", project_id, "pages", page_id, "markdown")
        return self._connection.whole(where, version=version).content.decode()

    def snapshot(self, project_id: UUID | str, page_id: UUID | str, version: UUID | str | None = None) -> Snapshot:
        """The bytes themselves, of the newest version when none is named."""
        where = path("projects", project_id, "pages", page_id, "snapshot")
        answer = self._connection.whole(where, version=version)
        sent = {
            "content": answer.content,
            "content_type": answer.headers.get("X-Original-Content-Type", ""),
            "version_id": answer.headers.get("X-Version-Id"),
        }
        return read(Snapshot, sent)

    def screenshot(
        self,
        project_id: UUID | str,
        page_id: UUID | str,
        version: UUID | str | None = None,
        *,
        thumbnail: bool = False,
    ) -> bytes:
        """How the page looked, as PNG; of the newest version that has a picture when none is named."""
        where = path("projects", project_id, "pages", page_id, "screenshot")
        return self._connection.whole(where, version=version, thumbnail=thumbnail or None).content

    def versions(self, project_id: UUID | str, page_id: UUID | str) -> Iterator[Version]:
        """Newest first."""
        return self._connection.listed(path("projects", project_id, "pages", page_id, "versions"), Version)

    def diff(
        self,
        project_id: UUID | str,
        page_id: UUID | str,
        older: UUID | str | None = None,
        newer: UUID | str | None = None,
    ) -> Diff:
        """What changed between two versions; between the newest two when none are named."""
        where = path("projects", project_id, "pages", page_id, "diff")
        return read(Diff, self._connection.get(where, **{"from": older, "to": newer}))
