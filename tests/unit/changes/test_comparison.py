"""What changed between two crawls, and with which crawl one may be compared."""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from crawler.domain.changes.baseline import choose_baseline, choose_witness, same_reach
from crawler.domain.changes.comparison import Changes, Probed, SeenPage, Standing, compare, standing, without_shells
from crawler.domain.changes.removals import LostPage, Removal
from crawler.domain.changes.significance import is_significant
from crawler.domain.changes.summary import change_summary
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlStatus, CrawlType, EndReason, FetchState, RenderMode
from crawler.domain.reasons import FAILED, SKIPPED, Reason

NOW = datetime(2024, 1, 15, tzinfo=UTC)
OLD, NEW = UUID(int=1), UUID(int=2)


def seen(name: str, content: str | None = "x", state: Standing = Standing.PAGE) -> SeenPage:
    return SeenPage(name, f"https://e.org/{name}", content.encode() if content is not None else None, state)


def probed(name: str, kind: Removal = Removal.GONE) -> Probed:
    return Probed(name, f"https://e.org/{name}", kind)


def urls(*names: str) -> tuple[str, ...]:
    return tuple(f"https://e.org/{name}" for name in names)


def changes(new: int = 0, changed: int = 0, unchanged: int = 0) -> Changes:
    return Changes(urls(*"n" * new), (), urls(*"c" * changed), urls(*"u" * unchanged), ())


# ---- comparing


def test_what_a_browser_made_is_no_change_of_what_the_server_had_sent() -> None:
    light, rendered = seen("a", "x")._replace(method="lightweight"), seen("a", "y")._replace(method="crawl4ai")
    assert compare([light], [rendered]).not_compared == urls("a")
    assert compare([rendered], [light]).not_compared == urls("a")
    assert compare([light], [rendered._replace(method="lightweight")]).changed == urls("a")
    assert compare([light._replace(method=None)], [rendered]).changed == urls("a"), "its version is no longer kept"
    assert compare([light], [rendered._replace(content_hash=b"x")]).unchanged == urls("a")


def test_a_page_that_was_fetched_in_another_way_is_compared_by_versions_that_were_fetched_alike() -> None:
    light, rendered = seen("a", "x")._replace(method="lightweight"), seen("a", "y")._replace(method="crawl4ai")
    assert compare([light], [rendered], crossed={"a": (b"x", b"x")}).unchanged == urls("a")
    assert compare([light], [rendered], crossed={"a": (b"x", b"z")}).changed == urls("a")


def test_pages_are_sorted_into_new_removed_changed_and_unchanged() -> None:
    found = compare(
        [seen("same"), seen("edited", "1"), seen("away"), seen("dead")],
        [seen("edited", "2"), seen("same"), seen("z"), seen("b"), seen("dead", None, Standing.GONE)],
        probed=[probed("away")],
    )
    assert found.new == urls("b", "z")
    assert found.removed == urls("away", "dead")
    assert found.changed == urls("edited")
    assert found.unchanged == urls("same")
    assert found.not_compared == ()


@pytest.mark.parametrize("flip", [False, True])
def test_a_page_one_crawl_could_not_see_is_not_compared(flip: bool) -> None:
    crawls = [seen("a")], [seen("a", None, Standing.UNKNOWN)]
    found = compare(*reversed(crawls)) if flip else compare(*crawls)
    assert (found.new, found.removed, found.changed, found.unchanged) == ((), (), (), ())
    assert found.not_compared == urls("a")


def test_a_page_without_a_hash_is_not_compared() -> None:
    assert compare([seen("a", None)], [seen("a")]).not_compared == urls("a")


def test_what_was_a_page_in_neither_crawl_is_not_mentioned() -> None:
    gone, unknown = seen("g", None, Standing.GONE), seen("u", None, Standing.UNKNOWN)
    assert compare([gone, unknown], [gone, unknown]) == Changes((), (), (), (), ())
    assert compare([gone, unknown], []) == compare([], [gone, unknown]) == Changes((), (), (), (), ())


