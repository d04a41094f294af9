"""Lists of crawls leave out what grows with a site."""

from crawler.domain.changes.listed_summary import LISTED, UNLISTED, short_changes
from crawler.domain.changes.summary import CrawlChanges


def test_every_part_of_a_summary_is_either_listed_or_left_out() -> None:
    of_stored_summaries_alone = {"barrier_urls", "behind_walls", "failed_parts", "further_back", "only_walls"}
    of_stored_summaries_alone |= {"told_meanwhile"}
    assert {*LISTED, *UNLISTED} == {*CrawlChanges.model_fields, *of_stored_summaries_alone}
    assert not set(LISTED) & set(UNLISTED)


def test_a_list_has_the_counts_alone() -> None:
    assert short_changes({"summary": {"new_pages": 1}, "new_page_urls": ["/a"]}) == {"summary": {"new_pages": 1}}
    assert short_changes(None) is None
