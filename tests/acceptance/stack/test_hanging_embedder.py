"""An embedding service that takes texts and never answers: vectors wait for it, text does not."""

import time
from pathlib import Path

import pytest

from crawler.handlers.documents.embed_documents import FIRST_REST_SECONDS
from tests.acceptance.running import Running, eventually
from tests.acceptance.stack.conftest import EMBED_TIMEOUT_SECONDS
from tests.integration.embedding_server import EmbeddingServer
from tests.integration.handmade import lay, page
from tests.site.client import Site

ROUNDS = 3
pytestmark = [pytest.mark.slow, pytest.mark.stack, pytest.mark.timeout(300)]


def seconds_until_found(up: Running, site: Site, number: int) -> float:
    """From the end of the crawl."""
    lay(site, {"/": page(title=f"Page {number}", body=f"<p>unique{number} bread and butter.</p>")})
    project = up.project(f"Notebook {number}", site.url())
    crawl = up.cli.json("source", "crawl", project, site.url())["crawl_id"]
    eventually(lambda: up("GET", f"/crawl/{crawl}")["status"] == "completed", 120, "the crawl is over")
    began = time.monotonic()
    eventually(lambda: up("GET", f"/projects/{project}/search?q=unique{number}")["items"], 120, "its text is found")
    return time.monotonic() - began


def test_text_is_searchable_within_seconds_while_the_embedding_service_hangs(
    up: Running, embedding: EmbeddingServer, tmp_path: Path
) -> None:
    embedding.hangs.set()
    try:
        began, before = time.monotonic(), len(embedding.keys)
        with Site(tmp_path, hosts=1, pages=5) as site:
            seconds_until_found(up, site, ROUNDS)
            # Whoever was refused before rests for a while, and asks for nothing.
            eventually(lambda: len(embedding.keys) > before, 150, "somebody hangs")
            took = [seconds_until_found(up, site, number) for number in range(ROUNDS)]
        requests, passed = len(embedding.keys) - before, time.monotonic() - began
    finally:
        embedding.hangs.clear()
    print("text was found after", [f"{seconds:.1f}" for seconds in took], "with requests", requests)
    assert max(took) < EMBED_TIMEOUT_SECONDS + 20, took
    waited = sum(seconds > EMBED_TIMEOUT_SECONDS / 2 for seconds in took)
    assert waited <= requests, f"nobody waits but who met a request to it: {took}"
    assert 1 <= requests <= 1 + passed // FIRST_REST_SECONDS, "it rests after each failure, thirty seconds and more"
