"""Which characters the bytes of a page mean."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.pages.charsets import _CODECS, _LABELS, charset_of, to_utf8


def read(body: bytes, content_type: str = "") -> tuple[str, str]:
    markup, charset = to_utf8(body, content_type)
    return markup.decode(errors="replace"), charset


def test_a_byte_order_mark_beats_header_and_meta() -> None:
    body = codecs.BOM_UTF8 + "<meta charset=koi8-r>ä".encode()
    assert read(body, "text/html; charset=windows-1251") == ("<meta charset=koi8-r>ä", "utf-8")
    assert read(codecs.BOM_UTF16_LE + "ä€".encode("utf-16-le"), "text/html; charset=utf-8") == ("ä€", "utf-16le")
    assert read(codecs.BOM_UTF16_BE + "ä€".encode("utf-16-be")) == ("ä€", "utf-16be")


def test_the_header_beats_the_meta_tag_and_the_meta_tag_beats_a_guess() -> None:
    body = '<meta charset="utf-8">Ж'.encode("windows-1251")
    assert read(body, 'text/html; Charset="Windows-1251"') == ('<meta charset="utf-8">Ж', "windows-1251")
    assert charset_of(body)[0] == "utf-8"
    assert charset_of('<meta charset="windows-1251">Ж'.encode("windows-1251"))[0] == "windows-1251"


@pytest.mark.parametrize(
    "declaration",
    [
        b"<META CHARSET = 'shift_jis'>",
        b'<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">',
        b"<meta name=x><meta content='text/html;charset=x-sjis' http-equiv=content-type>",
        b'<?xml version="1.0" encoding="Shift_JIS"?><html>',
        b"<!-- <meta charset=utf-8> --><meta charset=sjis>",
    ],
)
def test_declarations_in_the_markup_are_found(declaration: bytes) -> None:
    assert charset_of(declaration + "日本".encode("cp932"))[0] == "shift_jis"


def test_declarations_beyond_the_first_kilobyte_do_not_count() -> None:
    assert charset_of(b" " * 1100 + b"<meta charset=koi8-r>")[0] == "utf-8"


def test_labels_mean_what_browsers_take_them_to_mean() -> None:
    assert read(b"\x93quoted\x94 \x80", "text/html; charset=iso-8859-1") == ("“quoted” €", "windows-1252")
    assert read("汉€".encode("gb18030"), "text/html; charset=gb2312") == ("汉€", "gbk")
    assert read("힣".encode("cp949"), "text/html; charset=ks_c_5601-1987") == ("힣", "euc-kr")
    assert charset_of(b"<meta charset=utf-16>ok")[0] == "utf-8"


@pytest.mark.parametrize(
    "label", ["utf-7", "rot13", "base64", "unicode_escape", "idna", "punycode", "zlib", "nonsense"]
)
def test_names_only_python_knows_are_nobodys_charset(label: str) -> None:
    assert read(b"+ADw- \\u0041 ok", f"text/html; charset={label}") == ("+ADw- \\u0041 ok", "utf-8")


def test_without_a_declaration_valid_utf8_is_utf8_and_the_rest_windows_1252() -> None:
    assert read("Grüße €".encode()) == ("Grüße €", "utf-8")
    assert read(b"Gr\xfc\xdfe \x80 caf\xe9") == ("Grüße € café", "windows-1252")
    assert read("<p>ä€".encode("utf-16-le")) == ("<p>ä€", "utf-16le")
    assert read("<p>ä€".encode("utf-16-be")) == ("<p>ä€", "utf-16be")


def test_a_body_cut_inside_a_character_stays_utf8() -> None:
    assert charset_of("Grüße €".encode()[:-1])[0] == "utf-8"


def test_one_stray_byte_does_not_spoil_every_other_letter() -> None:
    body = ("äöü" * 20).encode() + b"\xff" + ("äöü" * 20).encode()
    assert read(body) == ("äöü" * 20 + "\ufffd" + "äöü" * 20, "utf-8")


def test_every_label_leads_to_a_codec_that_exists() -> None:
    assert len(_LABELS) > 200
    for label, charset in _LABELS.items():
        assert label == label.lower()
        codecs.lookup(_CODECS.get(charset, charset))


@given(st.binary(max_size=400), st.one_of(st.sampled_from(sorted(_LABELS)), st.text(max_size=20)))
def test_no_bytes_and_no_label_raise(body: bytes, label: str) -> None:
    markup, charset = to_utf8(body, f"text/html; charset={label}")
    assert charset in _CODECS or charset == "utf-8"
    if charset != "utf-8":
        markup.decode()
