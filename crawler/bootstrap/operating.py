"""Builds what operators need: live events, runtime settings, sessions, worker state, metrics, retention."""

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from crawler.adapters.operating.canary_book import CanaryBook
from crawler.adapters.operating.celery_queue import CeleryQueue
from crawler.adapters.operating.event_tail import TICK_SECONDS, EventTails
from crawler.adapters.operating.live_workers import LiveWorkers
from crawler.adapters.operating.metrics_reader import MetricsReader
from crawler.adapters.operating.session_store import SessionStore
from crawler.adapters.postgres.idempotency_store import IdempotencyStore
from crawler.adapters.postgres.retention import Pruner, Retention
from crawler.domain.hosts.egress import EgressRule
from crawler.errors import RedisUnavailable
from crawler.handlers.operating.answer_once import AnswerOnce
from crawler.handlers.operating.look_for_lost import LookForLost

if TYPE_CHECKING:
    from crawler.bootstrap.app import App


class Operating:
    def __init__(self, app: "App") -> None:
        self._app = app

    def event_tails(self, tick_seconds: float = TICK_SECONDS) -> EventTails:
        """Live events for many clients. Make one for each event loop, because its connections belong to the loop."""
        return EventTails(self._app.settings.redis_database(0), tick_seconds=tick_seconds)

    @cached_property
    def canaries(self) -> CanaryBook:
        return CanaryBook(self._app.redis)

    @cached_property
    def live_workers(self) -> LiveWorkers:
        return LiveWorkers(self._app.redis)

    def egress_of(self, queue: str) -> EgressRule:
        """What the workers of a queue may reach. Where none is there, our own settings are the best guess."""
        with suppress(RedisUnavailable):
            if (entries := self.live_workers.egress(queue)) is not None:
                return EgressRule.parse(entries)
        return self._app.egress

    @cached_property
    def look_for_lost(self) -> LookForLost:
        documents = self._app.documents
        recover = (documents.ingest.recover, documents.embed.recover)
        return LookForLost(self._app.frontier, self._app.crawls.reconcile, recover, self._app.hints.reconcile)

    @cached_property
    def metrics(self) -> MetricsReader:
        hints = CeleryQueue(self._app.celery)
        return MetricsReader(
            self._app.database,
            self._app.frontier,
            self._app.engine.render_counts,
            self.canaries,
            self.live_workers,
            hints,
        )

    @cached_property
    def sessions(self) -> SessionStore:
        """Sessions of people who are signed in to the dashboard."""
        return SessionStore(self._app.redis)

    @cached_property
    def answer_once(self) -> AnswerOnce:
        return AnswerOnce(IdempotencyStore(self._app.database))

    @cached_property
    def pruner(self) -> Pruner:
        settings = self._app.settings
        kept = Retention(settings.request_log_days, settings.keep_versions, settings.keep_crawl_days)
        return Pruner(self._app.database, kept, self._app.objects)
