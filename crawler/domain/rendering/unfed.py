"""Pages whose scripts, or the data these ask their site for, did not come: what is shown then is not the page.

A page may always be refused something: most applications ask who is there. So a refusal counts only if the page was
shown without it before, and if words are gone. Where these are few, they may be an edit, and what brought nothing may
have nothing to do with it (a counter of visits): then it counts for two crawls in a row, and no longer. So does a
script that is not there (404), because a new release may be on its way, or somebody has removed it, and a web page that
answers who asks for JSON: the site may be down for a while, or have another address for it.
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
_ABSENT = Reason.PROTOCOL
_LAND, _SHORTEST_NAME = 2, 3
"""Letters of a country's ending, and of what stands before it where names are given out below (`co.uk`, `com.au`)."""


class Unfed(NamedTuple):
    """A request for data without an answer that a script could use, or one for a script."""

    path: str
    reason: Reason

    @property
    def may_pass(self) -> bool:
        """Whether it may be there in a moment. A refusal lasts, and so does that nothing is there."""
        return self.reason not in (Reason.FORBIDDEN, _ABSENT)


def wants_data(url: str, accept: str) -> bool:
    """Whether a request can do nothing with a web page. One that says nothing may want a part of one."""
    accepted = accept.lower()
    return ("json" in accepted and "html" not in accepted) or url.partition("?")[0].endswith(".json")


def unfed(
    path: str, status: int, *, is_script: bool = False, wants_data: bool = False, is_page: bool = False
) -> Unfed | None:
    """None if the answer is one. That there is no such data (404) is an answer, but no script comes of it. Many servers
    of applications say so by their first page, with 200."""
    if status >= 500:
        return Unfed(path, Reason.HTTP_5XX)
    if status == _TOO_MANY:
        return Unfed(path, Reason.RATE_LIMITED)
    if status in _REFUSED:
        return Unfed(path, Reason.FORBIDDEN)
    is_absent = (is_script and status >= 400) or (is_page and (is_script or (wants_data and status < 400)))
    return Unfed(path, _ABSENT) if is_absent else None


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
    if lost <= 0 or (is_little and crawls >= MOST_CRAWLS):
        return None
    return unusual(_still_missed(found, crawls), usual)


def strayed(found: Iterable[Unfed], usual: Collection[str], crawls: int = 0) -> Unfed | None:
    """For want of what the scripts of a page led elsewhere: it has not moved. Not for want of what was refused, because
    scripts send on who may not see a page; nor of what they did not wait for."""
    heard = (one for one in found if one.reason not in (Reason.FORBIDDEN, Reason.TIMEOUT))
    return unusual(_still_missed(heard, crawls), usual)


def comes_again(found: Iterable[Unfed], usual: Collection[str]) -> bool:
    """Whether a page is worth another visit: what failed now may be there in a moment."""
    return unusual((one for one in found if one.may_pass), usual) is not None


def _still_missed(found: Iterable[Unfed], crawls: int) -> Iterable[Unfed]:
    return (one for one in found if one.reason is not _ABSENT or crawls < MOST_CRAWLS)


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
