"""The acquisition queue as an operator uses it: a file in, workers killed on the way, every row in its right state."""

import json
import os
import signal
from pathlib import Path

import psutil
import pytest

from crawler.domain.queue_entries import ACQUISITION_ID
from tests.acceptance.running import Running, eventually, running
from tests.integration.handmade import asked, lay
from tests.site.client import Site

HOSTS, PER_HOST = 8, 12
QUICK = {"CRAWLER_HTTP_TIMEOUT_SECONDS": "3", "CRAWLER_LEASE_SECONDS": "6"}
"""What killed workers held is soon somebody else's."""
pytestmark = pytest.mark.timeout(180)


def kill_fetchers(up: Running) -> int:
    """The processes that fetch, without a word."""
    killed = 0
    for child in up.process.children(recursive=True):
        try:
            if "fetch" in " ".join(child.cmdline()) and child.name() != "postgres":
                os.kill(child.pid, signal.SIGKILL)
                killed += 1
        except (psutil.NoSuchProcess, ProcessLookupError):
            continue
    return killed


def test_every_row_of_a_file_ends_once_although_workers_are_killed(tmp_path: Path) -> None:
    paths = [f"/{number}" for number in range(PER_HOST)]
    with Site(tmp_path, hosts=HOSTS, pages=HOSTS) as site, running(tmp_path / "data", **QUICK) as up:
        for host in range(HOSTS):
            lay(site, dict.fromkeys(paths, ()), host=host)
        site.remove("/0", host=3)
        rows = [f"{site.url(path, host)},place{host},{host}" for host in range(HOSTS) for path in paths]
        (tmp_path / "list.csv").write_text("\n".join(["url,category,priority", *rows, rows[0], "nonsense,,"]))
        report = up.cli.json("queue", "import", str(tmp_path / "list.csv"))
        assert (report["added"], report["duplicates"], report["bad"]) == (HOSTS * PER_HOST, 1, 1)
        up("PATCH", f"/projects/{ACQUISITION_ID}", {"settings": {"delay_seconds": 0.2, "render": "never"}})
        assert up.cli.json("queue", "run")["entries"] == HOSTS * PER_HOST
        eventually(lambda: len(asked(site)) > HOSTS * PER_HOST / 4, 30, "it is under way")
        assert kill_fetchers(up)

        def is_done() -> bool:
            counts = up("GET", "/queue/counts")["counts"]
            return bool(counts["pending"] == counts["fetching"] == 0)

        eventually(is_done, 120, "all entries ended")
        told = json.loads(up.cli("queue", "list", "--status", "failed", "--json").stdout)
        assert told["counts"]["fetched"] == HOSTS * PER_HOST - 1
        assert [entry["source_url"] for entry in told["entries"]] == [site.url("/0", 3)]
        assert told["entries"][0]["last_error"].startswith("not_found")
