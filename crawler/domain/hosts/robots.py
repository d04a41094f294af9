"""robots.txt rules (RFC 9309): parse bytes, say whether a URL is allowed, by which line, and the crawl delay.

Which lines are ours: `robots_lines.py`. What they say of a URL: `robots_rules.py`.
Fetching and caching: `handlers/engine/robots_and_backoff.py`.
"""

import math
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from protego import Protego

from crawler.domain.hosts.politeness import MAX_CRAWL_DELAY_SECONDS
from crawler.domain.hosts.robots_lines import MAX_BYTES, Line, Lines, decoded, lines_for, sitemaps_of, token_of
from crawler.domain.hosts.robots_rules import Rules, few_wildcards, path_of
from crawler.domain.reasons import Reason

MAX_SITEMAPS = 100

_MAX_URL = 2000
_MAX_EXPLAINED = 1000
"""Most rules among which the deciding line is looked for: it takes some 5 µs a rule. Of more, no line is kept."""
_MAX_PACES = 1000
"""The last of so many delays that can be read is the one."""
_BYTES_OF_LINE = 500


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
    return token_of(user_agent)


class _Group(NamedTuple):
    """What applies to one agent."""

    token: str
    rules: Rules
    number: int
    lines: tuple[Line, ...]
    """Of few rules, to tell the one that decided."""
    delay: float | None
    size: int


@dataclass(frozen=True)
class Robots:
    """The robots.txt rules of one host. Kept are its bytes and what they say to the agent that asked last."""

    body: bytes
    _last: list[_Group] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def parse(cls, body: bytes) -> Self:
        return cls(body[: MAX_BYTES + 1])

    @property
    def sitemaps(self) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for url in sitemaps_of(decoded(self.body)):
            if 0 < len(url) <= _MAX_URL:
                found[url] = None
            if len(found) >= MAX_SITEMAPS:
                break
        return tuple(found)

    def permits(self, url: str, agent: str) -> bool:
        """Whether the URL is allowed, without the line: fast, for each request."""
        return _is_robots(url) or _allows(self._group(agent).rules.rank(path_of(url)))

    def allows(self, url: str, agent: str, *, hurried: bool = False) -> tuple[bool, str]:
        """Whether the URL is allowed, and the line that decided, for display; `hurried`: without a search for it."""
        group = self._group(agent)
        path = path_of(url)
        rank = -1 if _is_robots(url) else group.rules.rank(path)
        allowed = _allows(rank)
        if hurried or len(group.lines) < group.number:
            return allowed, f"one of {group.number} rules"
        deciding = next((line for line in group.lines if Rules([line.kind], [line.value]).rank(path) == rank), None)
        if rank < 0 or deciding is None:
            return allowed, "no rule for this URL"
        return allowed, f"line {deciding.number}: {_printable(deciding.text)}"

    def crawl_delay(self, agent: str) -> float | None:
        """Seconds between requests that the host asks for, by Crawl-delay or Request-rate; at most a minute."""
        return self._group(agent).delay

    def size(self, agent: str) -> int:
        """Bytes of memory that it takes to answer this agent, about."""
        return len(self.body) + self._group(agent).size

    def _group(self, agent: str) -> _Group:
        token = product_token(agent).lower()
        if not self._last or self._last[0].token != token:
            self._last[:] = [_group_for(decoded(self.body), token)]
        return self._last[0]


def _group_for(text: str, token: str) -> _Group:
    ours = lines_for(text, token)
    if "*" in text:
        ours = few_wildcards(ours)
    lines = _kept(ours, text) if len(ours.values) <= _MAX_EXPLAINED else ()
    rules = Rules(ours.kinds, ours.values)
    size = rules.size + sum(_BYTES_OF_LINE + 2 * len(line.text) for line in lines)
    return _Group(token, rules, len(ours.values), lines, _delay(ours), size)


def _kept(ours: Lines, text: str) -> tuple[Line, ...]:
    all_lines = text.splitlines() if ours.values else []
    rules = zip(ours.kinds, ours.values, ours.numbers, strict=True)
    return tuple(Line(kind, value, number, all_lines[number - 1].strip()) for kind, value, number in rules)


def _delay(ours: Lines) -> float | None:
    """Protego reads them: it knows times of the day and units."""
    delays = [f"Crawl-delay: {value}" for value in ours.delays[-_MAX_PACES:]]
    rates = [f"Request-rate: {value}" for value in ours.rates[-_MAX_PACES:]]
    if not delays and not rates:
        return None
    protego = Protego.parse("\n".join(("User-agent: *", *delays, *rates)))
    rate = protego.request_rate("*")
    asked = [protego.crawl_delay("*"), rate.seconds / rate.requests if rate and rate.requests > 0 else None]
    found = [delay for delay in asked if delay is not None and delay >= 0 and math.isfinite(delay)]
    return min(max(found), MAX_CRAWL_DELAY_SECONDS) if found else None


def _allows(rank: int) -> bool:
    return rank < 0 or rank % 2 == 1


def _is_robots(url: str) -> bool:
    """Whether it is robots.txt itself, which is always allowed."""
    return "/robots.txt" in url and urlsplit(url).path == "/robots.txt"


def _printable(text: str) -> str:
    """A line of somebody else's file, made safe for terminals and logs."""
    return "".join(char if char.isprintable() else "?" for char in text[:200])
