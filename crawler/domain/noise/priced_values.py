"""Which values are facts a page is about however often they move, such as prices, and which may move by themselves."""

import re

from crawler.domain.noise.moving_values import ValueChange, ValueKind, skeleton, value_changes

_MONEY = (
    r"[€$£¥₹₽₩]\s?#|#\s?(?:[€$£¥₹₽₩]|(?:eur|euros?|usd|gbp|chf|jpy|cny|inr|aud|cad|sek|nok|dkk|pln|czk|dollars?|pounds?|"
    r"francs?|yen|cents?)\b)|\b(?:eur|usd|gbp|chf|rs\.?)\s?#"
)
_AN_AMOUNT = re.compile(_MONEY)
_COST = (
    rf"{_MONEY}|#\s?(?:[%‰]|(?:percent|per cent|pct|prozent|points?|pts)\b)|"
    r"\b(?:prices?|priced|costs?|fees?|fares?|rates?|tax|rent|salary|deposit|discount|save|total|worth|balance|odds|"
    r"preise?|kosten|prix|precios?|prezzo|prijs)\b"
)
_UNITS = re.compile(
    r"[€$£¥₹₽₩%‰°]+|eur|euros?|usd|gbp|chf|jpy|cny|inr|aud|cad|sek|nok|dkk|pln|czk|dollars?|pounds?|francs?|yen|cents?|rs|"
    r"[kmµ]?g|tons?|[kcm]?m|[mc]?l|[kmgt]i?b|[km]?wh?|k?hz|m?v|m?a|h|hrs?|hours?|min|mins|minutes?|sec|secs|seconds?|"
    r"days?|weeks?|months?|years?|km/h|mph|mi|ft|in|lbs?|oz|°?[cf]",
    re.IGNORECASE,
)
_A_COST = re.compile(_COST)
_PRICED = re.compile(rf"{_COST}|\b(?:versions?|releases?)\b")
_PLACES = re.compile(r"price|preis|prix|precio|prezzo|cost|amount|total", re.IGNORECASE)
_RANDOM = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f-]{7,64}", re.IGNORECASE).fullmatch


def is_priced(changes: list[ValueChange]) -> bool:
    """Whether any of them is a price, a share or a version."""
    return any(_PRICED.search(around) for around in dict.fromkeys(change.around for change in changes))


def holds_prices(place: str) -> bool:
    """Whether a place is for prices, by the name that the site gave it."""
    return _PLACES.search(place) is not None


def names_a_price(line: str) -> bool:
    return _PRICED.search(skeleton(line).words.lower()) is not None


def names_a_cost(line: str) -> bool:
    """Whether it names a price or a share; versions are none."""
    return _A_COST.search(skeleton(line).words.lower()) is not None


def names_an_amount(line: str) -> bool:
    """Whether it says how much something costs, in a currency."""
    return _AN_AMOUNT.search(skeleton(line).words.lower()) is not None


def is_unit(word: str) -> bool:
    """Whether a word only says in what something is counted, and not what."""
    return _UNITS.fullmatch(word) is not None


def random_values(old: str, new: str) -> tuple[int, ...]:
    """Which of a line's values differ, if all of those are random tokens."""
    changes = value_changes(old, new) or []
    return tuple(change.number for change in changes) if all(map(is_random, changes)) else ()


def is_random(change: ValueChange) -> bool:
    return change.kind is ValueKind.TOKEN and all(_RANDOM(text) for text in (change.old, change.new))
