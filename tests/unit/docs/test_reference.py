"""The tables of docs/reference are what the code says."""

import re
from pathlib import Path

import pytest

from crawler.config import PREFIX, Settings
from crawler.domain.crawls.crawl import CrawlConfig
from crawler.domain.reasons import Reason
from scripts import reference
from scripts.reference.command_line import commands


@pytest.mark.parametrize("page", reference.pages(), ids=lambda page: page.name)
def test_the_tables_are_those_of_the_code(page: Path) -> None:
    text = page.read_text()
    assert reference.made_anew(text) == text, "make reference"


def test_every_table_stands_on_some_page() -> None:
    shown = {name for page in reference.pages() for name in re.findall(r"<!-- made: ([a-z-]+) -->", page.read_text())}
    assert shown == set(reference.MAKERS)


def test_the_tables_are_whole() -> None:
    for name in Settings.model_fields:
        assert f"`{PREFIX}{name.upper()}`" in reference.MAKERS["settings"]()
    for name in CrawlConfig.model_fields:
        assert f"`{name}`" in reference.MAKERS["crawl-options"]()
    for reason in Reason:
        assert f"`{reason}`" in reference.MAKERS["reasons"]()
    described = reference.MAKERS["commands"]()
    for command in commands():
        assert f"### {command.path}\n" in described
        assert all(f"`{option}`" in described for option in command.options if option.startswith("-"))


def test_a_table_that_is_stale_is_noticed() -> None:
    page = next(page for page in reference.pages() if page.name == "settings.md")
    stale = page.read_text().replace("CRAWLER_API_PORT", "CRAWLER_API_DOOR")
    assert reference.made_anew(stale) == page.read_text() != stale
