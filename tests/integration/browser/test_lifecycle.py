"""A browser's life and death: killed, worn out, left behind."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from crawler.adapters.browser.chromium_records import Record, reap_orphans
from crawler.adapters.browser.options import Wear
from crawler.domain.crawls.fetching import FetchRequest
from crawler.domain.reasons import Reason
from tests.integration.browser.driving import (
    VISIT_SECONDS,
    answering,
    asked,
    browser_fetcher,
    fetch,
    fetch_all,
    living,
    pages,
    until,
)
from tests.integration.raw_server import Request, response


@pytest.mark.slow
def test_pages_of_a_killed_browser_are_shown_by_the_next_but_a_polite_host_is_not_asked_twice(
    chromium: Path, crawl4ai: None, tmp_path: Path
) -> None:
    killed = threading.Event()

    def respond(_: object, request: Request) -> bytes:
        if request.path != "/first":
            killed.wait(VISIT_SECONDS)
        return response(b"<p>shown</p>")

    with answering(respond) as site, browser_fetcher(chromium, tmp_path) as fetcher:
        assert fetch(fetcher, site.url("/first")).failure is None
        (pid,) = fetcher.stats.pids
        for n in range(2):
            fetcher.submit(FetchRequest(site.url(f"/{n}")))
        fetcher.submit(FetchRequest(site.url("/polite"), once=True))
        until(lambda: {"/0", "/1", "/polite"} <= set(asked(site)))
        os.killpg(pid, signal.SIGKILL)
        killed.set()
        results = {result.url.rpartition("/")[2]: result for result in fetch_all(fetcher, [])}
        until(lambda: not living(pid))
    polite = results.pop("polite")
    assert {path: result.failure for path, result in results.items()} == {"0": None, "1": None}
    assert polite.failure is Reason.CONNECT
    assert "browser ended" in polite.error
    assert polite.sent_at > 0
    assert asked(site).count("/polite") == 1


@pytest.mark.slow
def test_a_page_that_is_dropped_gives_its_tab_to_the_next_and_has_no_result(
    chromium: Path, crawl4ai: None, tmp_path: Path
) -> None:
    over = threading.Event()

    def respond(_: object, request: Request) -> bytes:
        if request.path == "/never":
            over.wait(VISIT_SECONDS)
        return response(b"<p>shown</p>")

    with answering(respond) as site, browser_fetcher(chromium, tmp_path, tabs=1) as fetcher:
        fetcher.submit(FetchRequest(site.url("/never")))
        until(lambda: "/never" in asked(site))
        assert fetcher.drop(lambda request: request.url.endswith("/never")) == 1
        assert fetcher.drop(lambda request: True) == 0
        assert [result.url for result in fetch_all(fetcher, [FetchRequest(site.url("/next"))])] == [site.url("/next")]
        assert not over.is_set()
        over.set()


@pytest.mark.slow
def test_a_browser_is_replaced_after_so_many_pages(chromium: Path, crawl4ai: None, tmp_path: Path) -> None:
    with pages({"/": "<p>x</p>"}) as site, browser_fetcher(chromium, tmp_path, wear=Wear(pages=2)) as fetcher:
        seen = set()
        for _ in range(3):
            assert fetch(fetcher, site.url()).failure is None
            seen |= set(fetcher.stats.pids)
        assert fetcher.stats.restarts == 1
        until(lambda: sum(bool(living(pid)) for pid in seen) == 1)
        assert fetcher.stats.renders == 3


@pytest.mark.slow
@pytest.mark.parametrize("wear", [Wear(seconds=1), Wear(memory_bytes=1)], ids=["old", "fat"])
def test_a_worn_browser_is_replaced(wear: Wear, chromium: Path, crawl4ai: None, tmp_path: Path) -> None:
    with pages({"/": "<p>x</p>"}) as site, browser_fetcher(chromium, tmp_path, wear=wear) as fetcher:
        assert fetch(fetcher, site.url()).failure is None
        until(lambda: fetcher.stats.pids == ())
        assert fetch(fetcher, site.url()).failure is None
        assert fetcher.stats.restarts == 1


@pytest.mark.slow
def test_a_browser_nobody_needs_gives_its_memory_back(
    chromium: Path, crawl4ai: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.adapters.browser.lifetime.IDLE_SECONDS", 1)
    with pages({"/": "<p>x</p>"}) as site, browser_fetcher(chromium, tmp_path) as fetcher:
        assert fetch(fetcher, site.url()).failure is None
        (pid,) = fetcher.stats.pids or (0,)
        until(lambda: fetcher.stats.pids == () and not living(pid))
        assert fetch(fetcher, site.url()).failure is None


@pytest.mark.slow
def test_a_browser_that_stands_still_is_killed(chromium: Path, crawl4ai: None, tmp_path: Path) -> None:
    """Before it has a tab for the page, and while it shows one."""

    def respond(stream: object, request: Request) -> bytes:
        time.sleep(20 if request.path == "/tab" else 0)
        return response(b"<p>shown</p>")

    with answering(respond) as site, browser_fetcher(chromium, tmp_path, timeout_seconds=8) as fetcher:
        assert fetch(fetcher, site.url("/first")).failure is None
        (before,) = fetcher.stats.pids
        time.sleep(1)  # its tab has closed by then; if not, its browser is killed sooner and the page shown by the next
        os.killpg(before, signal.SIGSTOP)
        assert fetch(fetcher, site.url("/no-tab")).failure in {Reason.TIMEOUT, None}
        until(lambda: not living(before))
        fetcher.submit(FetchRequest(site.url("/tab")))
        until(lambda: "/tab" in asked(site))
        (while_showing,) = fetcher.stats.pids
        os.killpg(while_showing, signal.SIGSTOP)
        (result,) = fetch_all(fetcher, [])
        assert result.failure is Reason.TIMEOUT
        until(lambda: not living(while_showing))
        assert fetch(fetcher, site.url("/last")).failure is None


@pytest.mark.slow
def test_a_page_that_kills_every_browser_fails_alone(chromium: Path, crawl4ai: None, tmp_path: Path) -> None:
    def respond(stream: object, request: Request) -> bytes | None:
        if request.path != "/evil":
            time.sleep(1)
            return response(b"<p>neighbour</p>")
        if asked(site).count("/evil") > 1:  # by then its neighbour has had a browser of its own, or has none yet
            until(lambda: len(fetcher.stats.pids) == 1)
        for pid in fetcher.stats.pids:
            os.killpg(pid, signal.SIGKILL)
        return None

    with answering(respond) as site, browser_fetcher(chromium, tmp_path, timeout_seconds=40) as fetcher:
        requests = [FetchRequest(site.url("/n")), FetchRequest(site.url("/evil"))]
        failures = {result.url: result.failure for result in fetch_all(fetcher, requests, 90)}
        assert fetch(fetcher, site.url("/after")).failure is None
    assert failures == {site.url("/n"): None, site.url("/evil"): Reason.CONNECT}
    assert asked(site).count("/evil") == 3, "once more in company, as a page of its host was quick; then alone"


@pytest.mark.slow
def test_a_tab_that_is_killed_fails_at_once_and_alone(chromium: Path, crawl4ai: None, tmp_path: Path) -> None:
    def respond(stream: object, request: Request) -> bytes | None:
        if request.path == "/never.js":
            time.sleep(60)
            return None
        return response(b"<p>x</p><script src=/never.js></script>")

    with answering(respond) as site, browser_fetcher(chromium, tmp_path, timeout_seconds=60) as fetcher:
        fetcher.submit(FetchRequest(site.url()))
        until(lambda: "/never.js" in asked(site))
        (pid,) = fetcher.stats.pids
        for process in living(pid):
            if "--type=renderer" in process.cmdline():
                process.kill()
        (result,) = fetch_all(fetcher, [])
        assert (result.failure, result.error) == (Reason.CONNECT, "The page crashed its tab.")
        assert fetcher.stats.pids == (pid,), "its browser lives on"


@pytest.mark.slow
def test_closing_leaves_no_process_and_no_file(
    chromium: Path, crawl4ai: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(prefix="t-") as own:  # elsewhere browsers of other tests come and go
        monkeypatch.setattr(tempfile, "tempdir", own)
        with pages({"/": "<p>x</p>"}) as site, browser_fetcher(chromium, tmp_path) as fetcher:
            fetch(fetcher, site.url())
            (pid,) = fetcher.stats.pids
            assert living(pid)
            assert list((tmp_path / "browsers").glob("*.json"))
            assert list(Path(own).glob("crawler-chromium-*"))
        assert not living(pid)
        assert list((tmp_path / "browsers").iterdir()) == []
        assert list(Path(own).iterdir()) == []


WORKER = """
import sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from crawler.adapters.browser.chromium_flags import ChromiumOptions
from crawler.adapters.browser.chromium_process import ChromiumProcess
import asyncio
async def main():
    process = ChromiumProcess(ChromiumOptions(Path({program!r}), "http://127.0.0.1:9"), Path({records!r}))
    await process.start()
    print("pid", process.pid, flush=True)
    time.sleep(60)
