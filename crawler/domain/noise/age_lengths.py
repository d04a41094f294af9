"""How long ago an age says that it was (`3 days`, `1 1/2 hours`, `an hour and a half`), and how closely it says it."""

import re
from datetime import timedelta

from crawler.domain.word_tries import LETTER, one_of

_PART = r"(?:\d{1,2}/\d{1,2}|[¼½¾⅓⅔])"
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
COUNT = (
    rf"(?:\d+(?:[.,]\d{{1,2}})?(?:\s?[¼½¾⅓⅔]|\s\d{{1,2}}/\d{{1,2}})?|{_PART}(?:\s(?:of\s)?an?)?"
    rf"|{LETTER}(?:half(?:\san?)?"
    rf"|(?:(?:a|three)\s)?quarters?\sof\san?|a\scouple\sof|an?|{one_of(_WORDS)}(?:\sand\sa\s(?:half|quarter))?))"
)
"""How many of a unit there are."""
_SECOND, _MINUTE = timedelta(seconds=1), timedelta(minutes=1)
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
# How units begin, in the languages in which ages are known. Months before minutes: both begin with m.
_LENGTHS = (
    (("mo", "mois", "mes", "mês", "maand", "mies", "мес", "ay", "mån", "kuukau",
      "か月", "ヶ月", "个月", "個月", "개월"), 30.5 * _DAY),
    (("s", "sec", "sek", "seg", "сек", "san", "秒", "초"), _SECOND),
    (("m", "min", "мин", "dak", "分", "분"), _MINUTE),
    (("h", "hour", "hr", "stund", "heure", "hora", "ore", "ora", "uur", "uren", "godz", "час", "ч", "saat", "tim",
      "tunti", "小时", "小時", "時間", "시간"), _HOUR),
    (("w", "week", "woche", "semain", "seman", "settiman", "weken", "tyg", "tydz", "нед", "hafta", "veck", "viikko",
      "週間", "週", "周", "주"), 7 * _DAY),
    (("d", "day", "tag", "jour", "día", "dia", "giorn", "dag", "dni", "дн", "ден", "gün", "päiv",
      "日", "天", "일"), _DAY),
    (("y", "year", "yr", "jahr", "an", "año", "ann", "jaar", "lat", "rok", "год", "лет", "г", "yıl", "år", "vuo",
      "年", "년"), 365.25 * _DAY),
)  # fmt: skip
_NUMBERS = {word: float(number) for number, word in enumerate(_WORDS, 1)} | {"couple": 2.0}
_PARTS = {"¼": 0.25, "½": 0.5, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3, "half": 0.5, "quarter": 0.25, "quarters": 0.25}
_TOKEN = re.compile(r"\d+/\d+|\d+(?:[.,]\d+)?|[¼½¾⅓⅔]|[^\W\d_¼½¾⅓⅔]+")
_LITTLE = "ago and at a an one y vor il hace un una une on há för for en et ett um uma een sedan siden sitten of"
_NO_UNITS = frozenset(_LITTLE.split())
_MOST_COUNTED = 100_000
_MOST_DIGITS = 9
_QUARTERS = 4
_FIRST_OF_THE_EAST = "\u3040"
"""Scripts in which a character is a word begin here."""


def length_of(text: str) -> tuple[timedelta, timedelta]:
    """The length of all parts of an age together, and the smallest unit, or part of one, that it counts in."""
    ago, smallest, last = timedelta(), timedelta(), timedelta()
    count: float | None = None
    parts, is_joined = 1, False
    for word in _TOKEN.findall(text):
        if (number := _number(word)) is not None:
            count, parts, is_joined = (count or 0) + number, max(parts, _fineness(word)), False
        elif word in _PARTS:
            is_share = word.startswith("quarter") and count is not None and not is_joined
            count = (count or 0) * _PARTS[word] if is_share else (count or 0) + _PARTS[word]
            parts = max(parts, 2 if word == "half" else _QUARTERS)
        elif word in ("and", "of") or (word in ("a", "an") and count is not None and count < 1):
            is_joined = is_joined or word == "and"
        elif unit := None if word in _NO_UNITS and count is None else unit_of(word):
            ago += min(1.0 if count is None else count, _MOST_COUNTED) * unit
            smallest, last = min(smallest or unit, unit / parts), unit
            count, parts = None, 1
        elif word not in _NO_UNITS:
            count, parts = None, 1
    if count is not None and parts > 1 and last:  # `an hour and a half`
        ago, smallest = ago + count * last, min(smallest, last / parts)
    return ago, max(smallest, _MINUTE) if smallest else smallest


def unit_of(name: str) -> timedelta | None:
    for starts, length in _LENGTHS:
        if name in starts or any(_is_telling(start) and name.startswith(start) for start in starts):
            return length
    return None


def _number(word: str) -> float | None:
    if not word[0].isdecimal():
        return _NUMBERS.get(word)
    over, _, under = word.partition("/")
    if under:
        return int(over[:_MOST_DIGITS]) / max(1, int(under[:_MOST_DIGITS]))
    return float(word[:_MOST_DIGITS].replace(",", "."))


def _fineness(word: str) -> int:
    if "/" in word:
        return _QUARTERS
    return 10 if "." in word or "," in word else 1


def _is_telling(start: str) -> bool:
    return len(start) > 1 or start >= _FIRST_OF_THE_EAST
