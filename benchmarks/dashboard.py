"""The dashboard: how long pages of a large project take, and what watching a fast crawl costs the browser."""

import re
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psutil
import requests
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.api_project import Stocked, stock
from benchmarks.options import Options
from benchmarks.ours import Ours, ours
from benchmarks.polite import pages
from benchmarks.service import Service, service
from benchmarks.sites import Mount, serve
from crawler.adapters.browser.chromium import find_chromium
from crawler.domain.api_keys import Scope
from crawler.entrypoints.dashboard.serving.assets import all_assets

TITLE = "The dashboard"
PAGES = 100_000
ROUNDS = 50
PER_SECOND = 500
BATCH = 25
"""Pages told of at once, as a worker's commit does."""
SECONDS = 30
PROMISED_MS = 150
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
_RENDERER = "--type=renderer"


@dataclass(frozen=True)
class Watching:
    share: float
    """Of one core, by the browser's renderer."""
    told: int
    shown: int
    """By the sum of answers on the page."""


def run(options: Options) -> str:
    number, rounds = options.size(PAGES, 2000), options.size(ROUNDS, 3)
    with (
        pages() as root,
        serve(Mount("site", root, 1)) as sites,
        ours() as crawler,
        service(crawler, Scope.ADMIN) as api,
    ):
        stocked = stock(crawler, sites, number, delay_seconds=1)
        print(f"  {number:,} pages are there", flush=True)
        timings = {name: _times(api, path, rounds) for name, path in _paths(stocked).items()}
        timings["its rules, while typing"] = _preview_times(api, stocked, rounds)
        watching = _watch(crawler, api, stocked, options.size(SECONDS, 5))
    return table(number, timings, watching)


def _paths(stocked: Stocked) -> dict[str, str]:
    project, crawl = f"/projects/{stocked.project.id}", f"/crawls/{stocked.latest.id}"
    return {
        "all projects": "/",
        "the project": project,
        "its pages": f"{project}/pages",
        "its pages that failed": f"{project}/pages?status=failed",
        "its settings": f"{project}/edit",
        "a crawl": crawl,
        "its plot": f"{crawl}/pace.json",
        "its URLs": f"{crawl}/urls",
        "its URLs, by a rare reason": f"{crawl}/urls?reason=tls",
        "its report": f"{crawl}/report",
    }


def _session(api: Service) -> requests.Session:
    made = requests.Session()
    answer = made.post(f"http://127.0.0.1:{api.port}/login", data={"key": api.key}, timeout=30)
    assert answer.ok
    return made


def _times(api: Service, path: str, rounds: int) -> list[float]:
    """Milliseconds until the whole page was here, after one that warms up."""
    session, found = _session(api), []
    for _ in range(rounds + 1):
        began = time.perf_counter()
        answer = session.get(f"http://127.0.0.1:{api.port}{path}", timeout=30)
        found.append(1000 * (time.perf_counter() - began))
        assert answer.status_code == 200, path
    return found[1:]


def _preview_times(api: Service, stocked: Stocked, rounds: int) -> list[float]:
    """What `Leave out` would do, asked after each pause in typing."""
    session, found = _session(api), []
    address = f"http://127.0.0.1:{api.port}/projects/{stocked.project.id}"
    token = re.search(r'name="csrf" value="([^"]+)"', session.get(f"{address}/edit", timeout=30).text)
    assert token
    fields = {"csrf": token[1], "website_url": stocked.project.website_url, "exclude_patterns": "/section7/"}
    for _ in range(rounds + 1):
        began = time.perf_counter()
        answer = session.post(f"{address}/preview", data=fields, timeout=30)
        found.append(1000 * (time.perf_counter() - began))
        assert "would drop" in answer.text
    return found[1:]


@contextmanager
def _browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(None), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def _watch(crawler: Ours, api: Service, stocked: Stocked, seconds: int) -> Watching:
    """A paused crawl whose news we tell ourselves: exactly so many a second."""
    crawl = crawler.tools.crawls.start(stocked.project.id)
    crawler.tools.crawls.control.pause(crawl.id)
    with _browser() as browser:
        page = browser.new_page(base_url=f"http://127.0.0.1:{api.port}", viewport={"width": 1280, "height": 1400})
        page.goto("/login")
        page.get_by_label("API key").fill(api.key)
        page.get_by_role("button", name="Sign in").click()
        page.goto(f"/crawls/{crawl.id}")
        page.wait_for_timeout(3000)
        renderer = _renderer()
        before, began = _cpu(renderer), time.monotonic()
        told = _tell(crawler, crawl.id, seconds, page)
        share = (_cpu(renderer) - before) / (time.monotonic() - began)
        page.wait_for_timeout(2000)
        shown = int(page.locator("#answers b").first.inner_text().replace(",", ""))
    crawler.tools.crawls.control.cancel(crawl.id)
    return Watching(share, told, shown)


def _tell(crawler: Ours, crawl_id: UUID, seconds: int, page: Page) -> int:
    events, told, began = crawler.tools.events, 0, time.monotonic()
    while told < PER_SECOND * seconds:
        items: list[dict[str, Any]] = [
            {"url": f"http://127.0.0.1/section{n % 50}/page{n}", "status": "success", "reason": None,
             "http_status": 200, "title": f"Page {n} of the manual, with a title as long as titles are", "depth": 2}
            for n in range(told, told + BATCH)
        ]  # fmt: skip
        events.publish_many(crawl_id, "page", items)
        told += BATCH
        if told % PER_SECOND == 0:
            done = {"progress": told / seconds / PER_SECOND * 100, "estimated_total": PER_SECOND * seconds}
            counts = dict.fromkeys(("pages_failed", "pages_skipped", "queued", "under_way"), 0)
            events.publish(crawl_id, "progress", {**done, **counts, "pages_crawled": told, "total_discovered": told})
        page.wait_for_timeout(max(0.0, 1000 * (began + told / PER_SECOND - time.monotonic())))
    return told


def _renderer() -> psutil.Process:
    """The one that has worked most: the page's own."""
    found = [one for one in psutil.Process().children(recursive=True) if _RENDERER in one.cmdline()]
    return max(found, key=_cpu)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def table(number: int, timings: dict[str, list[float]], watching: Watching) -> str:
    sent = sum(len(asset.packed) for name, asset in all_assets().items() if name.endswith((".js", ".css")))
    lines = [f"A project of {number:,} pages; milliseconds until the whole page was here.", "",
             "| page | median | 95 % | most |", "|---|---|---|---|"]  # fmt: skip
    for name, took in timings.items():
        most = sorted(took)[int(0.95 * (len(took) - 1))]
        lines.append(f"| {name} | {statistics.median(took):.0f} | {most:.0f} | {max(took):.0f} |")
    words = (
        f"Promised for the project: {PROMISED_MS} ms. A crawl's page fed with {PER_SECOND} pages a second "
        f"({watching.told:,} in all, {watching.shown:,} counted on the page) keeps the browser's renderer at "
        f"{watching.share:.1%} of a core (promised: 20 %). Scripts and styles are {sent / 1000:.0f} kB compressed, "
        "for all pages together (promised: 150)."
    )
    return "\n".join([*lines, "", words])
