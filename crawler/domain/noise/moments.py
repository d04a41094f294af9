"""Dates and times of the day as sites write them, in many languages: how they look, and what they name."""

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from crawler.domain.late_pattern import late
from crawler.domain.word_tries import LETTER, one_of

_MONTHS = """
january|januar|janvier|enero|gennaio|januari|janeiro|stycznia|ledna|января|ocak|tammikuuta|ianuarie|jan|ene|janv|styczeń
february|februar|février|febrero|febbraio|februari|fevereiro|lutego|února|февраля|şubat|helmikuuta|februarie|feb|févr|luty
march|märz|mars|marzo|maart|março|marca|března|марта|mart|maaliskuuta|martie|mar|marzec
april|avril|abril|aprile|kwietnia|dubna|апреля|nisan|huhtikuuta|aprilie|apr|abr|avr|kwiecień
may|mai|mayo|maggio|mei|maio|maj|maja|května|мая|mayıs|toukokuuta
june|juni|juin|junio|giugno|junho|czerwca|června|июня|haziran|kesäkuuta|iunie|jun|czerwiec
july|juli|juillet|julio|luglio|julho|lipca|července|июля|temmuz|heinäkuuta|iulie|jul|juil|lipiec
august|août|agosto|augustus|augusti|sierpnia|srpna|августа|ağustos|elokuuta|aug|ago|sierpień
september|septembre|septiembre|settembre|setembro|września|září|сентября|eylül|syyskuuta|septembrie|sep|sept|wrzesień
october|oktober|octobre|octubre|ottobre|outubro|października|října|октября|ekim|lokakuuta|octombrie|oct|okt|październik
november|novembre|noviembre|novembro|listopada|listopadu|ноября|kasım|marraskuuta|noiembrie|nov|listopad
december|dezember|décembre|diciembre|dicembre|dezembro|grudnia|prosince|декабря|aralık|joulukuuta|decembrie|dec|dez|dic|déc
"""
_NUMBERS = {name: number for number, row in enumerate(_MONTHS.split(), 1) for name in row.split("|")}
_MONTH = rf"{one_of(_NUMBERS)}\.?"
CLOCK = r"\d{1,2}(?::|h)\d{2}(?::\d{2}(?:[.,]\d+)?)?"
_OFF = r"(?:[+-]\d{2}:?\d{2}(?:\s\([a-z ]{3,40}\))?)?"
_ZONE = rf"(?:(?:utc|gmt){_OFF}|uhr|ce?s?t|[pcem][sd]t|bst|ist|jst|msk|[+-]\d{{2}}:?\d{{2}})"
_HALF = "上午|下午|午前|午後|오전|오후"
_AFTERNOON = frozenset({"下午", "午後", "오후", "p"})
_OF = r"(?:of\s|de\s|di\s)?"
_EAST = r"\d{4}\s?[年년]\s?\d{1,2}\s?[月월]\s?\d{1,2}\s?[日일]"
YEAR = r"(?:,?\s(?:de\s)?\d{4}|,?\s['’]\d{2}(?!\w))"
"""The year behind a day: ` 2026`, `, 2026` or ` '26`."""
DATE = (
    rf"(?:\d{{4}}-\d{{2}}-\d{{2}}(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?|\d{{4}}/\d{{2}}/\d{{2}}|\d{{4}}\.\d{{2}}\.\d{{2}}"
    rf"|\d{{1,2}}/\d{{1,2}}/\d{{4}}|\d{{1,2}}\.\d{{1,2}}\.\d{{4}}|\d{{1,2}}-\d{{1,2}}-\d{{4}}"
    rf"|\d{{1,2}}/\d{{1,2}}/\d{{2}}(?!\d)|\d{{1,2}}-{_MONTH}-\d{{4}}|\d{{4}}\s{_MONTH}\s\d{{1,2}}|{_EAST}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.)?\s{_OF}{_MONTH}(?:{YEAR})?"
    rf"|{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?(?:\s{CLOCK}(?:\s{_ZONE})?)?{YEAR}"
    rf"|{_MONTH}\s(?:\d{{4}}|\d{{1,2}}(?:st|nd|rd|th)?)\b)"
)
TIME = (
    rf"(?:(?:(?:{_HALF})\s?)?{CLOCK}(?:\s?[ap]\.?m\b\.?)?(?:\s?[+-]\d{{2}}:\d{{2}}|\s\(?{_ZONE}\)?)?"
    rf"|(?:(?:{_HALF})\s?)?\d{{1,2}}\s?[時시]\s?\d{{1,2}}\s?[分분](?:\s?\d{{1,2}}\s?[秒초])?|\d{{1,2}}\.\d{{2}}\suhr)"
)
_WEEKDAYS = """
montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche
|lunes|martes|miércoles|jueves|viernes|sábado|domingo|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica
|segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag
|måndag|tisdag|onsdag|torsdag|fredag|lördag|söndag|mandag|tirsdag|lørdag|søndag
""".replace("\n", "")
AT = r"(?:at|on|um|à|a\slas|alle(?:\sore)?|às|om|kl\.?|klo|o|v|в|la|the|de[rnm]|le|el)"
"""What stands between a date and its time, or a day of the week and its date."""
WEEKDAY = (
    rf"{LETTER}(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?:mon|tue|wed|thu|fri|sat|sun)(?=,?\s(?:\d|[a-z]{3}\s\d))\.?"
    rf"|{one_of(_WEEKDAYS.split('|'))}(?=,?\s(?:{AT}\s)?\d))"
)
DOTTED = r"(?:kl\.?|klo|alle|ore)\s\d{1,2}\.\d{2}(?!\.?\d)"
_SHORT_YEAR = re.compile(r"['’](\d\d)(?!\d)")
_A_DATE = late(DATE, re.IGNORECASE)
_A_TIME = re.compile(
    rf"(?P<early>{_HALF})?\s?(?P<hour>\d{{1,2}})(?::|h|\s?[時시]\s?|\.(?=\d\d(?!\.?\d)))(?P<minute>\d{{2}}|\d(?=\s?[分분]))"
    r"(?:(?::|\s?[分분]\s?)(?P<second>\d{1,2}))?(?:[.,]\d+)?(?:\s?(?P<late>[ap])\.?m\b)?",
    re.IGNORECASE,
)
_A_MONTH = re.compile(rf"\W*(?P<month>{one_of(_NUMBERS)})\W*(?P<year>(?:19|20)\d{{2}})?\W*").fullmatch
_COMPACT = re.compile(r"((?:19|20)\d{2})(\d{2})(\d{2})(?:T?(\d{2})(\d{2})(\d{2})Z?)?", re.IGNORECASE).fullmatch
_EPOCH = re.compile(r"(1\d{9})(?:\d{3})?").fullmatch
_DAYS = range(1, 32)
_YEARS = range(1000, 9000)
_LONGEST_MONTH = 40
LONGEST = 120
"""Characters of a moment. What is longer is a list of them, which says nothing about one."""


