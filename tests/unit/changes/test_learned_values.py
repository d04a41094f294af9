"""Rules are learned from pages that were fetched twice; the others show where they do not hold."""

from datetime import UTC, datetime
from uuid import uuid4

from crawler.domain.changes.weighing import ThreeLooks, learned_values
from crawler.domain.noise.page_pairs import PagePair, PageSide

AT = datetime(2026, 11, 17, tzinfo=UTC)


def side(number: int, clock: int) -> PageSide:
    body = f"<h1>A street</h1><p class='value'>{number}</p><p class='clock'>Tick {clock}</p>"
    return PageSide(f"<html><body>{body}</body></html>".encode(), "text/html", AT)


def test_changed_pages_that_were_fetched_once_show_where_a_number_is_not_live() -> None:
    """More pages changed than are fetched twice, all by their clock."""
    pairs = [PagePair(f"http://e.org/meter/{n}", uuid4(), side(n + 7, 1), side(n + 52, 2)) for n in range(4)]
    meters = [ThreeLooks(pair, side(3, 3), is_later=True) for pair in pairs]
    limits = [PagePair(f"http://e.org/limit/{n}", uuid4(), side(n * 31, 1), side(n * 31, 2)) for n in range(1, 5)]
    (alone,) = (rule for rule in learned_values(meters) if "p.value" in rule)
    (beside,) = (rule for rule in learned_values(meters, once=limits) if "p.value" in rule)
    assert "shape" not in alone
    assert "e.org/meter/{n}" in beside
