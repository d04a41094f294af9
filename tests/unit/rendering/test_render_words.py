"""What `crawler explain` says about browsers."""

from typing import Any
from uuid import uuid4

import pytest

from crawler.domain.crawls.crawl import CrawlConfig
from crawler.domain.explaining.render_words import rendering_words
from crawler.domain.explaining.url_explanation import LedgerUrl, StoredPage
from tests.unit.rendering.test_signals import a_crawl

FEW = "it has 12 characters of text, fewer than 200"
SHARES = "(50% of the words, 100% of the links)"
SHELL = {"render": True, "signal": "short_text", "measured": 12, "limit": 200}

FAILED = {"render": False, "signal": "render_failed"}


def row(reason: str | None = None, rendering: dict[str, Any] | None = None) -> LedgerUrl:
    return LedgerUrl(
        "u", "u", 0, 2, "done", reason, None, "link", 1, 0, None, None, 200, None, None, None, None, None, rendering
    )


def stored(method: str | None) -> StoredPage:
    return StoredPage(
        page_id=uuid4(), version_id=None, content_hash=None, title=None, byte_length=None, crawl_method=method,
        unchanged=False, first_seen_at=None, last_changed_at=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("found", "site", "config", "method", "words"),
    [
        (row(), {"render": False}, {}, "lightweight", "without a browser: the server sends its text"),
        (row(), SHELL, {}, "crawl4ai",
         f"in a browser: the homepage needs one, as {FEW}"),
        (row(), None, {"render": "always"}, "crawl4ai", "in a browser: render is set to always"),
        (row(rendering=SHELL), {"render": False}, {}, "crawl4ai",
         f"in a browser: {FEW}"),
        (row("render_unavailable"), {**SHELL, "unavailable": True}, {}, "lightweight",
         f"without a browser, as none was there: {FEW}"),
        (row("render_failed", {**FAILED, "measured": "403"}), SHELL, {}, "lightweight",
         "without a browser, as the browser was answered 403"),
        (row("render_failed", {**FAILED, "measured": "empty"}), SHELL, {}, "lightweight",
         "without a browser, as the browser showed an empty page"),
        (row("render_failed"), {**SHELL, "unavailable": True, "failed": "timeout"}, {}, "lightweight",
         f"without a browser, which failed (timeout) on the homepage: {FEW}"),
        (row(rendering={"render": False, "signal": "shape", "measured": "a/{n}"}), SHELL, {}, "lightweight",
         "without a browser: pages of its kind (a/{n}) say the same without a browser"),
        (row(rendering={"compared": {"agrees": False, "words": 0.5, "links": 1.0}}), SHELL, {}, "crawl4ai",
         f"in a browser: the homepage needs one, as {FEW}; the server alone said less {SHARES}"),
        (row(rendering={"render": True, "signal": "still_loading", "measured": "spinner"}), {"render": False}, {},
         "crawl4ai", "in a browser: it says itself that a part of it is still to come (spinner)"),
        (row(rendering={"in_part": True}), None, {"render": "always"}, "crawl4ai",
         "in a browser: render is set to always; a table or list on it is longer than what is read of one"),
        (row(), None, {}, None, None),
    ],
)  # fmt: skip
def test_the_sentence_names_the_way_and_the_signal(
    found: LedgerUrl, site: dict[str, Any] | None, config: dict[str, Any], method: str | None, words: str | None
) -> None:
    crawl = a_crawl(site, **CrawlConfig(**config).model_dump(include=set(config)))
    assert rendering_words(found, crawl, stored(method)) == words
