"""A file as the list of its blocks, for comparing: the lines of a text, the values of JSON, the sentences of a PDF."""

from collections.abc import Container, Sequence

from crawler.domain.diffs.items import Item
from crawler.domain.diffs.page_blocks import Block, PageBlocks, read_blocks
from crawler.domain.pages.file_lines import FileLines
from crawler.domain.pages.files import FileKind, file_lines, kind_of
from crawler.domain.pages.markup_bombs import UnparsablePage
from crawler.domain.pages.pdf_reading import PdfReading, pdf_lines

_BYTES_ONLY = "It is no text, so it is compared by its bytes."


class NoLines(UnparsablePage):
    """A file that can only be compared by its bytes; the message says why."""


class FileBlocks(PageBlocks):
    """Selectors name nothing in a file. It has no title, and keeps it: what is in it is the file, whatever it says."""

    is_file = True

    def __init__(self, lines: FileLines) -> None:
        super().__init__((), lines.compared, ())
        self._file_lines = lines

    def block(self, at: int) -> Block:
        return Block(self._file_lines.place(at), self._file_lines.texts[at])

    def items(self, at: int) -> tuple[Item, ...]:  # noqa: ARG002
        return ()

    def row_start(self, at: int) -> int | None:  # noqa: ARG002
        return None

    def without(self, places: Container[str]) -> "FileBlocks":
        lines = self._file_lines
        kept = [at for at in range(len(self)) if lines.place(at) not in places]
        compared, texts = ([column[at] for at in kept] for column in (lines.compared, lines.texts))
        return FileBlocks(FileLines(compared, texts, [lines.place(at) for at in kept]))

    @property
    def title(self) -> str:
        return "file"


def stored_blocks(
    body: bytes,
    content_type: str,
    removed: Sequence[str] = (),
    pdf: PdfReading | None = None,
    only: Sequence[str] = (),
) -> PageBlocks:
    """The blocks of a stored page or file. Raises UnparsablePage: NoLines for a file that has none."""
    kind = kind_of(content_type, body)
    if kind is None:
        return read_blocks(body, content_type, removed, only)
    if kind is FileKind.BYTES:
        raise NoLines(_BYTES_ONLY)
    if kind is not FileKind.PDF:
        return FileBlocks(file_lines(kind, body, content_type))
    if pdf is None or not pdf.text:
        raise NoLines(pdf.problem if pdf else _BYTES_ONLY)
    return FileBlocks(pdf_lines(pdf.text, pdf.pictures))
