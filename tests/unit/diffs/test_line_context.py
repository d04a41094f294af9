"""A bare value that became another is told with what it is a value of; what title and heading both say is told once."""

from crawler.domain.changes.digest import digest_of_changes, without_title_again
from crawler.domain.changes.page_digest import LineChange, PageDigest
from crawler.domain.diffs.block_diff import diff_blocks
from crawler.domain.diffs.line_context import contexts
from crawler.domain.diffs.page_blocks import PageBlocks, read_blocks
from crawler.domain.notices.mail import change_sections


def page(body: str, title: str = "Plans") -> PageBlocks:
    return read_blocks(f"<title>{title}</title><body>{body}</body>".encode())


def told(old: str, new: str) -> list[tuple[str | None, str | None, str | None]]:
    before, after = page(old), page(new)
    edits = diff_blocks(before, after)
    return list(digest_of_changes("/", None, edits, 10, contexts(edits, before, after)).lines)


def table(*marks: str) -> str:
    named = zip(("Backup", "Support", "Export"), marks, strict=True)
    rows = "".join(f"<tr><td>{name}</td><td>{mark}</td></tr>" for name, mark in named)
    return f"<table><tr><th>What</th><th>Free</th></tr>{rows}</table>"


def test_a_cell_is_told_with_the_first_of_its_row() -> None:
    assert told(table("✓", "✓", "✗"), table("✓", "✗", "✗")) == [("✓", "✗", "Support")]


def test_several_cells_that_changed_alike_are_told_each_with_its_row() -> None:
    assert told(table("✓", "✓", "✗"), table("✗", "✗", "✗")) == [("✓", "✗", "Backup"), ("✓", "✗", "Support")]


def test_a_bare_line_is_told_with_the_heading_or_term_above_it() -> None:
    assert told("<h2>Opening hours</h2><p>9-17</p>", "<h2>Opening hours</h2><p>9-16</p>") == [
        ("9-17", "9-16", "Opening hours")
    ]
    hours = "<dl><dt>Fee</dt><dd>{}</dd><dt>Stay</dt><dd>2</dd></dl>"
    assert told(hours.format(24), hours.format(26)) == [("24", "26", "Fee")]


def test_a_line_that_speaks_for_itself_needs_none_and_where_it_stands_twice_nothing_is_guessed() -> None:
    long = "<h2>Rules</h2><p>Dogs are {} allowed in the garden</p>"
    assert told(long.format("never"), long.format("always"))[0][2] is None
    twice = "<h2>{}</h2><p>5</p><h2>{}</h2><p>{}</p>"
    assert told("<p>5</p><p>5</p>", "<p>5</p><p>6</p>") == [("5", "6", None)]
    assert told(twice.format("A", "B", 5), twice.format("A", "B", 6)) == [("5", "6", "B")]


def test_what_title_and_heading_both_say_is_told_once() -> None:
    before = page("<h1>Old name</h1><p>x</p>", "Old name | Acme")
    left = without_title_again(diff_blocks(before, page("<h1>New name</h1><p>y</p>", "New name | Acme")))
    assert [edit.place for edit in left] == ["title", "p"]
    other = page("<h1>Another name</h1>", "New name | Acme")
    assert len(without_title_again(diff_blocks(page("<h1>Old name</h1>", "Old name | Acme"), other))) == 2


def test_a_mail_shows_the_context_in_a_line_before() -> None:
    digest = PageDigest("https://a/x", None, (LineChange("✓", "✗", "Support"), LineChange("a", "b")), more=0)
    (section,) = change_sections({"changed_page_urls": ["https://a/x"]}, [digest])
    assert list(section.lines) == ["“Support”:", "- ✓", "+ ✗", "- a", "+ b"]
