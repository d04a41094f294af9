"""URLs a site can make without end: refused by their shape, each with the rule that caught it."""

import re

from crawler.domain.urls.url import Url

MAX_SEGMENTS = 20
MAX_PARAMETERS = 20
RUNS = 3
"""So often in a row may nothing repeat itself…"""
TOTAL = 4
"""…and so often in one path no segment may occur."""
YEARS = range(1970, 2101)

_SAME_PARAMETER = 3
# A year with a month: 2031/05 in a path, 2031-05 anywhere, year=2031 beside month=5.
_SLASHED = re.compile(r"/(\d{4,6})/(?:0?[1-9]|1[0-2])(?=/|$)").search
_DASHED = re.compile(r"[/=_](\d{4,6})[-_.](?:0[1-9]|1[0-2])(?![0-9])").search
_YEAR = re.compile(r"/(?:cal_?)?(?:year|jahr|annee)=(\d{1,6})(?![0-9])").search
# Words that make it a calendar; the second list only beside dashes, because /event/5821/10 is an event and its page.
_CALENDAR = re.compile(r"[/_.-](?:calendar|calendrier|calendario|kalender|agenda|month|week|day|ical)\b").search
_EVENTS = re.compile(r"[/_.-](?:events?|termine|date|from|start)\b").search


def trap(url: Url) -> str | None:
    """The rule by which this URL looks endless, or None."""
    segments = url.path[1:].removesuffix("/").split("/")
    if len(segments) > MAX_SEGMENTS:
        return f"more than {MAX_SEGMENTS} path segments"
    # A run of three, or four of a kind, needs at least two segments that were there before.
    if len(segments) - len(set(segments)) >= RUNS - 1:
        rule = _repeats(segments)
        if rule:
            return rule
    if url.query:
        return _flood(url.query) or _calendar(url)
    return _calendar(url)


def _repeats(segments: list[str]) -> str | None:
    for period in range(1, len(segments) // RUNS + 1):
        found = _run(segments, period)
        if found is not None:
            return f"'{found}' {RUNS} times in a row in the path"
    for segment in set(segments):
        if segments.count(segment) >= TOTAL:
            return f"'{segment}' {TOTAL} times in the path"
    return None


def _run(segments: list[str], period: int) -> str | None:
    """What occurs RUNS times in a row with this period. Single numbers may: /tiles/0/0/0, /2001/01/01/01."""
    for start in range(len(segments) - RUNS * period + 1):
        unit = segments[start : start + period]
        if segments[start : start + RUNS * period] == unit * RUNS and not (period == 1 and unit[0].isdigit()):
            return "/".join(unit)
    return None


def _flood(query: str) -> str | None:
    separators = query.count("&")
    if separators >= MAX_PARAMETERS:
        return f"more than {MAX_PARAMETERS} query parameters"
    if separators >= _SAME_PARAMETER - 1:
        pairs = query.split("&")
        if any(pair and pairs.count(pair) >= _SAME_PARAMETER for pair in pairs):
            return f"one query parameter {_SAME_PARAMETER} times"
    return None


def _calendar(url: Url) -> str | None:
    """Years no event is in: calendars link to the next month for ever.

    Only where the URL speaks of a calendar: elsewhere 1234/12 is an article and its page, 1923/05 an old newspaper.
    """
    where = url.path.lower()
    if url.query:
        where = f"{where}/{url.query.lower().replace('&', '/')}"
    dashed = _DASHED(where)
    found = dashed or _SLASHED(where) or _YEAR(where)
    if found is None or int(found.group(1)) in YEARS:
        return None
    if _CALENDAR(where) or (dashed and _EVENTS(where)):
        return f"a calendar in the year {found.group(1)}"
    return None
