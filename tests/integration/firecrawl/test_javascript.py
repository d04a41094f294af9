"""The door by Firecrawl's JavaScript client: every call of the families it offers."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integration.firecrawl.conftest import Door
from tests.site.client import Site

PACKAGE = "@mendable/firecrawl-js@4.42.0"
SCRIPT = Path(__file__).with_name("contract.mjs")


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our calls beside the client's package, which comes from npm."""
    if shutil.which("npm") is None:
        pytest.skip("there is no npm")
    folder = tmp_path_factory.mktemp("javascript")
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder)]
    done = subprocess.run(["npm", "install", *options, PACKAGE], capture_output=True, timeout=100, check=False)
    if done.returncode:
        pytest.skip("npm cannot install the client here")
    return Path(shutil.copy(SCRIPT, folder))


@pytest.mark.long  # npm has to reach its registry
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_call_of_the_javascript_client(door: Door, shop: Site, script: Path) -> None:
    command = ["node", str(script), door.address, door.secret, shop.url("")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    pages = [shop.url("/"), shop.url("/a"), shop.url("/kettles")]
    assert told["scrape"] == {
        "markdown": f"# Kettles\n\n3 €\n\n[A]({shop.url('/a')})",
        "links": [shop.url("/a")],
        "title": "Kettles",
        "status": 200,
    }
    assert told["refused"] == 403
    assert told["missed"] == [], "nobody looked at these"
    assert told["tracked"] == {"markdown": "3 €", "status": "same"}
    assert told["bare"] == "A"
    assert (set(told["errors400"].values()), told["promises"]) == ({400}, 501)
    assert told["mapped"] == [shop.url("/kettles")]
    assert {url: rest for url, *rest in told["chosen"]} == {
        shop.url("/"): [None, True, 4],
        shop.url("/a"): [None, True, 0],
    }
    assert told["part"] == {"status": "completed", "count": 3, "next": None}
    assert (told["once"], told["followed"], told["html"]) == (True, "completed", [True, True])
    assert told["invalid"] == ["http://user:word@example.org/"]
    assert set(pages) <= set(told["map"])
    assert (told["crawl"]["status"], sorted(told["crawl"]["urls"])) == ("completed", pages)
    assert told["active"]
    assert (told["watched"]["status"], sorted(told["watched"]["seen"])) == ("completed", pages)
    assert told["errors"] == [{"errors": [shop.url("/gone")], "robots": [shop.url("/private")]}] * 2
    assert told["status"] == [3, 3]
    assert (told["oldScrape"], told["oldMap"] >= 3, told["oldCrawl"], told["oldBatch"]) == ("Kettles", True, 3, 2)
    assert (told["oldStarted"], told["oldBatchStarted"]) == ("string", "string")
    assert (told["search"], told["concurrency"], told["queue"]) == ([], True, True)
    assert told["batchErrors"] == [[shop.url("/gone")]] * 2
    assert told["batchCancelled"] in (False, 409)
    assert told["targets"] == ["crawl", "scrape"]
    assert set(told["notOffered"].values()) == {501}, told["notOffered"]
    assert told["cancelled"] in (False, 409)
    assert (told["batch"]["status"], sorted(told["batch"]["urls"])) == ("completed", pages[1:])
    assert told["listed"] == [True]
    assert told["check"] == {"status": "completed", "pages": ["new", "new", "new"]}
    assert told["summary"] == {"totalPages": 3, "same": 0, "changed": 0, "new": 3, "removed": 0, "error": 0}
    assert (told["changed"], told["checks"], told["paused"]) == (0, ["manual"], "paused")
    assert (told["unhooked"], told["deleted"], told["forgotten"]) == (None, True, 404)
    assert told["made"] == {
        "webhook": shop.url("/in"),
        "metadata": {"team": "shop"},
        "mail": ["ops@example.org"],
        "cron": "0 9 * * *",
    }
