"""Ages that say nothing else, as columns have them (`43 minutes`), and days by name (`Today`): they follow our fetches.

Without `ago` such a text may just as well be how long something takes. So words are not enough: it must have moved by
the time that went by, and so must all others like it that stand at the same place.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import NamedTuple

from crawler.domain.diffs.block_diff import diff_blocks
from crawler.domain.diffs.line_diff import line_hunks
from crawler.domain.diffs.page_blocks import PageBlocks
from crawler.domain.late_pattern import late
from crawler.domain.noise.age_lengths import length_of
from crawler.domain.noise.ages import Span, bare_span, is_bare_age, is_bare_date, went_back
from crawler.domain.noise.clocks import ZONES, Moments
from crawler.domain.noise.moments import DATE, TIME, dates_in, read_moment

FEWEST = 3
"""Ages of one place that must have moved by the time that went by."""
_LONGEST = 200
_DAY, _SLACK = timedelta(days=1), timedelta(minutes=1)
_ABOUT_ONE = 0.9
_SEPARATORS = re.compile(r"[·|•]|\s[–—]\s")
# Of each language: today, and the same day one day later.
_DAYS = (
    ("today", "yesterday"), ("heute", "gestern"), ("aujourd['’]hui", "hier"), ("hoy", "ayer"), ("oggi", "ieri"),
    ("hoje", "ontem"), ("vandaag", "gisteren"), ("i ?dag", "i ?går"), ("dziś|dzisiaj", "wczoraj"), ("dnes", "včera"),
    ("tänään", "eilen"), ("сегодня", "вчера"), ("bugün", "dün"), ("今日|本日", "昨日"), ("今天", "昨天"),
    ("오늘", "어제"),
)  # fmt: skip
_EAST = frozenset("今本昨오어")
_MOMENT = late(rf"{DATE}|{TIME}", re.IGNORECASE)
_WORD, _WORDS = re.compile(r"\w"), re.compile(r"\w+")


class Aged(NamedTuple):
    """How an age moved."""

    agrees: bool
    """It speaks of the same time in the past as before."""
    had_to_move: bool
    """So much time went by that it could not stay."""
    moved_in_time: bool = False
    """It moved when it was about time. Others may do so by an edit: only if it did so before, too, it is an age."""

    @property
    def is_telling(self) -> bool:
        return self.agrees and (self.had_to_move or self.moved_in_time)


def age_texts(old: str, new: str) -> tuple[str, str] | None:
    """The age in two lines, if nothing else differs and it is all of its part of the line. It may be a date by now."""
    if max(len(old), len(new)) > _LONGEST:
        return None
    before, after = ([part.strip() for part in _SEPARATORS.split(line)] for line in (old, new))
    if len(before) != len(after):
        return None
    pairs = list(zip(before, after, strict=True))
    pairs = [pair for pair in pairs if pair[0] != pair[1]] or [pair for pair in pairs if is_bare_age(pair[0])]
    if len(pairs) != 1 or not is_bare_age(pairs[0][0]):
        return None
    return pairs[0] if is_bare_age(pairs[0][1]) or is_bare_date(pairs[0][1]) else None


def aged(old: str, new: str, moments: Moments) -> Aged | None:
    """How the age in two lines moved; None where there is none, or nobody knows when they were fetched."""
    texts = age_texts(old, new)
    if texts is None or moments.old is None or moments.new is None:
        return None
    before = bare_span(texts[0], moments.old)
    agrees = before.meets(bare_span(texts[1], moments.new)) and not went_back(*texts)
    had_to_move = not before.meets(bare_span(texts[0], moments.new))
    # However a site rounds, `3 days` are 4 when a day went by. Crawls are not a day apart to the second.
    is_time = moments.new - moments.old >= _ABOUT_ONE * length_of(texts[0].lower())[1]
    return Aged(agrees, had_to_move, is_time and texts[0] != texts[1])


def speaks_of(stated: str, old: str, new: str, moments: Moments) -> bool:
    """Whether the age in two lines is that of a moment which stands in the markup, in one time zone both times."""
    texts = age_texts(old, new)
    if texts is None or moments.old is None or moments.new is None:
        return False
    spans = [bare_span(text, at) for text, at in zip(texts, (moments.old, moments.new), strict=True)]
    shown = read_moment(stated)
    if shown.seconds is None:
        days = [datetime(day.year, day.month, day.day, tzinfo=UTC) for day in shown.days]
        return any(all(span.meets(Span(day - _DAY, day + 2 * _DAY)) for span in spans) for day in days)
    exact = [moment.replace(tzinfo=UTC) - zone for moment in shown.moments for zone in ZONES]
    return any(all(span.meets(Span(moment - _SLACK, moment + _SLACK)) for span in spans) for moment in exact)


def places_of_ages(old: PageBlocks, new: PageBlocks, moments: Moments) -> frozenset[str]:
    """Places whose ages all moved by the time that went by, enough of them, and from different ones."""
    moved: dict[str, set[tuple[str, str]]] = defaultdict(set)
    otherwise: set[str] = set()
    for place, before, after in _pairs(old, new):
        found = aged(before, after, moments)
        if found is not None and not found.agrees:
            otherwise.add(place)
        elif found is not None and found.had_to_move:
            moved[place].add((before, after))
    return frozenset(place for place, pairs in moved.items() if len(pairs) >= FEWEST and place not in otherwise)


def _pairs(old: PageBlocks, new: PageBlocks) -> Iterator[tuple[str, str, str]]:
    """Places and lines, each with what stands in for it; also those with ages that stayed."""
    hunks = line_hunks(old.lines, new.lines)
    gone = {at for removed, _ in hunks for at in removed}
    for at, line in enumerate(old.lines):
        if at not in gone and age_texts(line, line):
            yield old.block(at).place, line, line
    for edit in diff_blocks(old, new):
        if edit.removed and edit.added:
            yield edit.place, edit.removed.text, edit.added.text


def is_next_day(old: str, new: str, moments: Moments) -> bool:
    """Whether `today` became `yesterday` as the days went by: alone, or beside a date or time that stayed. Or whether
    such a word came or went beside a date as its day did."""
    if max(len(old), len(new)) > _LONGEST or moments.old is None or moments.new is None:
        return False
    at = moments.old, moments.new
    if _loses_its_name(old, new, at) or _loses_its_name(new, old, (at[1], at[0])):
        return True
    gaps = {(at[1] + zone).date() - (at[0] + zone).date() for zone in ZONES}
    if timedelta(days=1) not in gaps:
        return False
    for today, yesterday in _DAYS:
        before, after = _named(today).split(old), _named(yesterday).split(new)
        if len(before) == 2 and before == after:
            rest = " ".join(before)
            days = dates_in(rest)
            if days:
                return any((at[0] + zone).date() in days and (at[1] + zone).date() not in days for zone in ZONES)
            return bool(_MOMENT.search(rest)) or not _WORD.search(rest)
    return False


def _loses_its_name(named: str, bare: str, at: tuple[datetime, datetime]) -> bool:
    """Whether a line with a date says `today` or `yesterday` when it is that day, and only the date when it is not."""
    words = _WORDS.findall(bare)
    for ago, name in ((ago, name) for names in _DAYS for ago, name in enumerate(names)):
        parts = _named(name).split(named)
        if len(parts) == 2 and _WORDS.findall(" ".join(parts)) == words:
            days = {day + ago * _DAY for day in dates_in(bare)}
            return any((at[0] + zone).date() in days and (at[1] + zone).date() not in days for zone in ZONES)
    return False


@cache
def _named(day: str) -> "re.Pattern[str]":
    return re.compile(f"(?:{day})" if day[0] in _EAST else rf"\b(?:{day})\b", re.IGNORECASE)
