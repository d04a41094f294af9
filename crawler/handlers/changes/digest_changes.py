"""What changed on a crawl's changed pages, in a few lines each: for mails and terminals.

Which lines are chosen and how they are cut: `domain/changes/digest.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from uuid import UUID

from crawler.domain.changes.digest import digest_of_changes, told_of_page
from crawler.domain.changes.page_digest import PageDigest
from crawler.domain.changes.told_meanwhile import ToldMeanwhile
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.ports import CrawlReader
from crawler.domain.diffs.file_blocks import NoLines
from crawler.domain.diffs.line_context import contexts, is_bare
from crawler.domain.judging import Judge, OpenJudge, Unjudged
from crawler.domain.noise.clock_lines import without_lines
from crawler.domain.noise.page_pairs import PagePair
from crawler.domain.noise.ports import NoiseRuleReader, PagePairReader
from crawler.domain.noise.rules import RuleSet
from crawler.domain.noise.template_changes import LineKey
from crawler.domain.pages.parsing import UnparsablePage
from crawler.errors import NotFound

_GONE = "What it was before is no longer kept, or too large to compare."
_ODD = "Its markup was built to hurt parsers, so it is not read again."
_BY_HASH = "It is too large to weigh: only its hash tells that it changed."


class DigestChanges:
    def __init__(
        self, crawls: CrawlReader, pairs: PagePairReader, rules: NoiseRuleReader, open_judge: OpenJudge
    ) -> None:
        self._crawls = crawls
        self._pairs = pairs
        self._rules = rules
        self._open_judge = open_judge

    def __call__(self, crawl_id: UUID, most_pages: int = 20, most_lines: int = 10) -> tuple[PageDigest, ...]:
        """The changed lines of the first changed pages by URL; none when the crawl was not compared."""
        crawl = self._crawls.get_crawl(crawl_id)
        if not crawl.change_summary or not crawl.change_summary["changed_page_urls"]:
            return ()
        with self._open_judge() as judge:
            return self.of(crawl, crawl.change_summary, judge, most_pages, most_lines)

    def of(
        self, crawl: CrawlJob, summary: Mapping[str, Any], judge: Judge, most_pages: int, most_lines: int
    ) -> tuple[PageDigest, ...]:
        """The same of a summary that is not kept yet, by a judge that is open."""
        urls = sorted(summary["changed_page_urls"])[:most_pages]
        if not urls:
            return ()
        rules = RuleSet.of(self._rules.list_rules(crawl.project_id))
        clock = frozenset(LineKey(*line) for line in summary.get("clock_lines", ()))
        how = _How(rules, summary.get("template_changes", ()), clock, most_lines, self._told_meanwhile(summary))
        found = {page["url"]: PageDigest(page["url"], None, (), 0, _BY_HASH) for page in summary.get("by_hash", ())}
        pairs = self._compared(crawl.id, summary, [url for url in urls if url not in found])
        for pair, digest in judge.each(_digest, pairs, how):
            large = PageDigest(pair.url, pair.page_id, (), 0, _BY_HASH)
            found[pair.url] = large if isinstance(digest, Unjudged) else digest
        others = summary.get("also_at", {})
        digests = (found.get(url) or PageDigest(url, None, (), 0, _GONE) for url in urls)
        return tuple(digest._replace(also_at=tuple(others.get(digest.url, ()))) for digest in digests)

    def _told_meanwhile(self, summary: Mapping[str, Any]) -> ToldMeanwhile:
        with suppress(NotFound):  # the crawl that it was compared with is no longer kept
            return ToldMeanwhile.of(self._crawls.get_crawl(UUID(str(summary["compared_to"]))).change_summary)
        return ToldMeanwhile()

    def _compared(self, crawl_id: UUID, summary: Mapping[str, Any], urls: Sequence[str]) -> Iterator[PagePair]:
        """Each page with the version that the crawl was compared with: not with a wall that stood there in between."""
        back = summary.get("further_back", {})
        for further in sorted({back.get(url, 0) for url in urls}):
            some = [url for url in urls if back.get(url, 0) == further]
            yield from self._pairs.between(crawl_id, UUID(str(summary["compared_to"])), some, further=further)


class _How(NamedTuple):
    rules: RuleSet
    template: Sequence[Mapping[str, Any]]
    clock: frozenset[LineKey]
    """Lines that were found to run with the clock when all pages were compared."""
    most_lines: int
    meanwhile: ToldMeanwhile


def _digest(pair: PagePair, how: _How) -> PageDigest:
    rules, template, clock, most_lines, meanwhile = how
    try:
        page = without_lines(pair.apply_noise_rules(rules), clock)
        edits = told_of_page(meanwhile.without({pair.url: page})[pair.url].edits, template)
        labels: list[str | None] = []
        if any(map(is_bare, edits[:most_lines])):
            here = rules.on(pair.url)
            labels = contexts(edits, pair.old.blocks(here), pair.new.blocks(here), most_lines)
    except UnparsablePage as exc:
        return PageDigest(pair.url, pair.page_id, (), 0, exc.message if isinstance(exc, NoLines) else _ODD)
    return digest_of_changes(pair.url, pair.page_id, edits, most_lines, labels)
