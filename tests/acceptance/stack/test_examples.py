"""The programs in docs/examples, as they stand there, against the real stack."""

import csv
import hashlib
import hmac
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from firecrawl import Firecrawl

from tests.acceptance.running import Running, eventually, free_port, receiving_posts
from tests.acceptance.stack.conftest import SETTINGS
from tests.integration.handmade import lay, page
from tests.site.client import Site

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
pytestmark = [pytest.mark.slow, pytest.mark.stack, pytest.mark.timeout(300)]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path, hosts=1, pages=3) as site:
        lay(
            site,
            {"/": ["/kettle", "/pan", "/nowhere"], "/kettle": price("Kettle", "30.00 €"), "/pan": price("Pan", "9 €")},
        )
        site.remove("/nowhere")
        yield site


def price(name: str, words: str) -> str:
    return page(title=name, body=f"<h1>{name}</h1><p>It boils water quickly and lasts for years.</p><p>{words}</p>")


def environment(up: Running) -> dict[str, str]:
    ours = {"CRAWLER_API_URL": up.address, "CRAWLER_API_KEY": up.key}
    return {**os.environ, **ours, "CRAWLER_WEBHOOK_SECRET": SETTINGS["CRAWLER_WEBHOOK_SECRET"]}


def run(up: Running, name: str, *words: str, status: int = 0) -> str:
    command = [sys.executable, str(EXAMPLES / name), *words]
    done = subprocess.run(command, env=environment(up), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, f"{done.stdout}\n{done.stderr}\n{up.cli.logs()}"
    return done.stdout


def crawl(up: Running, project: str) -> None:
    started = up("POST", f"/projects/{project}/phases/crawl/run", {}, status=202)["crawl_id"]

    def compared() -> Any:
        return up("GET", f"/projects/{project}/crawl-history/{started}/changes")["state"] != "not_yet"

    eventually(lambda: up("GET", f"/crawl/{started}")["status"] == "completed" or None, 120, "it ends")
    eventually(lambda: compared() or None, 120, "it is compared")


def test_an_index_is_kept_fresh_from_the_feed(up: Running, shop: Site, tmp_path: Path) -> None:
    project, file = up.project("Index", shop.url()), str(tmp_path / "index.sqlite")
    up("PATCH", f"/projects/{project}", {"settings": {"ingest": True}})
    crawl(up, project)
    eventually(lambda: up("GET", f"/projects/{project}/documents/counts")["ingested"] >= 3 or None, 120, "documents")
    assert "3 changes" in run(up, "rag_index.py", file, project)
    assert f"{shop.url('/kettle')}: " in run(up, "rag_index.py", file, project, "Kettle")
    lay(shop, {"/pan": price("Pan", "8 € now")})
    shop.remove("/kettle")
    crawl(up, project)
    eventually(lambda: up("GET", f"/projects/{project}/documents/counts")["removed"] or None, 120, "a tombstone")
    eventually(lambda: up("GET", f"/projects/{project}/documents/counts")["pending"] == 0 or None, 120, "all are made")
    run(up, "rag_index.py", file, project)
    told = run(up, "rag_index.py", file, project, "Kettle Pan")
    assert told.startswith("0 changes\n")
    assert "8 € now" in told
    assert shop.url("/kettle") not in told


def test_a_loader_written_for_firecrawl(up: Running, shop: Site) -> None:
    told = run(up, "langchain_loader.py", shop.url(), "10")
    found = dict(line.split(": ", 1) for line in told.splitlines())
    assert set(found) == {shop.url("/"), shop.url("/kettle"), shop.url("/pan")}
    assert found[shop.url("/pan")].startswith("'# Pan")


def test_a_script_for_firecrawl_needs_no_other_change_than_its_address(up: Running, shop: Site) -> None:
    app = Firecrawl(api_key=up.key, api_url=up.address)
    assert (app.scrape(shop.url("/pan")).markdown or "").startswith("# Pan")
    with receiving_posts() as (address, posts):
        job = app.crawl(shop.url(), limit=10, poll_interval=1, timeout=100, webhook=address)
        assert {doc.metadata.source_url for doc in job.data} == {shop.url(path) for path in ("/", "/kettle", "/pan")}

        def told() -> list[str]:
            return [post.json["type"] for post in posts]

        eventually(lambda: told()[-1:] == ["crawl.completed"] or None, 120, "the end is told")
    assert told() == ["crawl.started", *["crawl.page"] * 4, "crawl.completed"]
    secret = SETTINGS["CRAWLER_WEBHOOK_SECRET"].encode()
    for post in posts:
        signed = f"sha256={hmac.new(secret, post.body, hashlib.sha256).hexdigest()}"
        assert post.headers["x-firecrawl-signature"] == signed


def test_links_are_reported_to_a_file(up: Running, shop: Site, tmp_path: Path) -> None:
    project, file = up.project("Links", shop.url()), tmp_path / "links.csv"
    assert "1 broken links" in run(up, "link_report.py", project, str(file))
    (row,) = csv.DictReader(file.read_text().splitlines())
    assert (row["url"], row["on"]) == (shop.url("/nowhere"), shop.url("/"))
    lay(shop, {"/pan": page(body='<a href="/gone-since">More</a>')})
    shop.remove("/gone-since")
    assert "2 broken links" in run(up, "link_report.py", project, str(file), status=1)


def follow(output: IO[str], lines: list[str]) -> None:
    for line in output:
        lines.append(line)  # noqa: PERF402 - each as it comes


def test_prices_are_watched_and_told_by_webhook(up: Running, shop: Site) -> None:
    port, lines = free_port(), list[str]()
    command = [sys.executable, str(EXAMPLES / "price_watcher.py"), str(port), shop.url("/kettle"), shop.url("/pan")]
    with subprocess.Popen(
        command, env=environment(up), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as watcher:
        assert watcher.stdout is not None
        reader = threading.Thread(target=follow, args=(watcher.stdout, lines), daemon=True)
        reader.start()

        def checks() -> int:
            return sum(line.startswith("checked: ") for line in lines)

        try:
            eventually(lambda: checks() == 1 or None, 90, "the first check is told")
            monitor = lines[0].split()[1]
            lay(shop, {"/kettle": price("Kettle", "27.50 €")})
            headers = {"Authorization": f"Bearer {up.key}"}
            up._session.post(f"{up.address}/v2/monitor/{monitor}/run", headers=headers, timeout=60).raise_for_status()
            eventually(lambda: checks() == 2 or None, 90, "the second check is told")
        finally:
            watcher.send_signal(signal.SIGTERM)
            watcher.wait(30)
        reader.join(10)
    assert f"{shop.url('/kettle')}: -30.00 €\n" in lines
    assert f"{shop.url('/kettle')}: +27.50 €\n" in lines
    assert not [line for line in lines if "/pan" in line]
    gone = up._session.get(f"{up.address}/v2/monitor/{monitor}", timeout=60)
    assert gone.status_code == 404, "it tidies up"
