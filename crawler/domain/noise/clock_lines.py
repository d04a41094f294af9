"""Lines that run with the clock: several pages, or versions of one page, show the day of their own fetch."""

import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.noise.moving_values import dates_in
from crawler.domain.noise.page_noise import Weight
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
"""Of the pages on which such a line changed at all; the others may have been edited."""


def without_clock_lines(weights: Mapping[str, Weight]) -> dict[str, Weight]:
    """Without lines that run with the clock on so many pages."""
    running = _pages(weights, lambda weight: weight.clock)
    edited = _pages(weights, lambda weight: weight.edits)
    sure = {key for key, pages in running.items() if len(pages) >= max(FEWEST_PAGES, SHARE * len(edited[key]))}
    sure -= {key for key in sure if not _is_evidence(key, _texts(running[key], key, weights))}
    return {url: muted(weight, sure) for url, weight in weights.items()}


def to_ask(weights: Mapping[str, Weight]) -> dict[LineKey, list[str]]:
    """Lines of which these pages cannot tell, and pages whose earlier versions may."""
    found = _pages(weights, lambda weight: weight.clock)
    return {key: pages[:MOST_ASKED] for key, pages in sorted(found.items())[:MOST_LINES]}


def confirmed(asked: Mapping[LineKey, Sequence[str]], seen: Mapping[str, Container[LineKey]]) -> set[LineKey]:
    """Lines that ran with the clock in the earlier versions, too: `seen` has what each of those pages suggests."""
    found = {key: [key in seen[url] for url in urls if url in seen] for key, urls in asked.items()}
    return {key for key, told in found.items() if told and all(told)}


def muted(weight: Weight, lines: Iterable[LineKey]) -> Weight:
    """Without those of its own suspicions that these lines confirm."""
    sure = set(lines)
    gone = {edit for edit in weight.clock if line_key(edit) in sure}
    if not gone:
        return weight
    return weight._replace(
        edits=tuple(edit for edit in weight.edits if edit not in gone),
        clock=tuple(edit for edit in weight.clock if edit not in gone),
        rules=tuple(dict.fromkeys((*weight.rules, RULE))),
    )


def suspected(weight: Weight) -> set[LineKey]:
    return {key for edit in weight.clock if (key := line_key(edit))}


def _is_evidence(key: LineKey, texts: set[tuple[str, str]]) -> bool:
    """One line of a template is one piece of evidence, on however many pages it stands: its words must speak of time.

    A mere time of the day that is the same on all pages is that of no clock: they were not fetched at once.
    """
    if len(texts) > 1:
        return True
    speaks_of_time = _OF_TIME.search(key.words) is not None or not _WORD.search(key.words)
    return speaks_of_time and any(dates_in(new) for _, new in texts)


def _texts(urls: Iterable[str], key: LineKey, weights: Mapping[str, Weight]) -> set[tuple[str, str]]:
    return {texts_of(edit) for url in urls for edit in weights[url].clock if line_key(edit) == key}


def _pages(
    weights: Mapping[str, Weight], edits_of: Callable[[Weight], tuple[BlockEdit, ...]]
) -> dict[LineKey, list[str]]:
    found: dict[LineKey, list[str]] = defaultdict(list)
    for url in sorted(weights):
        for key in {key for edit in edits_of(weights[url]) if (key := line_key(edit))}:
            found[key].append(url)
    return found
