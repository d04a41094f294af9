"""Words for pages that an earlier crawl had and this one has not."""

from collections.abc import Mapping

from crawler.domain.changes.removals import Removal

_WORDS = {
    Removal.ALIVE: "answering, but not with a page",
    Removal.BLOCKED: "blocked",
    Removal.EXCLUDED: "excluded by the rules",
    Removal.NOT_REACHED: "not reached",
}


def missing_words(counts: Mapping[str, int]) -> str:
    """How many missing pages do not count as removed, and why; empty when there are none."""
    return ", ".join(f"{n:,} {words}" for kind, words in _WORDS.items() if (n := counts.get(kind.value, 0)))
