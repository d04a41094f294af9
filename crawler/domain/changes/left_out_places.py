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
    found = list(places)
    if not found:
        return ""
    named = ", ".join(map(_named, found[:names]))
    more = f" and {len(found) - names:,} more" if len(found) > names else ""
    return f"Not compared, because it changes by itself at every visit: {named}{more}. An edit there is not told."


def _named(one: Mapping[str, Any]) -> str:
    what = f"numbers at {one['place']}" if one.get("values") else one["place"]
    return f"{what} ({one['pages']:,} page{'' if one['pages'] == 1 else 's'})"
