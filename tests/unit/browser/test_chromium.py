"""Which browser is taken: the one asked for, else the PATH, else Playwright's newest."""

from pathlib import Path

import pytest

from crawler.adapters.browser import chromium
from crawler.adapters.browser.chromium import find_chromium


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def bin_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only directory on the PATH."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin"


def test_the_browser_that_was_asked_for_wins_over_the_path(bin_dir: Path, tmp_path: Path) -> None:
    program(bin_dir / "chromium")
    own = program(tmp_path / "own")
    assert find_chromium(own) == own


def test_no_other_browser_replaces_the_one_that_was_asked_for(bin_dir: Path, tmp_path: Path) -> None:
    program(bin_dir / "chromium")
    assert find_chromium(tmp_path / "missing") is None
    (tmp_path / "text").write_text("not a program")
    assert find_chromium(tmp_path / "text") is None


@pytest.mark.parametrize("name", chromium.NAMES)
def test_a_browser_on_the_path_is_found_by_each_of_its_names(bin_dir: Path, name: str) -> None:
    assert find_chromium(None, caches=()) is None
    program(bin_dir / name)
    assert find_chromium(None, caches=()) == bin_dir / name


def test_the_newest_download_of_playwright_is_taken_when_the_path_has_none(bin_dir: Path, tmp_path: Path) -> None:
    for revision in (999, 1217, 1100):
        program(tmp_path / f"chromium-{revision}/chrome-linux/chrome")
    (tmp_path / "chromium-1300/chrome-linux").mkdir(parents=True)
    assert find_chromium(None, caches=(tmp_path,)) == tmp_path / "chromium-1217/chrome-linux/chrome"


def test_installing_falls_back_to_playwright_when_apt_get_fails(bin_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        chromium, "_steps", lambda: [("First", [("/bin/sh", "-c", "exit 3")]), ("Second", [("/bin/true",)])]
    )
    said: list[str] = []
    assert chromium.install_chromium(said.append)
    assert said[0] == "First …"
    assert said[1].startswith("First failed")
    assert said[2:] == ["Second …"]


def test_a_missing_browser_is_one_sentence_and_a_failure(
    bin_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(chromium, "PLAYWRIGHT_CACHES", ())
    monkeypatch.setenv("CRAWLER_CHROMIUM", str(bin_dir / "nothing"))
    assert chromium.main([]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"CRAWLER_CHROMIUM is {bin_dir}/nothing, which is not a program: ")
    assert said.count("\n") == 1
