"""The lines of a robots.txt that are for one robot. All others are dropped here, and never become objects.

Anybody may send 500 KiB of lines, of each of his hosts: the loop here is what reading them costs, some 0.5 µs a line.
"""

import codecs
import re
from collections.abc import Iterator
from itertools import compress
from typing import NamedTuple

MAX_BYTES = 500 * 1024
"""Bytes of robots.txt that are read, as RFC 9309 asks at least; the rest is ignored."""

_SPELLINGS = {
    "user-agent": "agent", "useragent": "agent", "user agent": "agent",
    "allow": "allow",
    "disallow": "disallow", "dissallow": "disallow", "dissalow": "disallow", "disalow": "disallow",
    "diasllow": "disallow", "disallaw": "disallow",
    "sitemap": "sitemap", "sitemaps": "sitemap", "site-map": "sitemap",
    "crawl-delay": "delay", "crawl delay": "delay", "request-rate": "rate", "request rate": "rate",
}  # fmt: skip
_USUAL = _SPELLINGS | {
    "User-agent": "agent", "User-Agent": "agent",
    "Allow": "allow",
    "Disallow": "disallow",
    "Sitemap": "sitemap",
    "Crawl-delay": "delay", "Crawl-Delay": "delay",
}  # fmt: skip
_MAY_BE_SITEMAP = re.compile(r"\s*+site", re.IGNORECASE).match
_RULES = ("disallow", "allow")
_PACES = ("delay", "rate")
_MAY_BE_ONE = re.compile(
    r"\s*+(?:user[-\s]*agent|allow|di[as]+l+[ao]w|site-?maps?|crawl[-\s]+delay|request[-\s]+rate)(?![^\s:#])",
    re.IGNORECASE,
).match
_TOKEN = re.compile(r"[A-Za-z_-][A-Za-z0-9_-]*").match
_COMPATIBLE = re.compile(r"\bcompatible;\s*([A-Za-z_-][A-Za-z0-9_-]*)", re.IGNORECASE).search


class Line(NamedTuple):
    """A rule of a file with few of them."""

    kind: str
    value: str
    number: int
    text: str


class Lines(NamedTuple):
    """What a robots.txt says to one robot, the rules as columns.

    50,000 objects would keep Python's garbage collector busy longer than it takes to read them.
    """

    kinds: list[str]
    values: list[str]
    numbers: list[int]
    delays: list[str]
    rates: list[str]

    def cleaned(self) -> "Lines":
        """The same without comments and blanks, and without lines that have no value."""
        values = [_cleaned(value) if "#" in value else value.strip() for value in self.values]
        delays, rates = list(map(_cleaned, self.delays)), list(map(_cleaned, self.rates))
        if all(values):
            return Lines(self.kinds, values, self.numbers, delays, rates)
        kinds, numbers = list(compress(self.kinds, values)), list(compress(self.numbers, values))
        return Lines(kinds, list(filter(None, values)), numbers, delays, rates)


def decoded(body: bytes) -> str:
    if len(body) > MAX_BYTES:
        body = body[:MAX_BYTES]
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]  # half a rule may forbid everything
    utf16 = body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = body.decode("utf-16" if utf16 else "utf-8-sig", errors="replace").replace("\0", "")
    return "" if text.lstrip()[:1] == "<" else text  # a web page instead of rules


def lines_for(text: str, token: str) -> Lines:
    """All groups of the robot as one, or those of `*` if none names it. Lines without a value are left out.

    Only a rule ends the list of agents; a delay is for the agents above it.
    """
    kinds = dict(_USUAL)
    named = ours = everyones = has_rules = False
    for_us, for_everyone = Lines([], [], [], [], []), Lines([], [], [], [], [])
    readers: tuple[Lines, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if not line:
            continue
        name, _, value = line.partition(":")
        kind = kinds.get(name)
        if kind is None:
            if not _MAY_BE_ONE(line):
                continue
            kind, value = _directive(line, kinds)
        if kind == "agent":
            agent = _agent(value, token)
            named = named or agent == token
            ours = (ours and not has_rules) or agent == token
            everyones = (everyones and not has_rules) or agent == "*"
            has_rules = False
            readers = (for_us,) * ours + (for_everyone,) * everyones
        elif kind in _RULES:
            has_rules = True
            for lines in readers:
                lines.kinds.append(kind)
                lines.values.append(value)
                lines.numbers.append(number)
        elif kind in _PACES:
            for lines in readers:
                (lines.delays if kind == "delay" else lines.rates).append(value)
    return (for_us if named else for_everyone).cleaned()


def sitemaps_of(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if _MAY_BE_SITEMAP(line):
            kind, value = _directive(line, {})
            if kind == "sitemap":
                yield value.strip()


def token_of(user_agent: str) -> str:
    found = _TOKEN(user_agent.strip())
    if found and found.group().lower() == "mozilla":
        named = _COMPATIBLE(user_agent)
        return named.group(1) if named else found.group()
    return found.group() if found else "*"


def _cleaned(value: str) -> str:
    return value.partition("#")[0].strip()


def _agent(value: str, token: str) -> str:
    """The product token of an agent line, which may carry a version or be a whole user agent.

    Empty for all that are neither `token` nor `*`: there may be 40,000 of them.
    """
    if "*" not in value and token not in value.lower():
        return ""
    value = _cleaned(value)
    if value.split(maxsplit=1)[:1] == ["*"]:
        return "*"
    named = token_of(value).lower()
    return named if named == token != "*" else ""


def _directive(line: str, kinds: dict[str, str]) -> tuple[str, str]:
    """Parse one line as generously as protego does: "User agent foo" and some misspellings count.

    Other records are none: they must not interfere with the ones that are (RFC 9309, section 2.2.4). How a name is
    spelled before its colon is remembered in `kinds`.
    """
    content = line.partition("#")[0]
    name, colon, rest = content.partition(":")
    kind = _SPELLINGS.get(name.strip().lower()) if colon else None
    if kind:
        kinds[name] = kind
        return kind, rest
    if not colon or (rest and not rest[0].isspace()):
        words = content.split()
        for count in (1, 2):
            kind = _SPELLINGS.get(" ".join(words[:count]).lower())
            if kind:
                return kind, " ".join(words[count:])
    return "", ""
