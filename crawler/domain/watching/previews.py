"""What a watch rule finds on pages that are stored."""

from collections.abc import Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from crawler.domain.noise.page_pairs import PageOfCrawl
from crawler.domain.pages.markup_bombs import UnparsablePage
from crawler.domain.plain_text import one_line
from crawler.domain.watching.products import FIELDS
from crawler.domain.watching.reading import WatchedPage
from crawler.domain.watching.rules import WatchOrder

MUCH = 0.5
"""A watched part with such a share of a page's words is hardly a part."""
MOST_PRODUCTS = 5


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class FieldPreview(_Value):
    field: str
    found: bool
    value: str | None
    problem: str | None = Field(None, description="Why it cannot be read as its type")


class PagePreview(_Value):
    url: str
    parts: int = Field(0, description="Elements that `watch` names")
    share: float = Field(0.0, description="Of the page's words that stand in them")
    fields: tuple[FieldPreview, ...] = ()
    note: str | None = Field(None, description="Why nothing could be read")

    @classmethod
    def unread(cls, url: str) -> Self:
        return cls(url=url, note="It takes too long to read, with this rule.")


class WatchPreview(_Value):
    matching_pages: int = Field(description="Pages of the newest crawl whose URL matches")
    pages: tuple[PagePreview, ...] = Field(description="The first of them")
    warnings: tuple[str, ...] = ()


def previewed(page: PageOfCrawl, order: WatchOrder) -> PagePreview:
    """What the rule finds on one page: a function that a judge runs."""
    try:
        read = WatchedPage(page.side, page.url)
    except UnparsablePage as exc:
        return PagePreview(url=page.url, note=exc.message)
    fields = [_field(name, read.value(how)) for name, how in order.fields.items()]
    if order.products:
        for product in read.products()[:MOST_PRODUCTS]:
            fields += [_field(name, product.value(name)) for name in FIELDS]
    parts = sum(map(read.count, order.watch))
    share = read.words_in(order.watch) / max(read.words, 1) if order.watch else 0.0
    return PagePreview(url=page.url, parts=parts, share=round(min(share, 1.0), 3), fields=tuple(fields))


def _field(name: str, value: object) -> FieldPreview:
    shown, problem = getattr(value, "shown", None), getattr(value, "problem", None)
    return FieldPreview(field=name, found=value is not None, value=shown and one_line(shown), problem=problem)


def preview_of(order: WatchOrder, pages: Sequence[PagePreview], matching: int) -> WatchPreview:
    return WatchPreview(matching_pages=matching, pages=tuple(pages), warnings=tuple(_warnings(order, pages)))


def _warnings(order: WatchOrder, pages: Sequence[PagePreview]) -> list[str]:
    if not pages:
        return ["No stored page matches the pattern."]
    found = []
    read = [page for page in pages if page.note is None]
    if read and max(page.share for page in read) > MUCH:
        found.append("The watched part is more than half of a page: a narrower selector says more.")
    names = dict.fromkeys(field.field for page in read for field in page.fields)
    seen = {field.field for page in read for field in page.fields if field.found}
    found += [f"{name} is found on none of these pages." for name in names if name not in seen]
    if order.watch and not any(page.parts for page in read):
        found.append("The watched part is found on none of these pages: they are compared as a whole.")
    if order.products and not any(page.fields for page in read):
        found.append("None of these pages declares a product.")
    return found
