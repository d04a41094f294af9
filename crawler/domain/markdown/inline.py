"""What stands inside a line of markdown: text that means itself, code, images, addresses."""

import re
from collections.abc import Mapping

from crawler.domain.urls import url as urls

Attributes = Mapping[str, str | None]

MAX_ALT = 500
# Each of these would be read as markup: code, emphasis, a link, a tag, a character by name, a line struck out.
_SUSPECT = re.compile(r"[\\`*\[\]_<&~]").search
_SPECIAL = re.compile(r"[\\`*\[\]]|(?<![^\W_])_|_(?![^\W_])|<(?=[a-zA-Z/!?])|&(?=#?[a-zA-Z0-9]{1,31};)|~(?=~)")
# At the beginning of a line: a heading, an item, a quote, a rule, a fence, a table.
_OPENING = re.compile(r"#{1,6}(?=\s|$)|[-+](?=\s|$)|>|[-=][-= ]*$|~~~|\|")
_NUMBERED = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_BACKTICKS = re.compile(r"`+")
_NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1f\ud800-\udfff]")
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:?)[- ]([A-Za-z0-9_+#.-]{1,30})(?=\s|$)"
)
_NO_LANGUAGE = frozenset({"default", "none", "notranslate", "plain", "text"})
# What a lazy page says instead of `src`, best first.
_LAZY = ("data-src", "data-lazy-src", "data-original", "data-lazy", "data-image")
_LAZY_SETS = ("data-srcset", "data-lazy-srcset", "srcset")
_URL_ESCAPES = str.maketrans({"(": "%28", ")": "%29", " ": "%20", "<": "%3C", ">": "%3E", "\\": "%5C"})
_OTHER_SCHEMES = ("mailto:", "tel:", "sms:")


def clean(text: str) -> str:
    """Text without control characters, in single spaces; a space at either end stays, it parts words."""
    if not text or text.isspace():  # half of all text only indents the markup
        return " " if text else ""
    words = " ".join(text.split())
    if not words.isprintable():
        words = _NO_TEXT.sub("", words)
    return f"{' ' if text[0].isspace() else ''}{words}{' ' if text[-1].isspace() else ''}"


def escape(text: str) -> str:
    """Cleaned text with markdown's own characters escaped."""
    return _SPECIAL.sub(r"\\\g<0>", text) if _SUSPECT(text) else text


def escape_line(line: str) -> str:
    """A line of a paragraph must not open anything else."""
    if line[:1].isdigit():
        return _NUMBERED.sub(r"\1\\\2", line, count=1) if _NUMBERED.match(line) else line
    return f"\\{line}" if _OPENING.match(line) else line


def code_span(text: str) -> str:
    text = clean(text).strip()
    if not text:
        return ""
    fence = "`" * _free_run(text, 1)
    return f"{fence} {text} {fence}" if text[0] == "`" or text[-1] == "`" else f"{fence}{text}{fence}"


def code_block(text: str, language: str = "") -> list[str]:
    """Its fence is longer than any inside it."""
    lines = _NO_TEXT.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        del lines[0]
    if not lines:
        return []
    fence = "`" * _free_run(text, 3)
    return [fence + language, *lines, fence]


def _free_run(text: str, least: int) -> int:
    """The shortest run of backticks that is not in the text."""
    runs = {len(run) for run in _BACKTICKS.findall(text)} if "`" in text else set()
    if least == 1:
        return next(length for length in range(1, len(runs) + 2) if length not in runs)
    return max(least, *(run + 1 for run in runs)) if runs else least


def language_of(*classes: str | None) -> str:
    """The language of a code block: the first that the class attributes around it name."""
    for value in classes:
        found = _LANGUAGE.search(value) if value else None
        if found and found[1].lower() not in _NO_LANGUAGE:
            return found[1].lower()
    return ""


def image(attributes: Attributes, base: str) -> str:
    """`![alt](absolute address)`, or nothing when the page keeps the address to itself."""
    address = _image_address(attributes, base)
    if not address:
        return ""
    alt = clean((attributes.get("alt") or "")[: 2 * MAX_ALT]).strip()[:MAX_ALT]
    return f"![{escape(alt)}]({address})"


def _image_address(attributes: Attributes, base: str) -> str:
    for name in _LAZY:
        address = _http(attributes.get(name), base)
        if address:
            return address
    address = _http(attributes.get("src"), base)
    if address:
        return address
    for name in _LAZY_SETS:
        address = _http(_largest(attributes.get(name) or ""), base)
        if address:
            return address
    return ""


def _largest(srcset: str) -> str:
    """The address with the greatest width or density; candidates are parted by a comma and a space."""
    best, most = "", -1.0
    for candidate in re.split(r",\s+", srcset[:20_000]):
        address, _, size = candidate.strip().strip(",").partition(" ")
        number = size.strip().rstrip("wxh")
        weight = float(number) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", number) else 0.0
        if address and weight > most:
            best, most = address, weight
    return best


def link_address(href: str | None, base: str) -> str:
    """Absolute, with its fragment; nothing for what cannot be opened outside the page."""
    raw = (href or "").strip()
    if raw.lower().startswith(_OTHER_SCHEMES):
        return clean(raw).translate(_URL_ESCAPES) if len(raw) <= urls.MAX_LENGTH else ""
    page, hash_sign, fragment = raw.partition("#")
    address = _http(page or base, base) if raw else ""
    if not address or not fragment or len(fragment) > urls.MAX_LENGTH:
        return address
    return address + hash_sign + "%20".join(_NO_TEXT.sub("", fragment).split()).translate(_URL_ESCAPES)


def _http(raw: str | None, base: str) -> str:
    if not raw or raw.lstrip()[:5].lower() == "data:":
        return ""
    url = urls.read(raw.strip(), base)
    return url.href.translate(_URL_ESCAPES) if isinstance(url, urls.Url) else ""
