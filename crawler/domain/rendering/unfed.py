"""Pages whose scripts, or the data these ask their site for, did not come: what is shown then is not the page.

A page may always be refused something: most applications ask who is there. So a refusal counts only if the page was
shown without it before, and if words are gone. Where these are few, they may be an edit, and what brought nothing may
have nothing to do with it (a counter of visits): then it counts for two crawls in a row, and no longer.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from crawler.domain.reasons import Reason

LEAST_LOST = 0.2
"""The share of its words that a page has lost when its data is missed."""
FEWEST_LOST = 3
MOST_CRAWLS = 2
"""In a row, in which a page that has lost less than that is not compared."""
MOST_NOTED = 20
_REFUSED = frozenset({401, 403})
_TOO_MANY = 429
_LAND, _SHORTEST_NAME = 2, 3
"""Letters of a country's ending, and of what stands before it where names are given out below (`co.uk`, `com.au`)."""


class Unfed(NamedTuple):
    """A request for data without an answer that a script could use, or one for a script."""

    path: str
    reason: Reason


def unfed(path: str, status: int) -> Unfed | None:
    """None if the answer is one. That something is not there (404) is an answer."""
    if status >= 500:
        return Unfed(path, Reason.HTTP_5XX)
    if status == _TOO_MANY:
        return Unfed(path, Reason.RATE_LIMITED)
    return Unfed(path, Reason.FORBIDDEN) if status in _REFUSED else None


def noted(found: Iterable[Unfed]) -> list[str]:
    """What is kept with a page: its usual refusals."""
    return sorted({one.path for one in found})[:MOST_NOTED]


def unusual(found: Iterable[Unfed], usual: Collection[str]) -> Unfed | None:
    """What brought nothing this time. `usual`: paths that got no data either when the page was shown before."""
    return next((one for one in found if one.path not in usual), None)


def missed(
    found: Iterable[Unfed], usual: Collection[str], words: int, words_before: int, crawls: int = 0
) -> Unfed | None:
    """What keeps a page from being what it was. `crawls`: in how many before, in a row, something did."""
    lost = words_before - words
    is_little = lost < FEWEST_LOST or lost < LEAST_LOST * words_before
    return None if lost <= 0 or (is_little and crawls >= MOST_CRAWLS) else unusual(found, usual)


def comes_again(found: Iterable[Unfed], usual: Collection[str]) -> bool:
    """Whether a page is worth another visit: what failed now may be there in a moment. A refusal lasts."""
    return unusual((one for one in found if one.reason is not Reason.FORBIDDEN), usual) is not None


def belongs_to(host: str, site: str) -> bool:
    """Whether a host is that of a site, or one beside or below it: `api.example.org` of `www.example.org` and of
    `shop.example.org`."""
    home = _home(site)
    return host == home or host.endswith(f".{home}")


def _home(site: str) -> str:
    """The name that a site shares with the hosts beside it. Below some names (`co.uk`) anybody gets one."""
    own = site.removeprefix("www.")
    above = own.partition(".")[2]
    name, _, land = above.rpartition(".")
    is_for_all = len(land) == _LAND and len(name) <= _SHORTEST_NAME
    return own if not name or is_for_all or land.isdigit() else above
