"""RESULTS.md keeps what was not measured again."""

from benchmarks.__main__ import PARTS
from benchmarks.results import merge, sections_of

ORDER = ["One", "Two", "Three"]


def test_a_part_measured_again_replaces_only_its_own_section() -> None:
    before = merge("", {"One": "old one", "Two": "old two\n\n| a | b |"}, ORDER)
    after = merge(before, {"One": "new one"}, ORDER)
    assert sections_of(after) == {"One": "new one", "Two": "old two\n\n| a | b |"}


def test_sections_stand_in_one_order_whatever_was_measured_first() -> None:
    document = merge(merge("", {"Three": "3"}, ORDER), {"One": "1"}, ORDER)
    assert list(sections_of(document)) == ["One", "Three"]


def test_writing_again_what_is_there_changes_nothing() -> None:
    document = merge("", {"One": "1", "Two": "2"}, ORDER)
    assert merge(document, {}, ORDER) == document
    assert merge(document, {"Two": "2"}, ORDER) == document


def test_a_section_of_a_part_that_is_gone_goes_too() -> None:
    assert list(sections_of(merge("# Results\n\n## Gone\n\nold\n", {"One": "1"}, ORDER))) == ["One"]


def test_every_part_has_a_title_of_its_own() -> None:
    assert len({part.TITLE for part in PARTS.values()}) == len(PARTS)
