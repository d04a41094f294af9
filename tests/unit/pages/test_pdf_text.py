"""What a reader of a PDF sees besides its text: fields of forms, notes and pictures."""

import zlib
from io import BytesIO
from time import process_time

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import FreeText, Link
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NumberObject, StreamObject, TextStringObject

from crawler.domain.diffs.block_diff import diff_blocks
from crawler.domain.diffs.file_blocks import stored_blocks
from crawler.domain.pages.pdf_reading import PdfReading
from crawler.domain.pages.pdf_text import MAX_NOTES, PdfText
from tests.unit.pages.pdfs import pdf_of

TEXT = "Fees of the harbour."


def field(value: str, *, above: bool = False) -> DictionaryObject:
    said = {NameObject("/V"): TextStringObject(value)}
    widget = DictionaryObject({NameObject("/Subtype"): NameObject("/Widget")})
    widget.update({NameObject("/Parent"): DictionaryObject(said)} if above else said)
    return widget


def picture(pixels: bytes, level: int | None = None) -> StreamObject:
    made = StreamObject()
    made.set_data(pixels)
    if level is not None:
        made._data = zlib.compress(pixels, level)
        made[NameObject("/Filter")] = NameObject("/FlateDecode")
    made.update({NameObject("/Subtype"): NameObject("/Image"), NameObject("/Width"): NumberObject(4)})
    return made


def made(*noted: DictionaryObject, pictures: tuple[StreamObject, ...] = ()) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf_of(TEXT))))
    page = writer.pages[0]
    if noted:
        page[NameObject("/Annots")] = ArrayObject(writer._add_object(one) for one in noted)
    drawn = {NameObject(f"/I{n}"): writer._add_object(one) for n, one in enumerate(pictures)}
    page["/Resources"][NameObject("/XObject")] = DictionaryObject(drawn)  # type: ignore[index]
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def lines(body: bytes) -> list[str]:
    return PdfText(body).text.split("\n")


def told(before: bytes, after: bytes) -> list[tuple[str | None, str | None]]:
    old, new = (
        stored_blocks(body, "application/pdf", (), PdfReading(read.text, pictures=read.pictures))
        for body, read in ((body, PdfText(body)) for body in (before, after))
    )
    return [(a and a.text, b and b.text) for a, b in diff_blocks(old, new)]


def test_fields_of_a_form_and_notes_are_read() -> None:
    note = FreeText(text="Pay in advance.", rect=(50, 50, 200, 100))
    link = Link(rect=(50, 50, 60, 60), url="https://h.test/")
    assert lines(made(field("41 EUR"), note, link, field("Lodz", above=True))) == [
        TEXT, "41 EUR", "Pay in advance.", "Lodz",
    ]  # fmt: skip
    assert told(made(field("41 EUR")), made(field("42 EUR"))) == [("41 EUR", "42 EUR")]


@pytest.mark.parametrize("odd", [DictionaryObject(), NumberObject(3), field(""), TextStringObject("x")])
def test_notes_that_are_none_say_nothing(odd: DictionaryObject) -> None:
    assert lines(made(odd)) == [TEXT]


def test_no_more_notes_are_read_than_so_many() -> None:
    assert len(lines(made(*(field(f"{n} EUR") for n in range(MAX_NOTES + 5))))) == MAX_NOTES + 1


def test_another_picture_is_an_edit_and_the_same_packed_otherwise_is_none() -> None:
    old, new = b"\x00\x01" * 500, b"\x00\x02" * 500
    before = made(pictures=(picture(old), picture(new)))
    assert len(PdfText(before).pictures) == 2
    assert told(made(pictures=(picture(old, 9),)), made(pictures=(picture(old, 1),))) == []
    assert told(before, made(pictures=(picture(new), picture(old)))) != [], "they changed places"
    ((removed, added),) = told(made(pictures=(picture(old),)), made(pictures=(picture(new),)))
    assert removed != added
    assert "picture" in (removed or "")


def test_a_picture_that_cannot_be_unpacked_is_known_by_its_bytes() -> None:
    broken = picture(b"x")
    broken[NameObject("/Filter")] = NameObject("/FlateDecode")
    assert len(PdfText(made(pictures=(broken,))).pictures) == 1


def test_pictures_take_little_time_however_large_and_many_they_are() -> None:
    """They are read with the text, which must not be lost for them."""
    bombs = [picture(b"\x00" * 70_000_000 + bytes([n]), 1) for n in range(3)] * 20
    bombs[0][NameObject("/DecodeParms")] = DictionaryObject({NameObject("/Predictor"): NumberObject(15)})
    many = [picture(bytes([n % 251]) * 900_000, 1) for n in range(120)]
    body = made(pictures=(*bombs, *many))
    started = process_time()
    read = PdfText(body)
    assert process_time() - started < 3
    assert read.text == TEXT
    assert 100 < len(read.pictures) <= 200
