"""Which words are whose: no part of the pairs shares any with another."""

from collections.abc import Sequence
from random import Random

from benchmarks.labelled.later_wording import LATER
from benchmarks.labelled.values import Half


def share(words: Sequence[str], half: Half) -> list[str]:
    """The half's share: every second of them, in an order that has nothing to do with how they were written down."""
    shuffled = sorted(words)
    Random(f"wording {len(words)} {shuffled[0]}").shuffle(shuffled)
    if half is Half.LATER and tuple(words) in LATER:
        return list(LATER[tuple(words)])
    return shuffled[half is not Half.TUNING :: 2]
