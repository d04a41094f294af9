"""The text of a PDF, as far as it has any: pictures of text are pictures."""

import logging
from io import BytesIO

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from crawler.domain.pages.element_text import MAX_TEXT, normalised
from crawler.domain.pages.markup_bombs import UnparsablePage

MAX_PAGES = 500
logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # of each odd byte of each file


class PdfText:
    """Title, if it says one, and text; whether there is more of it than is read."""

    def __init__(self, body: bytes) -> None:
        try:
            reader = PdfReader(BytesIO(body))
            if reader.is_encrypted and not reader.decrypt(""):
                raise UnparsablePage("The PDF is locked with a password.")
            self.title = _title(reader)
            self.text, self.is_cut = _text(reader)
        except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, NotImplementedError) as exc:
            raise UnparsablePage(f"The PDF cannot be read ({type(exc).__name__}).") from exc


def _title(reader: PdfReader) -> str | None:
    said = reader.metadata.title if reader.metadata else None
    return normalised(said)[:500] or None if isinstance(said, str) else None


def _text(reader: PdfReader) -> tuple[str, bool]:
    parts: list[str] = []
    size = 0
    for number, page in enumerate(reader.pages):
        if number >= MAX_PAGES or size > MAX_TEXT:
            return normalised("\n".join(parts)), True
        parts.append(page.extract_text())
        size += len(parts[-1])
    return normalised("\n".join(parts)), size > MAX_TEXT
