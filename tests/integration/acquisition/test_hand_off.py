"""The hand-off to classification: one row for each extraction, sent at least once, always under the same id."""

import threading
import time
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from celery import Celery

from crawler.adapters.operating.celery_queue import CeleryQueue
from crawler.bootstrap import build
from crawler.config import load_settings
from crawler.domain.acquisition.extractions import MAX_HANDED_ON, Handed
from crawler.domain.crawls.project import ACQUISITION_ID
from crawler.errors import RedisUnavailable
from crawler.handlers.acquisition import relay_outbox
from crawler.handlers.acquisition.relay_outbox import RelayOutbox
from tests.integration.acquiring import HOTEL, Extraction, extracting, hotel
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
from tests.site.client import Site

TASK = "somebody.classify"
HANDED = Handed(
    job_id="j1",
    extraction_id="e1",
    queue_id=7,
    page_id=None,
    url="https://example.org/",
    category="hotel",
    language="de",
    fields={"a": "b"},
    text="Text",
    truncated=False,
    extracted_at="2026-01-01T00:00:00+00:00",
)


@pytest.fixture
def extraction(crawler: Engine) -> Iterator[Extraction]:
    with extracting(crawler) as found:
        yield found


def extracted(found: Extraction, site: Site, count: int = 5) -> None:
    lay(site, {f"/{number}": hotel(f"Hotel {number}") for number in range(count)})
    found.fetch(*(site.url(f"/{number}") for number in range(count)), category="hotel")
    found()
    assert len(found.rows()) == count


def relay(found: Extraction, send: Any, task: str | None = TASK) -> RelayOutbox:
    return RelayOutbox(found.tools.acquisition.outbox, send, task, found.tools.clock)


def test_without_a_task_s_name_jobs_wait(extraction: Extraction, site: Site) -> None:
    extracted(extraction, site, 2)
    assert relay(extraction, None, task=None)() == 0
    assert extraction.tools.acquisition.outbox.counts() == {"waiting": 2, "sent": 0}


def test_jobs_of_a_deleted_project_wait_for_nothing(extraction: Extraction, site: Site) -> None:
    extracted(extraction, site, 2)
    extraction.tools.store.delete_project(ACQUISITION_ID)
    assert extraction.tools.acquisition.outbox.counts() == {"waiting": 0, "sent": 0}


def test_what_is_sent_says_all_a_classifier_needs(extraction: Extraction, site: Site) -> None:
    extraction.define("hotel", HOTEL)
    extracted(extraction, site, 1)
    sent: list[tuple[str, Handed]] = []
    assert relay(extraction, lambda task, handed: sent.append((task, handed)))() == 1
    ((task, handed),), (row,), (job,), (entry,) = sent, extraction.rows(), extraction.jobs(), extraction.entries()
    assert task == TASK
    assert (UUID(handed.job_id), UUID(handed.extraction_id)) == (job["id"], row["id"])
    assert (handed.queue_id, handed.url, handed.category) == (entry["id"], site.url("/0"), "hotel")
    assert (handed.text, handed.truncated) == (row["extracted_text"], False)
    assert (handed.fields, handed.language) == (row["fields"], "en")
    assert extraction.tools.acquisition.outbox.counts() == {"waiting": 0, "sent": 1}


def test_a_long_text_is_cut_in_the_message_and_says_so(extraction: Extraction, site: Site) -> None:
    extracted(extraction, site, 1)
    with extraction.tools.database.begin() as db:
        db.exec_driver_sql("UPDATE extractions SET extracted_text = repeat('many words ', 30000)")
    sent: list[Handed] = []
    relay(extraction, lambda _, handed: sent.append(handed))()
    assert (len(sent[0].text), sent[0].truncated) == (MAX_HANDED_ON, True)
    assert len(extraction.rows()[0]["extracted_text"]) > MAX_HANDED_ON


