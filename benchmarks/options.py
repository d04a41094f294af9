"""What the person at the terminal asked for."""

from dataclasses import dataclass

from benchmarks.comparison import CRAWLERS
from benchmarks.sites import PACKAGES


@dataclass(frozen=True)
class Options:
    repeats: int = 3
    sites: tuple[str, ...] = tuple(PACKAGES)
    crawlers: tuple[str, ...] = CRAWLERS
    quick: bool = False
    """Small runs that only show that all works; nothing is saved."""
    pages: int | None = None
    """Of the part `growth`."""

    def size(self, full: int, quick: int) -> int:
        return quick if self.quick else full
