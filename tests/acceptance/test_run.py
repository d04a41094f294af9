"""`crawler run` end to end: the real command, real workers, real servers, a real site."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from tests.acceptance.cli import Cli
from tests.acceptance.running import eventually
from tests.site.client import Site

_PAGE = re.compile(r"^--- (\S+) \(depth (\d+)\) ---$", re.MULTILINE)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path, hosts=1, pages=30) as site:
        yield site


class Vanished(NamedTuple):
    """A site of which a page was removed and one only lost its link, crawled before and afterwards."""

    site: Site
    shown: str
    """Of the first crawl, to a person."""
    first: dict[str, Any]
    second: dict[str, Any]
    """As a program gets it."""


VANISHED = ("--delay", "0", "--project", "vanished")


@pytest.fixture(scope="module")
def vanished(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vanished]:
    cli, links = Cli(data_dir), "".join(f'<a href="/{name}">{name}</a>' for name in ("kept", "gone", "alone"))
    with Site(tmp_path_factory.mktemp("vanished"), hosts=1, pages=5) as site:
        for name in ("kept", "gone", "alone"):
            site.edit(f"/{name}", html=f"<title>{name}</title>")
        site.edit("/", html=f"<title>home</title>{links}")
        done = cli("run", site.url(), *VANISHED)
        assert done.returncode == 0, done.stderr + cli.logs()
        site.edit("/", html='<title>home</title><a href="/kept">kept</a>')
        site.remove("/gone")
        second = cli.json("run", site.url(), *VANISHED)
        _, first = cli.json("crawl", "list", second["project_id"])
        yield Vanished(site, done.stdout, first, second)


def test_a_site_is_crawled_by_real_workers_and_a_person_sees_a_summary(vanished: Vanished) -> None:
    assert "pages crawled" in vanished.shown
    assert "completed" in vanished.shown
    first = vanished.first
    assert (first["status"], first["end_reason"], first["pages_crawled"]) == ("completed", "exhausted", 4)
    assert first["change_summary"] is None


def test_a_page_that_vanished_is_looked_for_before_it_is_called_removed(vanished: Vanished) -> None:
    """Through the real queue: the coordinator plans, a worker asks, the crawl completes."""
    site, second = vanished.site, vanished.second
    assert (second["status"], second["end_reason"], second["pages_crawled"]) == ("completed", "exhausted", 3)
    change = second["change_summary"]
    assert change["removed_page_urls"] == [site.url("/gone")]
    assert change["removals"] == [{"url": site.url("/gone"), "class": "gone"}]
    assert change["summary"]["unchanged_pages"] >= 1, "one that nothing links to any more is watched on"


@pytest.mark.slow
def test_a_page_is_called_removed_once(cli: Cli, vanished: Vanished) -> None:
    shown = cli("run", vanished.site.url(), *VANISHED)
    assert shown.returncode == 0, shown.stderr + cli.logs()
    assert "0 removed" in shown.stdout


@pytest.mark.slow
def test_a_whole_site_is_stored_and_runs_again_tell_no_change_also_after_a_narrower_one(
    cli: Cli, site: Site, tmp_path: Path
) -> None:
    wide = ("run", site.url(), "--delay", "0", "--concurrency", "8", "--max-pages", "500")
    formats = ("--format", "markdown", "--format", "jsonl")
    first = cli.json(*wide, "--export", str(tmp_path / "run"), *formats)
    run_and_export_write_the_same_markdown(cli, site, first, tmp_path)
    assert first["status"] == "completed"
    assert first["end_reason"] == "exhausted"
    assert first["pages_crawled"] == sum(e.state == "done" for e in site.expected().values())
    assert first["change_summary"] is None
    unchanged = {
        "new_pages": 0,
        "removed_pages": 0,
        "changed_pages": 0,
        "unchanged_pages": first["pages_crawled"],
    }
    again = cli.json(*wide)
    assert again["pages_crawled"] == first["pages_crawled"]
    assert again["project_id"] == first["project_id"]
    assert again["change_summary"]["summary"] == unchanged
    narrow = cli.json(*wide, "--depth", "1")
    assert narrow["pages_crawled"] < first["pages_crawled"]
    after = cli.json(*wide)
    for crawl in (narrow, after):
        counts = crawl["change_summary"]["summary"]
        assert (counts["new_pages"], counts["removed_pages"], counts["changed_pages"]) == (0, 0, 0)


def run_and_export_write_the_same_markdown(cli: Cli, site: Site, done: dict[str, Any], folder: Path) -> None:
    """The whole site in one file, and a file for each page."""
    assert sorted(path.name for path in (folder / "run").iterdir()) == ["markdown", "pages.jsonl", "site.md"]
    whole = (folder / "run" / "site.md").read_text()
    headed = _PAGE.findall(whole)
    assert len(headed) == done["pages_crawled"]
    assert headed[0] == (site.url(), "1")
    assert whole.startswith("\n--- ")
    files = sorted(file for file in (folder / "run" / "markdown").rglob("*") if file.is_file())
    assert len(files) == done["pages_crawled"]
    assert (folder / "run" / "markdown" / "index.md").read_text().startswith(f'---\nurl: "{site.url()}"\ntitle: "')
    for file in files:
        assert file.suffix == ".md"
        assert file.read_text().split("---\n\n", 1)[1].removesuffix("\n") in whole
    told = cli.json("export", done["crawl_id"], "--format", "markdown", "--output", str(folder / "again"))
    assert told["files"] == [str(folder / "again" / "site.md")]
    assert (folder / "again" / "site.md").read_text() == whole
    again = sorted(file for file in (folder / "again" / "markdown").rglob("*") if file.is_file())
    assert [(file.name, file.read_bytes()) for file in again] == [(file.name, file.read_bytes()) for file in files]


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("nonsense", "write one such as example.org, or http://nonsense for a machine of that name"),
        ("ftp://example.org/", "Only http and https"),
        ("http://user:pw@example.org/", "user name or password"),
        ("http://127.1/", "unusual notation"),
        ("http://127.0.0.1:0/", "port 0, which nobody can reach"),
    ],
)
def test_what_is_no_url_is_one_sentence(cli: Cli, url: str, told: str) -> None:
    done = cli("run", url)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2
    assert "Traceback" not in done.stderr


@pytest.mark.slow  # for the pauses between the tries
def test_a_site_that_does_not_answer_is_one_sentence(cli: Cli) -> None:
    done = cli("run", "http://127.0.0.1:9/", "--delay", "0", "--ignore-robots", timeout=110)
    assert done.returncode == 1
    assert "could not be fetched: no connection" in done.stderr
    assert "Traceback" not in done.stderr
    left = [project["name"] for project in cli.json("project", "list")]
    assert "http://127.0.0.1:9/" not in left, "a first run that reached nothing leaves nothing behind"


@pytest.mark.slow
def test_a_closed_terminal_pauses_the_crawl_and_leaves_nothing_behind(cli: Cli, site: Site) -> None:
    process = cli.start_cold("run", site.url(), "--delay", "0.2")
    eventually(lambda: len(site.requests()) > 3, 60, "it is under way")
    process.send_signal(signal.SIGHUP)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert "Paused after" in output
    state = json.loads((cli.data_dir / "servers" / "state.json").read_text())
    assert not any(psutil.pid_exists(state[name]["pid"]) for name in ("postgres", "valkey") if name in state)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("run", "http://127.0.0.1:9/", "--include", "("), "not a valid regular expression"),
        (("run", "http://127.0.0.1:9/", "--max-pages", "-1"), "--max-pages is not valid: it should be greater than 0"),
        (("project", "create", "", "http://127.0.0.1:9/"), "1 to 200 characters"),
        (("key", "create", ""), "1 to 100 characters"),
        (("up", "--port", "99999"), "not a port"),
    ],
)
def test_unusable_arguments_are_one_sentence(cli: Cli, arguments: tuple[str, ...], told: str) -> None:
    done = cli(*arguments)
    assert done.returncode == 2, done.stderr
    assert told in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--export", "/proc/nowhere"), "cannot be written to /proc/nowhere"),
        (("--export=",), "write . for the present one"),
        (("--project", "n" * 201), "1 to 200 characters"),
        (("--project", ""), "1 to 200 characters"),
        (("--format", "csv"), "--export DIR"),
        (("--export", ".", "--format", "pdf"), "choose jsonl, csv, markdown or warc"),
        (("--urls-file", "/no/such/file"), "/no/such/file cannot be read"),
        (("--header", "nonsense"), "'Name: value'"),
        (("--header-env", "X-Key=NO_SUCH_VARIABLE"), "NO_SUCH_VARIABLE is not set"),
        (("--max-pages", "999999"), "CRAWLER_MAX_PAGES_CEILING"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_started(
    tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    nowhere = Cli(tmp_path / "data")
    done = nowhere("run", "http://127.0.0.1:9/", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "data").exists()


@pytest.mark.slow
def test_names_have_no_power_over_the_terminal(cli: Cli) -> None:
    assert cli("project", "create", "[/x] [b]", "http://127.0.0.1:9/").returncode == 0
    listed = cli("project", "list")
    assert listed.returncode == 0, listed.stderr
    assert "[/x] [b]" in listed.stdout
    for name in ("\x1b[2J", "two\nlines", "  "):
        refused = cli("project", "create", name, "http://127.0.0.1:9/")
        assert (refused.returncode, "1 to 200 characters of text" in refused.stderr) == (2, True)


@pytest.mark.slow
def test_a_shell_can_complete_commands_and_options(cli: Cli) -> None:
    shell = {"_CRAWLER_COMPLETE": "complete_bash", "COMP_CWORD": "2"}
    line = [
        sys.executable,
        "-c",
        "import sys; sys.argv[0] = 'crawler'; from crawler.entrypoints.cli.start import main; main()",
    ]
    for words, wanted in (("crawler crawl ret", "retry-failed"), ("crawler run --urls", "--urls-file")):
        environment = {**cli.environment, **shell, "COMP_WORDS": words}
        done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert done.stdout.split() == [wanted], done.stderr


def test_the_list_of_commands_is_not_cut_off(cli: Cli) -> None:
    cli_80 = Cli(cli.data_dir, COLUMNS="80")
    listed = cli_80("--help").stdout.partition("Start here:")[2]
    assert listed
    assert "..." not in listed


def test_help_shows_the_defaults(cli: Cli) -> None:
    assert "[default: 200]" in " ".join(cli("run", "--help").stdout.split())


@pytest.mark.slow
def test_one_page_is_got_without_a_service(data_dir: Path, site: Site) -> None:
    site.edit("/k", html="<title>Kettles</title><nav>Menu</nav><h1>Kettles</h1>")
    done = Cli(data_dir)("get", site.url("/k"))
    assert (done.returncode, done.stdout) == (0, "# Kettles\n"), done.stderr
    again = Cli(data_dir)("get", site.url("/k"), "--max-age", "3600", "--format", "text")
    assert again.stdout == "Kettles\n"
    assert [request.path for request in site.requests()].count("/k") == 1
