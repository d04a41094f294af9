"""Workers that die while they extract or hand on: exactly one extraction and one job for each entry, none lost."""

import multiprocessing
from collections.abc import Iterator
from uuid import UUID

import pytest

from tests.integration.acquiring import Extraction, extracting, hotel
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine, running_engine
from tests.site.client import Site

pytestmark = pytest.mark.slow

NAMES = ("Adler", "Killer", "Bear")
TASK = "somebody.classify"
SETTINGS = {"lease_seconds": 31, "classify_task": TASK}


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return dict(SETTINGS)


@pytest.fixture
def extraction(crawler: Engine) -> Iterator[Extraction]:
    with extracting(crawler) as found:
        yield found


def work(database_url: str, redis_url: str, failpoint: str) -> None:
    with running_engine(database_url, redis_url, failpoint=failpoint, **SETTINGS) as engine:
        engine.tools.acquisition.extract_entries()


def die_at(crawler: Engine, redis_url: str, failpoint: str) -> None:
    database = crawler.tools.settings.database_url
    assert database is not None
    arguments = (database.get_secret_value(), redis_url, failpoint)
    worker = multiprocessing.get_context("fork").Process(target=work, args=arguments)
    worker.start()
    worker.join()
    assert worker.exitcode == 137, failpoint


def requeue_lost(found: Extraction) -> None:
    found.tools.acquisition.extract_entries._stale_seconds = -1
    found.tools.acquisition.extract_entries.recover()


def fetched(found: Extraction, site: Site) -> None:
    lay(site, {f"/{name}": hotel(name) for name in NAMES})
    found.fetch(*(site.url(f"/{name}") for name in NAMES), category="hotel")


@pytest.mark.parametrize("failpoint", ["extract", "before_extraction_commit", "after_extraction_commit"])
def test_a_killed_worker_neither_loses_nor_doubles_an_extraction(
    extraction: Extraction,
    crawler: Engine,
    site: Site,
    redis_url: str,
    failpoint: str,
) -> None:
    fetched(extraction, site)
    die_at(crawler, redis_url, failpoint)
    assert len(extraction.rows()) == (failpoint == "after_extraction_commit")
    assert extraction.is_whole()
    requeue_lost(extraction)
    extraction()
    assert [row["status"] for row in extraction.entries()] == ["done"] * 3
    assert len(extraction.rows()) == 3
    assert extraction.is_whole()
    assert {row["rounds"] for row in extraction.entries()} == {0}


def test_a_page_that_kills_its_worker_three_times_fails_and_the_others_are_done(
    extraction: Extraction,
    crawler: Engine,
    site: Site,
    redis_url: str,
) -> None:
    fetched(extraction, site)
    for _ in range(3):
        die_at(crawler, redis_url, "extract=Killer")
        requeue_lost(extraction)
    extraction()
    states = [(row["status"], row["last_error"]) for row in extraction.entries()]
    poison = "poison: Three workers were lost while they extracted it."
    assert states == [("done", None), ("failed", poison), ("done", None)]
    assert len(extraction.rows()) == 2
    assert extraction.is_whole()


def test_a_relay_that_dies_before_it_marks_sends_again_under_the_same_ids(
    extraction: Extraction,
    crawler: Engine,
    site: Site,
    redis_url: str,
) -> None:
    fetched(extraction, site)
    die_at(crawler, redis_url, "before_outbox_mark")
    assert {row["sent_at"] for row in extraction.outbox()} == {None}, "sent, but nobody knows"
    requeue_lost(extraction)
    extraction()
    extraction.tools.acquisition.relay_outbox()
    sent = [handed for task, handed in extraction.tools.hints.sent if task == TASK]  # type: ignore[attr-defined]
    jobs = {row["id"]: row for row in extraction.jobs()}
    assert sorted(UUID(handed.job_id) for handed in sent) == sorted(jobs)
    assert {row["status"] for row in jobs.values()} == {"sent"}
    assert all(row["sent_at"] for row in extraction.outbox())
