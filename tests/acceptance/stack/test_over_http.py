"""A stranger with curl and the how-to page; then a terminal that has only the service's address and a key."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.config import load_settings
from tests.acceptance.cli import Cli
from tests.acceptance.running import Running, eventually
from tests.site.client import Site

ROOT = Path(__file__).parents[3]
HOW_TO = ROOT / "docs" / "how-to" / "use-the-http-service.md"
pytestmark = [pytest.mark.slow, pytest.mark.stack, pytest.mark.timeout(300)]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path, hosts=1, pages=40) as site:
        yield site


def test_a_crawl_is_cancelled_once_and_asks_for_nothing_afterwards(up: Running, site: Site) -> None:
    project = up.project("Cancelled", site.url())
    slow = up("POST", f"/projects/{project}/phases/crawl/run", {"delay_seconds": 0.8}, status=202)["crawl_id"]
    eventually(site.requests, 120, "it began")
    for _ in range(2):
        up("POST", f"/crawl/{slow}/cancel", status=204)
    assert up("GET", f"/crawl/{slow}")["status"] == "cancelled"
    time.sleep(1)  # what was claimed before may still be sent
    asked = len(site.requests())
    time.sleep(2.4)
    assert len(site.requests()) == asked, "nothing is asked after the cancel"


def test_the_how_to_page_is_followed(up: Running, site: Site) -> None:
    """Its lines as they stand there, but for what is another's: paths, the port and the website."""
    block = HOW_TO.read_text().split("```")[1]
    key, call, create, start, watch, live, pages, enqueue, cancel = block.strip().splitlines()
    told = {
        ".venv/bin/crawler": f"{sys.executable} -m crawler.entrypoints.cli", ".venv/bin/python": sys.executable,
        "~/.local/share/crawler": str(up.cli.data_dir), ":8800": f":{up.port}", "https://example.org/": site.url(),
    }  # fmt: skip

    def run(line: str) -> str:
        names = re.compile("|".join(map(re.escape, told)))
        words = names.sub(lambda name: told[name.group()], "\n".join((key, call, line)))
        done = subprocess.run(
            ["bash", "-c", words], cwd=ROOT, env=up.cli.environment, capture_output=True, text=True,
            timeout=90, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}\n{up.cli.logs()}"
        return done.stdout

    told["PROJECT_ID"] = json.loads(run(create))["id"]
    small = """call $API/projects/PROJECT_ID -X PATCH -d '{"settings": {"delay_seconds": 0.02, "render": "never"}}'"""
    assert json.loads(run(small))["settings"]["delay_seconds"] == 0.02
    told["CRAWL_ID"] = json.loads(run(start))["crawl_id"]
    assert "pages crawled" in run(watch)
    assert json.loads(run(live).splitlines()[-1])["type"] == "completed"
    assert len(json.loads(run(pages))["items"]) >= 30
    slow = """call $API/projects/PROJECT_ID -X PATCH -d '{"settings": {"delay_seconds": 5}}'"""
    run(slow)
    told["=BROKER "] = f"='{load_settings(redis_url=_redis(up.cli)).broker}' "
    told["CRAWL_ID"] = run(enqueue).split()[1]
    assert run(cancel) == ""
    assert json.loads(run("call $API/crawl/CRAWL_ID"))["status"] == "cancelled"
    assert up.key not in up.cli.logs()


def _redis(cli: Cli) -> str:
    state = json.loads((cli.data_dir / "servers" / "state.json").read_text())
    return f"unix://{state['valkey']['socket']}"


def test_a_terminal_elsewhere_needs_an_address_and_a_key(up: Running, site: Site, tmp_path: Path) -> None:
    """tests/integration/cli/test_remote_cli.py tries all commands so."""
    cli = Cli(tmp_path / "elsewhere", CRAWLER_API_URL=up.address, CRAWLER_API_KEY=up.key)
    project = cli.json("project", "create", "From elsewhere", site.url())["id"]
    cli.json("project", "set", project, "--render", "never", "--delay", "0.02")
    crawl = cli.json("source", "crawl", project, site.url(), "--max-pages", "5")["crawl_id"]
    watched = cli("crawl", "watch", crawl, "--json")
    assert watched.returncode == 0, watched.stderr
    last = json.loads(watched.stdout.splitlines()[-1])
    assert (last["type"], last["data"]["pages_crawled"]) == ("completed", 5)
    exported = cli("export", crawl, "--format", "markdown", "--output", str(tmp_path / "out"))
    assert exported.returncode == 0, exported.stderr
    assert len(list((tmp_path / "out" / "markdown").iterdir())) == 5
    assert cli("crawl", "cancel", crawl).returncode == 5
    assert not cli.data_dir.exists(), "nothing was started or kept where the terminal is"
    assert up.key not in up.cli.logs()
