"""Chunks: by headings, within a size, with overlap, each with an id that stays."""

from itertools import pairwise
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.documents.chunking import MOST_SECTIONS, ChunkRule, chunk_ids, chunk_markdown, count_tokens
from crawler.domain.markdown.blocks import LONGEST_HEADING

RULE = ChunkRule(tokens=50, overlap=10)
DOCUMENT = UUID(int=7)


def words(name: str, count: int) -> str:
    return " ".join(f"{name}{number}" for number in range(count)) + "."


def test_each_section_is_a_chunk_with_its_heading_path() -> None:
    text = "Before.\n\n# One\n\nFirst.\n\n## Two\n\nSecond.\n\n### Three\n\nThird.\n\n# Four\n\nFourth."

    chunks = chunk_markdown(text, RULE)

    assert [(c.headings, c.text) for c in chunks] == [
        ((), "Before."),
        (("One",), "First."),
        (("One", "Two"), "Second."),
        (("One", "Two", "Three"), "Third."),
        (("Four",), "Fourth."),
    ]
    assert [c.position for c in chunks] == [0, 1, 2, 3, 4]


def test_a_heading_without_text_below_it_is_kept() -> None:
    chunks = chunk_markdown("# One\n\n## Empty\n\n## Two\n\nText.\n\n# Last", RULE)
    assert [(c.headings, c.text) for c in chunks] == [
        (("One", "Empty"), "Empty"),
        (("One", "Two"), "Text."),
        (("Last",), "Last"),
    ]


def test_long_sections_are_cut_between_paragraphs_and_overlap() -> None:
    paragraphs = [words(name, 30) for name in ("a", "b", "c", "d")]

    chunks = chunk_markdown("# H\n\n" + "\n\n".join(paragraphs), RULE)

    assert len(chunks) > 1
    assert all(c.tokens <= RULE.tokens for c in chunks)
    assert all(c.headings == ("H",) for c in chunks)
    for before, after in pairwise(chunks):
        shared = after.text.split("\n\n")[0]
        assert shared
        assert before.text.endswith(shared)
    for paragraph in paragraphs:
        assert any(paragraph in c.text for c in chunks)


def test_no_overlap_reaches_into_another_section() -> None:
    chunks = chunk_markdown("# A\n\n" + words("x", 30) + "\n\n# B\n\nOnly this.", RULE)
    assert chunks[-1].text == "Only this."


def test_code_is_cut_between_lines_and_stays_fenced() -> None:
    lines = [f"    line_{number} = compute({number})" for number in range(40)]

    chunks = chunk_markdown("\n".join(["```python", *lines, "```"]), RULE)

    assert len(chunks) > 1
    told = []
    for chunk in chunks:
        first, *inner, last = chunk.text.split("\n")
        assert (first, last) == ("```python", "```")
        told += inner
    assert told == lines


def test_headings_inside_of_code_are_code() -> None:
    chunks = chunk_markdown("```\n# no heading\n```\n\n# Heading\n\nText.", RULE)
    assert [c.headings for c in chunks] == [(), ("Heading",)]


def test_tables_are_cut_between_rows_and_each_part_has_the_head() -> None:
    rows = [f"| key {number} | value {number} |" for number in range(40)]

    chunks = chunk_markdown("\n".join(["| name | what |", "| --- | --- |", *rows]), RULE)

    assert len(chunks) > 1
    told = []
    for chunk in chunks:
        head, rule, *inner = chunk.text.split("\n")
        assert (head, rule) == ("| name | what |", "| --- | --- |")
        told += inner
    assert told == rows


def test_one_enormous_line_is_cut_where_words_end() -> None:
    line = words("word", 5000)

    chunks = chunk_markdown(line, ChunkRule(tokens=50, overlap=0))

    assert all(c.tokens <= 50 for c in chunks)
    assert " ".join(c.text for c in chunks).split() == line.split()


def test_a_line_without_any_blank_is_cut_all_the_same() -> None:
    line = "x" * 100_000
    chunks = chunk_markdown(line, ChunkRule(tokens=50, overlap=0))
    assert "".join(c.text for c in chunks) == line
    assert all(c.tokens <= 50 for c in chunks)


def test_wide_characters_count_by_their_bytes() -> None:
    chunks = chunk_markdown("漢字" * 5000, ChunkRule(tokens=50, overlap=0))
    assert all(c.tokens <= 50 for c in chunks)
    assert "".join(c.text for c in chunks) == "漢字" * 5000


def test_addresses_of_links_and_escapes_are_no_text() -> None:
    text = "See [the li\\*nk](http://h/p) and ![pic](http://h/i.png) in snake\\_case."
    assert [c.text for c in chunk_markdown(text, RULE)] == ["See the li*nk and pic in snake_case."]


def test_headings_are_plain_words() -> None:
    (chunk,) = chunk_markdown("# The [*new* `name`](http://h/)\n\nText.", RULE)
    assert chunk.headings == ("The new name",)


def test_a_page_without_text_has_no_chunks() -> None:
    assert chunk_markdown("", RULE) == []
    assert chunk_markdown("\n\n   \n", RULE) == []


def test_a_heading_too_long_for_a_path_is_found_with_all_its_words() -> None:
    heading = words("word", 80)
    chunks = chunk_markdown(f"# {heading}\n\n## Below\n\nText.", ChunkRule(tokens=400))
    assert [(len(c.headings[0]) <= LONGEST_HEADING, c.headings[1:], c.text) for c in chunks] == [
        (True, (), heading),
        (True, ("Below",), "Text."),
    ]
    assert all(heading.startswith(c.headings[0] + " ") for c in chunks), "cut between words"


def test_a_page_of_nothing_but_headings_is_not_a_million_chunks() -> None:
    text = "".join(f"# h{number}\n\nx\n\n" for number in range(MOST_SECTIONS * 10))
    assert len(chunk_markdown(text, ChunkRule())) < MOST_SECTIONS


def test_the_same_text_under_the_same_heading_keeps_its_id_when_others_change() -> None:
    before = chunk_markdown("# A\n\nOne.\n\n# B\n\nTwo.\n\n# C\n\nThree.", RULE)
    after = chunk_markdown("# New\n\nZero.\n\n# A\n\nOne.\n\n# B\n\nTwo, changed.\n\n# C\n\nThree.", RULE)

    old, new = chunk_ids(DOCUMENT, before), chunk_ids(DOCUMENT, after)

    assert (new[1], new[3]) == (old[0], old[2])
    assert new[2] != old[1]
    assert set(new[:1]).isdisjoint(old)


def test_the_same_text_twice_has_two_ids() -> None:
    chunks = chunk_markdown("# A\n\nSame.\n\n# B\n\nx\n\n# A\n\nSame.", RULE)
    assert len(set(chunk_ids(DOCUMENT, chunks))) == 3


def test_ids_are_of_one_document() -> None:
    chunks = chunk_markdown("Text.", RULE)
    assert chunk_ids(DOCUMENT, chunks) != chunk_ids(UUID(int=8), chunks)


@given(st.text(alphabet="ab #|`-\n.漢😀\\[]()", max_size=600))
def test_no_chunk_is_empty_or_too_large_and_all_ids_differ(text: str) -> None:
    rule = ChunkRule(tokens=20, overlap=4)
    chunks = chunk_markdown(text, rule)
    assert all(c.text.strip() for c in chunks)
    assert all(c.tokens == count_tokens(c.text) <= rule.tokens for c in chunks)
    ids = chunk_ids(DOCUMENT, chunks)
    assert len(set(ids)) == len(ids)
    assert chunk_markdown(text, rule) == chunks
