"""The labelled pairs through the rules: what would have been told, and was it true."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from benchmarks.labelled.values import Label, LabelledSite, Pair
from crawler.domain.changes.filtered_changes import bounded, filter_across_pages
from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import read_blocks
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.learning import learn
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from crawler.domain.noise.rules import NoiseRule, Origin, RuleKind, RuleSet
from crawler.domain.noise.second_looks import TwoLooks
from crawler.domain.noise.template_changes import TemplateChange
from crawler.domain.pages.parsing import parse_page
from crawler.domain.rendering.url_shapes import url_shape
from crawler.domain.urls.url import parse

_NOBODY = UUID(int=0)


class Judged(NamedTuple):
    pair: Pair
    told: bool
    """As a changed page."""
    edits: tuple[BlockEdit, ...]


class Score(NamedTuple):
    right: int
    """Real and told."""
    false_alarms: int
    missed: int
    quiet: int
    """Noise and not told."""

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.false_alarms)

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed)


def score(judged: Iterable[Judged]) -> Score:
    found = [(one.pair.label is Label.REAL, one.told) for one in judged]
    return Score(*(found.count(kind) for kind in ((True, True), (False, True), (True, False), (False, False))))


def by_hash(site: LabelledSite) -> list[Judged]:
    """Without any rule: whatever differs in text is told."""
    return [Judged(pair, _hash(pair.before, pair.url) != _hash(pair.after, pair.url), ()) for pair in site.pairs]


def judge(site: LabelledSite) -> tuple[list[Judged], list[TemplateChange]]:
    """As comparing two crawls does it: hash, rules, what was learned of both crawls, what all pages say together."""
    rules = learned_rules(site.pairs)
    pages: dict[str, FilteredPage] = {}
    for pair in site.pairs:
        if _hash(pair.before, pair.url) == _hash(pair.after, pair.url):
            continue
        page = apply_noise_rules(
            read_blocks(pair.before),
            read_blocks(pair.after),
            rules,
            shape=url_shape(parse(pair.url)),
            moments=Moments(pair.before_at, pair.after_at),
        )
        pages[pair.url] = bounded(page)
    filtered, found = filter_across_pages(pages, len(site.pairs))
    large = {url: page.edits for url, page in filtered.items() if page.is_truncated and not page.wall}
    left = {**found.left, **large}
    return [Judged(pair, bool(left.get(pair.url)), left.get(pair.url, ())) for pair in site.pairs], found.template


def learned_rules(pairs: Sequence[Pair]) -> RuleSet:
    looks = [
        TwoLooks(
            url_shape(parse(pair.url)),
            read_blocks(first),
            read_blocks(second),
            before,
            after,
            Moments(at, at),
            pair.url,
        )
        for pair in pairs
        for first, second, before, after, at in (
            (pair.before, pair.before_again, None, read_blocks(pair.after), pair.before_at),
            (pair.after, pair.after_again, read_blocks(pair.before), None, pair.after_at),
        )
        if second is not None
    ]
    return RuleSet.of(
        NoiseRule(
            id=UUID(int=number), project_id=_NOBODY, kind=RuleKind.LEARNED, value=rule.as_value(),
            origin=Origin.LEARNED, created_at=datetime(2026, 1, 1, tzinfo=UTC),
        )
        for number, rule in enumerate(learn(looks))
    )  # fmt: skip


def _hash(body: bytes, url: str) -> bytes:
    return parse_page(body, url=url, detect_language=False).content_hash
