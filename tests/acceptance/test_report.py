"""`crawler report` as people and programs use it."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from crawler.embedded import Servers
from tests.acceptance.cli import Cli
from tests.databases import MakeDatabase
from tests.integration.defects import html, spoil
from tests.integration.live_engine import running_engine
from tests.site.client import Site

pytestmark = pytest.mark.slow


class Stage(NamedTuple):
    cli: Cli
    site: Site
    first: str
    second: str

    def told(self, *arguments: str, status: int = 0) -> str:
        done = self.cli("report", *arguments)
        assert done.returncode == status, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout if status == 0 else " ".join(done.stderr.split())


@pytest.fixture(scope="module")
def stage(
    tmp_path_factory: pytest.TempPathFactory, embedded_servers: Servers, make_module_database: MakeDatabase
) -> Iterator[Stage]:
    """A spoiled site that was crawled, spoiled some more, and crawled again."""
    database, redis, folder = make_module_database(), embedded_servers.redis_url, tmp_path_factory.mktemp("site")
    with Site(folder, hosts=1, pages=5) as site, running_engine(database, redis, data_dir=folder / "data") as engine:
        spoil(site)
        first = engine.crawl(site.url(), max_pages=500)
        site.edit("/end", html=html("=2+5 [bold]End[/bold]", h1=None))
        site.edit("/twin-a", html=html("=2+5 [bold]End[/bold]", description="Another end"))
        second = engine.again(first)
        cli = Cli(folder / "data", CRAWLER_DATABASE_URL=database, CRAWLER_REDIS_URL=redis)
        yield Stage(cli, site, str(first.id), str(second.id))


def test_people_read_how_many_there_are_and_the_first_few(stage: Stage) -> None:
    said = stage.told(stage.second)
    for words in (
        "Broken links",
        "the lost page",
        f"linked from {stage.site.url('/plain')} (lost again)",
        " → ".join(map(stage.site.url, ("/hop-1", "/hop-2", "/hop-last", "/end"))),
        "It names several canonical URLs that differ.",
        "en-UK",
        "--kind canonical --csv FILE",
        "[bold]End[/bold]",
        f"New is what crawl {stage.first} did not have.",
    ):
        assert words in said
    assert not [line for line in said.splitlines() if line != line.rstrip() and len(line) > 500], "no padding in a pipe"


def test_programs_get_the_same_as_json(stage: Stage) -> None:
    report = json.loads(stage.told(stage.second, "--json"))
    kinds = {kind["kind"]: kind for kind in report["kinds"]}
    assert report["compared_to"] == stage.first
    assert (kinds["h1_missing"]["found"], kinds["h1_missing"]["new"]) == (2, 1)
    assert kinds["broken_link"]["first"][0]["related"][0] == {"url": stage.site.url("/"), "text": "the lost page"}
    assert report["found"] == sum(kind["found"] for kind in kinds.values())


def test_only_what_is_new(stage: Stage) -> None:
    report = json.loads(stage.told(stage.second, "--new", "--kind", "h1_missing", "--json"))
    (kind,) = report["kinds"]
    assert [finding["url"] for finding in kind["first"]] == [stage.site.url("/end")]


def test_all_findings_as_csv_to_a_file_or_a_pipe(stage: Stage, tmp_path: Path) -> None:
    piped = stage.told(stage.second, "--csv", "-", "--kind", "title_duplicate", "--kind", "broken_link")
    rows = list(csv.DictReader(io.StringIO(piped)))
    assert [row["kind"] for row in rows] == ["broken_link"] * 3 + ["title_duplicate"] * 2
    assert {row["text"] for row in rows[3:]} == {"'=2+5 [bold]End[/bold]"}, "a title is no formula"
    file = tmp_path / "report.csv"
    stage.told(stage.second, "--csv", str(file), "--kind", "title_duplicate", "--kind", "broken_link")
    assert file.read_text().splitlines() == piped.splitlines()


def test_what_cannot_be_done_is_one_sentence(stage: Stage, tmp_path: Path) -> None:
    assert "no kind of finding 'seo'" in stage.told(stage.second, "--kind", "seo", status=2)
    assert "not both" in stage.told(stage.second, "--csv", "-", "--json", status=2)
    assert "There is no crawl" in stage.told("00000000-0000-0000-0000-000000000000", status=4)
    assert "could not be written" in stage.told(stage.second, "--csv", str(tmp_path / "no" / "way" / "f.csv"), status=1)
