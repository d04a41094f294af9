"""Where the command writes may be full or closed: a sentence or silence, an honest exit status, no traceback."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.demo.site import DemoSite
from tests.acceptance.cli import Cli

FULL = Path("/dev/full")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with DemoSite() as site:
        yield site.url


def shell(cli: Cli, redirection: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    line = ["sh", "-c", f'exec "$@" {redirection}', "sh", *cli.command(*arguments)]
    return subprocess.run(line, env=cli.environment, capture_output=True, text=True, timeout=100, check=False)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_full_disk_behind_stdout_is_one_sentence(cli: Cli, url: str, options: tuple[str, ...]) -> None:
    done = cli("run", url, "--delay", "0", *options, out_to=FULL)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "What should be printed cannot be written: no space left on device."
    assert "Traceback" not in done.stderr
    (project,) = [project for project in cli.json("project", "list") if project["name"] == url]
    assert cli.json("crawl", "list", project["id"])[0]["status"] == "completed"


@pytest.mark.parametrize("arguments", [("project", "list"), ("project", "list", "--json"), ("--help",), ("--version",)])
def test_every_command_says_that_it_could_not_print(cli: Cli, arguments: tuple[str, ...]) -> None:
    done = cli(*arguments, out_to=FULL)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "no space left on device" in done.stderr


_MORE = [pytest.param(redirection, marks=pytest.mark.long) for redirection in ("2>&-", ">&- 2>&-")]


@pytest.mark.parametrize("redirection", [">&-", "2>/dev/full", "<&- >&- 2>&-", *_MORE])
def test_a_crawl_does_not_need_anybody_to_read(cli: Cli, url: str, redirection: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = shell(cli, redirection, "run", url, "--delay", "0", "--export", str(out))
    assert done.returncode == 0, done.stdout + done.stderr + cli.logs()
    assert (out / "pages.jsonl").read_text().count("\n") > 3


def test_a_mistake_is_told_by_the_status_where_nobody_reads(cli: Cli) -> None:
    assert shell(cli, "2>&-", "run", "nonsense").returncode == 2
    assert shell(cli, "2>/dev/full", "run", "nonsense").returncode == 2
