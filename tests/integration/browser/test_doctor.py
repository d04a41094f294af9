"""What the doctor says of the browser."""

from pathlib import Path

import pytest

from crawler.adapters.browser.chromium import MISSING
from crawler.adapters.browser.fetcher import NO_PACKAGE, why_unavailable
from crawler.config import Settings
from crawler.entrypoints.doctor import browser_here


def _program(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.mark.slow
def test_a_browser_that_starts_is_well(chromium: Path) -> None:
    check = browser_here(Settings(chromium=chromium))
    assert (check.ok, check.required, check.fix) == (True, False, None)
    assert str(chromium) in check.message


def test_a_browser_that_does_not_start_is_told_with_its_own_words(chromium: Path, tmp_path: Path) -> None:
    broken = _program(tmp_path / "chromium", "echo 'No usable sandbox!' >&2; exit 1")
    check = browser_here(Settings(chromium=broken))
    assert (check.ok, check.required) == (False, False)
    assert check.message == "The browser ended at once; pages stay as they are fetched."
    assert check.fix == "No usable sandbox!"


def test_a_path_that_is_no_program_is_named(chromium: Path, tmp_path: Path) -> None:
    check = browser_here(Settings(chromium=tmp_path / "nothing"))
    assert (check.ok, check.required) == (False, False)
    assert f"CRAWLER_CHROMIUM is {tmp_path / 'nothing'}" in check.message
    assert check.fix is not None
    assert check.fix.startswith("Correct it")


def test_no_browser_at_all_comes_with_how_to_get_one(chromium: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.entrypoints.doctor.find_chromium", lambda _: None)
    monkeypatch.setattr("crawler.adapters.browser.fetcher.find_chromium", lambda _: None)
    check = browser_here(Settings(chromium=None))
    assert check.message == "No Chromium was found; pages stay as they are fetched."
    assert check.fix is not None
    assert check.fix.startswith("Install the package chromium")
    assert why_unavailable(None) == MISSING


def test_a_missing_extra_is_told_before_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.adapters.browser.fetcher.find_spec", lambda _: None)
    check = browser_here(Settings(chromium=None))
    assert check.message == "crawl4ai is not installed; pages stay as they are fetched."
    assert check.fix is not None
    assert "crawl-watcher[render]" in check.fix
    assert why_unavailable(None) == NO_PACKAGE
