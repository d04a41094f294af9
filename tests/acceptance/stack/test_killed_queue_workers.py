"""The acquisition queue as an operator uses it: a file in, pages read and handed on, workers killed on the way."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from crawler.domain.crawls.project import ACQUISITION_ID
from tests.acceptance.running import Running, eventually
from tests.integration.handmade import asked, page
from tests.site.client import Site

HOSTS, PATHS = 30, ("/rooms", "/contact")
EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "classify.py"
SELECTORS = "include: [main]\nexclude: [.ad]\nfields:\n  name: h1\n  price: {selector: //b/text(), kind: xpath}\n"
pytestmark = [pytest.mark.slow, pytest.mark.stack, pytest.mark.timeout(300)]


def place(host: int, path: str) -> str:
    body = f"<main><h1>House {host}</h1><p>Quiet rooms of house {host}{path}, with a ramp.</p><b>{host} €</b>"
    return page(body=f"{body}<p class=ad>Buy</p></main>", title=f"House {host}")


@contextmanager
def consuming(broker: str, answers: Path) -> Iterator[None]:
    """A service that is not ours, as `docs/examples` has it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CRAWLER_")}
    environment["BROKER_URL"] = broker
    command = [sys.executable, str(EXAMPLE), str(answers)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT) as consumer:
        try:
            yield
        finally:
            consumer.kill()


def classified(answers: Path) -> list[tuple[str, str, str]]:
    if not answers.exists():
        return []
    with closing(sqlite3.connect(answers, timeout=30)) as db:
        return db.execute("SELECT * FROM answers").fetchall()


def broker_of(up: Running) -> str:
    state = json.loads((up.cli.data_dir / "servers" / "state.json").read_text())
    return f"redis+socket://{state['valkey']['socket']}?virtual_host=1"


def test_every_row_of_a_file_is_fetched_extracted_and_classified_once_although_workers_are_killed(
    up: Running, tmp_path: Path
) -> None:
    with Site(tmp_path, hosts=HOSTS, pages=HOSTS) as site:
        for host in range(HOSTS):
            for path in PATHS:
                site.edit(path, host=host, html=place(host, path))
        site.remove(PATHS[0], host=3)
        site.edit(PATHS[0], host=5, html="<html><body></body></html>")
        rows = [f"{site.url(path, host)},hotel,{host % 10}" for host in range(HOSTS) for path in PATHS]
        (tmp_path / "list.csv").write_text("\n".join(["url,category,priority", *rows, rows[0], "nonsense,,"]))
        (tmp_path / "hotel.yaml").write_text(SELECTORS)
        assert up.cli.json("category", "set", "hotel", str(tmp_path / "hotel.yaml"))["defined"]
        report = up.cli.json("queue", "import", str(tmp_path / "list.csv"))
        assert (report["added"], report["duplicates"], report["bad"]) == (len(rows), 1, 1)
        up("PATCH", f"/projects/{ACQUISITION_ID}", {"settings": {"delay_seconds": 0.8, "render": "never"}})
        answers = tmp_path / "answers.sqlite"
        with consuming(broker_of(up), answers):
            assert up("POST", "/queue/run")["entries"] == len(rows)
            eventually(lambda: len(asked(site)) > len(rows) / 4, 120, "it is under way")
            assert up.kill("fetch-", "compare-", "extraction_child")

            def counts() -> dict[str, int]:
                found: dict[str, int] = up("GET", "/queue/counts")["counts"]
                return found

            eventually(lambda: counts()["done"] > len(rows) / 3, 120, "extraction is under way")
            up.kill("extraction_child", "compare-")
            eventually(lambda: counts()["done"] + counts()["failed"] == len(rows), 90, "all entries ended")
            good = len(rows) - 2
            eventually(lambda: len(classified(answers)) >= good, 120, "all are classified")
            time.sleep(1)
        assert Counter({name: n for name, n in counts().items() if n}) == Counter(done=good, failed=2)
        failed = {entry["source_url"]: entry for entry in up("GET", "/queue?status=failed")["items"]}
        assert failed[site.url(PATHS[0], 3)]["last_error"].startswith("not_found")
        assert failed[site.url(PATHS[0], 5)]["last_error"].startswith("no_text")
        assert up("GET", "/queue/counts")["classification"] == {"waiting": 0, "sent": good}
        exported = up.cli("queue", "export", str(tmp_path / "out.jsonl"), "--extractions")
        assert exported.returncode == 0, exported.stderr
        found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
        assert len({row["queue_id"] for row in found}) == len({row["job_id"] for row in found}) == len(found) == good
        kept = {row["job_id"]: row["url"] for row in found}
        assert {job: url for job, url, _ in classified(answers)} == kept, "each job once, and no other"
        assert {labels for _, _, labels in classified(answers)} == {"step-free quiet"}
        for row in found:
            host = int(row["fields"]["name"].removeprefix("House "))
            assert row["fields"] == {"name": f"House {host}", "price": f"{host} €"}
            assert row["url"] in (site.url(path, host) for path in PATHS)
            assert "Buy" not in row["text"]
