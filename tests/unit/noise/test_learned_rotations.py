"""A box that shows a few texts in turn: one that was never among them is told, if it is known that they are few."""

import random
from collections.abc import Sequence
from itertools import count

import pytest

from crawler.domain.diffs.page_blocks import PageBlocks
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


def counted(start: int, step: int = 1) -> list[str]:
    return [f"{text}: {start + step * n} of 80 left" for n, text in enumerate(TEASERS * 3)]


def test_numbers_that_vary_in_texts_that_come_in_turn_may_be_others() -> None:
    known = rule_set(learn(looks(before=counted(100), after=counted(200))))
    assert left(page(counted(100)[0]), page(counted(300)[1]), known) == []
    assert left(page(counted(100)[0]), page("Closed: 3 of 80 days"), known) != []


def test_numbers_beside_those_that_vary_are_told() -> None:
    known = rule_set(learn(looks(before=counted(100), after=counted(200))))
    edited = counted(300)[1].replace("of 80", "of 40")
    assert left(page(counted(100)[0]), page(edited), known) == [(None, edited)]


EVENTS = (
    "Osprey choir, 12 May 2027, 20:00",
    "Puffin run, 9 June 2027, entry 15 EUR",
    "Skua lecture, 5 August 2027, 80 seats",
    "Gannet market, 2 August 2027",
)


@pytest.mark.parametrize(
    ("one", "was", "now"),
    [(0, "12 May", "19 May"), (0, "20:00", "21:30"), (1, "15 EUR", "25 EUR"), (2, "80 seats", "40 seats")],
)
def test_dates_and_numbers_that_never_varied_in_texts_that_come_in_turn_are_told(one: int, was: str, now: str) -> None:
    rules = learn(looks(before=EVENTS, after=EVENTS))
    edited = EVENTS[one].replace(was, now)
    for known in (rule_set(rules), rule_set([LearnedRule("div.teaser>p", Varies.ALL, texts=rules[0].texts), *rules])):
        assert [new for _, new in left(page(EVENTS[one]), page(edited), known)] == [edited]
        assert all(left(page(EVENTS[0]), page(other), known) == [] for other in EVENTS)


def test_an_edit_between_two_crawls_is_no_number_that_varies() -> None:
    """The crawl that finds it learns before it compares."""
    after = tuple(text.replace("12 May", "19 May") for text in EVENTS)
    rules = learn(looks(before=EVENTS, after=after))
    for known in (rule_set(rules), rule_set([*learn(looks(before=EVENTS, after=EVENTS)), *rules])):
        assert left(page(EVENTS[1]), page(after[0]), known) == [(None, after[0])]
    known = rule_set([*rules, *learn(looks(before=after, after=after))])
    assert left(page(EVENTS[1]), page(after[0]), known) == []
    edited = EVENTS[0].replace("12 May", "26 May")
    assert left(page(EVENTS[1]), page(edited), known) == [(None, edited)]


def test_values_of_texts_that_read_alike_are_those_that_were_seen() -> None:
    prices = ("Only 10 EUR", "Visit our museum", "Only 20 EUR", "Rent a boat today")
    known = rule_set(learn(looks(before=prices, after=prices, pages=30)))
    assert left(page(prices[1]), page(prices[2]), known) == []
    assert left(page(prices[0]), page("Only 99 EUR"), known) == [(None, "Only 99 EUR")]


def test_a_list_that_always_shows_all_of_them_is_told_where_its_name_is_another() -> None:
    """Too few looks were made to know that the texts are these few."""

    def shown(name: str, texts: Sequence[str]) -> str:
        return f"<ul class='{name}'>{''.join(f'<li class=event>{text}</li>' for text in texts)}</ul>"

    def some(n: int) -> PageBlocks:
        return blocks(shown("tips", random.Random(n).sample(EVENTS, 3)))

    every = shown("all", EVENTS)
    found = [TwoLooks("site/{n}", some(n), some(n + 1), after=some(n + 2), page=str(n)) for n in range(6)]
    still = TwoLooks("site/all", blocks(every), blocks(every), after=blocks(every), page="all")
    known = rule_set(learn([*found, still]))
    assert left(shown("tips", EVENTS[:3]), shown("tips", EVENTS[1:]), known) == []
    edited = every.replace("12 May", "19 May")
    assert (None, EVENTS[0].replace("12 May", "19 May")) in left(every, edited, known)


