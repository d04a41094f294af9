"""Six projects whose pages are made to be slow to compare: a stranger's small crawl does not notice them."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from crawler.adapters.judging.judge_child import NICE
from tests.acceptance.running import Running, eventually
from tests.integration.handmade import lay, page
from tests.site.client import Site

HOSTILE = 6
"""More than can be compared at once."""
LARGE = ("/large/1", "/large/2")
START_SECONDS = 2.0
COMPARED_SECONDS = 10.0
A_LITTLE_WORK = """
import os, sys, time
os.nice(int(sys.argv[1]))
while True:
    began, used = time.monotonic(), time.process_time()
    while time.process_time() < used + 0.05:
        pass
    print((time.monotonic() - began) / 0.05, flush=True)
    time.sleep(0.45)
"""
pytestmark = [pytest.mark.slow, pytest.mark.stack, pytest.mark.timeout(580)]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path, hosts=HOSTILE + 1, pages=HOSTILE + 1) as site:
        yield site


def lines(edition: str) -> str:
    return page(body="".join(f"<p>{edition}{n * 7919 % 30_011:x} of {n}</p>" for n in range(10_000)))


def hostile(site: Site, edition: str) -> None:
    """Two kinds: ten thousand lines that are all new, and boxes for selectors that look at each of them."""
    boxes = "".join(f'<div class="b{n}"><i>{n}</i></div>' for n in range(300))
    for host in range(HOSTILE):
        large = lines(edition) if host % 2 else page(body=f"{boxes}<p>Edition {edition}.</p>")
        lay(site, {"/": page(*LARGE, title=edition), **dict.fromkeys(LARGE, large)}, host=host)


def crawled(up: Running, project: str) -> str:
    started: str = up("POST", f"/projects/{project}/phases/crawl/run")["crawl_id"]
    return started


def crawl(up: Running, crawl_id: str) -> dict[str, Any]:
    found: dict[str, Any] = up("GET", f"/crawl/{crawl_id}")
    return found


def changes(up: Running, project: str, crawl_id: str) -> dict[str, Any]:
    found: dict[str, Any] = up("GET", f"/projects/{project}/crawl-history/{crawl_id}/changes")
    return found


def at(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


@contextmanager
def slowness() -> Iterator[Callable[[], float]]:
    """How long a second of work took here at worst, of a process that gives way to others as judges do: other tests run
    beside this one."""
    command = [sys.executable, "-c", A_LITTLE_WORK, str(NICE)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        seen = [float(worker.stdout.readline())]
        reader = threading.Thread(target=lambda lines: seen.extend(map(float, lines)), args=(worker.stdout,))
        reader.start()
        try:
            yield lambda: max(1.0, *seen)
        finally:
            worker.kill()
            reader.join()


def test_a_stranger_starts_and_is_compared_at_once_while_six_projects_are_slow(up: Running, site: Site) -> None:
    stranger, last = HOSTILE, {}
    hostile(site, "a")
    lay(site, {"/": page("/a", "/b"), "/a": page(body="<p>Twelve.</p>"), "/b": page(body="<p>One.</p>")}, host=stranger)
    projects = [up.project(f"Project {host}", site.url("/", host)) for host in range(HOSTILE + 1)]
    for project in projects:
        last[project] = crawled(up, project)
    for project in projects:
        eventually(
            lambda project=project: changes(up, project, last[project])["state"] != "not_yet",  # type: ignore[misc]
            180,
            "the first crawl is over",
        )
    *slow, quick = projects
    for project in slow[::2]:
        with suppress(AssertionError):  # refused by who weighs selectors when they are written
            up("POST", f"/projects/{project}/noise-rules", {"kind": "selector", "value": "*:has(~ * ~ * ~ * ~ .zzz)"})
    hostile(site, "b")
    lay(site, {"/a": page(body="<p>Thirteen.</p>")}, host=stranger)
    for project in slow:
        last[project] = crawled(up, project)
    eventually(lambda: any(crawl(up, last[project])["completed_at"] for project in slow), 120, "a slow one has ended")
    with slowness() as slack:
        for _ in range(2):
            last[quick] = crawled(up, quick)
            eventually(lambda: crawl(up, last[quick])["completed_at"], 120, "it is over")
            found = eventually(
                lambda: (told := changes(up, quick, last[quick]))["state"] != "not_yet" and told, 120, "it is compared"
            )
            compared = time.time()
            row = crawl(up, last[quick])
            assert at(row["started_at"]) - at(row["created_at"]) < START_SECONDS * slack()
            assert compared - at(row["completed_at"]) < COMPARED_SECONDS * slack()
            assert found["state"] == "compared"
    for project in slow:
        found = eventually(
            lambda project=project: (told := changes(up, project, last[project]))["state"] != "not_yet" and told,  # type: ignore[misc]
            400,
            "it is compared in the end",
        )
        assert found["state"] == "compared"
        assert found["summary"]["changed_pages"] >= 2, "the homepage, and one page at two addresses"
