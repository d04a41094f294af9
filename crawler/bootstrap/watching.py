"""Builds handlers for watch rules: what counts on pages, and when it is told."""

from functools import cached_property
from typing import TYPE_CHECKING

from crawler.adapters.watching.watch_store import WatchStore
from crawler.handlers.watching.decide_telling import DecideTelling
from crawler.handlers.watching.manage_watch import ManageWatch
from crawler.handlers.watching.pick_selector import PickSelector
from crawler.handlers.watching.preview_watch import PreviewWatch
from crawler.handlers.watching.try_on_past import TryOnPast
from crawler.handlers.watching.watch_values import WatchValues

if TYPE_CHECKING:
    from crawler.bootstrap.app import App


class Watching:
    def __init__(self, app: "App") -> None:
        self._app = app

    @cached_property
    def rules(self) -> WatchStore:
        return WatchStore(self._app.database)

    @cached_property
    def manage(self) -> ManageWatch:
        return ManageWatch(self._app.store, self.rules, self._app.clock)

    @cached_property
    def values(self) -> WatchValues:
        return WatchValues(self.rules, self._app.changes.page_pairs)

    @cached_property
    def decide(self) -> DecideTelling:
        changes = self._app.changes
        return DecideTelling(self.rules, changes.page_pairs, changes.noise_rules, self._app.judging.for_digest)

    @cached_property
    def try_on_past(self) -> TryOnPast:
        return TryOnPast(self.rules, self.values, self.decide)

    @cached_property
    def pick(self) -> PickSelector:
        pages = self._app.pages
        return PickSelector(self._app.store, pages.neighbours, pages.content, self._app.judging.for_people)

    @cached_property
    def preview(self) -> PreviewWatch:
        pages = self._app.changes.page_pairs
        return PreviewWatch(self._app.store, self.rules, pages, self._app.judging.for_people)
