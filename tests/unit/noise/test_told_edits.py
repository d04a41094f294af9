"""What was told of a page by versions that were fetched in another way is not told again, unless it was undone."""

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import Block
from crawler.domain.noise.told_edits import untold


def edit(removed: str | None, added: str | None, place: str = "p") -> BlockEdit:
    return BlockEdit(Block(place, removed) if removed else None, Block(place, added) if added else None)


def test_an_edit_that_was_told_is_left_out_wherever_it_stood() -> None:
    told, news = edit("open", "closed", "main>p"), edit("5 €", "6 €")
    assert untold([edit("open", "closed"), news], [told], ["closed", "6 €"]) == (news,)


def test_an_edit_that_was_told_and_is_undone_is_told_the_other_way_round() -> None:
    assert untold([], [edit("open", "closed")], ["open"]) == (edit("closed", "open"),)
    assert untold([], [edit(None, "sale")], ["open"]) == (edit("sale", None),)
    assert untold([], [edit("sale", None)], ["sale"]) == (edit(None, "sale"),)


def test_an_edit_that_still_stands_or_went_on_is_not_undone() -> None:
    assert untold([], [edit("open", "closed")], ["closed"]) == ()
    further = edit("open", "closed for good")
    assert untold([further], [edit("open", "closed")], ["closed for good"]) == (further,)
