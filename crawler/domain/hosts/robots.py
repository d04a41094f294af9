"""robots.txt rules (RFC 9309): parse bytes, say whether a URL is allowed, by which line, and the crawl delay.

Which group is ours is decided here, what it says of a URL by protego; the line that decided is found here again.
Fetching and caching: `handlers/engine/robots_and_backoff.py`.
"""

import codecs
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple, Self

from protego import Protego

from crawler.domain.hosts.politeness import MAX_CRAWL_DELAY_SECONDS
from crawler.domain.reasons import Reason

MAX_BYTES = 500 * 1024
"""Bytes of robots.txt that are read, as RFC 9309 asks at least; the rest is ignored."""
MAX_SITEMAPS = 100

_MAX_URL = 2000
MAX_WILDCARDS = 300
"""Rules with a `*` inside that are obeyed to the letter: all of them are tried on each link of each page, 2 µs each."""
_MAX_EXPLAINED = 1000
"""Most rules among which the deciding line is looked for: it takes some 5 µs a rule, and 20 µs the first time."""
_SPELLINGS = {
    "user-agent": "agent", "useragent": "agent", "user agent": "agent",
    "allow": "allow",
    "disallow": "disallow", "dissallow": "disallow", "dissalow": "disallow", "disalow": "disallow",
    "diasllow": "disallow", "disallaw": "disallow",
    "sitemap": "sitemap", "sitemaps": "sitemap", "site-map": "sitemap",
    "crawl-delay": "pace", "crawl delay": "pace", "request-rate": "pace", "request rate": "pace",
}  # fmt: skip
_RULES = ("allow", "disallow")
_TOKEN = re.compile(r"[A-Za-z_-][A-Za-z0-9_-]*").match
_COMPATIBLE = re.compile(r"\bcompatible;\s*([A-Za-z_-][A-Za-z0-9_-]*)", re.IGNORECASE).search


class RobotsPolicy(StrEnum):
    """What the response for robots.txt means: parse it, allow all, or hold the host."""

    PARSE = "parse"
    ALLOW_ALL = "allow_all"
    HOLD = "hold"
    """Request nothing of the host until robots.txt can be read."""


def robots_policy(status: int, failure: Reason | None) -> RobotsPolicy:
    if failure is Reason.TOO_LARGE:
        return RobotsPolicy.PARSE  # its first 500 KiB count
    if failure in (Reason.REDIRECT_LOOP, Reason.EGRESS):
        # "Unavailable" in the RFC's words. If the host may not be dialled, its pages fail with `egress` too.
        return RobotsPolicy.ALLOW_ALL
    if failure is not None or status == 429 or status < 200 or status >= 500:
        return RobotsPolicy.HOLD
    return RobotsPolicy.PARSE if status < 300 else RobotsPolicy.ALLOW_ALL


@lru_cache(maxsize=256)
def product_token(user_agent: str) -> str:
    """The name by which robots.txt addresses us: `crawler` of `crawler/0.1 (+https://…)`."""
    return _token(user_agent)


def _token(user_agent: str) -> str:
    found = _TOKEN(user_agent.strip())
    if found and found.group().lower() == "mozilla":
        named = _COMPATIBLE(user_agent)
        return named.group(1) if named else found.group()
    return found.group() if found else "*"


class _Line(NamedTuple):
    number: int
    text: str
    kind: str
    value: str


class _Group(NamedTuple):
    """The rules that apply to one agent."""

    protego: Protego
    rules: tuple[_Line, ...]


@dataclass(frozen=True)
class Robots:
    """The robots.txt rules of one host."""

    lines: tuple[_Line, ...]
    _groups: dict[str, _Group] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def parse(cls, body: bytes) -> Self:
        text = _decoded(body)
        if text.lstrip()[:1] == "<":
            text = ""  # a web page instead of rules
        lines = (_directive(number, line) for number, line in enumerate(text.splitlines(), 1))
        return cls(tuple(line for line in lines if line))

    @property
    def sitemaps(self) -> tuple[str, ...]:
        named = (line.value for line in self.lines if line.kind == "sitemap" and 0 < len(line.value) <= _MAX_URL)
        return tuple(dict.fromkeys(named))[:MAX_SITEMAPS]

    def permits(self, url: str, agent: str) -> bool:
        """Whether the URL is allowed, without the line: fast, for each request."""
        return bool(self._group(product_token(agent)).protego.can_fetch(url, "*"))

    def allows(self, url: str, agent: str, *, hurried: bool = False) -> tuple[bool, str]:
        """Whether the URL is allowed, and the line that decided, for display; `hurried`: without a search for it."""
        allowed = self.permits(url, agent)
        rules = self._group(product_token(agent)).rules
        if hurried or len(rules) > _MAX_EXPLAINED:
            return allowed, f"one of {len(rules)} rules"
        deciding = _deciding(rules, "allow" if allowed else "disallow", url)
        if deciding is None:
            return allowed, "no rule for this URL"
        return allowed, f"line {deciding.number}: {_printable(deciding.text)}"

    def crawl_delay(self, agent: str) -> float | None:
        """Seconds between requests that the host asks for, by Crawl-delay or Request-rate; at most a minute."""
        protego = self._group(product_token(agent)).protego
        rate = protego.request_rate("*")
        asked = [protego.crawl_delay("*"), rate.seconds / rate.requests if rate and rate.requests > 0 else None]
        delays = [delay for delay in asked if delay is not None and delay >= 0 and math.isfinite(delay)]
        return min(max(delays), MAX_CRAWL_DELAY_SECONDS) if delays else None

    def _group(self, token: str) -> _Group:
        group = self._groups.get(token)
        if group is None:
            group = self._groups[token] = _group_for(self.lines, token.lower())
        return group


