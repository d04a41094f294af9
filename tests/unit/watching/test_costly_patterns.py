"""Patterns of rules and conditions are tried on every URL of a crawl, outside of any judge: they are cheap by then."""

import time
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from pydantic import ValidationError

from crawler.domain.watching.conditions import Conditions
from crawler.domain.watching.rules import MOST_WORDLESS, WatchIndex, WatchOrder, WatchRule

LONG = "http://example.org/" + "ab" * 900 + "c"
HOSTILE = ("(?:[ab]{1,1000}[ab]{1,1000}[ab]{1,900})d", "(a|b|ab|ba|aba|bab|abab){1,300}d", "[ab]*a[ab]{1000}[ab]{900}d")


@pytest.mark.parametrize("pattern", HOSTILE)
def test_what_repeats_too_much_is_refused(pattern: str) -> None:
    with pytest.raises(ValidationError, match="repeats too much"):
        WatchOrder(pattern=pattern, products=True)
    with pytest.raises(ValidationError, match="repeats too much"):
        Conditions.model_validate({"of": ["new page"], "pattern": pattern})


def test_as_many_names_as_a_pattern_holds_are_taken() -> None:
    names = "|".join(f"item{number:03}" for number in range(60))
    assert WatchOrder(pattern=f"/({names})/", products=True).states < 1_000


def test_as_many_rules_as_there_may_be_are_tried_in_time() -> None:
    rules = [
        WatchRule(
            **WatchOrder(pattern=f"[ab]*a[ab]{{{60 + number % 30}}}d{number}", products=True).model_dump(),
            id=uuid4(),
            project_id=uuid4(),
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
        )
        for number in range(MOST_WORDLESS)
    ]
    index = WatchIndex(rules)
    began = time.process_time()
    assert list(index.of(LONG)) == []
    assert time.process_time() - began < 0.3
