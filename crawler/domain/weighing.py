"""What is left of changed pages when noise and template edits are taken away."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from crawler.domain.block_diff import BlockEdit
from crawler.domain.changes import Changes
from crawler.domain.learned_noise import LearnedRule, Varies
from crawler.domain.noise import Weight
from crawler.domain.page_walls import Wall
from crawler.domain.template_changes import LONGEST_TEXT, TemplateChange, collapse

MOST_EDITS = 200
"""Of one page that are looked at together with those of others; a page with more changed in any case."""
MOST_LISTED = 1000
"""Quiet pages that are named in a summary; all are counted."""
MOST_RULES = 5
TEMPLATE = "template"


class Weighed(NamedTuple):
    changes: Changes
    quiet: Mapping[str, tuple[str, ...]]
    """URLs whose text differs, and which rules kept them quiet."""
    walls: Mapping[str, Wall]
    template: Sequence[TemplateChange]

    def as_record(self) -> dict[str, Any]:
        """Keys of ours in a change summary."""
        listed = sorted(self.quiet)[:MOST_LISTED]
        return {
            "quiet_pages": len(self.quiet),
            "quiet_page_urls": [{"url": url, "rules": list(self.quiet[url][:MOST_RULES])} for url in listed],
            "template_changes": [change.as_record() for change in self.template],
            "walls": [{"url": url, "kind": wall.value} for url, wall in sorted(self.walls.items())[:MOST_LISTED]],
        }


def light(weight: Weight) -> Weight:
    """Bounded: what is kept of a page until all are weighed."""
    if len(weight.edits) > MOST_EDITS:
        return weight._replace(edits=weight.edits[: MOST_EDITS + 1])
    return weight._replace(edits=tuple(BlockEdit(*map(_cut, edit)) for edit in weight.edits))


def weigh(changes: Changes, weights: Mapping[str, Weight]) -> Weighed:
    """A changed page without a weight stays changed: its content could not be read again."""
    compared = len(changes.changed) + len(changes.unchanged)
    edits = {url: weight.edits for url, weight in weights.items() if len(weight.edits) <= MOST_EDITS}
    left, template = collapse(edits, compared)
    walls = {url: weight.wall for url, weight in weights.items() if weight.wall}
    quiet = {
        url: weights[url].rules + ((TEMPLATE,) if edits[url] else ())
        for url, found in left.items()
        if not found and url not in walls
    }
    return Weighed(_sorted_out(changes, set(quiet), set(walls)), quiet, walls, template)


def moving_again(before: Mapping[str, Any] | None, template: Sequence[TemplateChange]) -> list[str]:
    """Rules for lines whose values moved all over the site at the last comparison, too: they count something."""
    known = {(told.get("place"), told.get("line")) for told in (before or {}).get("template_changes", ())}
    lines = [(change.place, change.line) for change in template if change.place and change.line]
    return [LearnedRule(place, Varies.VALUES, None, line).as_value() for place, line in lines if (place, line) in known]


def recount(weights: Mapping[str, Weight], compared: int) -> tuple[int, int]:
    """How many of these pages changed, and how often the template did."""
    edits = {url: weight.edits for url, weight in weights.items() if not weight.wall}
    left, template = collapse(edits, compared)
    return sum(map(bool, left.values())), len(template)


def _sorted_out(changes: Changes, quiet: set[str], walls: set[str]) -> Changes:
    return replace(
        changes,
        changed=tuple(url for url in changes.changed if url not in quiet and url not in walls),
        unchanged=tuple(sorted((*changes.unchanged, *quiet))),
        not_compared=tuple(sorted((*changes.not_compared, *walls))),
    )


def _cut(block: Any) -> Any:
    return block and block._replace(text=block.text[:LONGEST_TEXT])
