"""Whoever looks on at a crawl hears why it stands still, and that it goes on without them."""

import io
from typing import Any

import pytest
from rich.console import Console

from crawler.domain.crawls.crawl import CrawlStatus
from crawler.entrypoints.cli.screen.crawl_snapshot import CrawlSnapshot
from crawler.entrypoints.cli.screen.live_view import LiveView
from crawler.entrypoints.cli.watching import looking_on
from crawler.entrypoints.cli.watching.looking_on import NoWorker, left_running
from tests.unit.cli.test_next_step import crawl

WAITING = {"status": CrawlStatus.PENDING, "pages_crawled": 0}


@pytest.mark.parametrize(
    ("fields", "works", "told"),
    [
        (WAITING, False, True),
        (WAITING, True, False),
        (WAITING | {"pages_crawled": 1}, False, False),
        (WAITING | {"paused": True}, False, False),
    ],
)
def test_a_crawl_that_nobody_works_at_says_so_once(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], works: bool, told: bool
) -> None:
    monkeypatch.setattr(looking_on, "PATIENCE_SECONDS", 0.0)
    said = io.StringIO()
    view = LiveView("x", quiet=False, console=Console(file=said, width=200))
    waiting = NoWorker(lambda: works)
    for _ in range(3):
        waiting(CrawlSnapshot(crawl(**fields)), view)
    assert said.getvalue().count("'crawler up' starts them") == told


def test_ctrl_c_says_that_the_crawl_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt), left_running(crawl(status=CrawlStatus.IN_PROGRESS), "shop"):
        raise KeyboardInterrupt
    assert "The crawl goes on; 'crawler crawl watch shop' looks on again" in capsys.readouterr().err