asyncio.run(main())
"""


@pytest.mark.slow
def test_a_killed_worker_takes_its_browser_with_it_and_the_next_clears_up(chromium: Path, tmp_path: Path) -> None:
    root = str(Path(__file__).parents[3])
    source = WORKER.format(root=root, program=str(chromium), records=str(tmp_path))
    worker = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True)
    assert worker.stdout is not None
    with worker.stdout:
        pid = next(int(line.split()[1]) for line in worker.stdout if line.startswith("pid "))
        (path,) = tmp_path.glob("*.json")
        record = Record.read(path)
        reaped = reap_orphans(tmp_path)
        worker.kill()
        worker.wait()
    assert reaped == 0, "its worker lived"
    assert record is not None
    until(lambda: pid not in {p.pid for p in living(pid)})
    reap_orphans(tmp_path)
    until(lambda: not living(pid))
    assert not Path(record.profile).exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_an_orphan_that_outlived_its_worker_is_ended(chromium: Path, tmp_path: Path) -> None:
    profile = Path(tempfile.mkdtemp(prefix="crawler-chromium-"))
    command = [str(chromium), "--headless", "--no-sandbox", f"--user-data-dir={profile}", "--remote-debugging-port=0"]
    browser = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    until((profile / "DevToolsActivePort").exists)
    gone = subprocess.Popen(["true"])
    gone.wait()
    record = Record(browser.pid, psutil.Process(browser.pid).create_time(), gone.pid, 1.0, str(profile))
    record.write(tmp_path / "orphan.json")
    assert reap_orphans(tmp_path) > 1
    browser.wait()
    assert not living(browser.pid)
    assert not profile.exists()


def test_a_stranger_with_an_orphans_number_is_left_alone(tmp_path: Path) -> None:
    stranger = subprocess.Popen(["sleep", "30"], start_new_session=True)
    try:
        Record(stranger.pid, 1.0, 2**22, 1.0, str(tmp_path / "no-profile-of-ours")).write(tmp_path / "stale.json")
        (tmp_path / "no-profile-of-ours").mkdir()
        assert reap_orphans(tmp_path) == 0
        assert stranger.poll() is None
        assert (tmp_path / "no-profile-of-ours").exists()
    finally:
        stranger.kill()
        stranger.wait()


def test_a_worker_that_is_just_dying_is_waited_for(tmp_path: Path) -> None:
    profile = Path(tempfile.mkdtemp(prefix="crawler-chromium-"))
    worker = subprocess.Popen(["sleep", "0.5"])
    Record(2**22, 1.0, worker.pid, psutil.Process(worker.pid).create_time(), str(profile)).write(tmp_path / "a.json")
    reap_orphans(tmp_path, patience_seconds=10)
    worker.wait()
    assert not profile.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_browser_that_will_not_start_is_said_in_a_sentence(crawl4ai: None, tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\necho 'no display' >&2\nexit 1\n")
    program.chmod(0o755)
    with browser_fetcher(program, tmp_path / "data") as fetcher:
        result = fetch(fetcher, "http://127.0.0.1:9/")
    assert result.failure is Reason.CONNECT
    assert result.error == "The browser ended at once: no display"


def test_of_what_the_browser_said_the_cause_is_told_and_not_the_troubles_of_its_crash_handler(
    crawl4ai: None, tmp_path: Path
) -> None:
    program = tmp_path / "chromium"
    said = ("[1:1:FATAL:a.cc:3] no room", "[2:ERROR:b.cc:4] no file")
    program.write_text("#!/bin/sh\n" + "".join(f"echo '{line}' >&2\n" for line in said) + "exit 1\n")
    program.chmod(0o755)
    with browser_fetcher(program, tmp_path / "data") as fetcher:
        result = fetch(fetcher, "http://127.0.0.1:9/")
    assert result.error.endswith("no room")


@pytest.mark.slow
def test_the_browser_runs_nothing_for_windows_that_nobody_sees(chromium: Path, crawl4ai: None, tmp_path: Path) -> None:
    met: set[str] = set()

    def respond(*_: object) -> bytes:
        for process in psutil.Process(fetcher.stats.pids[0]).children(recursive=True):
            with suppress(psutil.Error):
                met.update(word for word in process.cmdline() if word.startswith("--") and word.endswith("webui"))
        return response(b"<p>shown</p>")

    with answering(respond) as site, browser_fetcher(chromium, tmp_path) as fetcher:
        assert {fetch(fetcher, site.url(f"/{n}")).failure for n in range(2)} == {None}
    assert met == set()


@pytest.mark.slow
def test_a_directory_for_temporary_files_with_a_long_path_is_no_hindrance_and_gets_no_leftovers(
    chromium: Path, crawl4ai: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("temporary-" * 10)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    monkeypatch.setenv("TMPDIR", str(long))
    with answering(lambda *_: response(b"<p>shown</p>")) as site, browser_fetcher(chromium, tmp_path) as fetcher:
        assert fetch(fetcher, site.url()).failure is None
        (pid,) = fetcher.stats.pids
        profile = Path(psutil.Process(pid).environ()["TMPDIR"])
        assert profile.is_dir()
    assert not profile.exists(), "with all that the browser put there"
    assert list(long.iterdir()) == []


@pytest.mark.slow
def test_nothing_is_started_before_the_first_page(tmp_path: Path) -> None:
    code = (
        "import sys; from crawler.adapters.browser.fetcher import BrowserFetcher, why_unavailable;"
        "print(any(name in sys.modules for name in ('crawl4ai', 'playwright', 'PIL')))"
    )
    root = Path(__file__).parents[3]
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert said.stdout == "False\n"
