"""Which value changes are noise on any site, by the words around the value: ages, stamps, clocks, counters."""

import re
from datetime import datetime
from typing import NamedTuple

from crawler.domain.moving_values import ValueChange, ValueKind, is_age, runs_with_clock

MOST_WORDS = 14
"""In the part of a line around a stamp or counter; a value in longer prose is what the page says."""
_STAMP = re.compile(
    r"\b(?:updated?|modified|changed?|edited|revised|generated|built|build|rebuilt|printed|rendered|retrieved|reviewed|"
    r"checked|verified|refresh(?:ed)?|cached|crawled|fetched|accessed|synced|sync|snapshot|loaded|served|page created|"
    r"created with|today|as of|as at|now|issue of|edition of|clock|(?:server|local|current) time|time is|"
    r"last (?:build|backup|scan|run|check)|"
    r"aktualisiert|geändert|stand|modifié|mis à jour|actualizado|aggiornato|bijgewerkt|atualizado)\b"
)
_COUNTED = (
    r"(?:(?:page)?views?|viewed|viewing|visitors?|visits?|visited|hits?|reads?|readers?|reading|watching|watchers?|"
    r"online|active (?:users?|sessions?)|downloads?|downloaded|installs?|followers?|subscribers?|bookmarks?|"
    r"stars?|forks?|likes?|liked|shares?|shared|retweets?|plays?|played|listens?|comments?|replies|votes?|upvotes?|"
    r"ratings?|reviews?|reactions?|claps?|aufrufe|besucher|vues|visitas|lezers)\b"
)
# Near the number, or it is no count of them.
_COUNTER = re.compile(rf"#\s(?:[\w-]+\s){{0,3}}{_COUNTED}|\b{_COUNTED}\W{{0,3}}(?:[\w.]+\s){{0,2}}\(?#")
_SERVED = re.compile(
    r"\b(?:generated|rendered|served|loaded|took|queries|page built|page size|memory usage|powered by|node|"
    r"(?:load|response|execution) time)\b"
)
_SECONDS = re.compile(r"\d:\d\d:\d\d")
_COPYRIGHT = re.compile(r"©|\(c\)|\bcopyright\b")
_TAG = re.compile(r"\b(?:build|revision|commit|deploy(?:ment)?|request|trace|ray|correlation|session|nonce)\b")
_YEAR = re.compile(r"(?:19|20)\d\d").fullmatch


class Moments(NamedTuple):
    """When both sides were fetched; None where that is not known."""

    old: datetime | None = None
    new: datetime | None = None


def is_own_noise(change: ValueChange, moments: Moments) -> str | None:
    """The name of the rule it falls under; None: it may be what the page is about."""
    if change.kind is ValueKind.MOMENT:
        return _moment(change, moments)
    around = change.around
    if len(around.split()) > MOST_WORDS:
        return None
    if _COPYRIGHT.search(around) and _YEAR(change.old) and _YEAR(change.new):
        return "copyright year"
    if change.kind is ValueKind.NUMBER and _COUNTER.search(around):
        return "counter"
    if _SERVED.search(around):
        return "how it was served"
    return "tag of a build or request" if change.kind is ValueKind.TOKEN and _TAG.search(around) else None


def _moment(change: ValueChange, moments: Moments) -> str | None:
    if is_age(change.old) and is_age(change.new):
        return "age"
    if moments.old and moments.new and runs_with_clock(change, moments.old, moments.new):
        return "date of the fetch"
    if len(change.around.split()) > MOST_WORDS:
        return None
    # Nobody is told to come at 09:30:17: such times are read off a clock.
    by_clock = _SECONDS.search(change.old) and _SECONDS.search(change.new)
    return "stamp" if by_clock or _STAMP.search(change.around) else None
