"""Lines that run with the clock: several pages, or versions of one page, show the day or time of their own fetch.

A line is known by the words next to what runs in it (`last visited @)`): its other words may be those of its page.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.noise.bare_ages import age_texts, aged
from crawler.domain.noise.builtin import AGE, OF_FETCH
from crawler.domain.noise.learned_rule import ANYWHERE, names_a_line
from crawler.domain.noise.moments import read_moment
from crawler.domain.noise.moving_values import ValueChange, frames_of, value_changes
from crawler.domain.noise.page_noise import FilteredPage
from crawler.domain.noise.template_changes import LineKey, line_key, texts_of

FEWEST_PAGES = 3
MOST_ASKED, MOST_LINES = 3, 100
_COUNT = re.compile(r"\d{1,3}").fullmatch
_WORD = re.compile(r"[^\W\d_]{2,}")
_OF_TIME = re.compile(
    r"\b(?:today|now|it is|clock|as of|printed|generated|built|build|nightly|updated?|modified|"
    r"edited|exported|retrieved|accessed|visited|cited|crawled|good (?:morning|day|evening)|rev|"
    r"heute|stand|abgerufen|aujourd'hui|consultée?|hoy|consultad[ao]|oggi|hoje|acessado|vandaag|geraadpleegd|idag|hämtad|"
    r"dziś|dzisiaj|dnes|dostęp|сегодня|дата обращения)\b|今日|本日|今天|現在|오늘",
    re.IGNORECASE,
)
Moves = Mapping[LineKey, bool]
"""Lines that moved, and whether they may have run with the clock."""
KeyOf = Callable[[BlockEdit], LineKey | None]
SHARE = 0.75
"""The share of pages, among those on which a line changed, that must suspect it; the others may have been edited."""


def without_clock_lines(pages: Mapping[str, FilteredPage]) -> dict[str, FilteredPage]:
    """Pages without the lines that run with the clock on several of them."""
    if not any(page.clock for page in pages.values()):
        return dict(pages)
    # Each edit is read once, however many pages have it: it takes longer than all that follows.
    keys = {edit: clock_key(edit) for edit in {edit for page in pages.values() for edit in (*page.clock, *page.edits)}}
    running = _pages(pages, _telling, keys.__getitem__)
    edited = _pages(pages, lambda page: page.edits, keys.__getitem__)
    sure = {key for key, urls in running.items() if len(urls) >= max(FEWEST_PAGES, SHARE * len(edited[key]))}
    values = _values(sure, pages, keys.__getitem__)
    sure = {key for key in sure if _is_evidence(key, values[key])}
    return {url: without_lines(page, sure, keys.__getitem__) for url, page in pages.items()}


def lines_to_confirm(pages: Mapping[str, FilteredPage]) -> dict[LineKey, list[str]]:
    """Lines of which these pages cannot tell, and pages whose earlier versions may."""
    found = _pages(pages, lambda page: page.clock, clock_key)
    return {key: pages[:MOST_ASKED] for key, pages in sorted(found.items())[:MOST_LINES]}


def moves(page: FilteredPage) -> Moves:
    """Which lines of a page moved between two looks at it, and whether as the clock did."""
    moved = [edit for edit in page.edits if not _says_nothing(edit, page)]
    found = {key: False for edit in moved if (key := clock_key(edit))}
    running = {key: True for edit in _telling(page) if (key := clock_key(edit))}
    return found | running


def _telling(page: FilteredPage) -> tuple[BlockEdit, ...]:
    """Edits that say that a line runs with the clock, not only that it may."""
    return tuple(edit for edit in page.clock if not _says_nothing(edit, page))


def _says_nothing(edit: BlockEdit, page: FilteredPage) -> bool:
    """Whether an age went on as it may have, too early to show that it is one: a minute ended between two looks."""
    age = aged(*texts_of(edit), page.moments)
    return age is not None and age.agrees and not age.is_telling


def confirmed(
    asked: Mapping[LineKey, Sequence[str]], seen: Mapping[str, Moves], looks: Sequence[Moves] = ()
) -> set[LineKey]:
    """Lines that ran with the clock before, too, or between two looks of one crawl, minutes apart.

    `seen` has how the lines of each page that was asked moved before; `looks` how those of any page did meanwhile.
    """
    found = {key: [seen[url][key] for url in urls if key in seen.get(url, {})] for key, urls in asked.items()}
    found = {key: told + [look[key] for look in looks if key in look] for key, told in found.items()}
    return {key for key, told in found.items() if told and all(told)}


def without_lines(page: FilteredPage, lines: Iterable[LineKey], key_of: KeyOf | None = None) -> FilteredPage:
    """A page without its edits in these lines, if they were suspected to run with the clock."""
    sure, key_of = set(lines), key_of or clock_key
    gone = {edit for edit in page.clock if key_of(edit) in sure} if sure else set()
    if not gone:
        return page
    return page._replace(
        edits=tuple(edit for edit in page.edits if edit not in gone),
        clock=tuple(edit for edit in page.clock if edit not in gone),
        ran=(*page.ran, *(edit for edit in page.clock if edit in gone)),
        rules=tuple(dict.fromkeys((*page.rules, OF_FETCH))),
    )


def clock_key(edit: BlockEdit) -> LineKey | None:
    """By what a line is known that may run with the clock; None for prices and the like."""
    if age_texts(*texts_of(edit)):
        return LineKey("~", edit.place, AGE)
    key = line_key(edit)
    if key is None or not (edit.removed and edit.added):
        return key
    frames = frames_of(edit.removed.text, [change.number for change in _changes(edit)])
    words = " / ".join(dict.fromkeys(frames))
    return LineKey(key.sign, ANYWHERE if names_a_line(words) else edit.place, words)


def _is_evidence(key: LineKey, values: set[tuple[str, str]]) -> bool:
    """One line of a template is one piece of evidence, on however many pages it stands: its words must speak of time.

    A mere time of the day that is the same on all pages is that of no clock: they were not fetched at once. And a time
    that stays the same from day to day may be that of an appointment: only earlier versions can tell. Nor can pages of
    which a count moved by one, however many: a small edit looks so, such as that of how many hours something takes.
    """
    shown = [tuple(map(read_moment, pair)) for pair in values]
    if any(old.seconds is not None and old.seconds == new.seconds for old, new in shown):
        return False
    if all(map(_is_next, values)):
        return False
    if len(values) > 1:
        return True
    speaks_of_time = _OF_TIME.search(key.words) is not None or not _WORD.search(key.words)
    return speaks_of_time and any(new.days for _, new in shown)


def _is_next(pair: tuple[str, str]) -> bool:
    """Whether a number is the next one, or the one before."""
    old, new = pair
    return all(map(_COUNT, pair)) and abs(int(old) - int(new)) == 1


def _values(
    keys: Container[LineKey], pages: Mapping[str, FilteredPage], key_of: KeyOf
) -> dict[LineKey, set[tuple[str, str]]]:
    """The values, before and after, that lines show on all pages."""
    found: dict[LineKey, set[tuple[str, str]]] = defaultdict(set)
    for edit in {edit for page in pages.values() for edit in page.clock}:
        if (key := key_of(edit)) and key in keys:
            found[key].update(_pairs(edit))
    return found


def _pairs(edit: BlockEdit) -> list[tuple[str, str]]:
    age = age_texts(*texts_of(edit))
    return [age] if age else [(change.old, change.new) for change in _changes(edit)]


def _changes(edit: BlockEdit) -> list[ValueChange]:
    return value_changes(*texts_of(edit)) or []


def _pages(
    pages: Mapping[str, FilteredPage],
    edits_of: Callable[[FilteredPage], tuple[BlockEdit, ...]],
    key_of: KeyOf,
) -> dict[LineKey, list[str]]:
    found: dict[LineKey, list[str]] = defaultdict(list)
    for url in sorted(pages):
        for key in dict.fromkeys(key for edit in edits_of(pages[url]) if (key := key_of(edit))):
            found[key].append(url)
    return found
