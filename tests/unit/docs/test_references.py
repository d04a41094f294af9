"""Nothing in README, CONTRIBUTING and docs refers to what is not there; and the check would notice."""

import re
from pathlib import Path

import pytest

from crawler.entrypoints.dashboard.pages import PAGES
from tests.unit.docs.checking import ROOT, Page, pages, problems


@pytest.mark.parametrize("path", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_everything_a_page_refers_to_exists(path: Path) -> None:
    assert problems(Page.read(path)) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[a](nowhere.md)", "there is no nowhere.md"),
        ("[a](reference/settings.md#nothing)", "there is no such heading"),
        ("[a](#nothing)\n\n# Something\n", "there is no such heading"),
        ("![a](images/none.png)", "there is no images/none.png"),
        ("[a](../crawler/nothing.py)", "there is no ../crawler/nothing.py"),
        ("[a](../../etc)", "../../etc"),
        ("`crawler fly`", "there is no command 'crawler fly'"),
        ("`crawler crawl fly CRAWL_ID`", "there is no command 'crawler crawl fly'"),
        ("`crawler crawl pause|fly`", "there is no command 'crawler crawl fly'"),
        ("`crawler run URL --fast`", "'crawler run' has no option --fast"),
        ("```\n.venv/bin/crawler run URL \\\n    --fast 3\n```", "'crawler run' has no option --fast"),
        ("```\nmake run && crawler up --fast\n```", "'crawler up' has no option --fast"),
        ("```\nexport CRAWLER_FAST=1\n```", "there is no setting CRAWLER_FAST"),
        ("`CRAWLER_FAST`", "there is no setting CRAWLER_FAST"),
        ("`make fly`", "there is no target 'make fly'"),
        ("`--fast N`", "no command has an option --fast"),
        ("`crawler.fly`", "there is no task or metric crawler.fly"),
        ("`crawler_fly_total{lane}`", "there is no task or metric crawler_fly_total"),
        ("`GET /projects/{id}/wings`", "there is no path /projects/{id}/wings"),
        ("| a |\n|---|\n| `crawler fly` |", "there is no command 'crawler fly'"),
    ],
)
def test_what_is_not_there_is_found(text: str, told: str) -> None:
    (problem,) = problems(Page.read(ROOT / "docs" / "new.md", text))
    assert told in problem


@pytest.mark.parametrize(
    "text",
    [
        "[a](reference/settings.md#crawl-options) [b](https://example.org/#x)",
        "`crawler run URL --max-pages 3` `crawler --help` `crawler` `crawler queue`",
        "```\nCRAWLER_DATA_DIR=/data crawler up --port 80    # crawler fly\n```",
        "```text\ncrawler fly away\n```",
        "`crawler search PROJECT_ID -- -without`",
        "`crawler.start_crawl` `crawler_up{server}` `GET /projects/{id}` `make docs`",
    ],
)
def test_what_is_there_is_left_alone(text: str) -> None:
    assert problems(Page.read(ROOT / "docs" / "new.md", text)) == []


def test_every_page_of_the_dashboard_that_is_named_exists() -> None:
    paths = {re.sub(r"\{[^}]*\}", "{}", route.path) for room in PAGES for route in room.router.routes}
    named = {code for code in Page.read(ROOT / "docs/reference/dashboard.md").code() if code.startswith("/")} - {
        "/api/v1/"
    }
    assert {re.sub(r"\{[^}]*\}", "{}", code) for code in named} <= paths


@pytest.mark.parametrize("folder", ["how-to", "reference", "explanation"])
def test_an_index_names_every_page_of_its_folder(folder: str) -> None:
    named = {token.attrs.get("href") for token in Page.read(ROOT / "docs" / folder / "index.md").inline()}
    assert {path.name for path in (ROOT / "docs" / folder).glob("*.md")} - {"index.md"} <= named
