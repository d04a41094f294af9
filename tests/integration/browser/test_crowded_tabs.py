"""Tabs with many busy threads get less of the processors, so that tabs of others go on."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from crawler.adapters.browser.crowded_tabs import USUAL_THREADS, niceness, rein_in
from crawler.adapters.browser.fetcher import BrowserFetcher
from crawler.domain.reasons import Reason
from crawler.domain.rendering.rendered_page import RenderRequest
from tests.integration.browser.driving import VISIT_SECONDS, browser_fetcher, fetch, fetch_all, pages, until

BUSY = """
import hashlib, sys, threading
work = lambda: hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
for _ in range(int(sys.argv[1])):
    threading.Thread(target=work, daemon=True).start()
print("busy", flush=True)
sys.stdin.read()
"""
WORKERS = """<p>x</p><script>const made = URL.createObjectURL(new Blob(["for (;;);"]));
  for (let i = 0; i < 40; i++) new Worker(made)</script>"""
FRAMES = """<p>x</p><script>(function more(into, depth) { for (let i = 0; i < 20; i++) {
  const frame = into.createElement('iframe'); frame.srcdoc = '<p>x'; into.body.append(frame);
  frame.onload = () => more(frame.contentDocument, depth + 1) } })(document, 0)</script>"""


@contextmanager
def busy(threads: int) -> Iterator[int]:
    """A process with so many threads that never rest."""
    argv = [sys.executable, "-c", BUSY, str(threads)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.kill()


def nicenesses(pid: int) -> list[int]:
    threads = [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
    return [os.getpriority(os.PRIO_PROCESS, thread) for thread in threads]


@pytest.mark.slow
def test_many_threads_get_what_a_few_would() -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with busy(4 * USUAL_THREADS) as many, busy(1) as one:
        until(lambda: rein_in(many) or min(nicenesses(many)) > before)  # type: ignore[func-returns-value]
        for _ in range(20):
            rein_in(one)
        assert max(nicenesses(one)) == before


@pytest.mark.parametrize("threads", [USUAL_THREADS, 2 * USUAL_THREADS, 10 * USUAL_THREADS, 60 * USUAL_THREADS])
def test_they_get_as_much_however_many_they_are(threads: int) -> None:
    share = threads * 1.25 ** -niceness(threads)
    assert share <= USUAL_THREADS
    assert share > USUAL_THREADS / 1.5


@pytest.mark.slow
def test_all_threads_of_a_page_with_many_workers_get_less(chromium: Path, crawl4ai: None, tmp_path: Path) -> None:
    with browser_fetcher(chromium, tmp_path) as fetcher, pages({"/": WORKERS, "/n": "<p>neighbour</p>"}) as site:
        assert fetch(fetcher, site.url("/n")).failure is None
        fetcher.submit(RenderRequest(site.url()))
        (browser,) = fetcher.stats.pids
        until(lambda: any(map(is_reined_in, tabs(browser))), VISIT_SECONDS / 2)


@pytest.mark.slow
def test_a_page_that_adds_frames_for_ever_is_too_large(browser: BrowserFetcher) -> None:
    with pages({"/": FRAMES, "/n": "<p>neighbour</p>"}) as site:
        results = fetch_all(browser, [RenderRequest(site.url(path)) for path in ("/", "/n")])
    found = {result.url: result for result in results}
    assert found[site.url("/n")].failure is None
    endless = found[site.url()]
    assert (endless.failure, endless.error) == (Reason.TOO_LARGE, "The page has more than 200 frames.")


def tabs(browser: int) -> Iterator[int]:
    for one in psutil.Process(browser).children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has just ended
            if "--type=renderer" in one.cmdline():
                yield one.pid


def is_reined_in(tab: int) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):  # it, or a thread of it, has just ended
        return min(nicenesses(tab)) >= niceness(20)
    return False