class Shown(NamedTuple):
    """What a text says about a moment. Days are every reading of it: some are written so that two would fit."""

    days: tuple[date, ...] = ()
    seconds: int | None = None
    """Of the day."""
    step: int = 0
    """How closely it says the time, in seconds; 0 if it says none."""

    @property
    def moments(self) -> list[datetime]:
        """Day and time together, in the zone of whoever wrote it."""
        if self.seconds is None:
            return []
        return [datetime.combine(day, time()) + timedelta(seconds=self.seconds) for day in self.days]


def read_digits(text: str) -> Shown:
    """A moment in bare digits: `20261116104207`, or seconds or milliseconds since 1970."""
    if found := _COMPACT(text):
        return _of_digits(*(int(part) if part else None for part in found.groups()))
    if found := _EPOCH(text):
        at = datetime.fromtimestamp(int(found[1]), UTC)
        return Shown((at.date(),), _seconds(at.hour, at.minute, at.second), 1)
    return Shown()


def read_moment(text: str, years: Iterable[int] = ()) -> Shown:
    """A date, a time, or both. A date without a year is one of these."""
    if len(text) > LONGEST:
        return Shown()
    found = _A_TIME.search(_A_DATE.sub(_without_day, text))
    if found is None:
        return Shown(tuple(dates_in(text, years)))
    return Shown(tuple(dates_in(text, years)), _time_of_day(found), 1 if found["second"] else 60)


