"""What `crawler export` says of its files is where they are."""

from pathlib import Path
from uuid import UUID

import pytest

from crawler.adapters.pages.export_files import Folder
from crawler.domain.exports.files import ExportedMarkdown, export_format
from crawler.domain.markdown.page import MarkdownPage
from crawler.entrypoints.cli.backend.local_exports import tell_files, write_pages


def test_the_folder_of_single_pages_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = ExportedMarkdown(UUID(int=1), MarkdownPage("http://h.test/", 0, "text"))
    tell_files([write_pages(Folder(tmp_path), export_format("markdown"), [page])])
    told = capsys.readouterr().err
    assert told == f"Wrote {tmp_path / 'site.md'}, and 1 file of single pages in {tmp_path / 'markdown'}\n"
    assert (tmp_path / "markdown" / "index.md").is_file()
