"""Compare a finished crawl with the one before, and keep the summary with it.

What is new, changed or removed: `compare` in `domain/changes/comparison.py`, with `domain/changes/removals.py`. Which
crawl is the one before: `domain/changes/baseline.py`. Noise: `apply_noise_rules.py`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.changes.baseline import choose_baseline, choose_witness, dropped_types, same_reach
from crawler.domain.changes.comparison import (
    Changes,
    Probed,
    SeenPage,
    Standing,
    barred_probes,
    compare,
    without_dropped_files,
    without_shells,
)
from crawler.domain.changes.coverage import Found, cover, is_failing, sign_in_places
from crawler.domain.changes.feed import CHANGED_PAGES, LINES, feed_pages
from crawler.domain.changes.filtered_changes import FilteredChanges
from crawler.domain.changes.new_walls import only_walls
from crawler.domain.changes.newly_watched import found_through, left_out_views
from crawler.domain.changes.page_digest import PageDigest
from crawler.domain.changes.readdressed import NewAddress, two_pages
from crawler.domain.changes.removals import COUNTED
from crawler.domain.changes.sign_ins import SignIns
from crawler.domain.changes.summary import change_summary
from crawler.domain.changes.told_meanwhile import ToldMeanwhile
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, EndReason
from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.judging import Judge, Look, OpenJudge, go_on
from crawler.domain.reasons import FAILED, Reason
from crawler.domain.rendering.signals import lane_of
from crawler.domain.urls.keys import KeyOf, keys_of
from crawler.domain.urls.url import QueryRule
from crawler.handlers.changes.find_sign_ins import FindSignIns
from crawler.handlers.changes.settle_documents import SettleDocuments

log = telemetry.logger(__name__)


class DiffStore(ProjectReader, Protocol):
    def has_credentials(self, project_id: UUID) -> bool: ...
    def get_crawl(self, crawl_id: UUID) -> CrawlJob: ...
    def earlier_crawls(self, crawl: CrawlJob, limit: int = 50) -> list[CrawlJob]: ...
    def save_diff(
        self,
        crawl_id: UUID,
        summary: dict[str, Any] | None,
        compared_to: UUID | None,
        feed: Sequence[dict[str, Any]] = (),
    ) -> CrawlJob: ...
    def fail_diff(self, crawl_id: UUID, reason: str) -> CrawlJob: ...
    def is_awaiting_diff(self, crawl_id: UUID) -> bool: ...


class DiffLedger(Protocol):
    def seen_pages(self, crawl_id: UUID) -> Iterator[SeenPage]: ...
    def last_seen(self, crawl_id: UUID, baseline_id: UUID) -> Iterator[SeenPage]: ...
    def crossed(self, crawl_id: UUID, baseline_id: UUID) -> dict[str, tuple[bytes, bytes]]: ...
    def addresses_changed(self, crawl_id: UUID, baseline_id: UUID) -> Iterator[NewAddress]: ...
    def light_links(self, crawl_id: UUID) -> Iterator[str]: ...
    def shells(self, crawl_id: UUID) -> set[str]: ...
    def count_unlinked(self, crawl_id: UUID, baseline_id: UUID) -> int: ...
    def parents(self, crawl_id: UUID, urls: Sequence[str]) -> dict[str, str]: ...


class Leads(Protocol):
    """Addresses to which nothing led in an earlier crawl, though it read what leads there now."""

    def linked(self, crawl_id: UUID, before_id: UUID, urls: Sequence[str], key_of: KeyOf) -> set[str]: ...
    def listed(self, crawl_id: UUID, before_id: UUID, urls: Sequence[str], key_of: KeyOf) -> set[str]: ...
    def without_room(self, crawl_id: UUID, before_id: UUID, key_of: KeyOf) -> int: ...


class DiffProbes(Protocol):
    def probed(self, crawl_id: UUID) -> Iterator[Probed]: ...
    def remembered(self, crawl_id: UUID) -> Iterator[SeenPage]: ...
    def tried(self, crawl_id: UUID) -> set[str]: ...
    def files_of(self, crawl_id: UUID, types: Collection[str]) -> set[str]: ...
    def given_up(self, crawl_id: UUID, baseline_id: UUID, *, was_blind: bool) -> list[str]: ...
    def adopt_looks(self, crawl_id: UUID, baseline_id: UUID, urls: Sequence[str]) -> dict[str, bool]: ...


class NoiseFilter(Protocol):
    def __call__(
        self, baseline: CrawlJob, crawl: CrawlJob, changes: Changes, judge: Judge, /, *, has_credentials: bool
    ) -> FilteredChanges: ...


class Digest(Protocol):
    def of(
        self, crawl: CrawlJob, summary: dict[str, Any], judge: Judge, most_pages: int, most_lines: int, /
    ) -> Sequence[PageDigest]: ...


class ValueWatch(Protocol):
    def __call__(self, crawl: CrawlJob, summary: Mapping[str, Any], judge: Judge, /) -> dict[str, Any]:
        """What changed of the values that somebody watches, as keys of the summary."""


class DiffCrawl:
    def __init__(
        self,
        store: DiffStore,
        ledger: DiffLedger,
        leads: Leads,
        probes: DiffProbes,
        find_sign_ins: FindSignIns,
        apply_noise_rules: NoiseFilter,
        watch_values: ValueWatch,
        settle_documents: SettleDocuments,
        digest: Digest,
        open_judge: OpenJudge,
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._leads = leads
        self._probes = probes
        self._find_sign_ins = find_sign_ins
        self._apply_noise_rules = apply_noise_rules
        self._watch_values = watch_values
        self._settle_documents = settle_documents
        self._digest = digest
        self._open_judge = open_judge

    def __call__(self, crawl_id: UUID, look: Look = go_on) -> CrawlJob:
        """Safe to repeat: the same two crawls give the same summary. `look` may end it between two pages."""
        crawl = self._store.get_crawl(crawl_id)
        earlier = self._store.earlier_crawls(crawl)
        baseline = self._baseline(crawl, earlier)
        if baseline is None:
            return self._store.save_diff(crawl_id, None, None)
        has_credentials = self._store.has_credentials(crawl.project_id)
        with self._open_judge(look) as judge:
            witness = choose_witness(earlier, crawl, baseline)
            changes, sign_ins = self._compare(baseline, crawl, witness, judge, has_credentials=has_credentials)
            changes = self._with_new_in_room(baseline, crawl, changes)
            changes = self._without_newly_watched(baseline, crawl, changes)
            changes = self._without_failed_at_first(earlier[-1], baseline, crawl, changes)
            filtered = self._apply_noise_rules(baseline, crawl, changes, judge, has_credentials=has_credentials)
            filtered = filtered._replace(changes=without_shells(filtered.changes, self._ledger.shells(crawl.id)))
            summary = self._summary(baseline, crawl, filtered, sign_ins, has_credentials=has_credentials)
            summary |= self._watch_values(crawl, summary, judge)
            feed = feed_pages(summary, self._digest.of(crawl, summary, judge, CHANGED_PAGES, LINES))
        self._settle_documents(baseline, crawl, filtered)  # before the summary is kept: so it is repeated
        log.info("crawl_compared", crawl_id=str(crawl_id), compared_to=str(baseline.id), **summary["summary"])
        return self._store.save_diff(crawl_id, summary, baseline.id, [page.as_record() for page in feed])

    def _summary(
        self,
        baseline: CrawlJob,
        crawl: CrawlJob,
        filtered: FilteredChanges,
        sign_ins: SignIns,
        *,
        has_credentials: bool,
    ) -> dict[str, Any]:
        is_limited = crawl.end_reason is EndReason.MAX_PAGES
        found = Found(
            walls=filtered.standing,
            is_limited=is_limited,
            unsettled=_unsettled(baseline),
            credentials_of=self._store.get_project(crawl.project_id).name if has_credentials else None,
            sign_ins=sign_ins,
            unlinked=self._ledger.count_unlinked(crawl.id, baseline.id),
            is_nofollow=bool(crawl.stats.get("nofollow_links")),
            new_without_room=self._new_without_room(baseline, crawl) if is_limited else 0,
            hash_views=crawl.stats.get("by_reason", {}).get(Reason.HASH_ROUTE, 0),
            views=left_out_views(filtered.changes.lost, QueryRule.of(crawl.config)),
            given_up=self._probes.given_up(crawl.id, baseline.id, was_blind=is_failing(baseline.change_summary)),
        )
        summary = change_summary(
            filtered.changes,
            crawl_id=crawl.id,
            compared_to=baseline.id,
            new_pages=crawl.config.significant_new_pages,
            changed_share=crawl.config.significant_changed_share,
            template_pages=filtered.template_pages,
            coverage=cover(filtered.changes, found),
        )
        meanwhile = ToldMeanwhile.of(baseline.change_summary).as_record(
            (*filtered.changes.not_compared, *filtered.held)
        )
        return summary | filtered.as_record() | meanwhile

    def is_early(self, crawl_id: UUID) -> bool:
        """Whether the crawl before is still to be compared: should that fail, this one tells what both found."""
        crawl = self._store.get_crawl(crawl_id)
        baseline = self._baseline(crawl, self._store.earlier_crawls(crawl))
        return baseline is not None and self._store.is_awaiting_diff(baseline.id)

    def give_up(self, crawl_id: UUID, reason: str) -> CrawlJob:
        """Record that the crawl cannot be compared. Later ones are compared with an earlier one: nothing is missed."""
        log.error("crawl_not_compared", crawl_id=str(crawl_id), reason=reason)
        return self._store.fail_diff(crawl_id, reason)

    def _compare(
        self, baseline: CrawlJob, crawl: CrawlJob, witness: CrawlJob | None, judge: Judge, *, has_credentials: bool
    ) -> tuple[Changes, SignIns]:
        exhausted = _saw_all(baseline, crawl) or is_failing(baseline.change_summary)
        key_of = keys_of(crawl.config)
        no_pages = only_walls(baseline.change_summary)
        seen = list(self._ledger.seen_pages(crawl.id))
        probed = [probe for probe in self._probes.probed(crawl.id) if probe.url not in no_pages]
        sign_ins = self._find_sign_ins(crawl.id, seen, probed, key_of, judge, has_credentials=has_credentials)
        sign_ins = sign_ins._replace(places=sign_ins.places | sign_in_places(baseline.change_summary))
        unsettled = _unsettled(baseline)
        before = barred_probes(self._probes.probed(baseline.id), key_of, sign_ins)
        changes = compare(
            (page for page in self._ledger.seen_pages(baseline.id) if page.url not in no_pages),
            seen,
            probed=probed,
            remembered=[
                *self._witnessed(witness, baseline),
                *self._probes.remembered(baseline.id),
                *(page for page in before if page.url in unsettled),
            ],
            last_seen=self._ledger.last_seen(crawl.id, baseline.id),
            crossed=self._ledger.crossed(crawl.id, baseline.id),
            readdressed=two_pages(self._ledger.addresses_changed(crawl.id, baseline.id), key_of),
            baseline_exhausted=exhausted and witness is not None and _saw_all(witness, crawl),
            linked=self._linked(crawl) if exhausted and witness is None else (),
            key_of=key_of,
            unsettled=unsettled,
            barriers=(baseline.change_summary or {}).get("barrier_urls", ()),
            sign_ins=sign_ins,
        )
        dropped = self._probes.files_of(baseline.id, dropped_types(baseline.config, crawl.config))
        return without_dropped_files(changes, dropped, key_of), sign_ins

    def _witnessed(self, witness: CrawlJob | None, baseline: CrawlJob) -> list[SeenPage]:
        """Pages that only the witness met, with a browser: not new, unless the baseline told that they were gone.

        What was fetched in the same way the baseline remembers by itself.
        """
        if witness is None or lane_of(witness) is lane_of(baseline):
            return []
        gone = {probe.normalized_url for probe in self._probes.probed(baseline.id) if probe.kind in COUNTED}
        pages = self._ledger.seen_pages(witness.id)
        return [page for page in pages if page.state is Standing.PAGE and page.normalized_url not in gone]

    def _linked(self, crawl: CrawlJob) -> frozenset[str]:
        """Where links lead that servers sent: a crawl without a browser would have met it."""
        key_of = keys_of(crawl.config)
        return frozenset(key for url in self._ledger.light_links(crawl.id) if (key := key_of(url)))

    def _new_without_room(self, baseline: CrawlJob, crawl: CrawlJob) -> int:
        return self._leads.without_room(crawl.id, baseline.id, keys_of(baseline.config))

    def _with_new_in_room(self, baseline: CrawlJob, crawl: CrawlJob, changes: Changes) -> Changes:
        """A crawl that stopped at max_pages did not see all pages, but it saw the links of those that it read, and its
        sitemaps: a page to which none of them led, and a known page or sitemap leads now, is new."""
        alike = same_reach(baseline.config, crawl.config) and lane_of(baseline) is lane_of(crawl)
        if baseline.end_reason is not EndReason.MAX_PAGES or not alike:
            return changes
        known = {*(page.url for page in changes.lost), *changes.fetched_otherwise, *changes.barriers}
        unknown = [url for url in changes.not_compared if url not in known]
        if not unknown:
            return changes
        new = self._leads.linked(crawl.id, baseline.id, unknown, keys_of(crawl.config))
        new |= self._leads.listed(crawl.id, baseline.id, unknown, keys_of(baseline.config))
        return replace(
            changes,
            new=tuple(sorted({*changes.new, *new})),
            not_compared=tuple(url for url in changes.not_compared if url not in new),
        )

    def _without_newly_watched(self, baseline: CrawlJob, crawl: CrawlJob, changes: Changes) -> Changes:
        """Pages that the earlier crawl took for spellings of one page are not new because they are told apart now.
        Those to which nothing led then are: an address that only a new revision has is news of that page.

        They are compared with what the earlier crawl saw at that very address, if it looked. Nor is what only they lead
        to new: they are queued when nothing else is left, so no other page links to it. But it is if the earlier crawl
        looked at them all the same, to see whether they are one page.
        """
        before, now = keys_of(baseline.config), keys_of(crawl.config)
        merged = {url: key for url in changes.new if (key := before(url)) is not None and key != now(url)}
        if not merged:
            return changes
        met = {page.normalized_url for page in self._ledger.seen_pages(baseline.id)}
        watched = {url for url, key in merged.items() if key in met}
        watched -= self._leads.linked(crawl.id, baseline.id, sorted(watched), now) if watched else set()
        unseen = watched - self._probes.tried(baseline.id)  # what the others led to then is known
        told = {*changes.changed, *changes.unchanged}
        known = self._probes.adopt_looks(crawl.id, baseline.id, sorted(watched - told))
        watched |= found_through(unseen, self._ledger.parents(crawl.id, changes.new), now) if unseen else set()
        return replace(
            changes,
            new=tuple(url for url in changes.new if url not in watched),
            changed=tuple(sorted((*changes.changed, *(url for url, same in known.items() if not same)))),
            unchanged=tuple(sorted((*changes.unchanged, *(url for url, same in known.items() if same)))),
            not_compared=tuple(sorted((*changes.not_compared, *(watched - known.keys())))),
        )

    def _without_failed_at_first(
        self, first: CrawlJob, baseline: CrawlJob, crawl: CrawlJob, changes: Changes
    ) -> Changes:
        """Pages that could not be read since the first crawl met them, nor what only they lead to, are not new because
        they answer now."""
        key_of, failed = keys_of(crawl.config), self._failed(first)
        known = {url for url in changes.new if key_of(url) in failed}
        if not known:
            return changes
        failed = self._failed(baseline)
        known = {url for url in known if key_of(url) in failed}
        known |= found_through(known, self._ledger.parents(crawl.id, changes.new), key_of)
        return replace(
            changes,
            new=tuple(url for url in changes.new if url not in known),
            not_compared=tuple(sorted({*changes.not_compared, *known})),
        )

    def _failed(self, crawl: CrawlJob) -> set[str]:
        if FAILED.isdisjoint(crawl.stats.get("by_reason", {})):
            return set()
        return {page.normalized_url for page in self._ledger.seen_pages(crawl.id) if page.reason in FAILED}

    def _baseline(self, crawl: CrawlJob, earlier: Sequence[CrawlJob]) -> CrawlJob | None:
        """A failed or cancelled crawl says nothing about the site."""
        if crawl.status is not CrawlStatus.COMPLETED:
            return None
        chosen = choose_baseline(earlier, crawl)
        return self._store.get_crawl(chosen.id) if chosen else None


def _unsettled(baseline: CrawlJob) -> frozenset[str]:
    """URLs of pages that it could not tell about when it was compared itself."""
    return frozenset((baseline.change_summary or {}).get("not_compared_urls", ()))


def _saw_all(earlier: CrawlJob, crawl: CrawlJob) -> bool:
    """Whether the earlier crawl met every page that this one was after, as far as it could."""
    return earlier.end_reason is EndReason.EXHAUSTED and same_reach(earlier.config, crawl.config)
