"""What browsers get: small, recorded, and without anything that a strict policy would have to allow."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from crawler.entrypoints.dashboard.serving.assets import HERE, all_assets
from crawler.entrypoints.dashboard.serving.render import TEMPLATES, environment

ROOT = Path(__file__).parents[3]
RECORD = json.loads((ROOT / "scripts" / "assets.json").read_text())
FORBIDDEN = {
    "an inline style": r"\sstyle\s*=",
    "an inline handler": r"\son\w+\s*=",
    "an inline script": r"<script(?![^>]*\ssrc=)[^>]*>",
    "htmx that evaluates": r"hx-on|js:|javascript:",
    "unescaped text": r"\|\s*safe\b|autoescape|markupsafe",
    "something from elsewhere": r"(?:src|href)=\"(?:https?:)?//",
}


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: path.name)
def test_templates_hold_nothing_that_the_policy_forbids_or_that_escapes_escaping(path: Path) -> None:
    text = re.sub(r"\{#.*?#\}", "", path.read_text(), flags=re.DOTALL)
    for what, pattern in FORBIDDEN.items():
        assert not re.search(pattern, text, re.IGNORECASE), what


def test_everything_is_escaped_whatever_a_template_is_called() -> None:
    assert environment().autoescape is True
    assert environment().from_string("{{ x }}").render(x="<b>\"'") == "&lt;b&gt;&#34;&#39;"


def test_scripts_and_styles_are_small() -> None:
    sent = sum(len(asset.packed) for name, asset in all_assets().items() if name.endswith((".js", ".css")))
    assert sent < 150_000


@pytest.mark.parametrize("path", sorted(HERE.glob("*.js")), ids=lambda path: path.name)
def test_our_scripts_never_make_markup_of_text(path: Path) -> None:
    assert not re.search(
        r"\.innerHTML|\.outerHTML\s*=|insertAdjacentHTML|document\.write|\beval\(|new Function", path.read_text()
    )


def test_foreign_files_are_exactly_those_on_record() -> None:
    recorded = {file["to"]: file["sha256"] for package in RECORD for file in package["files"]}
    vendored = [*(HERE / "vendor").iterdir(), *(ROOT / "tests/integration/dashboard/vendor").iterdir()]
    assert {path.relative_to(ROOT).as_posix() for path in vendored} == set(recorded)
    for name, digest in recorded.items():
        assert hashlib.sha256((ROOT / name).read_bytes()).hexdigest() == digest, name
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", package["version"]) for package in RECORD)
