"""Refuses a site that the workers may not reach, before anything is crawled.

The rule: `domain/hosts/egress.py`. What workers say of themselves: `adapters/operating/live_workers.py`.
"""

from collections.abc import Callable, Sequence

from crawler.domain.hosts.egress import EgressRule, closed_words
from crawler.errors import EgressRefused


class CheckReach:
    def __init__(self, rule: Callable[[], EgressRule]) -> None:
        self._rule = rule

    def __call__(self, url: str, addresses: Sequence[str] = ()) -> None:
        """Raises EgressRefused for an address that is spelled out, or for a name that leads to closed ones alone."""
        rule = self._rule()
        if rule.is_closed(url, addresses):
            raise EgressRefused(f"{closed_words(url, rule)}.")
