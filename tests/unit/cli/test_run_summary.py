"""The summary: names a program can rely on, and warnings that name the option to change."""

import io
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from rich.console import Console

from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlType, EndReason
from crawler.domain.reasons import Reason
from crawler.entrypoints.cli.input.option_names import in_options
from crawler.entrypoints.cli.screen.advice import advice
from crawler.entrypoints.cli.screen.summary import failure, summary, summary_page, warnings

NOW = datetime(2030, 1, 2, tzinfo=UTC)


def crawl(end: EndReason = EndReason.EXHAUSTED, reasons: dict[str, int] | None = None, **fields: Any) -> CrawlJob:
    made = CrawlJob.create(
        project_id=uuid4(),
        seed_url="https://example.org/",
        domain="example.org",
        crawl_type=CrawlType.INITIAL,
        config=CrawlConfig(max_pages=100),
        now=NOW,
    )
    done = made.start(NOW).complete(end, NOW + timedelta(seconds=20))
    stats = {"by_reason": reasons or {}, "bytes": 1_234_567, "merged_links": 1, "total_links": 100} | fields.pop(
        "stats", {}
    )
    return done.model_copy(update={"pages_crawled": 50, "total_discovered": 60, "stats": stats, **fields})


def shown(crawl: CrawlJob, width: int = 100, title: str | None = None) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, markup=False).print(summary_page(crawl, None, width, title))
    return out.getvalue()


def test_a_program_gets_the_promised_names() -> None:
    told = summary(crawl())
    assert list(told) == [
        "crawl_id", "project_id", "status", "end_reason", "pages_crawled", "pages_failed", "pages_skipped",
        "total_discovered", "lightweight", "rendered", "duration_seconds", "pages_per_second", "change_summary",
    ]  # fmt: skip
    assert (told["duration_seconds"], told["pages_per_second"], told["change_summary"]) == (20.0, 2.5, None)


def test_an_ordinary_crawl_gives_no_warning() -> None:
    assert warnings(crawl(reasons={"unchanged": 50, "redirected": 3})) == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"end": EndReason.MAX_PAGES, "reasons": {"max_pages": 7}}, "--max-pages 100; 7 URLs"),
        ({"stats": {"merged_links": 30, "total_links": 100}}, "--query-params keep"),
        ({"reasons": {"robots": 4}}, "4 URLs; --ignore-robots"),
        ({"reasons": {"robots_unreachable": 1}}, "robots.txt did not answer"),
        ({"reasons": {"redirected": 2}, "pages_crawled": 0}, "Nothing but redirects"),
        ({"reasons": {"forbidden": 1}}, "--header"),
        ({"reasons": {"content_type": 1}}, "1 URL is no web page"),
        ({"reasons": {"content_type": 2}}, "--setting content_types="),
        ({"reasons": {"rate_limited": 1}}, "longer --delay"),
        ({"reasons": {"host_blocked": 1}}, "longer --delay"),
        ({"pages_crawled": 1, "total_discovered": 1}, "links to no other page"),
        ({"pages_crawled": 1, "total_discovered": 1, "stats": {"nofollow_links": 3}}, "nofollow (3 links)"),
        (
            {"stats": {"damaged_sitemaps": [{"url": "https://e.example/s", "error": "Bad.", "urls": 1}]}},
            "1 URL of it was read",
        ),
        ({"reasons": {"not_included": 9}, "pages_crawled": 1}, "--include-mode prefer"),
        ({"pages_failed": 10}, "retry-failed"),
        ({"reasons": {"render_unavailable": 2}}, "browser"),
        ({"reasons": {"render_failed": 2}}, "could not be rendered"),
        ({"reasons": {"hash_route": 12}}, "12 links lead to hash routes (#/…), which are not crawled"),
        ({"reasons": {"egress": 2}}, "2 URLs were not asked for"),
        ({"reasons": {"egress": 1}}, "host:port in CRAWLER_EGRESS_ALLOW"),
    ],
)
def test_what_a_person_should_know_is_told_with_its_remedy(given: dict[str, Any], told: str) -> None:
    (sentence,) = warnings(crawl(**given))
    assert told in sentence


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_page_fits_and_counts_by_reason(width: int) -> None:
    text = shown(crawl(reasons={"robots": 1200, "timeout": 2}, pages_failed=2, pages_skipped=1200), width)
    assert max(map(len, text.splitlines())) <= width
    words = " ".join(text.split())
    assert "20 s 2.5 a second" in words
    for told in ("completed", "pages crawled 50", "2 no answer in time", "1,200 forbidden by robots.txt", "1.2 MB"):
        assert told in words


