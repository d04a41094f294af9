"""How many URLs a result names that are new: by that a batch is written early."""

from types import SimpleNamespace
from typing import cast

from crawler.domain.urls.url import parse
from crawler.handlers.engine.lease_result import LeaseResult, count_new_urls


def test_what_was_followed_before_is_not_new() -> None:
    settled = SimpleNamespace(
        context=SimpleNamespace(followed={"http://example.org/a": 1, "http://example.org/kept": 1}),
        listed=["http://example.org/1", "/2"],
        links=[parse("http://example.org/a"), parse("http://example.org/b")],
        kept_links=["http://example.org/kept", "http://example.org/new"],
        unusable=(),
    )
    assert count_new_urls(cast(LeaseResult, settled)) == 4
