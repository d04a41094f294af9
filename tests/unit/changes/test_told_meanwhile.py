"""Edits of the template that were told while a page could not be looked at are not told again of it."""

from typing import Any

from crawler.domain.changes.told_meanwhile import MOST, ToldMeanwhile
from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import Block
from crawler.domain.noise.page_noise import FilteredPage

URL = "http://example.test/staff"


def page(*edits: tuple[str, str]) -> dict[str, FilteredPage]:
    sides = [[Block("p", text) if text else None for text in edit] for edit in edits]
    return {URL: FilteredPage(tuple(BlockEdit(*side) for side in sides), ())}


def summary(*edits: tuple[str, str], unseen: str = URL, own_values: bool = False, **more: Any) -> dict[str, Any]:
    told = [{"removed": old, "added": new, "own_values": own_values} for old, new in edits]
    return {"not_compared_urls": [unseen], "template_changes": told, **more}


def left(before: dict[str, Any] | None, *edits: tuple[str, str]) -> int:
    return len(ToldMeanwhile.of(before).without(page(*edits))[URL].edits)


def test_what_was_told_meanwhile_is_left_out_and_all_else_is_told() -> None:
    before = summary(("Call 1", "Call 2"), ("", "Sale"))
    assert left(before, ("Call 1", "Call 2"), ("", "Sale")) == 0
    assert left(before, ("Call 1", "Call 2"), ("Call 1", "Call 3"), ("Sale", ""), ("", "News")) == 3


def test_only_of_pages_that_the_crawl_before_could_not_compare() -> None:
    assert left(summary(("Call 1", "Call 2"), unseen="http://example.test/other"), ("Call 1", "Call 2")) == 1
    assert left(None, ("Call 1", "Call 2")) == 1


def test_edits_one_after_the_other_are_one() -> None:
    crawls = summary(("Call 1", "Call 2"))
    carried: dict[str, Any] = {**ToldMeanwhile.of(crawls).as_record([URL])}
    assert left(summary(("Call 2", "Call 3"), **carried), ("Call 1", "Call 3")) == 0
    assert left(summary(("", "Call 3"), **carried), ("Call 1", "Call 3")) == 1


def test_values_of_each_pages_own_were_not_told_of_this_one() -> None:
    assert left(summary(("1 left", "2 left"), own_values=True), ("1 left", "2 left")) == 1


def test_what_was_told_is_carried_on_while_pages_are_not_compared_and_within_bounds() -> None:
    told = ToldMeanwhile.of(summary(*((f"Call {n}", f"Call {n + 1}") for n in range(2 * MOST))))
    assert len(told.as_record([URL])["told_meanwhile"]) == MOST
    assert told.as_record([])["told_meanwhile"] == []
    assert told.as_record(["http://example.test/closed-since"])["told_meanwhile"] == []
