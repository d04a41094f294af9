"""Which value changes are noise on any site.

Words alone are never enough (`100 downloads per month` is a limit, `now on 12 May` an appointment): the values must
also have moved as only a clock, a counter of views or a machine moves them. What varies in other ways is learned.
"""

import re
from datetime import date, datetime, timedelta
from typing import NamedTuple

from crawler.domain.noise.ages import same_instant
from crawler.domain.noise.moving_values import ValueChange, ValueKind, dates_in, is_age, runs_with_clock

MOST_WORDS = 14
"""In the part of a line around a value; in longer prose it is what the page says."""
_STAMPED = re.compile(
    r"(?:(?:this|the) )?(?:(?:page|document|article|text|site|entry)(?: was)? )?(?:last |zuletzt )?"
    r"(?:updated?|modified|edited|revised|generated|rebuilt|refreshed|build|change|aktualisiert|geändert)"
    r"(?: on| at| am)?:? ?@\.?|"
    r"(?:dernière (?:mise à jour|modification)(?: le)?|última actualización|ultimo aggiornamento) ?:? ?@\.?"
)
_VIEWED = re.compile(
    r"(?:this page (?:was|has been) )?(?:viewed|visited|read|seen) # times\.?|"
    r"(?:page ?views?|views|hits|visitors?|visits):? #|# (?:page ?)?(?:views|hits|visits|visitors)|"
    r"you are visitor (?:no\.?|number|#)? ?#"
)
_MEASURED = re.compile(r"(?:(?:this )?page (?:was )?)?(?:generated|rendered|served|built) in # ?(?:s|sec|seconds)\.?")
_PRECISE = re.compile(r"\d+\.\d{2,}").fullmatch
_IDENTIFIED = re.compile(r"\b(?:request|trace|ray|correlation|session)[- ]?id:? #|\bnonce:? #")
_RANDOM = re.compile(r"(?=.*\d)[0-9a-z-]{8,}", re.IGNORECASE).fullmatch
_COPYRIGHT = re.compile(r"(?:©|\(c\))|\bcopyright (?:# ?[-–] ?)?#")
_YEAR = re.compile(r"(?:19|20)\d\d").fullmatch
# A date beside these is an appointment or a limit, whatever day it is.
_APPOINTED = re.compile(
    r"\b(?:ends?|until|till|through|by|from|starts?|begins?|opens?|closes?|closed|deadline|due|expires?|valid|before|after|"
    r"next|launch(?:es)?|release[ds]?|events?|meetings?|exams?|deliver(?:y|ed|s)|arriv(?:al|es)|depart(?:ure|s)|leaves|"
    r"sale|offer|holiday|appointment|born|founded|bis|ab|vom|jusqu|hasta|register|registration)\b"
)
_DAY = timedelta(days=1)
_ROUND = 50
_FEWEST_VIEWS = 100


class Moments(NamedTuple):
    """When both sides were fetched; None where that is not known."""

    old: datetime | None = None
    new: datetime | None = None


def builtin_rule(change: ValueChange, moments: Moments) -> str | None:
    """The name of the built-in rule that this change falls under; None if it may be what the page is about."""
    if change.kind is ValueKind.MOMENT:
        return _moment(change, moments)
    around = change.around
    if len(around.split()) > MOST_WORDS:
        return None
    if _COPYRIGHT.search(around) and _is_new_year(change, moments):
        return "copyright year"
    if change.kind is ValueKind.NUMBER and _VIEWED.fullmatch(around) and _has_grown(change):
        return "counter"
    if _MEASURED.fullmatch(around) and _PRECISE(change.old) and _PRECISE(change.new):
        return "how it was served"
    if change.kind is ValueKind.TOKEN and _IDENTIFIED.search(around) and _RANDOM(change.old) and _RANDOM(change.new):
        return "tag of a request"
    return None


def may_run_with_clock(change: ValueChange, moments: Moments) -> bool:
    """Whether a date seems to be that of its fetch. Other pages or earlier versions must confirm it (`clock_lines`)."""
    if change.kind is not ValueKind.MOMENT or not moments.old or not moments.new:
        return False
    return not _APPOINTED.search(change.around) and runs_with_clock(change, moments.old, moments.new)


def _moment(change: ValueChange, moments: Moments) -> str | None:
    if moments.old is None or moments.new is None:
        return None
    if is_age(change.old) or is_age(change.new):
        return "age" if same_instant(change.old, moments.old, change.new, moments.new) else None
    is_stamp = _STAMPED.fullmatch(change.around) and _was_between(change, moments.old.date(), moments.new.date())
    return "stamp" if is_stamp else None


def _was_between(change: ValueChange, old_at: date, new_at: date) -> bool:
    """A stamp goes forward, and says that somebody was here since we were; it never lies in the future."""
    before, after = dates_in(change.old), dates_in(change.new)
    return any(
        old <= new and old <= old_at + _DAY and old_at - _DAY <= new <= new_at + _DAY for old in before for new in after
    )


def _is_new_year(change: ValueChange, moments: Moments) -> bool:
    if not (_YEAR(change.old) and _YEAR(change.new)) or moments.new is None:
        return False
    return int(change.old) < int(change.new) and abs(int(change.new) - moments.new.year) <= 1


def _has_grown(change: ValueChange) -> bool:
    """Whether a number grew as views do. Limits do not: they are written in round numbers."""
    old, new = (re.sub(r"\D", "", text) for text in (change.old, change.new))
    before, after = int(old or 0), int(new or 0)
    if not before % _ROUND or not after % _ROUND:
        return False
    return _FEWEST_VIEWS <= before < after < 2 * before + _FEWEST_VIEWS
