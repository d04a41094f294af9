"""Builds the acquisition queue: handlers that fetch URLs of many sites, extract fields and hand them on."""

from functools import cached_property
from typing import TYPE_CHECKING

from crawler.adapters.acquisition.category_store import CategoryStore
from crawler.adapters.acquisition.extraction_process import ExtractionProcess
from crawler.adapters.acquisition.extraction_reader import ExtractionReader
from crawler.adapters.acquisition.extraction_store import ExtractionStore
from crawler.adapters.acquisition.field_fills import FieldFills
from crawler.adapters.acquisition.outbox import Outbox
from crawler.adapters.acquisition.queue_claims import QueueClaims
from crawler.adapters.acquisition.queue_overview import QueueOverview
from crawler.adapters.acquisition.queue_store import QueueStore
from crawler.adapters.acquisition.trial_processes import TrialProcesses
from crawler.adapters.operating.hint_once import HintOnce
from crawler.bootstrap.failpoint import failpoint
from crawler.domain.acquisition.selectors import SelectorSet
from crawler.handlers.acquisition.extract_entries import ExtractEntries
from crawler.handlers.acquisition.fill_queue import FillQueue
from crawler.handlers.acquisition.manage_categories import ManageCategories
from crawler.handlers.acquisition.relay_outbox import RelayOutbox
from crawler.handlers.acquisition.run_queue import RunQueue

if TYPE_CHECKING:
    from crawler.bootstrap.app import App

EXTRACTION_SECONDS = 10.0
"""Seconds for one extraction task, because other tasks wait for the same worker."""


class Acquisition:
    def __init__(self, app: "App") -> None:
        self._app = app

    @cached_property
    def queue(self) -> QueueStore:
        return QueueStore(self._app.database)

    @cached_property
    def fill_queue(self) -> FillQueue:
        return FillQueue(self.queue, self._app.store, self._app.clock)

    @cached_property
    def run_queue(self) -> RunQueue:
        return RunQueue(
            QueueClaims(self._app.database),
            self._app.store,
            self._app.hints.start_crawl,
            self._app.clock,
            batch_size=lambda: self._app.current_settings().queue_batch_size or self._app.settings.queue_batch_size,
            concurrency=self._app.settings.queue_concurrency,
        )

    @cached_property
    def overview(self) -> QueueOverview:
        return QueueOverview(self._app.database)

    @cached_property
    def categories(self) -> CategoryStore:
        return CategoryStore(self._app.database)

    @cached_property
    def manage_categories(self) -> ManageCategories:
        find_page, seconds = self.extraction_store.find_page, self._app.settings.extract_timeout_seconds
        trials = TrialProcesses(lambda limit: ExtractionProcess(limit))  # noqa: PLW0108 - looked up when it is needed
        return ManageCategories(self.categories, self.field_fills, find_page, trials, _check, seconds=seconds)

    @cached_property
    def extraction_store(self) -> ExtractionStore:
        return ExtractionStore(self._app.database)

    @cached_property
    def extractor(self) -> ExtractionProcess:
        """The extractor, in a process of its own that starts with the first page."""
        return ExtractionProcess(self._app.settings.extract_timeout_seconds)

    @cached_property
    def hint_extraction(self) -> HintOnce:
        """After a commit of the engine. The hint is read a second later: it is good for all that is committed then."""
        return HintOnce("extract_entries", self._app.frontier, lambda: self._app.hints.extract_entries(1.0))

    @cached_property
    def extract_entries(self) -> ExtractEntries:
        settings = self._app.settings
        return ExtractEntries(
            self.extraction_store,
            self.categories.find,
            self.extractor,
            self.field_fills,
            self.relay_outbox,
            self._app.hints.extract_entries,
            HintOnce("extract_entries", self._app.frontier, self._app.hints.extract_entries),
            seconds=EXTRACTION_SECONDS,
            stale_seconds=settings.lease_seconds + settings.extract_timeout_seconds,
            failpoint=failpoint(settings.failpoint),
        )

    @cached_property
    def extractions(self) -> ExtractionReader:
        return ExtractionReader(self._app.database)

    @cached_property
    def field_fills(self) -> FieldFills:
        return FieldFills(self._app.database)

    @cached_property
    def outbox(self) -> Outbox:
        return Outbox(self._app.database)

    @cached_property
    def relay_outbox(self) -> RelayOutbox:
        settings = self._app.settings
        hints, stop = self._app.hints, failpoint(settings.failpoint)
        return RelayOutbox(
            self.outbox, hints.classify, settings.classify_task, self._app.clock, hints.classification_length, stop
        )


def _check(rules: SelectorSet) -> None:
    # Imported here: it needs BeautifulSoup and lxml, and few processes check selectors.
    from crawler.domain.acquisition.selector_syntax import check_selectors  # noqa: PLC0415

    check_selectors(rules)