def test_a_page_that_came_back_is_new() -> None:
    assert compare([seen("a", None, Standing.GONE)], [seen("a")]).new == urls("a")


def test_what_a_crawl_did_not_meet_is_removed_only_if_a_probe_said_that_it_is_gone() -> None:
    old = [seen("unmet"), seen("dead"), seen("probed"), *(seen(kind.value) for kind in Removal)]
    found = compare(old, [seen("dead", None, Standing.GONE)], probed=[probed(kind.value, kind) for kind in Removal])
    assert found.removed == urls("dead", "gone", "moved")
    assert found.not_compared == urls("alive", "blocked", "excluded", "not_reached", "probed", "unmet")


def test_pages_match_by_normalized_url_and_the_newest_spelling_is_shown() -> None:
    old = SeenPage("https://e.org/a", "https://e.org/A", b"1", Standing.PAGE)
    new = SeenPage("https://e.org/a", "https://e.org/a/", b"2", Standing.PAGE)
    assert compare([old], [new]).changed == ("https://e.org/a/",)


def test_the_order_of_rows_does_not_matter() -> None:
    old, new = [seen(str(n)) for n in range(50)], [seen(str(n), str(n % 3)) for n in range(25, 75)]
    assert compare(old, new) == compare(old[::-1], new[::-1])


def test_ten_thousand_pages_are_compared_in_a_blink() -> None:
    old = [seen(str(n), str(n % 7)) for n in range(10_000)]
    new = [seen(str(n), str(n % 5)) for n in range(5_000, 15_000)]
    asked = [probed(str(n)) for n in range(5_000)]
    start = time.process_time()
    found = compare(old, new, probed=asked)
    change_summary(found, crawl_id=NEW, compared_to=OLD)
    assert time.process_time() - start < 1
    assert len(found.new) == len(found.removed) == len(found.changed) + len(found.unchanged) == 5_000


def test_only_done_is_a_page_and_only_not_found_is_gone() -> None:
    assert standing(FetchState.DONE, None) is standing(FetchState.DONE, Reason.UNCHANGED) is Standing.PAGE
    assert standing(FetchState.SKIPPED, Reason.NOT_FOUND) is Standing.GONE
    assert standing(FetchState.SKIPPED, Reason.NOT_FOUND, 410) is Standing.GONE
    assert standing(FetchState.SKIPPED, Reason.NOT_FOUND, 400) is Standing.UNKNOWN
    assert standing(FetchState.SKIPPED, Reason.REDIRECTED) is standing(FetchState.SKIPPED, Reason.OFF_DOMAIN)
    assert standing(FetchState.SKIPPED, Reason.REDIRECTED) is Standing.MOVED
    for reason in (FAILED | SKIPPED) - {Reason.NOT_FOUND, Reason.REDIRECTED, Reason.OFF_DOMAIN}:
        assert standing(FetchState.FAILED if reason in FAILED else FetchState.SKIPPED, reason) is Standing.UNKNOWN
    assert standing(FetchState.QUEUED, None) is Standing.UNKNOWN


# ---- the summary


