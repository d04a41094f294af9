"""What handlers of several drawers ask of the noise rules and of the stored versions of pages."""

from collections.abc import Iterator, Sequence
from typing import Protocol
from uuid import UUID

from crawler.domain.noise.page_pairs import PagePair
from crawler.domain.noise.rules import NoiseRule


class NoiseRuleReader(Protocol):
    def list_rules(self, project_id: UUID) -> list[NoiseRule]: ...


class PagePairReader(Protocol):
    def between(
        self, crawl_id: UUID, compared_to: UUID, urls: Sequence[str], *, further: int = 0
    ) -> Iterator[PagePair]:
        """Each page as both crawls stored it. `further`: so many versions further back than the earlier crawl's."""
