"""An embedding service that takes texts and never answers: vectors wait for it, text does not."""

import time
from pathlib import Path

import pytest

from tests.acceptance.running import Running, eventually, running
from tests.embedding_twin import DIMENSION
from tests.integration.embedding_server import embedding_server
from tests.integration.handmade import lay, page
from tests.site.client import Site

ROUNDS = 6
TIMEOUT_SECONDS = 6
SETTINGS = {"CRAWLER_EGRESS_ALLOW": "127.0.0.0/8", "CRAWLER_RECONCILE_SECONDS": "2", "CRAWLER_EMBED_MODEL": "test"}
pytestmark = pytest.mark.timeout(180)


def seconds_until_found(up: Running, site: Site, number: int) -> float:
    """From the end of the crawl."""
    lay(site, {"/": page(title=f"Page {number}", body=f"<p>unique{number} bread and butter.</p>")})
    project = up.project(f"Notebook {number}", site.url())
    crawl = up.cli.json("source", "crawl", project, site.url())["crawl_id"]
    eventually(lambda: up("GET", f"/crawl/{crawl}")["status"] == "completed", 60, "the crawl is over")
    began = time.monotonic()
    eventually(lambda: up("GET", f"/projects/{project}/search?q=unique{number}")["items"], 60, "its text is found")
    return time.monotonic() - began


def test_text_is_searchable_within_seconds_while_the_embedding_service_hangs(tmp_path: Path) -> None:
    with embedding_server() as service, Site(tmp_path, hosts=1, pages=5) as site:
        service.hangs.set()
        settings = {
            **SETTINGS,
            "CRAWLER_EMBED_URL": service.url,
            "CRAWLER_EMBED_DIMENSION": str(DIMENSION),
            "CRAWLER_EMBED_TIMEOUT_SECONDS": str(TIMEOUT_SECONDS),
        }
        with running(tmp_path / "data", **settings) as up:
            took = [seconds_until_found(up, site, number) for number in range(ROUNDS)]
            requests = len(service.keys)
            service.hangs.clear()
        print("text was found after", [f"{seconds:.1f}" for seconds in took], "with requests", requests)
    assert max(took) < TIMEOUT_SECONDS + 10, took
    assert sorted(took)[ROUNDS // 2] < 4, "but for those that met a request to it"
    assert 1 <= requests <= 3, "it rests after each failure, thirty seconds and more"
