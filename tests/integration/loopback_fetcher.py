"""A CurlFetcher that may dial loopback, and the few ways tests drive it."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from crawler.adapters.curl.fetcher import CurlFetcher
from crawler.domain.crawls.fetching import FetchRequest, FetchResult
from crawler.domain.hosts.egress import EgressRule

USER_AGENT = "crawler-test/1 (+https://example.test/bot)"


@contextmanager
def loopback_fetcher(*allow: str, **options: Any) -> Iterator[CurlFetcher]:
    """Only the networks and endpoints named in `allow`; all of 127/8 when none is."""
    options = {"user_agent": USER_AGENT, "timeout_seconds": 5, **options}
    fetcher = CurlFetcher(egress=EgressRule.parse(allow or ("127.0.0.0/8",)), **options)
    try:
        yield fetcher
    finally:
        fetcher.close()


def fetch_all(fetcher: CurlFetcher, requests: Iterable[FetchRequest], seconds: float = 20) -> list[FetchResult]:
    """All of them at once; results in the order they finish."""
    for request in requests:
        fetcher.submit(request)
    results: list[FetchResult] = []
    until = time.monotonic() + seconds
    while fetcher.active:
        assert time.monotonic() < until, "the fetcher did not finish in time"
        results += fetcher.poll(0.5)
    return results


def fetch(fetcher: CurlFetcher, url: str, **fields: Any) -> FetchResult:
    (result,) = fetch_all(fetcher, [FetchRequest(url, **fields)])
    return result
