"""What changed is waited for, and if it takes too long that is said."""

from collections.abc import Iterator
from typing import cast

import pytest

from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, CrawlType
from crawler.entrypoints.cli.screen.live_view import LiveView
from crawler.entrypoints.cli.watching import comparison_wait
from crawler.entrypoints.cli.watching.comparison_wait import (
    COMPARING,
    FINISHING,
    NOT_YET,
    await_comparison,
    say_not_yet,
)
from tests.unit.cli.test_next_step import crawl


class View:
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, words: str) -> None:
        self.notes.append(words)


def waited(crawl: CrawlJob, answers: Iterator[bool]) -> tuple[bool, list[str]]:
    view = View()
    return await_comparison(crawl, cast(LiveView, view), lambda: next(answers), lambda: None), view.notes


def test_it_is_waited_for_with_a_word_if_it_takes_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    again = crawl(crawl_type=CrawlType.MANUAL)
    assert waited(again, iter([False, True])) == (True, [])
    monkeypatch.setattr(comparison_wait, "NOTE_SECONDS", -1)
    assert waited(again, iter([False, False, True])) == (True, [COMPARING])
    assert waited(crawl(), iter([False, True])) == (True, [FINISHING])


def test_the_end_of_patience_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(comparison_wait, "PATIENCE_SECONDS", -1)
    assert waited(crawl(total_discovered=0), iter([False])) == (False, [])
    say_not_yet(crawl(crawl_type=CrawlType.MANUAL))
    assert " ".join(capsys.readouterr().err.split()) == NOT_YET
    say_not_yet(crawl())
    assert capsys.readouterr().err == "", "there is none before the first"


@pytest.mark.parametrize("status", [CrawlStatus.CANCELLED, CrawlStatus.IN_PROGRESS])
def test_what_is_never_compared_is_not_waited_for(status: CrawlStatus) -> None:
    assert waited(crawl(status=status), iter([])) == (True, [])
