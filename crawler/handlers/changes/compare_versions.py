"""What changed on a page between two of its versions, in the words a reader sees: all of it, noise too.

The lines are compared in `domain/diffs/text_diff.py`. Without noise: `diff_without_noise.py`.
"""

from typing import NamedTuple, Protocol
from uuid import UUID

from crawler.domain.diffs.text_diff import TextDiff, diff_lines
from crawler.domain.judging import OpenJudge
from crawler.domain.markdown.page import stored_markdown
from crawler.domain.markdown.pruning import Pruning
from crawler.domain.pages.files import is_pdf
from crawler.domain.pages.lists import PageSnapshot, VersionRow
from crawler.domain.pages.parsing import UnparsablePage
from crawler.domain.pages.pdf_reading import PdfReading, ReadPdf
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
    def __init__(self, content: VersionReader, read_pdf: ReadPdf, open_judge: OpenJudge) -> None:
        self._content = content
        self._read_pdf = read_pdf
        self._open_judge = open_judge

    def __call__(self, project_id: UUID, page_id: UUID, older: UUID | None, newer: UUID | None) -> PageDiff:
        """What changed between two versions of a page; if none are named, the newest two that were fetched alike."""
        if (older is None) != (newer is None):
            raise Invalid("Name both versions, or none for the newest two.")
        if older is None:
            newer, older = self._newest_two(project_id, page_id)
        before = self._content.get_snapshot(project_id, page_id, older)
        after = self._content.get_snapshot(project_id, page_id, newer)
        sides = [with_pdf(one, self._read_pdf) for one in (before, after)]
        with self._open_judge() as judge:
            return PageDiff(before.version_id, after.version_id, judge.one(diff_versions, *sides))

    def _newest_two(self, project_id: UUID, page_id: UUID) -> tuple[UUID, UUID]:
        newest, *rest = self._content.list_versions(project_id, page_id, None, MOST_VERSIONS) or (None,)
        if newest is None or not rest:
            raise NotFound(f"Page {page_id} has no earlier version: there is nothing to compare it with.")
        alike = [row for row in rest if row.crawl_method == newest.crawl_method]
        return newest.id, (alike or rest)[0].id


class ShowMarkdown:
    """A stored version as markdown, whole unless pruned: what changed may stand in a part that looks like no content.

    Raises Invalid for markup built to hurt parsers, and TooSlowToTry.
    """

    def __init__(self, read_pdf: ReadPdf, open_judge: OpenJudge) -> None:
        self._read_pdf = read_pdf
        self._open_judge = open_judge

    def __call__(self, snapshot: PageSnapshot, pruning: Pruning | None = None) -> str:
        side = with_pdf(snapshot, self._read_pdf)
        with self._open_judge() as judge:
            return judge.one(markdown_of, side, pruning)


class ReadVersion(NamedTuple):
    snapshot: PageSnapshot
    pdf: PdfReading | None
    """What it says, if it is a PDF: those are read elsewhere."""


def with_pdf(snapshot: PageSnapshot, read_pdf: ReadPdf) -> ReadVersion:
    return ReadVersion(
        snapshot, read_pdf(snapshot.content) if is_pdf(snapshot.content_type, snapshot.content) else None
    )


def markdown_of(version: ReadVersion, pruning: Pruning | None = None) -> str:
    snapshot, pdf = version
    try:
        return stored_markdown(
            snapshot.content,
            url=snapshot.url,
            content_type=snapshot.content_type,
            read_pdf=lambda _: pdf or PdfReading(""),
            pruning=pruning,
        )
    except UnparsablePage as exc:
        raise Invalid("This page's markup was built to hurt parsers, so it is not read again.") from exc


def diff_versions(before: ReadVersion, after: ReadVersion) -> TextDiff:
    return diff_lines(markdown_of(before), markdown_of(after))
