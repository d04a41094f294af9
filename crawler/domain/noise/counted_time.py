"""Hours, minutes and seconds that are counted and move by the time that went by: what is left, or has passed."""

import re
from datetime import datetime, timedelta
from functools import lru_cache

from crawler.domain.noise.moving_values import ValueChange, ValueKind

_COUNT = re.compile(r"\d{1,3}").fullmatch
_GLUED = re.compile(r"(\d{1,3})([^\W\d_]{1,5})").fullmatch
_COUNTED = re.compile(r"#\s?([^\W\d_]{1,10})")
_MOST_ROUNDED = 1.05
"""Steps of the last digit by which a rounded number may have moved more, or less, than the time."""
_BASES = {timedelta(seconds=1): 60, timedelta(minutes=1): 60, timedelta(hours=1): 24}
"""How many of a unit there are before it begins anew."""
# Whole words: `times`, `sandwiches` and `minors` are counted, too. An age has `ago` beside it, this nothing.
_WORDS = {
    timedelta(seconds=1): """s sec secs second seconds seconde secondes secondi seconden sek sekunde sekunden sekund
        sekunder sekundy seg segundo segundos сек секунд секунда секунды sn saniye sekuntia 秒 초""",
    timedelta(
        minutes=1
    ): """m min mins minute minutes minuten minut minuter minuti minuto minutos minutt minutter minuty
        minutit minuuttia мин минут минута минуты dk dak dakika 分 分钟 分鐘 分間 분""",
    timedelta(hours=1): """h hr hrs hour hours std stunde stunden heure heures hora horas ora ore uur uren godz godzina
        godziny godzin час часа часов ч saat tim timme timmar timer tunti tuntia 小时 小時 時間 시간""",
}
_LONG_WORDS = {
    timedelta(days=1): """d day days tag tage tagen jour jours día días dia dias giorno giorni dag dagen dagar dni дней
        日 天 일""",
    timedelta(days=7): """w wk week weeks woche wochen semaine semaines semana semanas settimane weken veckor
        недель 週 周 주""",
    timedelta(days=30.5): """month months monate monaten mois meses mesi maanden månader miesięcy месяцев""",
    timedelta(days=365.25): """y yr yrs year years jahre jahren ans année années años anos anni jaar år lat
        лет года 年 년""",
}
_UNITS = {name: unit for unit, names in _WORDS.items() for name in names.split()}
_ANY_UNIT = _UNITS | {name: unit for unit, names in _LONG_WORDS.items() for name in names.split()}
_PARTS_OF_ONE = re.compile(r"\d{1,4}[.,](\d{1,2})").fullmatch
_COUNTED_IN_PARTS = re.compile(r"#\s?([^\W\d_]{1,10})\b")


def counts_time(change: ValueChange, old_at: datetime, new_at: datetime) -> bool:
    """Whether hours, minutes or seconds moved by the time that went by, also past the end of a day, an hour or a
    minute: `Order within 21 h 12 min`, `up 3 hours, 12 minutes`."""
    glued = [_GLUED(value) for value in (change.old, change.new)]
    if glued[0] and glued[1] and glued[0][2] == glued[1][2]:
        counts, units = [int(found[1]) for found in glued if found], _units(f"#{glued[0][2].lower()}")
    elif change.kind is ValueKind.NUMBER and _COUNT(change.old) and _COUNT(change.new):
        counts, units = [int(change.old), int(change.new)], _units(change.around)
    else:
        return False
    return any(_moved_by(new_at - old_at, unit, *counts) for unit in units)


def counts_parts(change: ValueChange, old_at: datetime, new_at: datetime) -> bool:
    """Whether a number of units with decimals moved by the time that went by: `57 days or 0.16 years`."""
    before, after = _PARTS_OF_ONE(change.old), _PARTS_OF_ONE(change.new)
    if change.kind is not ValueKind.NUMBER or not before or not after or len(before[1]) != len(after[1]):
        return False
    step = 10.0 ** -len(before[1])
    moved = abs(_decimal(change.new) - _decimal(change.old))
    gone = [(new_at - old_at) / unit for unit in _long_units(change.around)]
    return any(abs(moved - passed) <= _MOST_ROUNDED * step for passed in gone)


def _decimal(text: str) -> float:
    return float(text.replace(",", "."))


@lru_cache(maxsize=128)
def _long_units(around: str) -> frozenset[timedelta]:
    return frozenset(unit for name in _COUNTED_IN_PARTS.findall(around) if (unit := _ANY_UNIT.get(name)))


@lru_cache(maxsize=128)
def _units(around: str) -> frozenset[timedelta]:
    """Units of time of which numbers are counted here."""
    return frozenset(unit for name in _COUNTED.findall(around) if (unit := _UNITS.get(name)))


def _moved_by(passed: timedelta, unit: timedelta, old: int, new: int) -> bool:
    base = _BASES[unit]
    steps = passed // unit
    if max(old, new) >= base:
        return abs(new - old) in {steps, steps + 1}
    fits = {steps % base, (steps + 1) % base}
    return (new - old) % base in fits or (old - new) % base in fits
