"""An age that only went on with the clock between two looks did not vary: a later one of another moment is told."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.learned_rule import LearnedRule
from crawler.domain.noise.learning import learn
from crawler.domain.noise.page_noise import apply_noise_rules
from crawler.domain.noise.rules import NoiseRule, RuleKind, RuleSet
from crawler.domain.noise.second_looks import TwoLooks
from tests.unit.noise.pages import blocks

AT = datetime(2026, 5, 12, 9, 30, tzinfo=UTC)
BACKUP = "<p class='state'>Last backup {}</p>"
SEEN = "<p class='state'>Last backup {}, {} files on the server</p>"


def learned(first: str, second: str, before: str) -> list[LearnedRule]:
    moments = Moments(AT, AT + timedelta(seconds=40))
    return learn([TwoLooks("site/{name}", blocks(first), blocks(second), blocks(before), moments=moments)])


def rule_set(rules: list[LearnedRule]) -> RuleSet:
    return RuleSet.of(
        NoiseRule(id=UUID(int=n), project_id=UUID(int=0), kind=RuleKind.LEARNED, value=rule.as_value(),
                  enabled=True, created_at=AT)
        for n, rule in enumerate(rules)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "before"),
    [("20 seconds ago", "60 seconds ago", "2 weeks ago"), ("59 minutes ago", "1 hour ago", "12 minutes ago")],
)
def test_an_age_that_goes_on_with_the_clock_is_not_learned(first: str, second: str, before: str) -> None:
    rules = learned(*map(BACKUP.format, (first, second, before)))
    moments = Moments(AT - timedelta(hours=3), AT)
    page = apply_noise_rules(
        blocks(BACKUP.format("2 weeks ago")), blocks(BACKUP.format(first)), rule_set(rules), moments=moments
    )
    assert (rules, [edit.added.text for edit in page.edits if edit.added]) == ([], [f"Last backup {first}"])


def test_an_age_of_another_moment_at_each_look_is_learned() -> None:
    assert learned(*map(BACKUP.format, ("20 seconds ago", "3 seconds ago", "41 seconds ago")))


IDLE = """<table class='list'><tr><th>Name</th><th>Idle</th></tr><tr><td>ledger</td><td>{}</td></tr></table>"""


@pytest.mark.parametrize(
    ("first", "second", "before", "later"),
    [("16 min.", "17 min.", "9 min.", "0 min."), ("59 minutes", "1 hour", "12 minutes", "3 minutes")],
)
def test_an_age_without_ago_that_goes_on_with_the_clock_is_not_learned(
    first: str, second: str, before: str, later: str
) -> None:
    rules = learned(*map(IDLE.format, (first, second, before)))
    moments = Moments(AT, AT + timedelta(minutes=20))
    page = apply_noise_rules(blocks(IDLE.format(second)), blocks(IDLE.format(later)), rule_set(rules), moments=moments)
    assert (rules, [edit.added.text for edit in page.edits if edit.added]) == ([], [later])


def test_a_length_of_time_that_is_another_at_each_look_is_learned() -> None:
    assert learned(*map(IDLE.format, ("16 min.", "3 min.", "9 min.")))


def test_beside_an_age_another_value_is_learned_alone() -> None:
    first, second, before = (
        SEEN.format(age, files)
        for age, files in (("20 seconds ago", 5113), ("60 seconds ago", 5171), ("2 weeks ago", 4020))
    )
    rules = rule_set(learned(first, second, before))
    moments = Moments(AT, AT + timedelta(hours=3))

    def told(now: str) -> bool:
        return bool(apply_noise_rules(blocks(first), blocks(now), rules, moments=moments).edits)

    assert not told(SEEN.format("3 hours ago", 6211))
    assert told(SEEN.format("5 minutes ago", 6211))
