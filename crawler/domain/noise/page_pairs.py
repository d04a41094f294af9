"""Two versions of one page, as they are stored."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from lxml.etree import XPathError

from crawler.domain.diffs.file_blocks import FileBlocks, NoLines, stored_blocks
from crawler.domain.diffs.page_blocks import MAX_BYTES, PageBlocks
from crawler.domain.diffs.soft_not_found import is_not_found, says_so_instead
from crawler.domain.diffs.walls import is_walled
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.file_clocks import RULE, is_clock
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from crawler.domain.noise.priced_values import names_an_amount
from crawler.domain.noise.rules import RuleSet
from crawler.domain.noise.told_edits import untold
from crawler.domain.pages.pdf_reading import PdfReading
from crawler.domain.pages.refreshes import MOST_WORDS_OF_A_SIGN, refresh_target
from crawler.domain.pages.unseen_weight import MAX_BYTES as MAX_UNSEEN_BYTES
from crawler.domain.pages.unseen_weight import without_unseen_weight
from crawler.domain.rendering.url_shapes import url_shape
from crawler.domain.urls.url import parse
from crawler.errors import Invalid

_LIGHTENED = "It is too large to be read as a whole. What is read of it did not change, but its hash did."
_LONG = "It is longer than is read. What is read of it did not change, but its bytes did."


class PageSide(NamedTuple):
    content: bytes
    content_type: str
    fetched_at: datetime | None
    pdf: PdfReading | None = None
    """What it says, if it is a PDF."""
    is_lightened: bool = False
    """Without what nobody reads, which was too much."""

    def blocks(self, rules: RuleSet, only: Sequence[str] = ()) -> PageBlocks:
        """Raises UnparsablePage. `only`: just the parts that these selectors name, unless none names anything."""
        return stored_blocks(self.content, self.content_type, tuple(rules.selectors), self.pdf, only)


def side_of(content: bytes, content_type: str, fetched_at: datetime | None) -> PageSide | None:
    """What is compared of a page: of a large one not what nobody reads. None if it is still too large."""
    if len(content) <= MAX_BYTES:
        return PageSide(content, content_type, fetched_at)
    if "html" not in content_type.lower() or len(content) > MAX_UNSEEN_BYTES:
        return None
    seen = without_unseen_weight(content, MAX_BYTES)
    return None if seen is None else PageSide(seen, content_type, fetched_at, is_lightened=True)


class PageOfCrawl(NamedTuple):
    """A page as one crawl has it."""

    url: str
    side: PageSide

    @property
    def shape(self) -> str:
        return url_shape(parse(self.url))


class WatchedPart(NamedTuple):
    """The parts of a page that count, and the rule that says so."""

    rule: str
    selectors: tuple[str, ...]


class PagePair(NamedTuple):
    url: str
    page_id: UUID
    old: PageSide
    new: PageSide
    told: tuple[PageSide, PageSide] | None = None
    """What crawls in between told of the page, which they had fetched in another way: as it was, and as it became."""
    old_version: UUID | None = None
    watched: WatchedPart | None = None
    """Only this part of the page counts, where it was found before and is now."""

    @property
    def shape(self) -> str:
        return url_shape(parse(self.url))

    def apply_noise_rules(self, rules: RuleSet) -> FilteredPage:
        """What changed on the page, without noise and what was told already. Raises UnparsablePage."""
        rules = rules.on(self.url)
        page = self._filtered(self.old, self.new, rules)
        if self.told is None or page.wall:
            return page
        told = self._filtered(*self.told, rules)
        edits = untold(page.edits, told.edits, self.new.blocks(rules).lines)
        kept = set(edits)
        return page._replace(edits=edits, clock=tuple(edit for edit in page.clock if edit in kept))

    def _filtered(self, before: PageSide, after: PageSide, rules: RuleSet) -> FilteredPage:
        is_lightened = before.is_lightened or after.is_lightened
        if before[:2] == after[:2] and not is_lightened:
            return FilteredPage((), ())  # an earlier version of this program read something else in the same bytes
        moments = Moments(before.fetched_at, after.fetched_at)
        old, new = before.blocks(rules), after.blocks(rules)
        if is_lightened and old.lines == new.lines:
            raise NoLines(_LIGHTENED)
        was_gone, is_gone = is_not_found(old), is_not_found(new)
        if not was_gone and (is_gone or self._is_replaced(old, new)):
            return FilteredPage((), (), gone=True)
        target = self._leads_to(after, new)
        if target and refresh_target(before.content, self.url) is None:
            return FilteredPage((), (), leads_to=target)
        # What told the end of a page was no wall in front of it, however it looks: that the page is back is news.
        returned = (was_gone and not is_gone) or (target is None and self._leads_to(before, old) is not None)
        returned = returned and not is_walled(new, old)  # it is not back if a wall stands there now
        page = self._compared(old, new, rules, moments, walls=not returned)
        if self.watched and page.edits and not isinstance(new, FileBlocks):
            page = self._of_part(self.watched, page, before, after, rules)
        if isinstance(new, FileBlocks):
            edits = tuple(edit for edit in page.edits if not is_clock(edit, moments))
            page = page if len(edits) == len(page.edits) else page._replace(edits=edits, rules=(*page.rules, RULE))
        if not page.edits and any(side.pdf and side.pdf.is_cut for side in (before, after)):
            raise NoLines(_LONG)
        return page._replace(returned=True) if returned else page

    def _is_replaced(self, old: PageBlocks, new: PageBlocks) -> bool:
        """Whether it only says that it is gone. A page that still names its price does not: somebody edited it."""
        return says_so_instead(old, new, self.url) and not any(map(names_an_amount, new.body))

    def _compared(
        self, old: PageBlocks, new: PageBlocks, rules: RuleSet, moments: Moments, *, walls: bool
    ) -> FilteredPage:
        page, shape = str(self.page_id), self.shape
        return apply_noise_rules(old, new, rules, shape=shape, moments=moments, url=self.url, page=page, walls=walls)

    def _leads_to(self, side: PageSide, page: PageBlocks) -> str | None:
        """Where a page sends its reader that says nothing else."""
        is_sign = page.words <= MOST_WORDS_OF_A_SIGN and not isinstance(page, FileBlocks)
        return refresh_target(side.content, self.url) if is_sign else None

    def _of_part(
        self, part: WatchedPart, page: FilteredPage, before: PageSide, after: PageSide, rules: RuleSet
    ) -> FilteredPage:
        """What changed in the part that counts. What is found on one side only says nothing: then all of it counts."""
        try:
            old, new = (side.blocks(rules, part.selectors) for side in (before, after))
        except (Invalid, XPathError):  # a rule that was written before rules were checked as they are now
            return page
        if not old.only_found or not new.only_found:
            return page
        moments = page.moments
        found = self._compared(old, new, rules, moments, walls=False)
        used = dict.fromkeys((*page.rules, *found.rules, part.rule))
        return found._replace(texts=page.texts, rules=tuple(used))


__all__ = ["MAX_BYTES", "MAX_UNSEEN_BYTES", "PageOfCrawl", "PagePair", "PageSide"]