def month_in(line: str) -> tuple[int | None, int] | None:
    """The year, if it is there, and the number of the month that is all a line names: `November 2026`, `« Oct`."""
    found = _A_MONTH(line.lower()) if len(line) <= _LONGEST_MONTH else None
    return (int(found["year"]) if found["year"] else None, _NUMBERS[found["month"]]) if found else None


def times_in(moment: str) -> list[int]:
    """Every time of the day that a text says, in seconds: the end of `9:00-13:00`, too, though it may be a zone."""
    if len(moment) > LONGEST:
        return []
    return [_time_of_day(found) for found in _A_TIME.finditer(_A_DATE.sub(_without_day, moment))]


def _time_of_day(found: "re.Match[str]") -> int:
    half = (found["early"] or found["late"] or "").lower()
    hour = int(found["hour"]) % 12 + 12 * (half in _AFTERNOON) if half else int(found["hour"])
    return _seconds(hour, int(found["minute"]), int(found["second"] or 0))


def dates_in(moment: str, years: Iterable[int] = ()) -> list[date]:
    if len(moment) > LONGEST:
        return []
    return [day for found in _A_DATE.findall(moment) for day in _readings(found, years)]


def _without_day(found: "re.Match[str]") -> str:
    """What is left of a date when its day is taken out: the time that some formats have within."""
    kept = re.search(rf"T[\d:.]+|{CLOCK}", found[0], re.IGNORECASE)
    return f" {kept[0].lstrip('Tt')} " if kept else " "


def _of_digits(
    year: int | None, month: int | None, day: int | None, hour: int | None, minute: int | None, second: int | None
) -> Shown:
    days = tuple(_dates((year or 0, month or 0, day or 0)))
    if hour is None:
        return Shown(days)
    return Shown(days, _seconds(hour, minute or 0, second or 0), 1)


def _seconds(hour: int, minute: int, second: int) -> int:
    return hour * 3600 + minute * 60 + second


def _readings(text: str, years: Iterable[int]) -> list[date]:
    plain = re.sub(rf"(?<=\d)T.*|\b{CLOCK}", "", text) if ":" in text else text
    plain = _SHORT_YEAR.sub(r"20\1", plain)
    numbers = [int(number) for number in re.findall(r"\d+", plain)]
    month = next((_NUMBERS[word] for word in re.findall(r"[^\W\d_]+", plain.lower()) if word in _NUMBERS), 0)
    if month:
        year = max(numbers)
        if year in _DAYS:
            return _dates(*((one, month, year) for one in years))
        days = [number for number in numbers if number != year] or _DAYS  # a month alone is all its days
        return _dates(*((year, month, day) for day in days))
    if len(numbers) < 3:
        return []
    if numbers[0] not in _DAYS:
        return _dates((numbers[0], numbers[1], numbers[2]))
    first, second, year = numbers[:3]
    year += 2000 if year < 100 else 0
    return _dates((year, second, first), (year, first, second))


def _dates(*given: tuple[int, int, int]) -> list[date]:
    found = []
    for one in dict.fromkeys(given):
        with suppress(ValueError):
            found += [date(*one)] if one[0] in _YEARS else []
    return found