def test_the_summary_has_the_agreed_shape_and_then_ours() -> None:
    found = compare(
        [seen("c", "1"), seen("r"), seen("u"), seen("f")],
        [seen("c", "2"), seen("n"), seen("u"), seen("f", None, Standing.UNKNOWN)._replace(reason="http_5xx")],
        probed=[probed("r")],
    )
    summary = change_summary(found, crawl_id=NEW, compared_to=OLD)
    assert summary == {
        "crawl_id": str(NEW),
        "compared_to": str(OLD),
        "summary": {"new_pages": 1, "removed_pages": 1, "changed_pages": 1, "unchanged_pages": 1},
        "new_page_urls": list(urls("n")),
        "removed_page_urls": list(urls("r")),
        "changed_page_urls": list(urls("c")),
        "is_significant": True,
        "coverage": {
            "expected": 3,
            "compared": 2,
            "unseen": [
                {
                    "cause": "server_error",
                    "pages": 1,
                    "target": None,
                    "section": None,
                    "example_urls": list(urls("f")),
                }
            ],
            "failing": False,
            "code": None,
            "unlinked": 0,
            "lost_links": False,
            "new_without_room": 0,
            "hash_views": 0,
            "given_up": 0,
            "given_up_urls": [],
            "sentence": "Only 2 of 3 pages could be compared, because 1 answered with a server error.",
        },
        "not_compared": 1,
        "not_compared_urls": list(urls("f")),
        "barrier_urls": [],
        "changed_share": 0.3333,
        "moved_pages": 0,
        "moved": [],
        "removals": [
            {"url": "https://e.org/r", "class": "gone"},
            {"url": "https://e.org/f", "class": "blocked"},
        ],
        "removal_counts": {"gone": 1, "moved": 0, "alive": 0, "blocked": 1, "excluded": 0, "not_reached": 0},
        "redirected_together": [],
    }
    agreed = ["crawl_id", "compared_to", "summary", "new_page_urls", "removed_page_urls", "changed_page_urls"]
    assert list(summary)[:7] == [*agreed, "is_significant"]
    assert json.loads(json.dumps(summary)) == summary


@pytest.mark.parametrize(
    ("found", "significant"),
    [
        (changes(new=4), False),
        (changes(new=5), True),
        (changes(changed=3, unchanged=27), True),
        (changes(changed=7, unchanged=63), True),
        (changes(changed=9, unchanged=91), False),
        (changes(changed=1), True),
        (changes(unchanged=100), False),
        (changes(), False),
    ],
)
def test_five_new_pages_or_a_tenth_changed_is_significant(found: Changes, significant: bool) -> None:
    assert is_significant(found) is significant
    assert change_summary(found, crawl_id=NEW, compared_to=OLD)["is_significant"] is significant


def test_an_edit_of_the_template_counts_for_significance_with_the_pages_that_show_it() -> None:
    quiet = changes(unchanged=20)
    assert not is_significant(quiet, template_pages=1)
    assert is_significant(quiet, template_pages=2)
    assert is_significant(changes(changed=1, unchanged=19), template_pages=1)
    summary = change_summary(quiet, crawl_id=NEW, compared_to=OLD, template_pages=20)
    assert (summary["is_significant"], summary["summary"]["changed_pages"]) == (True, 0)
    assert not is_significant(Changes((), (), (), (), ()), template_pages=0)


def test_what_is_significant_can_be_chosen() -> None:
    assert is_significant(changes(new=2), new_pages=2)
    assert not is_significant(changes(changed=4, unchanged=6), changed_share=0.5)
    summary = change_summary(changes(new=2), crawl_id=NEW, compared_to=OLD, new_pages=2)
    assert summary["is_significant"]


def test_changes_are_significant_by_the_share_of_the_pages_that_should_have_been_compared() -> None:
    """One edit on the only page that was seen is no edit of the whole site."""
    walled = tuple(LostPage(f"https://e.org/{n}", None, Removal.BLOCKED, reason="forbidden") for n in range(60))
    found = Changes((), (), urls("c"), (), (), lost=walled)
    summary = change_summary(found, crawl_id=NEW, compared_to=OLD)
    assert (summary["is_significant"], summary["changed_share"]) == (False, round(1 / 61, 4))


# ---- the baseline


def crawl(day: int, **fields: object) -> CrawlJob:
    made = CrawlJob.create(
        project_id=UUID(int=7),
        seed_url="https://e.org/",
        domain="e.org",
        crawl_type=CrawlType.MANUAL,
        config=CrawlConfig(),
        now=NOW + timedelta(days=day),
    )
    ended = {"status": CrawlStatus.COMPLETED, "end_reason": EndReason.EXHAUSTED, "completed_at": made.created_at}
    return made.model_copy(update={**ended, **fields})


RUNNING: dict[str, object] = {"status": CrawlStatus.IN_PROGRESS, "end_reason": None, "completed_at": None}


def test_the_last_crawl_that_saw_the_site_is_the_baseline() -> None:
    first, last = crawl(1), crawl(3, end_reason=EndReason.MAX_PAGES)
    now = crawl(5, **RUNNING)
    assert choose_baseline([last, first, crawl(2), now], now) == last


