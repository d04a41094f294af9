"""A notebook's pages as documents, with real workers: searchable, exact, whoever is killed on the way."""

import time
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.running import Running, eventually
from tests.acceptance.stack.conftest import LEASE_SECONDS
from tests.integration.handmade import asked, lay, page
from tests.site.client import Site

PAGES = 60
pytestmark = [pytest.mark.slow, pytest.mark.stack, pytest.mark.timeout(300)]


def text_of(number: int) -> str:
    """Each page has a word of its own, and enough text to be cut into several chunks."""
    sections = "".join(
        f"<h2>Part {part} of {number}</h2><p>unique{number}x{part} {'bread and butter ' * 60}</p>" for part in range(6)
    )
    links = [f"/p/{2 * number + 1}", f"/p/{2 * number + 2}"]
    return page(*[link for link in links if int(link[3:]) < PAGES], title=f"Page {number}", body=sections)


def start(up: Running, project: str, url: str, *options: str) -> str:
    told = up.cli.json("source", "crawl", project, url, "--depth", "20", "--max-pages", str(PAGES + 10), *options)
    found: str = told["crawl_id"]
    return found


def over(up: Running, crawl: str) -> dict[str, Any] | None:
    found: dict[str, Any] = up("GET", f"/crawl/{crawl}")
    return found if found["status"] in {"completed", "failed", "cancelled"} else None


def test_every_page_of_a_notebook_is_one_searchable_document_although_its_workers_are_killed(
    up: Running, tmp_path: Path
) -> None:
    with Site(tmp_path, hosts=1, pages=5) as site:
        lay(site, {"/": text_of(0), **{f"/p/{number}": text_of(number) for number in range(1, PAGES)}})
        project = up("POST", "/projects", {"name": "Notebook", "settings": {"delay_seconds": 0, "render": "never"}})[
            "id"
        ]
        crawl = start(up, project, site.url())

        def counts() -> dict[str, int]:
            found: dict[str, int] = up("GET", f"/projects/{project}/documents/counts")
            return found

        for _ in range(3):
            before = counts()["ingested"]
            eventually(lambda: counts()["ingested"] > before or counts()["ingested"] == PAGES, 120, "some were made")  # noqa: B023
            eventually(lambda: up.kill("compare-") > 0, 120, "it is back, and killed")
        done = eventually(lambda: over(up, crawl), 120, "the crawl is over")
        assert (done["status"], done["pages_crawled"]) == ("completed", PAGES)
        eventually(lambda: up("GET", f"/crawl/{crawl}")["total_ingested"] >= PAGES, 120, "all are ingested")
        made_at = time.monotonic()

        assert up("GET", f"/crawl/{crawl}")["total_ingested"] == PAGES
        told = counts()
        assert (told["ingested"], told["pending"], told["failed"], told["removed"]) == (PAGES, 0, 0, 0)
        assert told["chunks"] == PAGES * 6
        assert up("GET", f"/crawl/{crawl}/urls?status=pending")["items"] == []
        assert f"{PAGES} ingested of {PAGES} pages" in up.cli("crawl", "status", crawl).stdout
        feed = up("GET", f"/projects/{project}/documents?limit=200")
        assert len({item["document"]["id"] for item in feed["items"]}) == len(feed["items"]) == PAGES
        for number in (0, 7, PAGES - 1):
            (hit,) = up.cli.json("search", project, f"unique{number}x3")["hits"]
            assert hit["headings"][-1] == f"Part 3 of {number}"
        assert up.cli.json("documents", project, "--limit", "3")["counts"]["ingested"] == PAGES

        # Whoever was slow or woke up late has had its chance to count twice.
        time.sleep(max(0, made_at + LEASE_SECONDS + 1 - time.monotonic()))
        assert up("GET", f"/crawl/{crawl}")["total_ingested"] == PAGES
        assert counts() == told
        requests = len(asked(site))
        again = start(up, project, site.url())
        second = eventually(lambda: over(up, again), 120, "the second crawl is over")
        assert (second["status"], second["pages_crawled"], second["pages_skipped"]) == ("completed", 0, PAGES)
        assert len(asked(site)) == requests, "nothing was fetched again"

        site.edit("/p/7", html=text_of(7).replace("unique7x3", "rewritten"))
        site.remove(f"/p/{PAGES - 1}")
        third = start(up, project, site.url(), "--refresh")
        eventually(lambda: over(up, third), 120, "the third crawl is over")
        eventually(lambda: up.cli.json("search", project, "rewritten")["hits"], 120, "the edit is found")
        assert up.cli.json("search", project, "unique7x3")["hits"] == []
        eventually(lambda: counts()["removed"] == 1, 120, "the page that is gone left a tombstone")
        news = up("GET", f"/projects/{project}/documents?after={feed['next_cursor']}")["items"]
        assert sorted((item["type"], item["document"]["url"].rsplit("/", 1)[1]) for item in news) == [
            ("delete", str(PAGES - 1)), ("upsert", "7"),
        ]  # fmt: skip