def test_a_rule_of_an_earlier_version_masks_all_numbers_of_its_texts() -> None:
    (rule,) = learn(looks(before=EVENTS, after=EVENTS))
    old = LearnedRule.from_value(rule._replace(said=(), free=()).as_value())
    assert left(page(EVENTS[0]), page(EVENTS[0].replace("12 May", "19 May")), rule_set([old])) == []


def test_numbers_that_may_be_others_are_disclosed() -> None:
    free = rule_set(learn(looks(before=counted(100), after=counted(200))))
    assert [rule.masks_bare_values for rule in free.blind.values()] == [True]
    assert rule_set(learn(looks(before=EVENTS, after=EVENTS))).blind == {}


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


def bare(text: str, own: str = "Words of this page.") -> str:
    return f"<h1>x</h1><p>{own}</p><aside><h4>Our guests say</h4><blockquote>{text}</blockquote></aside>"


def bare_looks(said: Sequence[str], pages: int = PAGES, seed: int = 1) -> list[TwoLooks]:
    """A box that nothing names shows any of a few texts; one crawl looked twice at every page."""
    by_chance = random.Random(seed)
    found = []
    for n in range(pages):
        before, first, second = (blocks(bare(by_chance.choice(said), f"About {n}.")) for _ in range(3))
        found.append(TwoLooks("site/{n}", first, second, before=before, page=str(n)))
    return found


def test_texts_that_several_pages_show_in_turn_are_quiet_where_nothing_names_their_box() -> None:
    """Few looks do not show that there are no others, so another one is told."""
    rules = learn(bare_looks(TEASERS))
    known = rule_set(rules)
    for text in TEASERS:
        assert left(bare(TEASERS[0]), bare(text), known) == []
    assert left(bare(TEASERS[0]), bare("Do not drink the water"), known) == [(None, "Do not drink the water")]
    assert left(bare(TEASERS[0], "Open daily."), bare(TEASERS[1], "Closed."), known) == [("Open daily.", "Closed.")]
    assert not known.blind


def test_what_only_one_page_shows_is_its_own() -> None:
    own = [f"Guest number {n} of our house liked it: {'so ' * n}much" for n in range(60)]
    known = rule_set(learn(bare_looks(own)))
    assert left(bare(own[0]), bare(own[1]), known) != []


def test_lines_beside_them_that_stay_are_told_though_many_pages_have_them() -> None:
    def stocked(page: str, stock: str) -> str:
        return page.replace("</blockquote>", f"</blockquote><blockquote>{stock}</blockquote>")

    looks_ = []
    by_chance = random.Random(2)
    for n in range(PAGES):
        some = [blocks(stocked(bare(by_chance.choice(TEASERS)), ("In stock", "Sold out")[n % 2])) for _ in range(3)]
        looks_.append(TwoLooks("site/{n}", some[1], some[2], before=some[0], page=str(n)))
    known = rule_set(learn(looks_))
    before, after = (stocked(bare(TEASERS[0]), stock) for stock in ("In stock", "Sold out"))
    assert left(before, after, known) == [("In stock", "Sold out")]


def test_numbers_in_such_texts_are_told_unless_they_were_seen_to_vary() -> None:
    fares = [f"{text}: 12 EUR" for text in TEASERS]
    known = rule_set(learn(bare_looks(fares)))
    edited = fares[1].replace("12", "15")
    assert left(bare(fares[0]), bare(fares[1]), known) == []
    assert [new for _, new in left(bare(fares[1]), bare(edited), known)] == [edited]


def test_however_often_other_texts_come_there_only_those_that_were_seen_are_quiet() -> None:
    rules = [rule for n in range(4) for rule in learn(bare_looks([f"{text} {'x' * n}" for text in TEASERS], seed=n))]
    known = rule_set(rules)
    assert left(bare(TEASERS[0] + " x"), bare(TEASERS[1] + " xx"), known) == []
    assert left(bare(TEASERS[0] + " x"), bare("Do not drink the water"), known) != []
