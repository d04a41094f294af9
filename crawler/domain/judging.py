"""Judging pages within bounds: what strangers' pages and people's rules can make slow runs where it can be ended.

Everything that reads or compares stored pages is given to a `Judge` as a function and its arguments. It runs in a
process of its own (`adapters/judging`), with a limit for each page and one for all of them.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, TypeVar

caller: ContextVar[Hashable] = ContextVar("caller", default=None)
"""Who asks, if it is known: one caller never has all judges."""
until: ContextVar[float] = ContextVar("until", default=float("inf"))
"""When whoever asks has had enough of all judges' time, by the monotonic clock: then everything takes too long."""

Item = TypeVar("Item")
Given = TypeVar("Given")
Found = TypeVar("Found")


class Bound(StrEnum):
    """Which bound a page has met: stable names, for programs."""

    PAGE = "too_large_to_weigh"
    """It took too long, or too much memory, by itself."""
    TOTAL = "no_time_to_weigh"
    """The pages before it took all the time there was."""


class Unjudged(NamedTuple):
    """In place of what was to be found out about a page."""

    bound: Bound


class Judge(Protocol):
    """Open for a while, with a limit for all that is asked of it meanwhile. One caller at a time."""

    def each(
        self, work: Callable[[Item, Given], Found], items: Iterable[Item], given: Given
    ) -> Iterator[tuple[Item, Found | Unjudged]]:
        """What the function finds out about each item. An item that is too much for it spoils no other.

        The function belongs to a module, and all values can be pickled.
        """

    def one(
        self, work: Callable[..., Found], *given: Any, seconds: float | None = None, whatever_used: bool = False
    ) -> Found:
        """What the function finds out. Raises TooSlowToTry when it takes too long: longer than one page may, unless
        it is given more time. `whatever_used`: it has this time, also if pages took all the time there was."""


Look = Callable[[float], None]
"""Told now and then how many seconds of CPU time were used so far. It may raise, which ends the judging."""


def go_on(_: float) -> None:
    """Nobody looks."""


besides: ContextVar[Look] = ContextVar("besides", default=go_on)
"""Told how many seconds of CPU time others than judges have worked for whoever asks, such as readers of PDFs."""


class OpenJudge(Protocol):
    def __call__(self, look: Look = go_on) -> AbstractContextManager[Judge]:
        """Opens a judge. Raises JudgesBusy when others have taken all of them."""
