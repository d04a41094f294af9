"""What contributors are told to do is what is done."""

import re
import tomllib

import yaml

from crawler import __version__
from tests.unit.docs.checking import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_before_a_commit_the_same_is_checked_as_by_make_check() -> None:
    recipe = (ROOT / "Makefile").read_text().split("\ncheck:")[1].split("\n\n")[0]
    checked = {line.split("/")[-1].split()[0] for line in recipe.splitlines()[1:]}
    hooks = [
        hook
        for repo in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
        for hook in repo["hooks"]
    ]
    assert {hook["entry"].removeprefix(".venv/bin/").split()[0] for hook in hooks} == checked
    assert all(hook["language"] == "system" for hook in hooks), "nothing is fetched from elsewhere"


def test_the_newest_version_in_the_changelog_is_this_one() -> None:
    newest = re.search(
        r"^## (\S+) \((\d{4}-\d\d-\d\d|unreleased)\)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert newest
    assert newest[1] == PROJECT["version"] == __version__


def test_the_versions_that_get_fixes_include_this_one() -> None:
    assert f"| {PROJECT['version'].rpartition('.')[0]}.x | yes |" in (ROOT / "SECURITY.md").read_text()
