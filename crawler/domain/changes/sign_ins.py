"""Which redirects ask to sign in: by the name of where they lead, or because that page has a field for a password.

Where a site has one path for everything (`/index.php?page=login`), the query says which page it is. So a place is an
address with those parameters that all redirects to it share; what they have of their own says where to go on then.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

_NAMES = re.compile(
    r"(?:^|[/.])(?:log-?in|log-?on|sign[-_]?in|sso|oauth2?|auth|authenticate|session/new|wp-login|cas/login)(?:[/.?#]|$)",
    re.IGNORECASE,
)
MOST_PLACES = 50
_BEHIND_PATH = re.compile(r"[?#]")


class SignIns(NamedTuple):
    places: frozenset[str] = frozenset()
    """Addresses of pages with a field for a password, as `shared_places` has them."""
    has_credentials: bool = False
    """The site let us in before, so a single page that leads to one is behind it."""

    def asks(self, target: str | None) -> bool:
        return self.place(target) is not None

    def place(self, target: str | None) -> str | None:
        """Where a redirect asks to sign in, without its own way back; None if it does not ask."""
        if target is None:
            return None
        bare = without_query(target)
        if _NAMES.search(bare):
            return bare
        known = [place for place in self.places if _is_at(target, place)]
        if known:
            return max(known, key=lambda place: (len(place), place))
        named = [pair for pair in _written(target) if _NAMES.search(unquote(pair.partition("=")[2]))]
        if named:
            return f"{bare}?{'&'.join(named)}"
        return bare if _NAMES.search(target) else None


BY_NAME = SignIns()


def shared_places(asking: Iterable[str], others: Collection[str]) -> frozenset[str]:
    """Addresses that ask to sign in, those that differ in their way back as one.

    `others`: addresses that do not. One of them at the same path shows that what was left out does name pages there.
    """
    alike: dict[tuple[str, frozenset[str]], list[str]] = defaultdict(list)
    for address in asking:
        names = frozenset(name for name, _ in _pairs(address))
        alike[without_query(address), names].append(address)
    beside: dict[str, list[str]] = defaultdict(list)
    for other in others:
        beside[without_query(other)].append(other)
    found: list[str] = []
    for (bare, _), addresses in sorted(alike.items(), key=lambda group: -len(group[1]))[:MOST_PLACES]:
        shared = frozenset.intersection(*map(_pairs, addresses))
        kept = [pair for pair in _written(addresses[0]) if shared.issuperset(_pairs(f"?{pair}"))]
        place = f"{bare}?{'&'.join(kept)}" if kept else bare
        found += addresses if any(_is_at(other, place) for other in beside[bare]) else [place]
    return frozenset(found[:MOST_PLACES])


def without_query(target: str) -> str:
    return _BEHIND_PATH.split(target)[0]


def _is_at(target: str, place: str) -> bool:
    return without_query(target) == without_query(place) and _pairs(place) <= _pairs(target)


def _written(target: str) -> list[str]:
    query = target.partition("#")[0].partition("?")[2]
    return [pair for pair in query.split("&") if pair]


def _pairs(target: str) -> frozenset[tuple[str, str]]:
    return frozenset(pair for written in _written(target) for pair in parse_qsl(written, keep_blank_values=True))
