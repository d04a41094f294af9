"""Everything that judges two versions of a page, each as a function of both."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID
from xml.sax.saxutils import escape

from crawler.domain.acquisition.selector_reading import extract_fields
from crawler.domain.acquisition.selectors import read_selectors
from crawler.domain.changes.digest import digest_of_changes, told_of_page
from crawler.domain.changes.filtered_changes import bounded, filter_across_pages
from crawler.domain.changes.moved_pages import Candidate, find_edited_moves, find_moves
from crawler.domain.diffs.line_context import contexts
from crawler.domain.diffs.rows import diff_rows
from crawler.domain.diffs.soft_not_found import says_not_found
from crawler.domain.diffs.text_diff import diff_lines
from crawler.domain.markdown.page import to_markdown
from crawler.domain.markdown.pruning import Pruning
from crawler.domain.noise.clock_lines import moves
from crawler.domain.noise.learned_rule import LearnedRule, Varies
from crawler.domain.noise.learning import learn
from crawler.domain.noise.page_noise import NO_RULES, FilteredPage
from crawler.domain.noise.page_pairs import PageOfCrawl, PagePair, PageSide
from crawler.domain.noise.rules import NoiseRule, Origin, RuleKind, RuleSet
from crawler.domain.noise.second_looks import TwoLooks
from crawler.domain.noise.suggestions import suggest
from crawler.domain.pages.markup_bombs import UnparsablePage
from crawler.domain.pages.parsing import parse_page

OLD = datetime(2026, 5, 14, 9, 13, 42, tzinfo=UTC)
NEW = OLD + timedelta(days=1, hours=2)
URL = "http://a.example/page"
ID = UUID(int=7)


def rule(kind: RuleKind, value: str, number: int = 1) -> NoiseRule:
    origin = Origin.LEARNED if kind is RuleKind.LEARNED else Origin.OPERATOR
    return NoiseRule(id=UUID(int=number), project_id=ID, kind=kind, value=value, origin=origin, created_at=OLD)


def _rules_of(n: int) -> list[NoiseRule]:
    learned = (
        LearnedRule("*", Varies.WORDS, None, f"* number {n} of many words stays"),
        LearnedRule("*", Varies.VALUES, None, f"the # of kind {n} is", (), (0,)),
        LearnedRule(f"div.box{n}", Varies.ALL, None, None, tuple(range(n))),
        LearnedRule("ul>li", Varies.ORDER, f"/shape/{n}"),
    )
    kinds = [
        (RuleKind.SELECTOR, f"div.box{n} > p:nth-child({n}) ~ .x, main .y{n}:not(p b)"),
        (RuleKind.REGEX, f"^never (such|like) a line {n}$"),
        *((RuleKind.LEARNED, one.as_value()) for one in learned),
    ]
    return [rule(kind, value, n * 10 + at) for at, (kind, value) in enumerate(kinds)]


MANY_RULES = RuleSet.of(one for n in range(1, 13) for one in _rules_of(n))
_FIELDS = {"links": "a@href", "title": "h1"}
_SELECTORS = read_selectors({"include": ["p", "div"], "exclude": [".x > i"], "fields": _FIELDS})


def pair(old: bytes, new: bytes, content_type: str = "text/html") -> PagePair:
    before, after = PageSide(old, content_type, OLD), PageSide(new, content_type, NEW)
    return PagePair(URL, ID, before, after)


def compared(old: bytes, new: bytes, rules: RuleSet = NO_RULES) -> FilteredPage:
    return pair(old, new).apply_noise_rules(rules)


def _digested(old: bytes, new: bytes) -> object:
    both = pair(old, new)
    template = [{"removed": "a", "added": "b", "place": "*", "line": "some # line"}]
    edits = told_of_page(both.apply_noise_rules(NO_RULES).edits, template)
    labels = contexts(edits, both.old.blocks(NO_RULES), both.new.blocks(NO_RULES), 10)
    return [line.words for line in digest_of_changes(URL, ID, edits, 10, labels).lines]


def _shown_whole(old: bytes, new: bytes) -> object:
    before, after = (to_markdown(side, url=URL) for side in (old, new))
    return [row.words for hunk in diff_rows(diff_lines(before, after)).hunks for row in hunk.rows]


def _suggested(old: bytes, new: bytes) -> object:
    return [suggest(edit) for edit in compared(old, new).edits[:3]]


def _learned(old: bytes, new: bytes) -> object:
    first, second = (PageSide(side, "text/html", OLD).blocks(NO_RULES) for side in (old, new))
    return learn([TwoLooks(f"/{n}", first, second, None, first) for n in range(2)])


def _over_pages(old: bytes, new: bytes) -> object:
    page = bounded(compared(old, new))
    filtered, found = filter_across_pages({f"{URL}/{n}": page for n in range(20)}, 20)
    return [moves(one) for one in filtered.values()], found


def _moved(old: bytes, new: bytes) -> object:
    sides = [Candidate(PageOfCrawl(url, side), side.blocks(NO_RULES)) for url, side in _sides(old, new)]
    near = Candidate(sides[0].page, PageSide(b"<p>near</p>", "text/html", OLD).blocks(NO_RULES))
    return find_moves(sides[:1], sides[1:], NO_RULES, ()), find_edited_moves(sides[:1], sides[1:], [near], NO_RULES, ())


def _sides(old: bytes, new: bytes) -> tuple[tuple[str, PageSide], tuple[str, PageSide]]:
    both = pair(old, new)
    return (f"{URL}/old", both.old), (f"{URL}/new", both.new)


def _as_files(old: bytes, new: bytes) -> object:
    """The lines of the page as those of a text, as JSON and as XML."""
    lines = [[line.decode("utf-8", "replace") for line in side.split(b">")] for side in (old, new)]
    found = []
    for content_type, written in (("text/plain", "\n".join), ("application/json", json.dumps), ("text/xml", _as_xml)):
        before, after = (written(some).encode("utf-8", "replace") for some in lines)
        found.append(pair(before, after, content_type).apply_noise_rules(NO_RULES))
    return found


def _as_xml(lines: list[str]) -> str:
    return f"<all>{''.join(f'<one>{escape(line)}</one>' for line in lines)}</all>"


JUDGES: dict[str, Callable[[bytes, bytes], object]] = {
    "compared": compared,
    "with many rules": lambda old, new: compared(old, new, MANY_RULES),
    "as files": _as_files,
    "over pages": _over_pages,
    "digested": _digested,
    "suggested": _suggested,
    "learned": _learned,
    "moved": _moved,
    "shown whole": _shown_whole,
    "markdown": lambda old, _: to_markdown(old, url=URL, pruning=Pruning()),
    "parsed": lambda old, _: parse_page(old, url=URL),
    "not found": lambda old, _: says_not_found(old, "text/html"),
    "extracted": lambda old, _: extract_fields(old, url=URL, content_type="text/html", rules=_SELECTORS),
}


def judged(judge: str, old: bytes, new: bytes) -> object:
    """What the judge says, or that the page cannot be parsed."""
    try:
        return JUDGES[judge](old, new)
    except UnparsablePage as exc:
        return str(exc)