def test_changes_are_shown_with_their_first_urls() -> None:
    urls = [f"https://example.org/{n}" for n in range(8)]
    change = {
        "summary": {"new_pages": 8, "changed_pages": 1, "removed_pages": 0, "unchanged_pages": 41},
        "new_page_urls": urls, "changed_page_urls": ["https://example.org/x"], "removed_page_urls": [],
        "not_compared": 0,
    }  # fmt: skip
    text = shown(crawl(change_summary=change))
    assert "8 new, 1 changed, 0 removed, 41 unchanged" in text
    assert "+ https://example.org/4" in text
    assert "https://example.org/5" not in text
    assert "+ … and 3 more" in text
    assert "~ https://example.org/x" in text


def test_a_part_that_may_have_failed_is_said() -> None:
    counts = {"new_pages": 0, "changed_pages": 0, "removed_pages": 0, "unchanged_pages": 14}
    lists: dict[str, list[str]] = {f"{kind}_page_urls": [] for kind in ("new", "changed", "removed")}
    note = {"kind": "part", "pages": 14, "target": None, "example_urls": []}
    text = shown(crawl(change_summary={"summary": counts, **lists, "wall_notes": [note, {**note, "kind": "error"}]}))
    assert "14 pages show the same line in place of a part that may have failed" in text
    assert "an error" not in text


def test_what_is_as_it_was_stored_is_not_called_unchanged() -> None:
    """It may be new since the crawl before, and yet what a crawl before that one had stored."""
    text = shown(crawl(reasons={"unchanged": 12}))
    assert "12 as stored before" in text
    assert "unchanged" not in text


def test_a_list_is_named_by_its_file_and_ends_with_its_last_url() -> None:
    text = shown(crawl(crawl_type=CrawlType.FETCH_ONLY), title="2 URLs from list.txt")
    assert text.startswith("completed  2 URLs from list.txt  every URL of the list was asked for\n")
    assert "https://example.org/" not in text


def test_a_failure_ends_with_what_to_do() -> None:
    failed = crawl().model_copy(update={"error_message": "https://example.org/ could not be fetched: dns"})
    assert failure(failed, "Check its name.") == "https://example.org/ could not be fetched: dns. Check its name."


@pytest.mark.parametrize(
    ("reason", "error", "told"),
    [
        (Reason.NOT_FOUND, None, "check its spelling, or begin at the site's front page"),
        (Reason.TLS, "TLS connect error: error:0A00010B:SSL routines::wrong version number", "try http://h.test:80/x"),
        (Reason.TLS, "SSL certificate problem: unable to get local issuer certificate", "CA_BUNDLE"),
        (Reason.DNS, None, "The host's name could not be found"),
    ],
)
def test_the_advice_fits_a_first_page(reason: Reason, error: str | None, told: str) -> None:
    assert told in advice("https://h.test:80/x", reason, error)


def test_messages_name_options() -> None:
    assert (
        in_options("max_pages: Input should be greater than 0.")
        == "--max-pages is not valid: it should be greater than 0."
    )
    assert in_options("include_patterns.3: String is too long.") == "--include: String is too long."
    assert (
        in_options("max_pages is 9; raise CRAWLER_MAX_PAGES_CEILING.")
        == "--max-pages is 9; raise CRAWLER_MAX_PAGES_CEILING."
    )


def test_a_crawl_that_saw_too_little_does_not_say_that_it_fetched_everything() -> None:
    sentence = "None of 18 pages could be compared, because all of them ask to sign in."
    assert "every page that could be found was fetched" in shown(crawl())
    counts = dict.fromkeys(("new_pages", "removed_pages", "changed_pages", "unchanged_pages"), 0)
    lists: dict[str, Any] = {f"{kind}_page_urls": [] for kind in ("new", "removed", "changed")}
    blind = shown(crawl(change_summary={"coverage": {"sentence": sentence}, "summary": counts, **lists}))
    assert sentence in " ".join(blind.split())
    assert "every page that could be found" not in blind
