"""An entry of the feed is small whatever changed, and says the same when it is read again."""

from typing import Any

from crawler.domain.changes.feed import CHANGED_PAGES, LINES, OTHER_PAGES, ChangeKind, FeedPage, feed_counts, feed_pages
from crawler.domain.changes.page_digest import LineChange, PageDigest


def summary(**more: Any) -> dict[str, Any]:
    counts = {"new_pages": 0, "removed_pages": 0, "changed_pages": 0, "unchanged_pages": 5}
    return {"summary": {**counts, **more.pop("summary", {})}, **more}


def test_nothing_changed_is_no_entry() -> None:
    assert not any(feed_counts(summary()).values())
    assert not any(feed_counts(None).values())
    assert feed_pages(summary(), []) == []


def test_each_kind_has_few_pages_and_each_page_few_lines() -> None:
    many = [f"https://a/{n}" for n in range(500)]
    digests = [PageDigest(url, None, tuple(LineChange(str(n), None) for n in range(50)), 7) for url in many]
    edit = {"removed": "x" * 5000, "added": "", "pages": 40, "example_urls": ["https://a/1"]}
    told = summary(
        new_page_urls=many,
        removed_page_urls=many,
        moved=[{"from": url, "to": f"{url}/new"} for url in many],
        template_changes=[edit] * 9,
    )
    pages = feed_pages(told, digests)
    assert len(pages) == CHANGED_PAGES + 4 * OTHER_PAGES
    assert all(len(page.lines) <= LINES for page in pages)
    assert pages[0].more == 50 - LINES + 7
    wide = next(page for page in pages if page.kind is ChangeKind.SITE_WIDE)
    assert wide.more == 40
    assert len(wide.lines[0].removed or "") < 1000
    assert wide.lines[0].added is None


def test_a_watched_value_that_is_no_text_of_its_page_is_an_entry_too() -> None:
    watched = [
        {"url": "https://a/lamp", "words": "picture a.png → b.png"},
        {"url": "https://a/lamp", "words": "link is found no more"},
        {"url": "https://a/rope", "words": "price 2 → 1"},
    ]
    told = summary(summary={"changed_pages": 1}, changed_page_urls=["https://a/rope"], watched=watched)
    assert feed_counts(told)["watched_pages"] == 1, "the other is among the changed pages"
    (page,) = feed_pages(told, [])
    assert (page.kind, page.url) == (ChangeKind.WATCHED, "https://a/lamp")
    assert [line.added for line in page.lines] == ["picture a.png → b.png", "link is found no more"]


def test_what_is_kept_is_what_was_found() -> None:
    page = FeedPage(ChangeKind.MOVED, "https://a/x", (LineChange("a", "b", "Price"),), 2, "note", "https://a/y")
    assert FeedPage.of_record(page.as_record()) == page
