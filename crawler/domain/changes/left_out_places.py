"""Places that are masked whole by a learned rule, and that differed: what is new there, nobody looked at."""

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

    def as_record(self) -> dict[str, Any]:
        return self._asdict()


def left_out_places(pages: Iterable[FilteredPage], rules: RuleSet) -> tuple[LeftOutPlace, ...]:
    whole = rules.whole
    counted = Counter(name for page in pages for name in page.rules if name in whole)
    found = [LeftOutPlace(whole[name], name, count) for name, count in counted.items()]
    return tuple(sorted(found, key=lambda one: (-one.pages, one.place, one.rule))[:MOST_PLACES])


def left_out_sentence(places: Iterable[Mapping[str, Any]], names: int = 5) -> str:
    """What to say of them; nothing if there are none."""
    found = list(places)
    if not found:
        return ""
    named = ", ".join(
        f"{one['place']} ({one['pages']:,} page{'' if one['pages'] == 1 else 's'})" for one in found[:names]
    )
    more = f" and {len(found) - names:,} more" if len(found) > names else ""
    return f"Not compared, because it changes by itself at every visit: {named}{more}. An edit there is not told."
