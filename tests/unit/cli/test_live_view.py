"""The live view: never wider or higher than the terminal, calm, and readable without colour."""

import io
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from rich.console import Console

from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlType
from crawler.domain.crawls.frontier import HostWait, Lane, Wait
from crawler.entrypoints.cli.screen.crawl_snapshot import CrawlSnapshot
from crawler.entrypoints.cli.screen.live_view import LiveView, draw, one_line

NOW = datetime(2030, 1, 2, tzinfo=UTC)


def crawl(**fields: Any) -> CrawlJob:
    made = CrawlJob.create(
        project_id=uuid4(),
        seed_url="https://example.org/a/rather/long/way/to/the/first/page/of/this/site?with=a&query=too",
        domain="example.org",
        crawl_type=CrawlType.INITIAL,
        config=CrawlConfig(),
        now=NOW,
    )
    return made.start(NOW).model_copy(update={"pages_crawled": 120, "pages_failed": 3, "pages_skipped": 40, **fields})


def page(number: int, **fields: Any) -> dict[str, Any]:
    given = {"url": f"https://example.org/page/{number}", "status": "success", "reason": None, "http_status": 200}
    return {**given, "title": f"Page {number}", "depth": 1, **fields}


def snapshot(**fields: Any) -> CrawlSnapshot:
    waits = (
        HostWait("example.org", Lane.HTTP, 500, 0.4, Wait.GAP),
        HostWait("a-host-with-a-very-long-name.of.many.parts.example.org:8080", Lane.HTTP, 3, 3723.0, Wait.BLOCKED),
    )
    given = {
        "crawl": crawl(), "queued": 503, "under_way": 5, "percentage": 19.3, "estimated_total": 200,
        "pages_per_second": 28.44, "seconds": 3725.0, "waits": waits, "pages": tuple(page(n) for n in range(12)),
        "reasons": {"timeout": 2, "http_5xx": 1, "robots": 30, "excluded": 9, "not_found": 1},
    }  # fmt: skip
    return CrawlSnapshot(**{**given, **fields})


def lines(seen: CrawlSnapshot, width: int, height: int = 40) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width, height=height, force_terminal=False, color_system=None)
    console.print(draw(seen, width, height))
    return out.getvalue().rstrip("\n").split("\n")


@pytest.mark.parametrize("width", [20, 40, 59, 60, 80, 120, 300])
@pytest.mark.parametrize("height", [6, 12, 24, 50])
def test_it_fits_into_every_terminal(width: int, height: int) -> None:
    drawn = lines(snapshot(), width, height)
    assert max(map(len, drawn)) <= width
    assert len(drawn) <= height


def test_it_tells_what_a_person_wonders_about() -> None:
    text = "\n".join(lines(snapshot(), 100))
    for told in (
        "1:02:05",
        " 19 %",
        "120 of 200 pages",
        "28.4/s",
        "503 queued",
        "5 under way",
        "3 failed",
        "40 skipped",
    ):
        assert told in text
    assert "failed: 2 no answer in time, 1 server error" in text
    assert "skipped: 30 forbidden by robots.txt, 9 left out by a pattern, 1 not found" in text
    assert "1:02:03 left: held back after errors" in text
    assert "200  /page/11" in text
    assert "Page 11" in text


def test_hosts_that_are_held_back_come_first() -> None:
    drawn = lines(snapshot(), 100)
    held = next(n for n, line in enumerate(drawn) if "held back" in line)
    assert "keeping its delay" in drawn[held + 1]


def test_its_height_stays_the_same_once_pages_come() -> None:
    console = Console(file=io.StringIO(), width=80, height=24)
    heights = {
        len(console.render_lines(draw(snapshot(pages=tuple(page(n) for n in range(count))), 80, 24)))
        for count in (1, 5, 12)
    }
    assert len(heights) == 1


def test_a_page_has_no_power_over_the_terminal() -> None:
    evil = page(
        1, title="[red]x[/] \x1b[2J\nnext", url="https://example.org/\x1b[31m", status="failed", http_status=None
    )
    text = "\n".join(lines(snapshot(pages=(evil,)), 80))
    assert "\x1b" not in text
    assert "[red]x[/] ?[2J next" in text
    assert "  –  " in text


def test_wide_letters_do_not_break_the_columns() -> None:
    console = Console(file=io.StringIO(), width=80, height=24)
    seen = snapshot(pages=(page(1, title="漢字" * 60, url="https://example.org/" + "漢字" * 60),))
    for line in console.render_lines(draw(seen, 80, 24), pad=False):
        assert sum(segment.cell_length for segment in line) <= 80


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {}])
def test_where_nothing_can_be_redrawn_a_line_comes_now_and_then(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = io.StringIO()
    console = Console(file=out, width=40, _environ=environment, force_terminal=bool(environment))
    monkeypatch.setattr("crawler.entrypoints.cli.screen.live_view.LINE_SECONDS", 0.0)
    with LiveView("https://example.org/", quiet=False, console=console) as view:
        view.show(snapshot())
    told = out.getvalue().splitlines()
    assert told[0] == "Starting a crawl of https://example.org/ …"
    assert told[1] == "1:02:05: 120 pages (28.4/s), 503 queued, 3 failed, 40 skipped"
    assert "\x1b" not in out.getvalue()


def test_a_program_that_reads_the_end_is_not_disturbed() -> None:
    out = io.StringIO()
    with LiveView("https://example.org/", quiet=True, console=Console(file=out, width=80)) as view:
        view.show(snapshot())
    assert out.getvalue() == ""


def test_a_line_says_why_nothing_happens() -> None:
    assert one_line(snapshot(under_way=0)).endswith(
        "example.org:8080 1:02:03 left: held back after errors, for 10:00 at most"
    )
