"""Which characters the bytes of a page mean."""

import codecs
import gzip
import time
import zlib
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.pages.charsets import _LABELS, REPLACEMENT, charset_of, is_scrambled, to_utf8
from crawler.domain.pages.legacy_charsets import CODECS, decode, encode


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


def test_a_header_that_the_markup_denies_is_not_believed() -> None:
    page = "<p>ä€ 日本</p>"
    assert read(page.encode(), "text/html; charset=utf-16") == (page, "utf-8")
    assert read(f"\n{page}".encode("utf-16-le"), "text/html; charset=utf-8") == (f"\n{page}", "utf-16le")
    assert read(f"\n{page}".encode("utf-16-be"), "text/html; charset=koi8-r") == (f"\n{page}", "utf-16be")
    assert read(page.encode("utf-16-be"), "text/html; charset=utf-16be") == (page, "utf-16be")
    assert read("日本語".encode("utf-16-le"), "text/html; charset=utf-16") == ("日本語", "utf-16le"), (
        "there is no markup"
    )


PROSE = "".join(f"<p>Sentence {n * n} of a page – ä, Ж, 日本.</p>" for n in range(300))


@pytest.mark.parametrize(
    "squeezed", [gzip.compress(PROSE.encode()), zlib.compress(PROSE.encode()), bytes(range(256)) * 9]
)
def test_compressed_data_is_no_text(squeezed: bytes) -> None:
    assert is_scrambled(squeezed, "text/html; charset=utf-8")


@pytest.mark.parametrize("charset", ["utf-8", "utf-16-le", "utf-16-be", "iso-2022-jp", "euc_jp", "gb18030", "koi8-r"])
def test_text_in_any_charset_is_text(charset: str) -> None:
    assert not is_scrambled(PROSE.encode(charset, "replace"), "text/html")
    assert not is_scrambled(b"\0\x01 a page with a few odd characters\x02", "text/html")


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


@pytest.mark.parametrize(
    "before",
    [
        b" " * 1100,
        b"<title>x</title><script>" + b" " * 1100 + b"var x = '<meta charset=utf-8>';" * 500 + b"</script>",
        b"<style>" + b" " * 60_000 + b"</style>",
        b"<!-- <body> <meta charset=utf-8>" + b" " * 2000 + b"-->",
        b" " * (1024 - len("<meta charset=koi8")),
    ],
)
def test_a_declaration_that_comes_late_in_the_head_counts(before: bytes) -> None:
    assert charset_of(before + b"<meta charset=koi8-r>")[0] == "koi8-r"


def test_a_label_cut_by_the_end_of_the_first_kilobyte_is_read_whole() -> None:
    before = b" " * (1024 - len("<meta charset=iso-8859-1"))
    assert charset_of(before + b"<meta charset=iso-8859-15>")[0] == "iso-8859-15"


@pytest.mark.parametrize("before", [b" " * 70_000, b" " * 1100 + b"<body>", b" " * 1100 + b"<script>"])
def test_a_declaration_far_away_in_the_text_or_in_a_script_does_not_count(before: bytes) -> None:
    assert charset_of(before + b"<meta charset=koi8-r>")[0] == "utf-8"


def test_an_unknown_label_does_not_hide_a_known_one_behind_it() -> None:
    assert charset_of(b"<meta charset=nonsense><meta charset=koi8-r>")[0] == "koi8-r"
    assert charset_of(b'<?xml version="1.0" encoding="koi8-r"?><meta charset=nonsense>')[0] == "koi8-r"
    assert charset_of(b"<meta charset=koi8-r>", "text/html; charset=nonsense")[0] == "koi8-r"
    assert charset_of(b"x", "text/html; charset=nonsense; charset=koi8-r")[0] == "koi8-r"


def test_labels_mean_what_browsers_take_them_to_mean() -> None:
    assert read(b"\x93quoted\x94 \x80", "text/html; charset=iso-8859-1") == ("“quoted” €", "windows-1252")
    assert read("汉€".encode("gb18030"), "text/html; charset=gb2312") == ("汉€", "gbk")
    assert read("힣".encode("cp949"), "text/html; charset=ks_c_5601-1987") == ("힣", "euc-kr")
    assert charset_of(b"<meta charset=utf-16>ok")[0] == "utf-8"


# ---- the tables of the WHATWG encoding standard


def every_sequence(charset: str) -> list[bytes]:
    high = range(0xA1, 0xFF)
    if charset == "iso-2022-jp":
        return [b"\x1b$B" + bytes([a, b]) + b"\x1b(B" for a in range(0x21, 0x7F) for b in range(0x21, 0x7F)]
    if charset == "euc-jp":
        pairs = [bytes([a, b]) for a in high for b in high]
        return [b"\x8f" + pair for pair in pairs] + pairs
    return [bytes([a, b]) for a in range(0x81, 0xFF) for b in range(0x40, 0xFF) if b != 0x7F]


