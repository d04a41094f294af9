"""The acquisition queue with what follows fetching, for tests of its rules."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from crawler.domain.acquisition.entries import Chosen
from crawler.domain.acquisition.entry_choices import BulkAction
from crawler.domain.acquisition.selectors import read_selectors
from crawler.domain.crawls.project import ACQUISITION_ID
from tests.integration.acquisition.test_queue import Queue
from tests.integration.handmade import page
from tests.integration.live_engine import Engine

HOTEL: dict[str, Any] = {"include": ["main"], "exclude": [".ad"], "fields": {"name": "h1", "price": ".price"}}


def hotel(name: str, price: str = "120 €") -> str:
    words = "Quiet rooms above the lake, breakfast from seven, and a garden for the children."
    cost = f'<b class="price">{price}</b>' if price else ""
    return page(body=f"<main><h1>{name}</h1><p>{words}</p>{cost}<p class=ad>Buy</p></main>", title=name)


class Extraction:
    """The queue with what follows fetching."""

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self.tools = queue.tools

    def __call__(self) -> Any:
        return self.tools.acquisition.extract_entries()

    def fetch(self, *urls: str, **options: Any) -> None:
        self.queue.add(*urls, **options)
        self.queue.work()

    def again(self) -> None:
        """Fetch and extract everything once more."""
        self.tools.acquisition.queue.change(BulkAction.RETRY, Chosen.of([row["id"] for row in self.entries()], None))
        self.queue.work()
        self()

    def define(self, name: str, selectors: dict[str, Any]) -> None:
        self.tools.acquisition.categories.put(name, read_selectors(selectors))

    def entries(self) -> list[dict[str, Any]]:
        return list(self.queue.entries().values())

    def rows(self) -> list[dict[str, Any]]:
        return self.queue.engine.rows("SELECT * FROM extractions ORDER BY extracted_at, id")

    def jobs(self) -> list[dict[str, Any]]:
        return self.queue.engine.rows("SELECT * FROM classification_jobs")

    def outbox(self) -> list[dict[str, Any]]:
        return self.queue.engine.rows("SELECT * FROM outbox")

    def is_whole(self) -> bool:
        """One job and one row in the outbox for each extraction, one extraction for each content of a page."""
        extractions = {row["id"] for row in self.rows()}
        jobs = {row["id"]: row["extraction_id"] for row in self.jobs()}
        told = [UUID(row["arguments"]["job_id"]) for row in self.outbox()]
        return extractions == set(jobs.values()) and sorted(told) == sorted(jobs)


@contextmanager
def extracting(crawler: Engine) -> Iterator[Extraction]:
    queue = Queue(crawler)
    queue.tools.acquisition.fill_queue.add([])  # makes the project
    settings = {"render": "never", "delay_seconds": 0}
    queue.tools.projects.manage.change(ACQUISITION_ID, {"settings": settings})
    yield Extraction(queue)
