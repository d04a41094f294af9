"""`--format markdown`: the whole site in one file, and a file for each page, as a user gets them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.cli import Cli
from tests.site.client import Site

_PAGE = re.compile(r"^--- (\S+) \(depth (\d+)\) ---$", re.MULTILINE)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path, hosts=1, pages=30) as site:
        yield site


@pytest.mark.slow
def test_run_and_export_write_the_same_markdown(cli: Cli, tmp_path: Path, site: Site) -> None:
    done = cli.json("run", site.url(), "--max-pages", "20", "--delay", "0", "--export", str(tmp_path / "run"),
                    "--format", "markdown", "--format", "jsonl")  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["markdown", "pages.jsonl", "site.md"]
    whole = (tmp_path / "run" / "site.md").read_text()
    headed = _PAGE.findall(whole)
    assert len(headed) == done["pages_crawled"]
    assert headed[0] == (site.url(), "1")
    assert whole.startswith("\n--- ")
    files = sorted(file for file in (tmp_path / "run" / "markdown").rglob("*") if file.is_file())
    assert len(files) == done["pages_crawled"]
    assert (tmp_path / "run" / "markdown" / "index.md").read_text().startswith(f'---\nurl: "{site.url()}"\ntitle: "')
    for file in files:
        assert file.suffix == ".md"
        assert file.read_text().split("---\n\n", 1)[1].removesuffix("\n") in whole

    told = cli.json("export", done["crawl_id"], "--format", "markdown", "--output", str(tmp_path / "again"))
    assert told["files"] == [str(tmp_path / "again" / "site.md")]
    assert (tmp_path / "again" / "site.md").read_text() == whole
    again = sorted(file for file in (tmp_path / "again" / "markdown").rglob("*") if file.is_file())
    assert [(file.name, file.read_bytes()) for file in again] == [(file.name, file.read_bytes()) for file in files]
