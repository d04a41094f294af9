"""What changed on a page between two of its versions, in the words a reader sees: all of it, noise too.

The lines are compared in `domain/diffs/text_diff.py`. Without noise: `diff_without_noise.py`.
"""

from typing import NamedTuple, Protocol
from uuid import UUID

from crawler.domain.diffs.text_diff import TextDiff, diff_lines
from crawler.domain.markdown.page import stored_markdown
from crawler.domain.markdown.pruning import Pruning
from crawler.domain.pages.lists import PageSnapshot, VersionRow
from crawler.domain.pages.parsing import UnparsablePage
from crawler.domain.pages.pdf_reading import ReadPdf
from crawler.errors import Invalid, NotFound

MOST_VERSIONS = 20
"""How far back the last version is looked for that was fetched as the newest: by a browser, or without."""


class VersionReader(Protocol):
    def get_snapshot(self, project_id: UUID, page_id: UUID, version_id: UUID | None = None) -> PageSnapshot: ...
    def list_versions(self, project_id: UUID, page_id: UUID, before: None, limit: int) -> list[VersionRow]: ...


class PageDiff(NamedTuple):
    from_version: UUID
    to_version: UUID
    diff: TextDiff


class CompareVersions:
    def __init__(self, content: VersionReader, read_pdf: ReadPdf) -> None:
        self._content = content
        self._read_pdf = read_pdf

    def __call__(self, project_id: UUID, page_id: UUID, older: UUID | None, newer: UUID | None) -> PageDiff:
        """What changed between two versions of a page; if none are named, the newest two that were fetched alike."""
        if (older is None) != (newer is None):
            raise Invalid("Name both versions, or none for the newest two.")
        if older is None:
            newer, older = self._newest_two(project_id, page_id)
        before = self._content.get_snapshot(project_id, page_id, older)
        after = self._content.get_snapshot(project_id, page_id, newer)
        old, new = (markdown_of(one, self._read_pdf) for one in (before, after))
        return PageDiff(before.version_id, after.version_id, diff_lines(old, new))

    def _newest_two(self, project_id: UUID, page_id: UUID) -> tuple[UUID, UUID]:
        newest, *rest = self._content.list_versions(project_id, page_id, None, MOST_VERSIONS) or (None,)
        if newest is None or not rest:
            raise NotFound(f"Page {page_id} has no earlier version: there is nothing to compare it with.")
        alike = [row for row in rest if row.crawl_method == newest.crawl_method]
        return newest.id, (alike or rest)[0].id


def markdown_of(snapshot: PageSnapshot, read_pdf: ReadPdf, pruning: Pruning | None = None) -> str:
    """A version as markdown, whole unless pruned: what changed may stand in a part that looks like no content."""
    try:
        return stored_markdown(
            snapshot.content,
            url=snapshot.url,
            content_type=snapshot.content_type,
            read_pdf=read_pdf,
            pruning=pruning,
        )
    except UnparsablePage as exc:
        raise Invalid("This page's markup was built to hurt parsers, so it is not read again.") from exc