def test_jobs_wait_in_postgres_while_nobody_takes_them(
    extraction: Extraction, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broker's memory is everybody's."""
    extracted(extraction, site)
    with extraction.tools.database.begin() as db:
        db.exec_driver_sql("UPDATE extractions SET extracted_text = repeat('\U0001f6a2', 10000)")
    monkeypatch.setattr(relay_outbox, "MOST_WAITING_BYTES", 400_000)  # a job is 160 kB: twelve characters for a ship
    queue: list[str] = []
    outbox, clock = extraction.tools.acquisition.outbox, extraction.tools.clock
    hand_on = RelayOutbox(outbox, lambda _, handed: queue.append(handed.job_id), TASK, clock, lambda: len(queue))
    hand_on()
    assert outbox.counts() == {"waiting": 3, "sent": 2}
    hand_on()
    assert outbox.counts()["waiting"] >= 1, "still nobody takes them"
    taken = []
    while queue:
        taken += queue
        queue.clear()
        hand_on()
    assert outbox.counts() == {"waiting": 0, "sent": 5}
    assert len(taken) == len(set(taken)) == 5


def test_a_broker_that_is_away_loses_nothing_and_what_it_took_is_not_sent_twice(
    extraction: Extraction,
    site: Site,
) -> None:
    extracted(extraction, site)
    sent: list[str] = []

    def goes_away(_: str, handed: Handed) -> None:
        if len(sent) == 2:
            raise RedisUnavailable
        sent.append(handed.job_id)

    assert relay(extraction, goes_away)() == 0
    assert extraction.tools.acquisition.outbox.counts() == {"waiting": 3, "sent": 2}
    assert relay(extraction, lambda _, handed: sent.append(handed.job_id))() == 3
    assert len(sent) == len(set(sent)) == 5


@pytest.mark.slow
def test_two_relays_at_once_send_each_job_once(extraction: Extraction, site: Site) -> None:
    extracted(extraction, site, 12)
    sent: list[str] = []
    together = threading.Barrier(2)

    def slowly(_: str, handed: Handed) -> None:
        time.sleep(0.01)
        sent.append(handed.job_id)

    def run() -> None:
        together.wait()
        relay(extraction, slowly)()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sent) == len(set(sent)) == 12
    assert extraction.tools.acquisition.outbox.counts() == {"waiting": 0, "sent": 12}


def test_deleting_an_entry_does_not_unsay_what_waits_to_be_sent(extraction: Extraction, site: Site) -> None:
    extracted(extraction, site, 1)
    with extraction.tools.database.begin() as db:
        db.exec_driver_sql("DELETE FROM crawl_queue")
    sent: list[Handed] = []
    relay(extraction, lambda _, handed: sent.append(handed))()
    assert [handed.queue_id for handed in sent] == [None]
    assert sent[0].url == site.url("/0")


def test_what_waits_for_an_extraction_that_is_gone_is_dropped(extraction: Extraction, site: Site) -> None:
    extracted(extraction, site, 1)
    with extraction.tools.database.begin() as db:
        db.exec_driver_sql("DELETE FROM crawled_pages")
    assert relay(extraction, None)() == 0
    extraction.tools.acquisition.outbox.prune()
    assert extraction.outbox() == []


def test_the_broker_gets_the_task_by_name_on_its_queue_under_the_job_s_id(redis_url: str) -> None:
    tools = build(load_settings(redis_url=redis_url, database_url="postgresql://nobody@127.0.0.1:1/none"))
    CeleryQueue(tools.celery).classify(TASK, HANDED)
    reader = Celery(broker=tools.settings.broker, set_as_current=False)
    with reader.connection_for_read() as connection:
        message = connection.SimpleQueue("classification").get(timeout=5)
    assert (message.headers["task"], message.headers["id"]) == (TASK, "j1")
    assert message.payload[1] == HANDED._asdict()
    assert "Text" not in message.headers["kwargsrepr"]
    message.ack()
    tools.redis.close()


@pytest.mark.usefixtures("crawler")
def test_a_dead_broker_is_told_as_unavailable() -> None:
    settings = load_settings(redis_url="redis://127.0.0.1:9/0", database_url="postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(RedisUnavailable):
        CeleryQueue(build(settings).celery).classify(TASK, HANDED)
