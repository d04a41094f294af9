"""How `crawler run` ends when somebody stops it, reads no more, or gets nothing: one sentence, no traceback."""

import csv
import json
import os
import pty
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
import pytest

from tests.acceptance.cli import Cli
from tests.acceptance.running import eventually
from tests.site.client import Site

SECRET = "hunter2-of-the-test"
pytestmark = pytest.mark.slow


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path, hosts=1, pages=60, odd=0.3) as site:
        yield site


class Private(BaseHTTPRequestHandler):
    """Says its secret only to those who know it."""

    def do_GET(self) -> None:
        known = self.headers.get("X-Key") == SECRET
        body = b"<title>Inside</title><a href='/b'>b</a>"
        self.send_response(200 if known else 403)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def private_url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Private) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def crawls_of(cli: Cli, site: Site) -> list[dict[str, Any]]:
    (project,) = [p for p in cli.json("project", "list") if p["name"] == site.url()]
    found: list[dict[str, Any]] = cli.json("crawl", "list", project["id"])
    return found


def cancel_crawls_of(cli: Cli, site: Site) -> None:
    for crawl in crawls_of(cli, site):
        assert cli("crawl", "cancel", crawl["id"]).returncode == 0


def test_the_second_watcher_is_told_when_the_first_pauses_the_crawl(cli: Cli, site: Site) -> None:
    options = ("run", site.url(), "--delay", "1")
    first = cli.start_cold(*options)
    eventually(lambda: len(site.requests()) > 3, 60, "it is under way")
    second = cli.start(*options)
    assert second.stdout
    assert "already under way" in second.stdout.readline()
    first.send_signal(signal.SIGINT)
    told, _ = first.communicate(timeout=60)
    assert first.returncode == 130, told
    assert "the same command goes on where it stopped" in told
    told, _ = second.communicate(timeout=60)
    assert second.returncode == 1, told
    assert "Somebody else paused the crawl" in told
    assert "Traceback" not in told


def test_exports_are_whole_and_a_header_opens_what_is_private(cli: Cli, private_url: str, tmp_path: Path) -> None:
    (tmp_path / "headers").write_text(f"X-Key: {SECRET}\n")
    done = cli("run", private_url, "--header", f"@{tmp_path}/headers", "--delay", "0", "--export",
               str(tmp_path / "out"), "--format", "jsonl", "--format", "csv")  # fmt: skip
    assert done.returncode == 0, done.stderr + cli.logs()
    assert "list of processes" not in done.stderr
    assert SECRET not in done.stdout + done.stderr + cli.logs()
    pages = [json.loads(line) for line in (tmp_path / "out" / "pages.jsonl").read_text().splitlines()]
    assert [(page["title"], page["status"]) for page in pages] == [("Inside", "success")] * 2
    with (tmp_path / "out" / "pages.csv").open(newline="") as file:
        assert [row["url"] for row in csv.DictReader(file)] == [page["url"] for page in pages]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["pages.csv", "pages.jsonl"]
    again = cli("run", private_url, "--header", f"X-Key: {SECRET}", "--delay", "0")
    assert again.returncode == 0, again.stderr
    assert "can read the value of --header 'Name: value' in the list of processes" in again.stderr
    assert SECRET not in again.stdout + again.stderr


def test_who_reads_only_the_beginning_sees_no_traceback_and_pauses_the_crawl(cli: Cli, site: Site) -> None:
    command = subprocess.Popen(
        cli.command("run", site.url(), "--delay", "2"),
        env=cli.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert command.stdout
    assert "Starting a crawl" in command.stdout.readline()
    command.stdout.close()
    assert command.wait(timeout=60) == 130, cli.logs()
    (crawl,) = crawls_of(cli, site)
    assert crawl["paused"]


def test_a_list_is_named_and_what_it_may_not_reach_is_told_with_the_way_to_open_it(
    cli: Cli, site: Site, tmp_path: Path
) -> None:
    listed = tmp_path / "list.txt"
    listed.write_text(f"{site.url('/')}\nhttp://127.0.0.9:9/\nhttp://127.0.0.9:9/b\n")
    done = cli("run", site.url(), "--urls-file", str(listed), "--delay", "0", "--ignore-robots")
    assert done.returncode == 0, done.stderr + cli.logs()
    assert f"Starting a crawl of 3 URLs from {listed}" in done.stderr
    assert f"completed  3 URLs from {listed}  every URL of the list was asked for" in done.stdout
    told = " ".join(done.stdout.split())
    assert "2 address not allowed" in told
    assert "2 URLs were not asked for" in told
    assert "host:port in CRAWLER_EGRESS_ALLOW opens others" in told


def test_https_where_plain_http_is_spoken_is_told(cli: Cli, private_url: str) -> None:
    url = private_url.replace("http://", "https://")
    done = cli("run", url, "--ignore-robots", "--delay", "0")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(f"The server does not speak TLS there; try {private_url}")


def test_robots_that_forbid_everything_are_one_sentence(cli: Cli, site: Site) -> None:
    site.set_robots("User-agent: *\nDisallow: /")
    done = cli("run", site.url())
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].startswith(f"{site.url()} could not be fetched: forbidden by robots.txt")
    assert "--ignore-robots" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_redirect_to_where_nobody_may_go_is_one_sentence(cli: Cli, site: Site) -> None:
    site.set_fault("/", status=302, headers={"Location": "http://127.0.0.9:9/"})
    done = cli("run", site.url(), "--ignore-robots", "--delay", "0")
    assert done.returncode == 1
    assert "CRAWLER_EGRESS_ALLOW" in done.stderr.splitlines()[-1]


def test_ctrl_c_at_the_start_leaves_a_clean_line(cli: Cli, site: Site) -> None:
    terminal, end = pty.openpty()
    process = subprocess.Popen(
        cli.command("run", site.url()), env={**cli.environment, "TERM": "xterm"}, stdin=end, stdout=end, stderr=end
    )
    os.close(end)
    shown = ""
    while "Starting" not in shown:
        shown += os.read(terminal, 1000).decode()
    process.send_signal(signal.SIGINT)
    with suppress(OSError):  # the end of a terminal nobody writes to any more
        while more := os.read(terminal, 1000):
            shown += more.decode()
    os.close(terminal)
    assert process.wait(30) == 130
    assert "\x1b[" in shown.rpartition("Starting")[2], shown
    assert "Traceback" not in shown


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_workers_end_with_the_command_however_it_ends(cli: Cli, site: Site, number: signal.Signals) -> None:
    process = cli.start_cold("run", site.url(), "--delay", "0.3")
    eventually(lambda: len(site.requests()) > 3, 60, "it is under way")
    workers = [
        child
        for child in psutil.Process(process.pid).children(recursive=True)
        if "workers.one_crawl" in child.cmdline()
    ]
    assert len(workers) >= 3
    process.send_signal(number)
    process.communicate(timeout=60)
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert not alive
    cancel_crawls_of(cli, site)  # or the next command's workers would go on with it
