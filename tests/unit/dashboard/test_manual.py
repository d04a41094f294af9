"""The documentation in the dashboard is whole: every chapter is there, and every link in it leads somewhere."""

import re
from pathlib import Path

import pytest

from crawler.entrypoints.dashboard.views import manual
from crawler.entrypoints.dashboard.views.manual import contents, image, manual_page

DOCS = Path(__file__).parents[3] / "docs"
CHAPTERS = [chapter.path for _, chapters in contents() for chapter in chapters]


def test_every_page_of_the_docs_is_a_chapter() -> None:
    files = {file for folder in (".", "how-to", "reference", "explanation") for file in (DOCS / folder).glob("*.md")}
    assert {str(file.relative_to(DOCS).with_suffix("")) for file in files} == set(CHAPTERS)


@pytest.mark.parametrize("path", CHAPTERS)
def test_every_link_leads_to_a_chapter_and_a_heading_of_it(path: str) -> None:
    chapter = manual_page(path)
    assert chapter is not None
    assert chapter.title
    assert "<h1 id=" in chapter.body
    assert "&lt;!--" not in chapter.body, "what is for tools is not for people"
    for to, anchor in re.findall(r'href="/help/([^"#]*)(?:#([^"]*))?"', chapter.body):
        other = manual_page(to)
        assert other is not None, to
        assert not anchor or f'id="{anchor}"' in other.body, (to, anchor)
    for anchor in re.findall(r'href="#([^"]*)"', chapter.body):
        assert f'id="{anchor}"' in chapter.body, anchor
    for name in re.findall(r'src="/help/images/([^"]*)"', chapter.body):
        assert image(name) is not None, name
    assert re.findall(r'(?:href|src)="(?!/help/|#|https?://)[^"]*"', chapter.body) == []


@pytest.mark.parametrize("path", ["nowhere", "how-to/../tutorial", "/etc/passwd", "how-to", "", "conf.py", "index.md"])
def test_nothing_else_is_shown(path: str) -> None:
    kept = manual.rendered.cache_info().currsize
    assert manual_page(path) is None
    assert manual.rendered.cache_info().currsize == kept, "nothing is kept of what anybody asks for"


@pytest.mark.parametrize("name", ["../conf.py", "..", "nothing.png", "a/b.png"])
def test_no_other_file_is_an_image(name: str) -> None:
    assert image(name) is None


def test_without_documentation_there_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("_CLONE", "_INSTALLED"):
        monkeypatch.setattr(manual, name, tmp_path)
    for each in (manual.folder, manual.contents, manual.rendered):
        each.cache_clear()
    try:
        assert manual.contents() == []
        assert manual.manual_page("tutorial") is None
        assert manual.image("live.png") is None
    finally:
        for each in (manual.folder, manual.contents, manual.rendered):
            each.cache_clear()
