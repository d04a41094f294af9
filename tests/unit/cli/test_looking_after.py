"""What `crawler run` does beside its crawl, as the coordinator does: whoever else writes meanwhile ends no command."""

from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from crawler.entrypoints.cli.watching.watch_crawl import look_after
from crawler.errors import DatabaseContended, DatabaseUnavailable


def tools(error: Exception) -> SimpleNamespace:
    return SimpleNamespace(
        frontier=Mock(),
        settings=SimpleNamespace(reconcile_seconds=30),
        crawls=SimpleNamespace(reconcile=Mock(side_effect=error)),
    )


def test_a_turn_that_lost_a_deadlock_is_left_to_the_next_one() -> None:
    supervisor, ours = Mock(), tools(DatabaseContended())
    look_after(ours, supervisor)  # type: ignore[arg-type]
    assert ours.crawls.reconcile.called
    assert supervisor.poll.called


def test_a_database_that_is_gone_is_told() -> None:
    with pytest.raises(DatabaseUnavailable):
        look_after(tools(DatabaseUnavailable()), Mock())  # type: ignore[arg-type]
