"""What is learned masks only what was seen to vary, and only if it varied twice: an edit is no noise."""

import pytest

from crawler.domain.noise.learned_rule import LearnedRule, Varies
from crawler.domain.noise.learning import learn
from crawler.domain.noise.second_looks import TwoLooks
from tests.unit.noise.pages import blocks
from tests.unit.noise.test_learned_noise import left, rule_set


def looks(*texts: str, shape: str = "site/{name}") -> TwoLooks:
    """Three looks at a page, one after the other; the last by the next crawl."""
    first, second, after = map(blocks, texts)
    return TwoLooks(shape, first, second, after=after)


@pytest.mark.parametrize(
    "line",
    [
        "<p class='rent'>Monthly rent {0} for flat m1 ref {1}</p>",
        "<p>Monthly rent {0} for flat m1 ref {1}</p>",
        "<p class='now'>{1} people look at this offer, last price paid {0}</p>",
        "<p class='x'>{0} / {1}</p>",
    ],
)
def test_a_value_beside_one_that_varies_is_still_compared(line: str) -> None:
    tags = ["7f3a91", "8e2b17", "1c9d55"]
    known = rule_set(learn([looks(*(line.format(n, tag) for tag in tags)) for n in (450, 600, 720)]))
    assert left(line.format(450, "7f3a91"), line.format(450, "44aa01"), known) == []
    assert len(left(line.format(450, "7f3a91"), line.format(500, "44aa01"), known)) == 1


def test_a_value_beside_words_that_vary_is_still_compared() -> None:
    line = "<main><p>Your friendly host {} pays only {} for this room</p><p>one</p><p>two</p><p>3</p></main>"
    known = rule_set(learn([looks(*(line.format(name, 40) for name in names)) for names in ("ABC", "DEF")]))
    assert left(line.format("A", 40), line.format("X", 40), known) == []
    assert len(left(line.format("A", 40), line.format("X", 55), known)) == 1


def test_a_rule_for_a_place_of_tags_alone_says_how_its_lines_read() -> None:
    form = "<main><form><p>{}</p></form></main>"
    tokens = ["a81f03ee", "9c44d1ab", "77aa10cd"]
    known = learn([looks(*(form.format(f"csrf_token={token}") for token in tokens)) for _ in range(4)])
    assert all(rule.line for rule in known)
    assert left(form.format("csrf_token=a81f03ee"), form.format("csrf_token=00aa12ff"), rule_set(known)) == []
    assert len(left(form.format("Deposit: 200 EUR"), form.format("Deposit: 300 EUR"), rule_set(known))) == 1
    bare = learn([looks(*(form.format(token) for token in tokens)) for _ in range(4)])
    assert left(form.format("a81f03ee"), form.format("00aa12ff"), rule_set(bare)) == []
    assert len(left(form.format("200"), form.format("300"), rule_set(bare))) == 1


def test_a_rule_for_all_values_of_a_nameless_place_masks_nothing() -> None:
    """Such were learned by earlier versions."""
    known = rule_set([LearnedRule("main>p", Varies.VALUES)])
    assert len(left("<main><p>Deposit: 200 EUR</p></main>", "<main><p>Deposit: 300 EUR</p></main>", known)) == 1


EDITS = [
    ("<footer class='f'><p>Call {}</p></footer>", "0800 1234", "0800 9999"),
    ("<div class='buy'>Only € {} today</div>", "5", "6"),
    ("<div class='ad'><p>{}</p></div>", "Open all week", "Closed for good"),
    ("<p>Our friendly staff will call {} back</p>", "you", "nobody"),
    ("<ul class='x'>{}</ul>", "<li>a</li><li>b</li>", "<li>b</li><li>a</li>"),
    ("<main class='m'>{}</main>", "<p>one</p>", "<p>one</p><p>New hotline</p>"),
    ("<main class='m'>{}</main>", "<p>one</p><p>Old hotline</p>", "<p>one</p>"),
]


@pytest.mark.parametrize(("text", "old", "new"), EDITS)
@pytest.mark.parametrize("later", [True, False])
def test_an_edit_between_two_looks_is_not_learned(text: str, old: str, new: str, later: bool) -> None:
    """The next crawl found it as the second look did; or the crawl before found what the first look did."""
    one, other = blocks(text.format(old)), blocks(text.format(new))
    looked = TwoLooks("s/{n}", one, other, after=other) if later else TwoLooks("s/{n}", one, other, before=one)
    assert learn([looked] * 8) == []


def test_a_value_that_was_edited_beside_one_that_varies_is_not_learned_with_it() -> None:
    line = "<p class='rent'>Monthly rent {} for flat m1 ref {}</p>"
    shown = [line.format(450, "7f3a91"), line.format(500, "8e2b17"), line.format(500, "1c9d55")]
    known = rule_set(learn([looks(*shown)] * 4))
    assert left(shown[1], shown[2], known) == []
    assert len(left(shown[0], shown[1], known)) == 1


def test_a_line_that_was_edited_in_a_box_that_rotates_is_still_compared() -> None:
    box = "<div class='box'><p>Call {}</p><p>{}</p></div>"
    ads = [("Buy shoes", "Fly away", "Hire us"), ("Sleep on wool", "Learn to sail", "Bread"), ("A bank", "Oil", "Tea")]
    seen = [looks(box.format(1, a), box.format(2, b), box.format(2, c)) for a, b, c in ads]
    known = rule_set(learn(seen))
    assert left(box.format(1, "Buy shoes"), box.format(1, "Hire us"), known) == []
    assert len(left(box.format(1, "Buy shoes"), box.format(2, "Hire us"), known)) == 1


def test_a_number_in_a_sentence_of_one_page_is_not_masked_with_the_live_one_of_all_pages() -> None:
    """They share a class, and most pages have only the live line."""
    live, own = "<p class='info'>{} people are looking at this hotel</p>", "<p class='info'>{}</p>"
    sentences = {3: "Pets up to {} kg are welcome", 5: "{} guests were hurt here in the fire"}

    def page(number: int, viewers: int, value: int = 5) -> str:
        mine = sentences.get(number)
        return live.format(viewers) + (own.format(mine.format(value)) if mine else "")

    known = rule_set(learn([looks(*(page(n, 17 + 4 * n + 9 * look) for look in range(3))) for n in range(12)]))
    assert left(page(0, 17), page(0, 3), known) == []
    for number in sentences:
        assert len(left(page(number, 17), page(number, 3, 20), known)) == 1, number
