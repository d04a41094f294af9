"""What changed between two versions of a page, line by line and without noise; and what would keep a line quiet.

What is noise: `domain/noise/page_noise.py`. Which rules are suggested: `domain/noise/suggestions.py`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from crawler.domain.changes.digest import without_template
from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.file_blocks import NoLines
from crawler.domain.diffs.line_context import contexts, is_bare
from crawler.domain.diffs.rows import DiffRows, Row, diff_rows, row
from crawler.domain.ids import new_id
from crawler.domain.judging import OpenJudge
from crawler.domain.noise.page_pairs import PagePair, PageSide, WatchedPart, side_of
from crawler.domain.noise.ports import NoiseRuleReader
from crawler.domain.noise.rules import NoiseRule, RuleKind, RuleSet, checked_value
from crawler.domain.noise.suggestions import Suggestion, loosened, suggest
from crawler.domain.noise.template_changes import texts_of
from crawler.domain.pages.files import is_pdf
from crawler.domain.pages.lists import PageSnapshot
from crawler.domain.pages.parsing import UnparsablePage
from crawler.domain.pages.pdf_reading import ReadPdf
from crawler.errors import Invalid, InvalidPattern, NotFound, TooSlowToTry
from crawler.handlers.changes.compare_versions import ReadVersion, diff_versions, with_pdf

MOST_LINES = 60
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_GONE = "The content of one of the two versions is no longer kept, so they cannot be compared."
_LARGE = "It is larger than 2 MB: such pages are compared as a whole, not line by line."
TOO_LARGE = "It is too large to weigh: only its hash tells that it changed."
_ODD = "Its markup was built to hurt parsers, so it is not read again."


class PageVersion(Protocol):
    """One of a page's versions; its names are `page_versions` columns."""

    @property
    def id(self) -> UUID: ...
    @property
    def fetched_at(self) -> datetime: ...


class SnapshotReader(Protocol):
    def get_snapshot(self, project_id: UUID, page_id: UUID, version_id: UUID | None = None) -> PageSnapshot: ...


class Watches(Protocol):
    """A project's watch rules."""

    def part(self, url: str) -> WatchedPart | None: ...


class FilteredLine(NamedTuple):
    number: int
    """Among all edits of the page: by it a line is pointed at."""
    place: str
    row: Row
    of_template: bool
    """Many pages have the same edit, so it is told once for the site."""
    context: str | None = None
    """What a bare value is a value of, where that is known."""


class FilteredDiff(NamedTuple):
    lines: tuple[FilteredLine, ...] = ()
    more: int = 0
    rules: tuple[str, ...] = ()
    """Which kept something on this page quiet."""
    wall: str | None = None
    note: str | None = None
    """Why there is nothing."""
    unweighed: int = 0
    """So many of the edits were not looked at for noise: there were too many."""


class SuggestedRule(NamedTuple):
    """A rule that keeps the line quiet, and how many lines of this page it leaves out."""

    suggestion: Suggestion
    lines: int


class DiffWithoutNoise:
    def __init__(
        self,
        content: SnapshotReader,
        rules: NoiseRuleReader,
        watches: Callable[[UUID], Watches],
        read_pdf: ReadPdf,
        open_judge: OpenJudge,
    ) -> None:
        self._content = content
        self._rules = rules
        self._watches = watches
        self._read_pdf = read_pdf
        self._open_judge = open_judge

    def __call__(
        self,
        project_id: UUID,
        page_id: UUID,
        versions: tuple[PageVersion, PageVersion],
        template: Sequence[Mapping[str, Any]] = (),
    ) -> FilteredDiff:
        try:
            pair = self._pair(project_id, page_id, versions)
            rules = RuleSet.of(self._rules.list_rules(project_id))
            with self._open_judge() as judge:
                return judge.one(filtered_diff, pair, rules, template)
        except (Invalid, NotFound, UnparsablePage) as exc:
            return FilteredDiff(note=_why_not(exc))

    def whole(self, project_id: UUID, page_id: UUID, versions: tuple[PageVersion, PageVersion]) -> DiffRows:
        """All of the page's text, as markdown, noise or not. Raises NotFound when a version is no longer kept."""
        kept = [self._content.get_snapshot(project_id, page_id, one.id) for one in versions]
        sides = [with_pdf(one, self._read_pdf) for one in kept]
        with self._open_judge() as judge:
            return judge.one(whole_diff, *sides)

    def suggest_rules(
        self, project_id: UUID, page_id: UUID, versions: tuple[PageVersion, PageVersion], number: int
    ) -> tuple[Row, list[SuggestedRule]]:
        """Rules that would keep this line quiet: each was tried on the page."""
        pair = self._pair(project_id, page_id, versions)
        known = self._rules.list_rules(project_id)
        with self._open_judge() as judge:
            return judge.one(suggested_rules, pair, known, number)

    def left_out(
        self, project_id: UUID, page_id: UUID, versions: tuple[PageVersion, PageVersion], kind: RuleKind, value: str
    ) -> tuple[Row, ...]:
        """Lines that count as changes now, and would not with one more rule."""
        pair = self._pair(project_id, page_id, versions)
        known = self._rules.list_rules(project_id)
        with self._open_judge() as judge:
            return judge.one(lines_left_out, pair, known, _rule(kind, value))

    def _pair(self, project_id: UUID, page_id: UUID, versions: tuple[PageVersion, PageVersion]) -> PagePair:
        sides, url = [], ""
        for version in versions:
            snapshot = self._content.get_snapshot(project_id, page_id, version.id)
            pdf = self._read_pdf(snapshot.content) if is_pdf(snapshot.content_type, snapshot.content) else None
            content, kind, at = snapshot.content, snapshot.content_type, version.fetched_at
            side = PageSide(content, kind, at, pdf) if pdf else side_of(content, kind, at)
            if side is None:
                raise Invalid(_LARGE)
            sides.append(side)
            url = snapshot.url
        return PagePair(url, page_id, sides[0], sides[1], watched=self._watches(project_id).part(url))


