"""Pruning keeps what a page is about and drops what surrounds it."""

from crawler.domain.markdown.page import to_markdown
from crawler.domain.markdown.pruning import Pruning

URL = "https://example.com/"
SENTENCE = "The barn was built in the last century and holds one hundred and twenty guests at long tables. "
SHORT = "<p>Short, but <b>said</b> <a href=/x>here</a>.</p>"
CONTENT = f"<div class=body><h2>About the barn</h2><p>{SENTENCE * 4}</p>{SHORT}</div>"


def pruned(markup: str, pruning: Pruning | None = None) -> str:
    return to_markdown(markup.encode(), url=URL, pruning=pruning or Pruning())


def test_content_stays_with_its_headings_short_paragraphs_and_emphasis() -> None:
    found = pruned(CONTENT)
    assert found == to_markdown(CONTENT.encode(), url=URL)
    assert found.startswith("## About the barn")
    assert found.endswith("Short, but **said** [here](https://example.com/x).")


def test_boxes_of_few_words_go_with_all_that_is_in_them() -> None:
    teaser = "<div class=teaser><h3>More</h3><p>Read on</p></div>"
    assert pruned(teaser + CONTENT + teaser) == pruned(CONTENT)


def test_links_go_by_their_score_however_many_words_they_have() -> None:
    links = "".join(f"<div><a href='/tag/{n}' class='tag-link tag-link-{n}'>t{n}</a></div>" for n in range(200))
    page = f"<div class=tags>{links}</div>{CONTENT}"
    assert "t17" in to_markdown(page.encode(), url=URL)
    assert pruned(page, Pruning(min_words=0)) == pruned(CONTENT)


def test_the_minimum_of_words_is_the_seeds_and_can_be_set() -> None:
    def box(words: int) -> str:
        return f"<div><p>{'word ' * words}</p></div>"

    assert pruned(box(74)) == ""
    assert pruned(box(75)) != ""
    assert pruned(box(10), Pruning(min_words=10)) != ""


def test_a_higher_threshold_drops_more() -> None:
    page = f"<section><p>{SENTENCE * 3}</p><div><p>{'<i>a</i> ' * 80}</p></div></section>"
    assert "a" in pruned(page, Pruning(threshold=0.1))
    assert pruned(page, Pruning(threshold=5.0)) == ""


def test_a_name_that_says_boilerplate_counts_against_a_block() -> None:
    """Both are the same but for the meaning of their names, and stand at the edge."""
    edge = Pruning(threshold=1.05, min_words=0)
    assert pruned("<p id=content class=content>some twenty characters", edge)
    assert not pruned("<p id=sidebar class=sidebar>some twenty characters", edge)


def test_without_pruning_everything_stays() -> None:
    assert to_markdown(b"<div><p>few</p></div>", url=URL) == "few"