@pytest.mark.parametrize(
    "fields",
    [
        {"status": CrawlStatus.FAILED, "end_reason": None},
        {"status": CrawlStatus.CANCELLED, "end_reason": None},
        {"end_reason": EndReason.MAX_DURATION},
        {"end_reason": EndReason.BLOCKED},
        {"crawl_type": CrawlType.FETCH_ONLY},
        {"seed_url": "https://e.org/blog"},
        {"project_id": UUID(int=8)},
        {"stats": {"by_reason": {"exists": 3}}},
        RUNNING,
    ],
)
def test_crawls_that_saw_something_else_are_no_baseline(fields: dict[str, object]) -> None:
    earlier, now = crawl(1), crawl(5)
    assert choose_baseline([earlier, crawl(2, **fields)], now) == earlier
    assert choose_baseline([crawl(2, **fields)], now) is None


ALWAYS = CrawlConfig(render=RenderMode.ALWAYS)


def test_the_baseline_is_the_newest_crawl_however_it_was_fetched() -> None:
    first, flipped, back = crawl(1), crawl(2, config=ALWAYS), crawl(3)
    assert choose_baseline([first], flipped) == first
    assert choose_baseline([first, flipped], back) == flipped


def test_what_a_browser_finds_is_new_only_if_another_browser_could_have_found_it_before() -> None:
    first, light, back = crawl(1, config=ALWAYS), crawl(2), crawl(3, config=ALWAYS)
    assert choose_witness([first], light, first) == first, "a browser finds what plain HTTP finds"
    assert choose_witness([first, light], back, light) == first
    assert choose_witness([light], back, light) is None


def test_a_crawl_that_saw_too_little_does_not_tell_which_pages_are_new() -> None:
    blind: dict[str, Any] = {"change_summary": {"coverage": {"failing": True}}}
    first, second, third, now = crawl(1), crawl(2, **blind), crawl(3, **blind), crawl(4)
    assert choose_witness([first, second, third], now, third) == first
    assert choose_witness([second, third], now, third) == third, "there is none that saw more"


def test_a_first_crawl_a_later_crawl_and_the_crawl_itself_are_no_baseline() -> None:
    now = crawl(5)
    assert choose_baseline([], now) is None
    assert choose_baseline([now, crawl(6)], now) is None


def test_fetch_only_crawls_are_never_compared() -> None:
    assert choose_baseline([crawl(1)], crawl(5, crawl_type=CrawlType.FETCH_ONLY)) is None


def test_what_a_baseline_that_stopped_early_never_met_is_not_new() -> None:
    page = SeenPage("https://a.example/x", "https://a.example/x", b"h", Standing.PAGE)
    assert compare([], [page]).new == ("https://a.example/x",)
    partial = compare([], [page], baseline_exhausted=False)
    assert (partial.new, partial.not_compared) == ((), ("https://a.example/x",))


def test_what_a_baseline_without_a_browser_would_have_met_is_new() -> None:
    found = compare([], [seen("sent"), seen("scripted")], baseline_exhausted=False, linked={"sent"})
    assert (found.new, found.not_compared) == (urls("sent"), urls("scripted"))


def test_crawls_after_other_urls_are_told_apart() -> None:
    assert same_reach(CrawlConfig(), CrawlConfig(max_pages=7, delay_seconds=3, max_duration_seconds=60))
    assert not same_reach(CrawlConfig(), CrawlConfig(max_depth=2))
    assert not same_reach(CrawlConfig(), CrawlConfig(exclude_patterns=("/x/",)))


def test_a_page_of_which_only_the_frame_was_seen_is_not_unchanged() -> None:
    before, now = [seen(name) for name in "abc"], [seen("a"), seen("b"), seen("c", "y")]
    found = without_shells(compare(before, now), urls("b", "c"))
    assert (found.unchanged, found.changed) == (urls("a"), urls("c")), "what did change is told"
    assert found.not_compared == found.needs_browser == urls("b")
