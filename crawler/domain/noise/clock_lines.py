"""Lines that run with the clock: several pages, or versions of one page, show the day of their own fetch."""

import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.noise.moving_values import dates_in
from crawler.domain.noise.page_noise import FilteredPage
from crawler.domain.noise.template_changes import LineKey, line_key, texts_of

RULE = "date of the fetch"
FEWEST_PAGES = 3
MOST_ASKED, MOST_LINES = 3, 50
_WORD = re.compile(r"[^\W\d_]{2,}")
_OF_TIME = re.compile(
    r"\b(?:today|now|it is|clock|as of|printed|generated|built|build|nightly|updated?|modified|"
    r"edited|exported|retrieved|crawled|good (?:morning|day|evening)|rev|heute|stand|aujourd'hui|hoy|oggi)\b",
    re.IGNORECASE,
)
SHARE = 0.5
"""The share of pages, among those on which a line changed, that must suspect it; the others may have been edited."""


def without_clock_lines(pages: Mapping[str, FilteredPage]) -> dict[str, FilteredPage]:
    """Pages without the lines that run with the clock on several of them."""
    running = _pages(pages, lambda page: page.clock)
    edited = _pages(pages, lambda page: page.edits)
    sure = {key for key, urls in running.items() if len(urls) >= max(FEWEST_PAGES, SHARE * len(edited[key]))}
    sure -= {key for key in sure if not _is_evidence(key, _texts(running[key], key, pages))}
    return {url: without_lines(page, sure) for url, page in pages.items()}


def lines_to_confirm(pages: Mapping[str, FilteredPage]) -> dict[LineKey, list[str]]:
    """Lines of which these pages cannot tell, and pages whose earlier versions may."""
    found = _pages(pages, lambda page: page.clock)
    return {key: pages[:MOST_ASKED] for key, pages in sorted(found.items())[:MOST_LINES]}


def confirmed(asked: Mapping[LineKey, Sequence[str]], seen: Mapping[str, Container[LineKey]]) -> set[LineKey]:
    """Lines that ran with the clock in the earlier versions, too: `seen` has what each of those pages suggests."""
    found = {key: [key in seen[url] for url in urls if url in seen] for key, urls in asked.items()}
    return {key for key, told in found.items() if told and all(told)}


def without_lines(page: FilteredPage, lines: Iterable[LineKey]) -> FilteredPage:
    """A page without its edits in these lines, if they were suspected to run with the clock."""
    sure = set(lines)
    gone = {edit for edit in page.clock if line_key(edit) in sure}
    if not gone:
        return page
    return page._replace(
        edits=tuple(edit for edit in page.edits if edit not in gone),
        clock=tuple(edit for edit in page.clock if edit not in gone),
        rules=tuple(dict.fromkeys((*page.rules, RULE))),
    )


def suspected(page: FilteredPage) -> set[LineKey]:
    return {key for edit in page.clock if (key := line_key(edit))}


def _is_evidence(key: LineKey, texts: set[tuple[str, str]]) -> bool:
    """One line of a template is one piece of evidence, on however many pages it stands: its words must speak of time.

    A mere time of the day that is the same on all pages is that of no clock: they were not fetched at once.
    """
    if len(texts) > 1:
        return True
    speaks_of_time = _OF_TIME.search(key.words) is not None or not _WORD.search(key.words)
    return speaks_of_time and any(dates_in(new) for _, new in texts)


def _texts(urls: Iterable[str], key: LineKey, pages: Mapping[str, FilteredPage]) -> set[tuple[str, str]]:
    return {texts_of(edit) for url in urls for edit in pages[url].clock if line_key(edit) == key}


def _pages(
    pages: Mapping[str, FilteredPage], edits_of: Callable[[FilteredPage], tuple[BlockEdit, ...]]
) -> dict[LineKey, list[str]]:
    found: dict[LineKey, list[str]] = defaultdict(list)
    for url in sorted(pages):
        for key in {key for edit in edits_of(pages[url]) if (key := line_key(edit))}:
            found[key].append(url)
    return found
