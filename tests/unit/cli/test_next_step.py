"""After a result a terminal names the next useful command; pipes and files get the result alone."""

import io
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlStatus, CrawlType
from crawler.domain.crawls.project import Project
from crawler.entrypoints.cli.screen.next_step import after_changes, after_crawl, after_run, suggest

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SHOP = Project.create(name="Winter shop", website_url="https://shop.example/", now=NOW)
NOTHING = {"new_pages": 0, "changed_pages": 0, "removed_pages": 0, "unchanged_pages": 9}


def crawl(**fields: Any) -> CrawlJob:
    made = CrawlJob.create(
        project_id=SHOP.id,
        seed_url="https://shop.example/",
        domain="shop.example",
        crawl_type=CrawlType.INITIAL,
        config=CrawlConfig(),
        now=NOW,
    )
    return made.model_copy(update={"status": CrawlStatus.COMPLETED, "pages_crawled": 9, **fields})


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def said(speak: Callable[[], None]) -> str:
    """What it says on a terminal."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", shown := Terminal())
        patch.setenv("TERM", "dumb")
        speak()
    return shown.getvalue()


@pytest.mark.parametrize(
    ("fields", "named", "command"),
    [
        ({}, "latest", "crawler report"),
        ({"change_summary": {"summary": NOTHING}}, "shop", "crawler report shop"),
        ({"change_summary": {"summary": NOTHING | {"new_pages": 1}}}, "latest", "crawler changes"),
        ({"change_summary": {"summary": NOTHING, "moved_pages": 1}}, "Winter shop", "crawler changes 'Winter shop'"),
        ({"status": CrawlStatus.IN_PROGRESS}, "latest", "crawler crawl watch"),
        ({"status": CrawlStatus.IN_PROGRESS, "paused": True}, "latest", "crawler crawl resume"),
        ({"status": CrawlStatus.FAILED}, "latest", "crawler explain"),
        ({"pages_crawled": 0}, "latest", ""),
    ],
)
def test_a_crawl_leads_to_what_is_worth_a_look(fields: dict[str, Any], named: str, command: str) -> None:
    told = said(lambda: after_crawl(crawl(**fields), named))
    assert told.startswith(f"Next: {command}") if command else not told
    first, *rest = told.splitlines() or [""]
    assert not rest or (first.endswith("/") and rest[0].startswith("      (")), "a command is never broken"


def test_changes_lead_to_rules_or_to_another_crawl() -> None:
    changed = crawl(change_summary={"summary": NOTHING | {"changed_pages": 2}})
    daily = "crawler schedule set 'Winter shop' --frequency daily --email ADDRESS"
    assert daily in said(lambda: after_changes(changed, SHOP, scheduled=False))
    assert "crawler noise add 'Winter shop' --selector CSS" in said(
        lambda: after_changes(changed, SHOP, scheduled=True)
    )
    assert "crawler schedule run-now 'Winter shop'" in said(lambda: after_changes(crawl(), SHOP, scheduled=True))
    by_url = SHOP.changed(NOW, name="https://shop.example/")
    again = "crawler watch https://shop.example/ --site --email ADDRESS"
    assert again in said(lambda: after_changes(changed, by_url, scheduled=False)), "the words of 'crawler run'"
    assert "crawler run https://shop.example/" in said(lambda: after_changes(crawl(), by_url, scheduled=False))


def test_nothing_is_said_into_a_pipe(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    suggest("report", to="more")
    assert capsys.readouterr().out == ""


def test_names_are_quoted_for_the_shell() -> None:
    told = said(lambda: suggest("crawl", "list", "$(reboot) [bold]it's", to="its crawls"))
    assert "crawler crawl list '$(reboot) [bold]it'\"'\"'s'" in told


@pytest.mark.parametrize(
    ("fields", "command"),
    [
        ({}, "crawler watch https://shop.example/ --site"),
        ({"compared_to": SHOP.id, "change_summary": {"summary": NOTHING}}, "crawler report"),
        ({"compared_to": SHOP.id, "change_summary": {"summary": NOTHING | {"changed_pages": 1}}}, "crawler changes"),
        ({"crawl_type": CrawlType.FETCH_ONLY}, "crawler report"),
    ],
)
def test_a_first_run_leads_to_how_changes_are_noticed(fields: dict[str, Any], command: str) -> None:
    told = " ".join(said(lambda: after_run(crawl(**fields))).split())
    assert told.startswith(f"Next: {command} ")
    assert ("run it again later to see what changed" in told) == (not fields)
