"""What a caller of Firecrawl asks for, in our words: addresses, patterns of paths, sitemaps, formats, promises."""

import re
from typing import Any

import pytest
from pydantic import ValidationError

from crawler.domain.notices import hooks
from crawler.domain.patterns import compile_pattern
from crawler.entrypoints.firecrawl.bodies import CrawlBody, MapBody, MonitorTarget, PageOptions, ScrapeBody, Webhook
from crawler.entrypoints.firecrawl.path_patterns import url_pattern
from crawler.entrypoints.firecrawl.refusals import NotOffered
from crawler.errors import Invalid

SITE = "https://blog.example.org"


@pytest.mark.parametrize(
    ("written", "path", "matches"),
    [
        ("blog/.*", "/blog/1", True),
        ("blog/.*", "/en/blog/1", True),
        ("blog/.*", "/shop/1", False),
        ("blog", "/shop", False),  # the host is not the path
        ("/blog", "/en/blog", True),
        (r"\/blog\/", "/en/blog/1", True),
        ("^/blog", "/en/blog", False),
        ("^/blog", "/blog/1", True),
        ("^/blog$", "/blog", True),
        ("^/blog$", "/blog?page=2", True),
        ("^/blog$", "/blog/1", False),
        ("blog$", "/old-blog#top", True),
        ("^/a$|^/b$", "/b", True),
        ("^/a$|^/b$", "/b/c", False),
        ("(/a|/b)/x", "/b/x", True),
        ("(blog|news)", "/shop", False),
        ("[|^]x", "/|x", True),
        (r"\|x", "/|x", True),
        ("page=2", "/blog?page=2", False),
        (".*", "/", True),
        ("^/$", "/", True),
    ],
)
def test_a_pattern_is_about_the_path(written: str, path: str, matches: bool) -> None:
    pattern = url_pattern(written)
    assert (compile_pattern(pattern).search(SITE + path) is not None) is matches, pattern


@pytest.mark.parametrize("written", ["((((", "x)|(y", "(?=x)"])
def test_a_pattern_that_is_none_is_refused_as_it_was_written(written: str) -> None:
    with pytest.raises(Invalid, match=re.escape(f"'{written}'")):
        CrawlBody.model_validate({"url": SITE, "excludePaths": [written]}).settings(SITE, 100)


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("example.org", "http://example.org"),
        ("example.org:8080/a", "http://example.org:8080/a"),
        (" example.org/a?u=http://x/", "http://example.org/a?u=http://x/"),
        ("https://example.org/", "https://example.org/"),
        ("HTTP://example.org/", "HTTP://example.org/"),
        ("ftp://example.org/", "ftp://example.org/"),
    ],
)
def test_an_address_without_a_scheme_is_http_as_there(given: str, url: str) -> None:
    assert ScrapeBody.model_validate({"url": given}).address == url
    assert MapBody.model_validate({"url": given}).url == url
    assert CrawlBody.model_validate({"url": given}).url == url
    assert MonitorTarget.model_validate({"type": "scrape", "urls": [given]}).addresses == [url]


def test_only_sitemaps_means_no_links() -> None:
    def settings(**options: Any) -> tuple[bool, bool, int | None]:
        made = CrawlBody.model_validate({"url": SITE, **options}).settings(SITE, 100)
        return made["use_sitemaps"], made["follow_links"], made["max_depth"]

    assert settings() == (True, True, None)
    assert settings(sitemap="only", maxDiscoveryDepth=3) == (True, False, None)
    assert settings(sitemap="skip", maxDiscoveryDepth=0) == (False, True, 0)
    assert settings(maxDiscoveryDepth=0) == (True, False, None), "pages of sitemaps have depth 0 there"
    assert settings(maxDiscoveryDepth=2) == (True, True, 2)


@pytest.mark.parametrize(
    "promise",
    [
        {"zeroDataRetention": True},
        {"redactPII": True},
        {"redactPII": {"mode": "fast"}},
        {"lockdown": True},
        {"minAge": 1000},
        {"threatProtection": {"mode": "normal"}},
        {"checkPromptInjection": True},
        {"profile": {"name": "me"}},
    ],
)
def test_a_promise_that_cannot_be_kept_is_refused(promise: dict[str, Any]) -> None:
    with pytest.raises(NotOffered, match=next(iter(promise))):
        PageOptions.model_validate(promise).options()


def test_what_only_tunes_is_ignored() -> None:
    harmless = {
        "zeroDataRetention": False, "redactPII": False, "lockdown": False, "threatProtection": {"mode": "off"},
        "location": {"country": "DE"}, "proxy": "auto", "mobile": True, "blockAds": True, "parsers": ["pdf"],
    }  # fmt: skip
    assert PageOptions.model_validate(harmless).options() == PageOptions().options()


@pytest.mark.parametrize("kind", ["json", "summary", "query", "images", "attributes", "branding", "audio"])
def test_a_format_of_theirs_that_is_not_here_is_not_offered(kind: str) -> None:
    with pytest.raises(NotOffered, match=kind) as refused:
        PageOptions.model_validate({"formats": [{"type": kind}]}).options()
    assert ("language model" in refused.value.message) == (kind in {"json", "summary", "query", "branding"})


@pytest.mark.parametrize("kind", ["raw_html", "bogus", "Markdown", ""])
def test_a_format_that_is_none_is_refused(kind: str) -> None:
    with pytest.raises(Invalid, match="formats"):
        PageOptions.model_validate({"formats": [kind]}).options()


@pytest.mark.parametrize("options", [{"formats": ["json"]}, {"headers": {"X": "y"}}, {"actions": [{"type": "wait"}]}])
def test_what_a_monitor_cannot_do_to_its_pages_is_refused(options: dict[str, Any]) -> None:
    target = {"type": "scrape", "urls": [SITE], "scrapeOptions": options}
    with pytest.raises(NotOffered):
        MonitorTarget.model_validate(target).addresses  # noqa: B018 - it is the check


@pytest.mark.parametrize(
    ("kind", "events"),
    [
        (hooks.CRAWL, ["started", "page", "completed", "failed", "cancelled", "crawl.page"]),
        (hooks.BATCH, ["page", "batch_scrape.completed"]),
        (hooks.MONITOR, ["page", "check.completed", "monitor.page", "monitor.check.completed"]),
    ],
)
def test_events_of_a_webhook_are_those_that_there_are(kind: str, events: list[str]) -> None:
    webhook = {"url": SITE, "events": events}
    assert Webhook.model_validate(webhook).hook(kind).events == tuple(events)
    for wrong in ("bogus", f"other.{events[0]}", ""):
        with pytest.raises((Invalid, ValidationError), match="events"):
            Webhook.model_validate({"url": SITE, "events": [wrong]}).hook(kind)
