"""Pages and selectors that hang, crash or grow cost one page and a child process, never the worker."""

import os
import resource
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psutil
import pytest

from crawler.adapters.acquisition import extraction_process
from crawler.adapters.acquisition.extraction_process import ExtractionProcess
from crawler.adapters.acquisition.pdf_texts import QUICK_SECONDS, PdfTexts
from crawler.adapters.changes.page_pairs import InTime
from crawler.domain import judging
from crawler.domain.acquisition.page_fields import ExtractionFailed, PageFields, ProcessLost, StoredContent
from crawler.domain.acquisition.selectors import DEFAULT, read_selectors
from crawler.domain.pages.pdf_reading import PdfReading
from crawler.errors import JudgesBusy
from tests.integration.interrupting import interrupted
from tests.unit.pages.pdfs import pdf_of

HTML = "text/html; charset=utf-8"


@pytest.fixture
def extract() -> Iterator[ExtractionProcess]:
    with ExtractionProcess(2) as process:
        yield process


def page(body: str | bytes, content_type: str = HTML) -> StoredContent:
    return StoredContent("https://example.org/", content_type, body.encode() if isinstance(body, str) else body)


def child(extract: ExtractionProcess) -> int:
    assert extract._child is not None
    return extract._child.pid


def cpu_of_ended_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def works(extract: ExtractionProcess) -> bool:
    found = extract(page("<p>Still here</p>"), DEFAULT)
    return isinstance(found, PageFields) and found.text == "Still here"


@pytest.mark.slow
def test_many_pages_go_through_one_process(extract: ExtractionProcess) -> None:
    rules = read_selectors({"fields": {"a": "p"}})
    for number in range(20):
        found = extract(page(f"<p>{number}</p>" + "x" * 300_000), rules)
        assert isinstance(found, PageFields)
        assert found.fields == {"a": str(number)}
    first = child(extract)
    assert works(extract)
    assert child(extract) == first


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "selectors",
    [
        {"include": ["xpath://*[count(//*[count(//*[count(//*)>1])>1])>1]"]},
        {"include": [":has(:has(:has(:has(b) b) b) b) :has(:has(:has(b) b) b) i"]},
    ],
)
def test_a_selector_of_catastrophic_cost_is_a_timeout(extract: ExtractionProcess, selectors: dict[str, Any]) -> None:
    works(extract)  # started
    times = psutil.Process(child(extract)).cpu_times()
    before = cpu_of_ended_children() + times.user + times.system
    found = extract(page("<div><b><i>x</i></b>" * 3000), read_selectors(selectors))
    assert found == ExtractionFailed("timeout", "Reading the page took more than 2 s.")
    assert works(extract)
    assert 1.5 < cpu_of_ended_children() - before < 3


@pytest.mark.slow
def test_a_page_is_not_to_blame_for_a_busy_machine() -> None:
    """Only the time that goes into a page counts, not the time in which others work."""
    with ExtractionProcess(0.3) as extract:
        works(extract)
        held = psutil.Process(child(extract))
        held.suspend()
        threading.Timer(0.6, held.resume).start()
        assert works(extract)


