"""The text of a PDF, as far as it has any: what is printed, written into its forms, and noted on its pages.

Pictures of text are pictures: of these only is known whether they are the same.
"""

import logging
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from io import BytesIO
from itertools import islice
from typing import Any

from pypdf import PageObject, PdfReader
from pypdf.errors import PyPdfError
from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject, StreamObject, TextStringObject

from crawler.domain.pages.element_text import MAX_TEXT, normalised
from crawler.domain.pages.markup_bombs import UnparsablePage

MAX_PAGES = 500
MAX_NOTES = 2_000
"""Fields and notes of a page."""
MAX_PICTURES = 200
MAX_DRAWN = 5_000
"""Of all pages together. The same picture may be drawn many times."""
MAX_PICTURE_BYTES = 64_000_000
"""Unpacked, of all pictures. What is larger is known by its packed bytes."""
_READERS_FAULTS = (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, NotImplementedError)
_UNSAID = frozenset({"/Link", "/Popup"})
"""Kinds of notes that say nothing by themselves."""
logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # of each odd byte of each file


class PdfText:
    """Title, if it says one, text and what its pictures are known by; whether there is more text than is read."""

    def __init__(self, body: bytes) -> None:
        try:
            reader = PdfReader(BytesIO(body))
            if reader.is_encrypted and not reader.decrypt(""):
                raise UnparsablePage("The PDF is locked with a password.")
            self.title = _title(reader)
            self.text, self.is_cut = _text(reader)
            self.pictures = _pictures(reader)
        except _READERS_FAULTS as exc:
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
        parts.append("\n".join((page.extract_text(), *islice(_notes(page), MAX_NOTES))))
        size += len(parts[-1])
    return normalised("\n".join(parts)), size > MAX_TEXT


def _notes(page: PageObject) -> Iterator[str]:
    """What stands in the fields of a form, and in notes."""
    noted = _resolved(page.get("/Annots"))
    for given in noted if isinstance(noted, ArrayObject) else ():
        note = _resolved(given)
        if not isinstance(note, DictionaryObject) or note.get("/Subtype") in _UNSAID:
            continue
        above = _resolved(note.get("/Parent"))
        for said in (note.get("/Contents"), note.get("/V"), above.get("/V") if isinstance(above, dict) else None):
            text = _resolved(said)
            if isinstance(text, TextStringObject) and text.strip():
                yield str(text)
                break


def _pictures(reader: PdfReader) -> list[str]:
    """None where they cannot be read: the text is worth more."""
    try:
        return _known_pictures(reader)
    except _READERS_FAULTS:
        return []


def _known_pictures(reader: PdfReader) -> list[str]:
    """What each picture is known by, page by page; of very many, or very large ones, the first."""
    known: dict[str, None] = {}
    left, seen = MAX_PICTURE_BYTES, set[int]()
    for given in islice(_drawn(reader), MAX_DRAWN):
        number = given.idnum if isinstance(given, IndirectObject) else 0
        if number in seen or len(known) >= MAX_PICTURES:
            continue
        seen |= {number} - {0}
        picture = _resolved(given)
        if isinstance(picture, StreamObject) and picture.get("/Subtype") == "/Image":
            data, unpacked = _data(picture, left)
            left -= unpacked
            known[blake2b(data, digest_size=4).hexdigest()] = None
    return list(known)


def _drawn(reader: PdfReader) -> Iterator[Any]:
    for page in islice(reader.pages, MAX_PAGES):
        resources = _resolved(page.get("/Resources"))
        drawn = _resolved(resources.get("/XObject")) if isinstance(resources, DictionaryObject) else None
        yield from (drawn.raw_get(name) for name in drawn) if isinstance(drawn, DictionaryObject) else ()


def _data(picture: StreamObject, most: int) -> tuple[bytes, int]:
    """Unpacked, where it was packed as texts are: the same may be packed in several ways; and how much was unpacked.

    How its lines were made smaller before is left as it is: that takes pypdf seconds.
    """
    packed = bytes(picture._data)
    if most <= 0 or picture.get("/Filter") not in ("/FlateDecode", ["/FlateDecode"]):
        return packed, 0
    try:
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(packed, most)
    except zlib.error:
        return packed, most // 10
    return (packed if unpacking.unconsumed_tail else data), len(data)


def _resolved(given: Any) -> Any:
    return given.get_object() if given is not None and hasattr(given, "get_object") else given
