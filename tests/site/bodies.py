"""Answers whose body is odd: too big, compressed, in another charset, of another type, or hostile."""

import gzip
import zlib
from collections.abc import Callable

import brotli
import zstandard

from tests.site.answers import HTML, Answer
from tests.site.pages import document

KILL_MARK = "kill-me"
"""A worker under test may be told to die when it reads this word in a page."""

CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "deflate": zlib.compress,
    "br": lambda data: bytes(brotli.compress(data, quality=5)),
    "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
}

METAS: dict[str, str] = {
    "noindex": '<meta name="robots" content="noindex">',
    "nofollow": '<meta name="ROBOTS" content="NoFollow">',
    "none": '<meta name="robots" content="none">',
    "canonical": '<link rel="canonical" href="{origin}/x/meta/plain">',
    "canonical-away": '<link rel="canonical" href="http://127.0.0.99:1/elsewhere">',
    "base": '<base href="{origin}/x/meta/">',
    "refresh": '<meta http-equiv="refresh" content="0; url={origin}/x/meta/plain">',
    "header": "",
    "plain": "",
}


def big(size: int) -> Answer:
    line = b"<p>All work and no play makes a big page.</p>\n"
    return Answer.html(document("Big", "") + line * (size // len(line)))


def bomb(coding: str, megabytes: int) -> Answer:
    """Megabytes of zeros that travel as a few kilobytes."""
    return _coded(coding, bytes(megabytes * 1_000_000))


def encoded(coding: str) -> Answer:
    return _coded(coding, document(f"Sent as {coding}", f"<h1>Sent as {coding}</h1>"))


def charset(declared: str, actual: str) -> Answer:
    """The header says one encoding, the bytes are another; there is no meta to help."""
    text = "<!doctype html><title>Grüße</title><h1>Grüße aus Köln</h1><p>Ein Café, zwei Brötchen.</p>"
    body = text.encode(actual, errors="replace")
    return Answer(200, (("Content-Type", f"text/html; charset={declared}"),), body)


def typed(content_type: str) -> Answer:
    return Answer(200, (("Content-Type", content_type),), b"%PDF-1.4 not really\n" * 100)


def nul() -> Answer:
    """Bytes no text column takes: NUL, broken UTF-8, lone surrogates."""
    body = b"<title>N\x00l</title><h1>Broken \xff\xfe \xed\xa0\x80 text</h1><p>still \x00 here</p>"
    return Answer(200, (("Content-Type", HTML),), body)


def hostile() -> Answer:
    """What a page may try on whoever shows its title: markup, terminal codes, writing direction, formulas."""
    title = "=1+1 &lt;script&gt;alert(1)&lt;/script&gt; \x1b[2J \u202egnp.exe"
    body = '<h1>"&gt;&lt;svg onload=alert(1)&gt;</h1><a href="javascript:alert(1)">click</a><p>@SUM(A1)</p>'
    raw = f"<!doctype html><title>{title}</title>{body}"
    return Answer.html(raw.encode(), ("Referrer-Policy", "__import__('os')"))


def nested(levels: int) -> Answer:
    return Answer.html(document("Nested", "<div>" * levels + "deep" + "</div>" * levels))


def kill_me() -> Answer:
    return Answer.html(document(KILL_MARK, f"<h1>{KILL_MARK}</h1>"), ("X-Kill-Me", "1"))


def script_app(name: str) -> Answer:
    """A page that is empty until its script has run in a browser."""
    if name == "main.js":
        text = "Made by a script. " * 20
        script = f"document.getElementById('root').innerHTML = '<h1>Made by a script</h1><p>{text}</p>';"
        return Answer.text(script, content_type="text/javascript")
    return Answer.html(document("App", '<div id="root"></div><script src="/x/app/main.js"></script>'))


def meta(kind: str, origin: str) -> Answer:
    links = '<p><a href="plain">plain</a> <a rel="nofollow" href="/x/meta/noindex">not this one</a></p>'
    page = document(f"Meta {kind}", f"<h1>Meta {kind}</h1>{links}", METAS[kind].format(origin=origin))
    headers = (("X-Robots-Tag", "noindex, nofollow"),) if kind == "header" else ()
    return Answer.html(page, *headers)


def _coded(coding: str, body: bytes) -> Answer:
    headers = (("Content-Type", HTML), ("Content-Encoding", coding))
    return Answer(200, headers, CODINGS[coding](body))
