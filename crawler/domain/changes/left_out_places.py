"""Places that a learned rule masks, whole or in all their bare numbers, and that differed: nobody looked at what is new
there."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from crawler.domain.noise.page_noise import FilteredPage
from crawler.domain.noise.rules import RuleSet

MOST_PLACES = 100
"""Named in a summary, those on most pages first."""


class LeftOutPlace(NamedTuple):
    place: str
    rule: str
    """The id of the rule."""
    pages: int
    values: bool = False
    """Only numbers and other values are left out there; words are compared."""

    def as_record(self) -> dict[str, Any]:
        return self._asdict()


def left_out_places(pages: Iterable[FilteredPage], rules: RuleSet) -> tuple[LeftOutPlace, ...]:
    blind = rules.blind
    counted = Counter(name for page in pages for name in page.rules if name in blind)
    found = [
        LeftOutPlace(blind[name].place, name, count, blind[name].masks_bare_values) for name, count in counted.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.pages, one.place, one.rule))[:MOST_PLACES])


def left_out_sentence(places: Iterable[Mapping[str, Any]], names: int = 5) -> str:
    """What to say of them; nothing if there are none."""
    found = _by_place(places)
    if not found:
        return ""
    named = ", ".join(_named(*some) for some in found[:names])
    more = f" and {len(found) - names:,} more" if len(found) > names else ""
    return f"Not compared, because it changes by itself at every visit: {named}{more}. An edit there is not told."


def _by_place(places: Iterable[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Rules of single pages for the numbers at one place are said at once: there may be one for each page."""
    found: list[list[Mapping[str, Any]]] = []
    of_numbers: dict[str, list[Mapping[str, Any]]] = {}
    for one in places:
        if one.get("values") and one["place"] in of_numbers:
            of_numbers[one["place"]].append(one)
            continue
        found.append([one])
        if one.get("values"):
            of_numbers[one["place"]] = found[-1]
    return found


def _named(one: Mapping[str, Any], *others: Mapping[str, Any]) -> str:
    what = f"numbers at {one['place']}" if one.get("values") else one["place"]
    if others:
        return f"{what} ({len(others) + 1:,} rules)"
    return f"{what} ({one['pages']:,} page{'' if one['pages'] == 1 else 's'})"