@pytest.mark.parametrize(
    ("charset", "characters", "digest"),
    [
        ("big5", 18590, "ab08ade293c35517"),
        ("euc-kr", 17048, "f49bf642f090c1ce"),
        ("gbk", 23940, "85373408efe24c65"),
        ("gb18030", 23940, "85373408efe24c65"),
        ("shift_jis", 7724, "e7ea4b06943d4e4c"),
        ("euc-jp", 13403, "f35e776a085be86a"),
        ("iso-2022-jp", 7336, "a217d8755e0832bc"),
    ],
)
def test_every_character_of_a_charset_is_the_one_of_the_standard(charset: str, characters: int, digest: str) -> None:
    """The digests are of the standard's own index files (May 2026), in the order of the bytes.

    Python's tables differ: euc_jp in 463 (A1C1 is U+FF5E and not U+301C, NEC's and IBM's rows AD and F9-FC), gb18030 in
    20 (A3A0 is U+3000; vertical forms), big5hkscs in 203 (HKSCS-2008 877A-87DF; A145 is U+2027; A3E1 is the euro sign).
    """
    read = [decode(raw, charset) for raw in every_sequence(charset)]
    private = range(0xE000, 0xF8FF) if charset == "shift_jis" else ()  # by a formula, not in the table
    valid = [text for text in read if len(text) == 1 and text != "\ufffd" and ord(text) not in private]
    assert len(valid) == characters
    assert sha256("".join(valid).encode()).hexdigest()[:16] == digest


@pytest.mark.parametrize(
    ("charset", "raw", "text"),
    [
        ("gbk", b"\x80 \xff", "€ \ufffd"),
        ("gb18030", b"\x80\x81\x30\x81\x30", "€\x80"),
        ("big5", b"\xa2A\xa1\xfe\xa4\xa2A", "∕／丐A"),
        ("big5", b"\x80\xff\x81\xfeA\x81A", "\ufffd\ufffd\ufffdA\ufffdA"),
        ("euc-jp", b"\x8f\xa2\xb7\x8e\xb1\xad\xa1", "～ｱ①"),
        ("euc-jp", b"\xff\xa9\xa1\xa4\xa2", "\ufffd\ufffdあ"),
        ("euc-jp", b"\x8f\xa1\xa1\xa4\xa2", "\ufffdあ"),
        ("iso-2022-jp", b'a\x1b$B$"-!\x1b(Jb\\~\x1b(I1\x1b(Bc\\', "aあ①b¥‾ｱc\\"),
        ("iso-2022-jp", b'\xe4 \x1b$@$"', "\ufffd あ"),
        ("shift_jis", b"\x80\xa0\xfd\x87\x40\xf0\x40", "\x80\ufffd\ufffd①\ue000"),
        ("windows-1252", b"\x81\x80", "\x81€"),
        ("windows-1253", b"\x81\xaa", "\x81\ufffd"),
        ("windows-1255", b"\xca", "\u05ba"),
        ("koi8-u", b"\xae\xbe", "ўЎ"),
    ],
)
def test_odd_bytes_are_read_as_in_browsers(charset: str, raw: bytes, text: str) -> None:
    assert decode(raw, charset) == text


@pytest.mark.parametrize(
    ("charset", "char", "raw"),
    [
        ("gbk", "€", b"\x80"),
        ("gb18030", "€", b"\xa2\xe3"),
        ("gbk", "😀", None),
        ("gb18030", "😀", b"\x94\x39\xfc\x36"),
        ("big5", "十", b"\xa4\x51"),
        ("big5", "㡵", None),
        ("shift_jis", "纊", b"\xfa\x5c"),
        ("euc-jp", "纊", b"\xf9\xa1"),
        ("euc-jp", "丂", None),
        ("euc-jp", "ｱ", b"\x8e\xb1"),
        ("shift_jis", "¥", b"\\"),
        ("windows-1252", "ä", b"\xe4"),
        ("windows-1252", "Ж", None),
        ("koi8-u", "ў", b"\xae"),
    ],
)
def test_a_character_is_written_as_browsers_write_it(charset: str, char: str, raw: bytes | None) -> None:
    assert encode(char, charset) == raw


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
        assert charset == REPLACEMENT or codecs.lookup(CODECS.get(charset, charset))


@given(st.binary(max_size=400), st.one_of(st.sampled_from(sorted(_LABELS)), st.text(max_size=20)))
def test_no_bytes_and_no_label_raise(body: bytes, label: str) -> None:
    markup, charset = to_utf8(body, f"text/html; charset={label}")
    assert charset in CODECS or charset in ("utf-8", REPLACEMENT)
    if charset != "utf-8":
        markup.decode()


@pytest.mark.parametrize(
    "label", ["hz-gb-2312", "ISO-2022-KR", "csiso2022kr", "iso-2022-cn", "iso-2022-cn-ext", "replacement"]
)
def test_charsets_that_no_browser_reads_hide_the_page(label: str) -> None:
    assert read(b"~{<:Ky2;~}<script>", f"text/html; charset={label}") == ("\ufffd", "replacement")
    assert charset_of(f"<meta charset={label}>".encode())[0] == "replacement"
    assert read(b"", f"text/html; charset={label}")[0] == ""


@pytest.mark.quick(10)
@pytest.mark.parametrize("charset", sorted(CODECS))
def test_bytes_that_mean_nothing_are_read_in_time(charset: str) -> None:
    """Ten megabytes of them took twenty seconds, in the process that fetches for everybody."""
    for odd in (b"\xff", b"\x80", b"\xfe\xfe", b"\x81a", b"\x8f\xa1\xa1", b"\x00\xd8", b"\x1b$B"):
        body = odd * (400_000 // len(odd))
        began = time.process_time()
        decode(body, charset)
        assert time.process_time() - began < 0.3, odd


def test_a_few_of_them_are_read_as_before_however_long_the_page_is() -> None:
    assert decode(b"\x80" + b"a" * 100_000, "gbk") == "\u20ac" + "a" * 100_000
    assert decode(b"\x81" * 30_000, "windows-1252") == "\x81" * 30_000
