"""Which value changes are noise on any site.

Words alone are never enough (`100 downloads per month` is a limit, `now on 12 May` an appointment): the values must
also have moved as only a clock, a counter of views or a machine moves them. What varies in other ways is learned.
"""

import re
from functools import lru_cache

from crawler.domain.noise.ages import gained_year, is_age, same_day, same_instant
from crawler.domain.noise.clocks import (
    Follows,
    Moments,
    begins_week,
    counts_days,
    follows,
    names_week,
    years_that_ended,
)
from crawler.domain.noise.counted_time import counts_parts, counts_time
from crawler.domain.noise.moving_values import ValueChange, ValueKind
from crawler.domain.noise.stamps import moved_stamp

OF_FETCH = "date of the fetch"
STAMP = "stamp"
AGE = "age"
MOST_WORDS = 14
"""In the part of a line around a value; in longer prose it is what the page says."""
_VIEWED = re.compile(
    r"(?:(?:this )?page )?(?:was |has been )?(?:viewed|visited|read|seen) # times|"
    r"(?:page ?views?|views|hits|visitors?|visits):? #|# (?:page ?)?(?:views|hits|visits|visitors)|"
    r"you are visitor (?:no\.?|number|#)? ?#"
)
_ENDS = ".!"
"""A counter may be a sentence of its own."""
_MEASURED = re.compile(r"(?:(?:this )?page (?:was )?)?(?:generated|rendered|served|built) in # ?(?:s|sec|seconds)\.?")
_PRECISE = re.compile(r"\d+\.\d{2,}").fullmatch
_IDENTIFIED = re.compile(r"\b(?:request|trace|ray|correlation|session)[- ]?id:? #|\bnonce:? #")
_RANDOM = re.compile(r"(?=.*\d)[0-9a-z-]{8,}", re.IGNORECASE).fullmatch
_COPYRIGHT = re.compile(r"(?:©|\(c\))|\bcopyright (?:# ?[-–] ?)?#")
_YEAR = re.compile(r"(?:19|20)\d\d").fullmatch
# A moment beside these is an appointment or a limit, whatever day it is.
_APPOINTED = re.compile(
    r"\b(?:ends?|until|till|through|starts?|begins?|opens?|closes?|closed|deadline|due|expires?|valid|before|after|"
    r"next|launch(?:es)?|release[ds]?|events?|meetings?|exams?|deliver(?:y|ed|s)|arriv(?:al|es)|depart(?:ure|s)|leaves|"
    r"sale|offer|holiday|appointment|born|founded|bis|ab|vom|jusqu|hasta|register|registration|"
    r"nächste[nrs]?|termine?|beginnt?|endet?|frist|anmeld\w*|öffnet|schließt|abfahrt|ankunft|sitzung|"
    r"prochaine?|fermeture|ouverture|début|fin|départ|arrivée|réunion|próxim[ao]|cierra|cierre|abre|salida|llegada|reunión|"
    r"prossim[ao]|chiusura|apertura|scadenza|riunione|prazo|volgende|nästa|neste|następn\w+|следующ\w+|до)\b"
    r"|\b(?:by|from)\s(?:\w+\s){0,2}@|締切|期限|次回|開始|終了|截止|下次|开始|마감|다음"
)
_ROUND = 50
_FEWEST_VIEWS = 100


def builtin_rule(change: ValueChange, moments: Moments) -> str | None:
    """The name of the built-in rule that this change falls under; None if it may be what the page is about."""
    if change.kind is ValueKind.MOMENT:
        return _moment(change, moments)
    if _follows(change, moments) is Follows.SURELY:
        return OF_FETCH
    around = change.around
    if _is_prose(around):
        return None
    if _COPYRIGHT.search(around) and _is_new_year(change, moments):
        return "copyright year"
    if change.kind is ValueKind.NUMBER and _VIEWED.fullmatch(around.rstrip(_ENDS)) and _has_grown(change):
        return "counter"
    if _MEASURED.fullmatch(around) and _PRECISE(change.old) and _PRECISE(change.new):
        return "how it was served"
    if change.kind is ValueKind.TOKEN and _IDENTIFIED.search(around) and _RANDOM(change.old) and _RANDOM(change.new):
        return "tag of a request"
    return None


def may_run_with_clock(change: ValueChange, moments: Moments) -> bool:
    """Whether a value seems to be that of its fetch. Other pages or earlier versions must confirm it."""
    if moments.old and moments.new:
        at = moments.old, moments.new
        if counts_days(change, *at) or counts_time(change, *at) or counts_parts(change, *at):
            return True
        if (names_week(change, *at) or begins_week(change, *at)) and not _is_appointed(change.around):
            return True
    return _follows(change, moments) is not Follows.NOT


def _follows(change: ValueChange, moments: Moments) -> Follows:
    if not moments.old or not moments.new or _is_appointed(change.around):
        return Follows.NOT
    return follows(change, moments.old, moments.new)


# Remembered, because a line may have thousands of values with the same words around them.
@lru_cache(maxsize=128)
def _is_appointed(around: str) -> bool:
    return _APPOINTED.search(around) is not None


@lru_cache(maxsize=128)
def _is_prose(around: str) -> bool:
    return len(around.split()) > MOST_WORDS


def _moment(change: ValueChange, moments: Moments) -> str | None:
    if moments.old is None or moments.new is None:
        return None
    if is_age(change.old) or is_age(change.new):
        if same_instant(change.old, moments.old, change.new, moments.new):
            return AGE
    elif _follows(change, moments) is Follows.SURELY:
        return OF_FETCH
    if not _is_appointed(change.around) and (
        same_day(change.old, moments.old, change.new)
        or gained_year(change.old, change.new, years_that_ended(moments.old, moments.new))
    ):
        return AGE
    return STAMP if moved_stamp(change.around, change.old, change.new, moments) else None


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
