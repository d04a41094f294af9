"""A box that shows a few texts in turn: one that was never among them is told, if it is known that they are few."""

from collections.abc import Sequence
from itertools import count

from crawler.domain.noise.learned_rule import LearnedRule, Varies
from crawler.domain.noise.learning import learn
from crawler.domain.noise.second_looks import TwoLooks
from tests.unit.noise.pages import blocks
from tests.unit.noise.test_learned_noise import left, rule_set

TEASERS = ("Visit our museum", "Rent a boat today", "Fresh bread daily", "Learn to sail with friends")
PAGES = 16


def page(text: str, more: str = "", name: str = "x") -> str:
    return f"<h1>{name}</h1><div class='teaser'><h4>Tip</h4><p>{text}</p>{more}</div>"


def looks(*, before: Sequence[str] = TEASERS, after: Sequence[str] = TEASERS, pages: int = PAGES) -> list[TwoLooks]:
    """Both crawls looked twice at every page."""
    found = []
    for n in range(pages):
        one, two = (page(before[(n + by) % len(before)], name=f"p{n}") for by in (0, 1))
        three, four = (page(after[(n + by) % len(after)], name=f"p{n}") for by in (2, 3))
        a, b, c, d = map(blocks, (one, two, three, four))
        found += [TwoLooks("site/{n}", a, b, after=c, page=str(n)), TwoLooks("site/{n}", c, d, before=b, page=str(n))]
    return found


def test_a_text_that_was_never_among_those_in_turn_is_told() -> None:
    rules = learn(looks())
    known = rule_set(rules)
    assert [rule.varies for rule in rules] == [Varies.ALL]
    for text in TEASERS:
        assert left(page(TEASERS[0]), page(text), known) == []
    assert left(page(TEASERS[0]), page("Do not drink the water"), known) == [(None, "Do not drink the water")]
    assert left(page("Do not drink the water"), page(TEASERS[0]), known) == [("Do not drink the water", None)]
    pinned = page(TEASERS[1], more="<p>Closed on Friday</p>")
    assert left(page(TEASERS[0]), pinned, known) == [(None, "Closed on Friday")]


def test_numbers_in_texts_that_come_in_turn_may_be_others() -> None:
    texts = tuple(f"{text}: {n} left" for n, text in enumerate(TEASERS, 10))
    known = rule_set(learn(looks(before=texts, after=texts)))
    assert left(page(texts[0]), page(texts[1].replace("11", "99")), known) == []
    assert left(page(texts[0]), page("Closed: 3 days"), known) != []


def test_where_texts_never_repeat_all_are_quiet() -> None:
    fresh = (f"{'abcdefghij'[n % 10] * 4} {'klmnopqrst'[n // 10 % 10] * 5} news" for n in count())
    texts = [next(fresh) for _ in range(99)]
    known = rule_set(learn(looks(before=texts[:40], after=texts[40:])))
    assert left(page(texts[0]), page("Do not drink the water"), known) == []


def test_where_other_texts_come_from_crawl_to_crawl_all_are_quiet() -> None:
    known = rule_set(learn(looks(after=(*TEASERS[:3], "Buy a kite"))))
    assert left(page(TEASERS[0]), page("Do not drink the water"), known) == []


def test_few_looks_show_no_rotation() -> None:
    known = rule_set(learn(looks(pages=2)))
    assert left(page(TEASERS[0]), page("Do not drink the water"), known) == []


def test_what_was_learned_of_a_rotation_adds_up_until_it_is_none() -> None:
    """Whoever puts in other texts again and again has no rotation, but news."""
    sets = [TEASERS, (*TEASERS, "Buy a kite"), (*TEASERS[:3], "Eat a fish")]
    rules = [rule for some in sets for rule in learn(looks(before=some, after=some))]
    assert len(set(rules)) == 3
    assert left(page(TEASERS[0]), page("Buy a kite"), rule_set(rules[:2])) == []
    assert left(page(TEASERS[0]), page("Eat a fish"), rule_set(rules[:2])) == [(None, "Eat a fish")]
    assert left(page(TEASERS[0]), page("Do not drink the water"), rule_set(rules)) == []


def test_a_rule_of_few_looks_does_not_undo_one_of_many() -> None:
    few = LearnedRule("div.teaser>p", Varies.ALL)
    known = rule_set([few, *learn(looks())])
    assert left(page(TEASERS[0]), page("Do not drink the water"), known) == [(None, "Do not drink the water")]
    assert left(page(TEASERS[0]), page("Do not drink the water"), rule_set([few])) == []


def test_a_rule_is_stored_with_what_it_knows_and_says_so() -> None:
    (rule,) = learn(looks())
    assert LearnedRule.from_value(rule.as_value()) == rule
    assert len(rule.as_value()) < 200
    assert rule.words == "everything at div.teaser>p that was seen there (4 texts)"
