"""What a search takes out of what a person typed."""

import pytest

from crawler.domain.documents.searching import MOST_WORDS, excluded, in_headings, typed


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


@pytest.mark.parametrize(
    ("words", "query"),
    [
        ("opening hours", "opening hours"),
        ('"rye bread" -"white bread" or cake', '"rye bread" -"white bread" or cake'),
        ("bread Bread BREAD butter", "bread butter"),
        ('"to be or not to be" "to be or not to be"', '"to be or not to be"'),
        ("tea or coffee or tea or milk", "tea or coffee or or milk"),
        ("bc cd " * 80, "bc cd"),
        ("a----b -- c", "a -b c"),
        ('"never closed', '"never closed'),
    ],
)
def test_what_is_repeated_in_a_query_is_looked_for_once(words: str, query: str) -> None:
    assert " ".join(typed(words).split()) == query


@pytest.mark.parametrize("between", [" ", ",", "-", ' "', " or "])
def test_of_a_long_query_the_first_words_are_looked_for(between: str) -> None:
    query = typed(between.join(f"word{number}" for number in range(100)))
    assert f"word{MOST_WORDS - 1}" in query
    assert f"word{MOST_WORDS}" not in query
