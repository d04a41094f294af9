"""Builds handlers that compare crawls, apply noise rules and show diffs."""

import time
from functools import cached_property
from typing import TYPE_CHECKING

from crawler.adapters.changes.changed_pages import ChangedPagesReader
from crawler.adapters.changes.compare_turns import CompareTurns
from crawler.adapters.changes.compared_pages import ComparedPages
from crawler.adapters.changes.feed import ChangeFeed
from crawler.adapters.changes.feed_tokens import FeedTokens
from crawler.adapters.changes.history import ChangeHistory
from crawler.adapters.changes.noise_store import NoiseStore
from crawler.adapters.changes.page_pairs import PagePairs
from crawler.handlers.changes.apply_noise_rules import ApplyNoiseRules
from crawler.handlers.changes.check_pages import CheckPages
from crawler.handlers.changes.compare_in_turn import CompareInTurn
from crawler.handlers.changes.compare_versions import CompareVersions, ShowMarkdown
from crawler.handlers.changes.describe_changes import DescribeChanges
from crawler.handlers.changes.diff_crawl import DiffCrawl
from crawler.handlers.changes.diff_without_noise import DiffWithoutNoise
from crawler.handlers.changes.digest_changes import DigestChanges
from crawler.handlers.changes.find_sign_ins import FindSignIns
from crawler.handlers.changes.manage_noise import ManageNoise
from crawler.handlers.changes.settle_documents import SettleDocuments

if TYPE_CHECKING:
    from crawler.bootstrap.app import App


class Changes:
    def __init__(self, app: "App") -> None:
        self._app = app

    @cached_property
    def diff_crawl(self) -> DiffCrawl:
        return DiffCrawl(
            self._app.store,
            self._app.engine.ledger,
            self._app.engine.new_leads,
            self._app.engine.probes,
            FindSignIns(self.page_pairs),
            self.apply_noise_rules,
            self._app.watching.values,
            SettleDocuments(self._app.documents.store, self._app.hints.ingest_documents),
            self.digest,
            self._app.judging.for_comparison,
        )

    @cached_property
    def compare_in_turn(self) -> CompareInTurn:
        turns = CompareTurns(self._app.redis, time.time)
        return CompareInTurn(self._app.store, self.diff_crawl, turns, time.monotonic)

    @cached_property
    def noise_rules(self) -> NoiseStore:
        return NoiseStore(self._app.database)

    @cached_property
    def page_pairs(self) -> PagePairs:
        watches = self._app.watching.rules.of_crawl
        return PagePairs(self._app.database, self._app.pages.read_pdf, watches)

    @cached_property
    def apply_noise_rules(self) -> ApplyNoiseRules:
        return ApplyNoiseRules(self.page_pairs, self.noise_rules, self._app.engine.probes, self._app.clock)

    @cached_property
    def manage_noise(self) -> ManageNoise:
        return ManageNoise(self._app.store, self.noise_rules, self._app.clock)

    @cached_property
    def digest(self) -> DigestChanges:
        return DigestChanges(self._app.store, self.page_pairs, self.noise_rules, self._app.judging.for_digest)

    @cached_property
    def describe(self) -> DescribeChanges:
        return DescribeChanges(self._app.store, ChangedPagesReader(self._app.database), self.digest)

    @cached_property
    def history(self) -> ChangeHistory:
        return ChangeHistory(self._app.database)

    @cached_property
    def feed(self) -> ChangeFeed:
        return ChangeFeed(self._app.database)

    @cached_property
    def feed_tokens(self) -> FeedTokens:
        return FeedTokens(self._app.database)

    @cached_property
    def compared_pages(self) -> ComparedPages:
        return ComparedPages(self._app.database)

    @cached_property
    def compare_versions(self) -> CompareVersions:
        return CompareVersions(self._app.pages.content, self._app.pages.read_pdf, self._app.judging.for_people)

    @cached_property
    def check_pages(self) -> CheckPages:
        return CheckPages(self.describe, self._app.crawls.scraped_pages, self.compare_versions)

    @cached_property
    def show_markdown(self) -> ShowMarkdown:
        return ShowMarkdown(self._app.pages.read_pdf, self._app.judging.for_people)

    @cached_property
    def diff_without_noise(self) -> DiffWithoutNoise:
        return DiffWithoutNoise(
            self._app.pages.content,
            self.noise_rules,
            self._app.watching.rules.index,
            self._app.pages.read_pdf,
            self._app.judging.for_people,
        )
