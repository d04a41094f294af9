"""When a change is told: each kind of condition, any and all, and what cannot be looked at."""

from decimal import Decimal
from typing import Any

import pytest

from crawler.domain.watching.conditions import Conditions, PageFacts, holding
from crawler.domain.watching.values import ChangeKind, WatchedChange

URL = "https://x.org/lamps/1"


def said(facts: PageFacts, *given: dict[str, Any], match: str = "any", pattern: str = "") -> bool:
    return holding(Conditions.model_validate({"match": match, "of": given, "pattern": pattern}), facts) is not None


def edited(before: str = "", after: str = "", added: int = 1, removed: int = 1, **more: Any) -> PageFacts:
    return PageFacts(URL, before=before, after=after, added=added, removed=removed, **more)


def price(number: str | None, percent: float | None = None, kind: ChangeKind = ChangeKind.CHANGED) -> WatchedChange:
    amount = Decimal(number) if number else None
    return WatchedChange(URL, "r", "price", kind, "1", number, "price changed", percent, amount)


def test_a_word_that_came_or_went() -> None:
    came = edited("We have none.", "We have Lamps.")
    assert said(came, {"kind": "contains", "text": "lamps"})
    assert said(came, {"kind": "contains", "regex": r"\bLamps\b"})
    assert not said(came, {"kind": "contains", "regex": "lamps"}), "an expression says itself how letters are written"
    assert not said(edited("Lamps!", "More lamps."), {"kind": "contains", "text": "lamps"}), "it was there"
    assert said(edited("Sold out", "Order now"), {"kind": "no_longer_contains", "text": "sold out"})
    assert not said(edited("Sold out", "sold OUT again"), {"kind": "no_longer_contains", "text": "sold out"})


def test_a_new_page_contains_a_word_too() -> None:
    assert said(PageFacts(URL, is_new=True, after="A recall"), {"kind": "contains", "text": "recall"})


@pytest.mark.parametrize(
    ("limit", "number", "percent", "told"),
    [
        ({"below": 100}, "99", -1.0, True),
        ({"below": 100}, "100", -1.0, False),
        ({"above": 100}, "101", 1.0, True),
        ({"above": 100}, "99", 1.0, False),
        ({"by_percent": 5}, "99", -5.0, True),
        ({"by_percent": 5}, "99", 4.9, False),
        ({"by_percent": 5}, "99", None, True),
        ({"below": 100}, None, None, True),
        ({}, "99", None, True),
    ],
)
def test_a_field_is_told_by_its_limit_and_if_nobody_can_tell(
    limit: dict[str, Any], number: str | None, percent: float | None, told: bool
) -> None:
    facts = edited(changes=(price(number, percent),))
    assert said(facts, {"kind": "field", "field": "price", **limit}) is told
    assert not said(facts, {"kind": "field", "field": "other", **limit})


def test_a_field_that_is_gone_is_told_whatever_the_limit() -> None:
    assert said(edited(changes=(price(None, kind=ChangeKind.BROKEN),)), {"kind": "field", "field": "price", "below": 1})


def test_back_in_stock() -> None:
    change = price(None)._replace(field="product.availability", back_in_stock=True)
    assert said(edited(changes=(change,)), {"kind": "back_in_stock"})
    assert not said(edited(changes=(change._replace(back_in_stock=False),)), {"kind": "back_in_stock"})


def test_pages_that_came_and_went_under_a_pattern() -> None:
    new, gone = PageFacts(URL, is_new=True), PageFacts(URL, is_removed=True)
    assert said(new, {"kind": "new_page"}, pattern="/lamps/")
    assert not said(new, {"kind": "new_page"}, pattern="/chairs/")
    assert said(gone, {"kind": "removed_page"})
    assert not said(gone, {"kind": "new_page"})
    assert not said(gone, {"kind": "contains", "text": "x"})


def test_lines_and_the_size_of_a_change() -> None:
    added, removed, both = edited(added=3, removed=0), edited(added=0, removed=2), edited(added=2, removed=2)
    assert [said(one, {"kind": "added_only"}) for one in (added, removed, both)] == [True, False, False]
    assert [said(one, {"kind": "removed_only"}) for one in (added, removed, both)] == [False, True, False]
    assert [said(one, {"kind": "changed_lines", "lines": 3}) for one in (added, removed, both)] == [True, False, False]


def test_any_and_all_are_about_one_page() -> None:
    facts = edited("", "lamps", added=1, removed=0)
    word, many = {"kind": "contains", "text": "lamps"}, {"kind": "changed_lines", "lines": 9}
    assert said(facts, word, many)
    assert not said(facts, word, many, match="all")
    assert said(facts, word, {"kind": "added_only"}, match="all")


def test_what_nobody_could_look_at_counts_as_if_it_held() -> None:
    assert said(PageFacts(URL, unread="too large"), {"kind": "contains", "text": "a"})
    assert said(PageFacts(URL, unread="too large"), {"kind": "removed_only"})
    assert not said(PageFacts(URL, unread="too large"), {"kind": "new_page"})


@pytest.mark.parametrize(
    "written",
    [
        "contains sale now",
        "no longer contains sold out",
        "contains /[Ss]ale/",
        "price below 100",
        "price above 9.5",
        "product.price by 5 %",
        "price changed",
        "back in stock",
        "new page",
        "removed page",
        "added only",
        "removed only",
        "1 line",
        "30 lines",
    ],
)
def test_a_condition_can_be_written_in_a_few_words(written: str) -> None:
    (condition,) = Conditions.model_validate({"of": [written]}).of
    assert condition.written == written


@pytest.mark.parametrize("written", ["", "sale", "price under 5", "contains", "lines", "contains /(/"])
def test_words_that_are_no_condition_are_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r"a condition reads like|not a valid regular expression"):
        Conditions.model_validate({"of": [written]})
