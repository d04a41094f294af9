"""The queue of URLs of many sites."""

from functools import cached_property

from crawler.adapters.queue_claims import QueueClaims
from crawler.adapters.queue_store import QueueStore
from crawler.bootstrap.recurring import Recurring
from crawler.handlers.fill_queue import FillQueue
from crawler.handlers.run_queue import RunQueue


class Acquisition(Recurring):
    """What fills the queue and works it off."""

    @cached_property
    def queue(self) -> QueueStore:
        return QueueStore(self.engine)

    @cached_property
    def fill_queue(self) -> FillQueue:
        return FillQueue(self.queue, self.store, self.clock)

    @cached_property
    def run_queue(self) -> RunQueue:
        return RunQueue(
            QueueClaims(self.engine),
            self.store,
            self.hints.start_crawl,
            self.clock,
            batch_size=lambda: self.in_force().queue_batch_size or self.settings.queue_batch_size,
            concurrency=self.settings.queue_concurrency,
        )
