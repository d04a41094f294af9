"""Refuses a site that the workers may not reach, or that does not exist, before anything is crawled.

The rule: `domain/hosts/egress.py`. What workers say of themselves: `adapters/operating/live_workers.py`.
"""

from collections.abc import Callable, Sequence

from crawler.domain.hosts.egress import EgressRule, closed_words
from crawler.domain.urls.url import Url
from crawler.errors import EgressRefused, InvalidUrl


class CheckReach:
    def __init__(self, rule: Callable[[], EgressRule]) -> None:
        self._rule = rule

    def __call__(self, url: str, addresses: Sequence[str] = ()) -> None:
        """Raises EgressRefused for an address that is spelled out, or for a name that leads to closed ones alone."""
        rule = self._rule()
        if rule.is_closed(url, addresses):
            raise EgressRefused(f"{closed_words(url, rule)}.")


class CheckKnown:
    def __init__(self, is_unknown: Callable[[str], bool], *, by_proxy: bool) -> None:
        self._is_unknown = is_unknown
        self._by_proxy = by_proxy

    def __call__(self, url: Url) -> None:
        """Raises InvalidUrl for a host that does not exist. What a proxy reaches cannot be tried from here."""
        if not self._by_proxy and self._is_unknown(url.hostname):
            raise InvalidUrl(f"There is no host {url.host}; check its spelling and this machine's name servers.")