def _decoded(body: bytes) -> str:
    if len(body) > MAX_BYTES:
        body = body[:MAX_BYTES]
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]  # half a rule may forbid everything
    utf16 = body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return body.decode("utf-16" if utf16 else "utf-8-sig", errors="replace").replace("\0", "")


def _directive(number: int, line: str) -> _Line | None:
    """Parse one line as generously as protego does: "User agent foo" and some misspellings count.

    Other records are none: they must not interfere with the ones that are (RFC 9309, section 2.2.4).
    """
    content = line.partition("#")[0].strip()
    name, colon, rest = content.partition(":")
    kind = _SPELLINGS.get(name.strip().lower()) if colon else None
    if kind:
        return _Line(number, line.strip(), kind, rest.strip())
    if not colon or (rest and not rest[0].isspace()):
        words = content.split()
        for count in (1, 2):
            kind = _SPELLINGS.get(" ".join(words[:count]).lower())
            if kind:
                return _Line(number, line.strip(), kind, " ".join(words[count:]))
    return None


def _group_for(lines: tuple[_Line, ...], token: str) -> _Group:
    """What applies to `token`, and nothing else: protego is handed one group.

    It takes "craw" for our name and a version for another one, and it stores each rule once per agent above it: 66 KB
    of agents and rules cost it 5 seconds and 290 MB, and robots.txt may have 500 KiB.
    """
    named = {_agent(line) for line in lines if line.kind == "agent"}
    ours = tuple(_few_wildcards(_lines_of(lines, token if token in named else "*")))
    text = "\n".join(("User-agent: *", *(line.text for line in ours)))
    return _Group(Protego.parse(text), tuple(line for line in ours if line.kind in _RULES))


def _few_wildcards(lines: Iterable[_Line]) -> Iterator[_Line]:
    """The same rules, but of too many wildcards the last forbid more than they say, and allow nothing."""
    wild = 0
    for line in lines:
        inside = line.kind in _RULES and "*" in line.value.rstrip("*")
        wild += inside
        if not inside or wild <= MAX_WILDCARDS:
            yield line
        elif line.kind == "disallow":
            start = line.value.partition("*")[0]
            yield line._replace(text=f"Disallow: {start or '/'}", value=start or "/")


def _agent(line: _Line) -> str:
    """The product token of an agent line, which may carry a version or be a whole user agent; empty if it has none."""
    if line.value.split()[:1] == ["*"]:
        return "*"
    named = _token(line.value).lower()
    return named if named != "*" else ""


def _lines_of(lines: tuple[_Line, ...], agent: str) -> tuple[_Line, ...]:
    """All groups of the agent as one. Only a rule ends the list of agents; a delay is for the agents above it."""
    found = []
    ours, has_rules = False, False
    for line in lines:
        if line.kind == "agent":
            ours = (ours and not has_rules) or _agent(line) == agent
            has_rules = False
        elif line.kind in _RULES:
            has_rules = True
        if ours and line.value and line.kind in (*_RULES, "pace"):
            found.append(line)
    return tuple(found)


def _deciding(rules: tuple[_Line, ...], kind: str, url: str) -> _Line | None:
    """The most specific matching rule of this kind (allow or disallow). The deciding rule is always of that kind."""
    best = None
    for rule in rules:
        if rule.kind != kind or not _matches(rule, url):
            continue
        if best is None or not _alone(best.value, rule.value).can_fetch(url, "*"):
            best = rule
    return best


def _matches(rule: _Line, url: str) -> bool:
    if rule.kind == "allow":
        return bool(_alone(rule.value, "/").can_fetch(url, "*"))
    return not _alone("", rule.value).can_fetch(url, "*")


@lru_cache(maxsize=4 * _MAX_EXPLAINED)
def _alone(allow: str, disallow: str) -> Protego:
    """A Protego with these two rules only. If both have the same length, allow wins."""
    return Protego.parse(f"User-agent: *\nAllow: {allow}\nDisallow: {disallow}")


def _printable(text: str) -> str:
    """A line of somebody else's file, made safe for terminals and logs."""
    return "".join(char if char.isprintable() else "?" for char in text[:200])
