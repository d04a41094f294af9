"""Requests beyond a crawl's pages, made when it has seen them all: which, and in which order."""

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import zip_longest
from types import MappingProxyType
from typing import NamedTuple

from crawler.domain.changes.removals import Removal
from crawler.domain.crawls.frontier import Entry, Kind, Priority, score
from crawler.domain.engine.ledger import UrlKey
from crawler.domain.rendering.url_shapes import url_shape
from crawler.domain.urls.url import Url, digest, read

MOST_MISSING = 500
MOST_MISSING_AT_LIMIT = 20
"""Of a crawl that stopped at `max_pages`: of the pages to which none of its pages links any more."""
MOST_AGAIN = 20
MOST_SAMPLED = 500
"""URLs among which some are chosen that shall be of all kinds."""
_NEVER: Mapping[str, int] = MappingProxyType({})
SEEN = "seen"
"""The outcome of a second look; any other is that of a missing page (`removals`)."""
MOST_ROUNDS = 21
"""How long a missing page is asked for again: by so many crawls, where one in vain counts for several."""
ROUNDS = {Removal.ALIVE: 1, Removal.BLOCKED: 7}
"""What one crawl counts for: an address that answers with no page (a file, a redirect) is asked for by twenty crawls
more, one nobody could tell by three. One that answers with a page needs none: it is a page of the crawl."""


class Purpose(StrEnum):
    MISSING = "missing"
    """What became of a page that the crawl before had and this one did not meet?"""
    AGAIN = "again"
    """What of this page differs by itself, a moment later?"""
    TRIAL = "trial"
    """Does a query parameter tell pages apart?"""


class Probe(NamedTuple):
    key: UrlKey
    url: str
    host: str
    purpose: Purpose
    position: int
    outcome: str | None = None
    """Known without a request."""
    content_hash: bytes | None = None
    rounds: int = 0
    depth: int = 0
    """Links from the seed to the missing page, in the crawl that had it."""


class ProbeTask(NamedTuple):
    """Why a probe is requested, and how deep its page was."""

    normalized_url: str
    """What it is known by: addresses that were taken for one page are fetched one by one."""
    purpose: Purpose
    depth: int = 0
    rendered: bool = False
    """Of a second look: the first was made by a browser, so this one is, too. Of a trial: so are the crawl's pages."""


class UnmetPage(NamedTuple):
    """A page of the crawl before, or one it could not settle, that this crawl has not met."""

    normalized_url: str
    url: str
    depth: int
    content_hash: bytes | None
    rounds: int = 0
    is_linked: bool = False
    """This crawl found a link to it, and had no room for it."""


class ProbeState(NamedTuple):
    planned: int
    queued: int


def probe_entry(probe: Probe) -> Entry:
    """Its digest is not the page's: a page that is seen can be probed."""
    name = digest(f"probe {probe.key.normalized_url}")
    return Entry(name, probe.host, probe.url, 0, score(Priority.PROBE, probe.position), Kind.PROBE)


def choose_second_looks(
    pages: Iterable[tuple[str, str]], looked: Mapping[str, int] = _NEVER, told: Container[str] = ()
) -> list[tuple[str, str]]:
    """A sample of (key, URL) spread over the kinds of URLs, first of those that were looked at least often before.

    Half of it may be pages that the crawl before told as changed (`told`): what differs each time may do so by itself,
    and some of it is learned only if two crawls in a row see that. The same pages and looks give the same sample.
    """
    by_shape: dict[str, list[tuple[str, str]]] = {}
    for key, href in pages:
        if isinstance(url := read(href), Url):
            by_shape.setdefault(url_shape(url), []).append((key, href))
    kinds = [
        sorted(group, key=lambda page: (looked.get(page[0], 0), _shuffled(page)))
        for _, group in sorted(by_shape.items())
    ]
    kinds.sort(key=len, reverse=True)
    found = sorted(_in_turn(kinds), key=lambda page: looked.get(page[0], 0))
    again = [page for page in found if page[0] in told][: MOST_AGAIN // 2]
    return list(dict.fromkeys((*again, *found)))[:MOST_AGAIN]


def sample_of_kinds(urls: Sequence[str]) -> list[str]:
    """A few pages, spread over the kinds of URLs."""
    some = urls[:: -(-len(urls) // MOST_SAMPLED) or 1]
    return [url for _, url in choose_second_looks((url, url) for url in some)]


def _in_turn(groups: Iterable[list[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    for turn in zip_longest(*groups):
        yield from (page for page in turn if page is not None)


def _shuffled(page: tuple[str, str]) -> bytes:
    return hashlib.blake2b(page[0].encode(), digest_size=8).digest()


def host_of(href: str) -> str:
    url = read(href)
    return url.host if isinstance(url, Url) else ""