@pytest.mark.slow
def test_an_extractor_that_stands_still_is_lost_and_no_page_is_to_blame(
    extract: ExtractionProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    works(extract)
    monkeypatch.setattr(extraction_process, "WAIT_FACTOR", 0)
    monkeypatch.setattr(extraction_process, "WAIT_SECONDS", 0.2)
    psutil.Process(child(extract)).suspend()
    assert extract(page("<p>a</p>"), DEFAULT) == ProcessLost(signal.SIGKILL)


@pytest.mark.slow
def test_an_extractor_that_crashes_says_how_and_the_next_page_is_read(
    extract: ExtractionProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = extract(page("<p>a</p>"), read_selectors({"fields": {"a": "p:foo"}}))  # never checked: a defect of ours
    assert isinstance(found, ExtractionFailed)
    assert found.code == "crash"
    assert "SelectorSyntaxError" in found.sentence
    assert works(extract)


@pytest.mark.slow
def test_a_page_of_too_many_elements_is_too_large(extract: ExtractionProcess) -> None:
    found = extract(page(b"<p>x" * 5_000_000), read_selectors({"include": ["p"]}))
    assert isinstance(found, ExtractionFailed)
    assert found.code == "too_large"
    assert works(extract)


def test_a_broken_pdf_fails_alone(extract: ExtractionProcess) -> None:
    found = extract(page(b"%PDF-1.7 nothing", "application/pdf"), DEFAULT)
    assert isinstance(found, ExtractionFailed)
    assert found.code == "parse"
    assert works(extract)


@pytest.mark.slow
def test_a_process_killed_from_outside_is_told_as_lost(extract: ExtractionProcess) -> None:
    works(extract)
    threading.Timer(0.5, os.kill, (child(extract), signal.SIGKILL)).start()
    slow = read_selectors({"include": ["xpath://*[count(//*[count(//*)>1])>1]"]})
    assert extract(page("<div><b><i>x</i></b>" * 3000), slow) == ProcessLost(signal.SIGKILL)
    assert works(extract)


@pytest.mark.parametrize("seconds", [0.01, 0.4])
def test_no_page_gets_the_text_of_one_whose_reader_was_interrupted(extract: ExtractionProcess, seconds: float) -> None:
    """While it waited for its process to start, or for the page's text."""
    if seconds > 0.1:
        works(extract)
    with interrupted(seconds):
        for _ in range(1000):
            extract(page("<p>A secret</p>" * 30_000), DEFAULT)
    assert works(extract)
    assert works(extract)


@pytest.mark.slow
def test_the_process_ends_with_its_parent() -> None:
    reading, writing = os.pipe()
    parent = os.fork()
    if parent == 0:  # pragma: no cover - another process
        process = ExtractionProcess(2)
        process(page("<p>a</p>"), DEFAULT)
        assert process._child is not None
        os.write(writing, str(process._child.pid).encode())
        os._exit(137)
    os.waitpid(parent, 0)
    pid = int(os.read(reading, 20))
    for one in (reading, writing):
        os.close(one)
    until = time.monotonic() + 10
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.slow
def test_a_pdf_that_takes_too_long_is_given_up_once_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with ExtractionProcess(20) as extract:
        read = PdfTexts(lambda: extract)
        assert read(pdf_of("The fee is 12 euros.")).text == "The fee is 12 euros."
        long = pdf_of("a) Tj (b" * 400_000)
        monkeypatch.setattr(extract, "_seconds", 0.01)
        slow = read(long)
        assert slow.text == ""
        assert slow.problem == "Reading the page took more than 0.01 s, so it is compared by its bytes."
        monkeypatch.setattr(extract, "_seconds", 20.0)
        assert read(long) == slow, "it is not read again and again"
        assert read(pdf_of("A third one")).text == "A third one"
        assert "larger than" in read(b"%PDF-" + b"x" * 16_000_000).problem


def test_a_pdf_whose_quick_reader_the_clock_has_ended_is_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine it may not come to its CPU time. Compared by its bytes the file would be told as changed."""
    told: list[float] = []
    with ExtractionProcess(20) as extract:
        works(extract)
        read = PdfTexts(lambda: extract)
        psutil.Process(child(extract)).suspend()
        monkeypatch.setattr(extraction_process, "WAIT_FACTOR", 1)
        monkeypatch.setattr(extraction_process, "WAIT_SECONDS", 0.1)
        judging.besides.set(told.append)
        try:
            assert read(pdf_of("The fee is 12 euros.")).text == "The fee is 12 euros."
        finally:
            judging.besides.set(judging.go_on)
    assert told[0] == QUICK_SECONDS
    assert len(told) == 2


@pytest.mark.slow
def test_pdfs_of_one_caller_that_take_long_leave_a_process_to_others() -> None:
    slow = [pdf_of("a) Tj (b" * 400_000 + str(number)) for number in range(3)]
    found: list[PdfReading | JudgesBusy] = []
    read = PdfTexts(lambda: ExtractionProcess(3.0))

    def read_as(who: str, body: bytes) -> None:
        judging.caller.set(who)
        try:
            found.append(read(body))
        except JudgesBusy as exc:
            found.append(exc)

    hostile = [threading.Thread(target=read_as, args=("hostile", body)) for body in slow]
    for thread in hostile:
        thread.start()
    stranger = threading.Thread(target=read_as, args=("stranger", pdf_of("The fee is 12 euros.")))
    stranger.start()
    stranger.join()
    assert PdfReading("The fee is 12 euros.") in found
    assert sum(thread.is_alive() for thread in hostile) >= 2, "it waited for no more than one of them"
    for thread in hostile:
        thread.join()
    read.close()


def test_pdfs_of_one_crawl_take_no_time_of_another() -> None:
    def slow(body: bytes) -> PdfReading:
        clock[0] += 60.0
        return PdfReading(body.decode())

    clock = [1000.0]
    read = InTime(slow, lambda: clock[0])
    one, other = UUID(int=1), UUID(int=2)
    assert read(one, b"first").text == "first"
    assert read(one, b"second").text == "", "its time is over"
    assert read(other, b"third").text == "third"
    clock[0] += 120.0
    assert read(one, b"fourth").text == "fourth", "with time comes more of it"
