"""What a search takes out of what a person typed."""

import pytest

from crawler.domain.documents.searching import excluded, in_headings


@pytest.mark.parametrize(
    ("query", "without"),
    [
        ("'appl'", ""),
        ("'appl' & !'banana'", "'banana'"),
        ("!'banana' & 'appl' & !'kiwi'", "'banana' | 'kiwi'"),
        ("'appl' & !( 'rye' <-> 'bread' )", "( 'rye' <-> 'bread' )"),
        ("'appl' | 'pear' & !( 'foo-bar' <-> 'foo' <2> 'bar' )", "( 'foo-bar' <-> 'foo' <2> 'bar' )"),
        (r"'it''s!' & 'a\\' & !'b''c('", "'b''c('"),
        ("'a!''b' & '!x'", ""),
    ],
)
def test_what_must_not_be_there_is_read_from_the_query(query: str, without: str) -> None:
    assert excluded(query) == without


def test_the_query_over_headings_has_the_same_form() -> None:
    assert in_headings("'rye' <-> 'it''s' & !'x'") == "'h:rye' <-> 'h:it''s' & !'h:x'"