def _why_not(exc: Exception) -> str:
    if isinstance(exc, UnparsablePage):
        return exc.message if isinstance(exc, NoLines) else _ODD
    if isinstance(exc, TooSlowToTry):
        return TOO_LARGE
    return _LARGE if isinstance(exc, Invalid) else _GONE


def whole_diff(before: ReadVersion, after: ReadVersion) -> DiffRows:
    return diff_rows(diff_versions(before, after))


def suggested_rules(pair: PagePair, known: Sequence[NoiseRule], number: int) -> tuple[Row, list[SuggestedRule]]:
    try:
        edits = pair.apply_noise_rules(RuleSet.of(known)).edits
    except UnparsablePage as exc:
        raise Invalid(_why_not(exc)) from exc
    if not 0 <= number < len(edits):
        raise NotFound("There is no such line any more: a rule keeps it quiet by now.")
    edit = edits[number]
    label = _label(pair, RuleSet.of(known), edits, number)
    return _row(edit), _narrowest_first(
        [rule for one in suggest(edit, label) if (rule := _tried_rule(pair, known, edit, one))]
    )


def lines_left_out(pair: PagePair, known: Sequence[NoiseRule], rule: NoiseRule) -> tuple[Row, ...]:
    """What the rule keeps quiet on a page. An edit of several lines of which some still count is not among them."""
    before = pair.apply_noise_rules(RuleSet.of(known)).edits
    after = pair.apply_noise_rules(RuleSet.of([*known, rule])).edits
    still = {text for edit in after for text in texts_of(edit) if text}
    quiet = [edit for edit in before if edit not in after and not still & set(texts_of(edit))]
    return tuple(_row(edit) for edit in quiet[:MOST_LINES])


def filtered_diff(pair: PagePair, rules: RuleSet, template: Sequence[Mapping[str, Any]]) -> FilteredDiff:
    page = pair.apply_noise_rules(rules)
    own = set(without_template(page.edits, template))
    labels = _labels(pair, rules, page.edits)
    lines = [
        FilteredLine(number, edit.place, _row(edit), edit not in own, label)
        for number, (edit, label) in enumerate(zip_longest(page.edits, labels))
    ]
    lines.sort(key=lambda line: line.of_template)  # what the page itself says first, each in the order of the page
    wall = page.wall.value if page.wall else None
    more = max(0, len(lines) - MOST_LINES)
    return FilteredDiff(tuple(lines[:MOST_LINES]), more, page.rules, wall, unweighed=page.unweighed)


def _labels(pair: PagePair, rules: RuleSet, edits: Sequence[BlockEdit]) -> list[str | None]:
    if not any(is_bare(edit) for edit in edits[:MOST_LINES]):
        return []
    here = rules.on(pair.url)
    return contexts(edits, pair.old.blocks(here), pair.new.blocks(here), MOST_LINES)


def _label(pair: PagePair, rules: RuleSet, edits: Sequence[BlockEdit], number: int) -> str | None:
    if number >= MOST_LINES or not is_bare(edits[number]):
        return None
    return _labels(pair, rules, edits)[number]


def _narrowest_first(found: list[SuggestedRule]) -> list[SuggestedRule]:
    """A block with a name of its own that fits this line alone stays before what only its label tells apart."""
    return sorted(found, key=lambda one: not (one.lines == 1 and ":says(" not in one.suggestion.value))


def _row(edit: BlockEdit) -> Row:
    removed, added = texts_of(edit)
    return row(removed if edit.removed else None, added if edit.added else None)


def _tried_rule(pair: PagePair, known: Iterable[NoiseRule], edit: BlockEdit, one: Suggestion) -> SuggestedRule | None:
    """The suggested rule, tried on the page; None when it would not keep the line quiet, or means nothing."""
    for value in dict.fromkeys((one.value, loosened(one.value) if one.kind is RuleKind.SELECTOR else one.value)):
        try:
            tried = one._replace(value=checked_value(one.kind, value))
        except (Invalid, InvalidPattern):
            continue
        rules = RuleSet.of([*known, _rule(tried.kind, tried.value)])
        if edit not in pair.apply_noise_rules(rules).edits:
            return SuggestedRule(tried, _lines_left_out(pair, known, rules))
    return None


def _rule(kind: RuleKind, value: str) -> NoiseRule:
    return NoiseRule(id=new_id(0), project_id=new_id(0), kind=kind, value=value, created_at=_NEVER)


def _lines_left_out(pair: PagePair, known: Iterable[NoiseRule], rules: RuleSet) -> int:
    """How many lines of the newer version the new rule leaves out."""
    present = RuleSet.of(known)
    before, after = pair.new.blocks(present.on(pair.url)), pair.new.blocks(rules.on(pair.url))
    patterns = rules.patterns[-1:] if rules.patterns[:-1] == present.patterns else ()
    matched = sum(any(one.search(line) is not None for _, one in patterns) for line in after.lines)
    return len(before) - len(after) + matched
