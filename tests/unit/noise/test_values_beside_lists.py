"""A page's own price, date or number counts where random cards or entries show values of the same class."""

import random
from collections.abc import Callable
from itertools import pairwise

import pytest

from crawler.domain.diffs.page_blocks import PageBlocks
from crawler.domain.noise.learned_rule import LearnedRule, Varies
from crawler.domain.noise.learning import learn
from crawler.domain.noise.page_noise import apply_noise_rules
from crawler.domain.noise.rules import RuleSet
from crawler.domain.noise.second_looks import TwoLooks
from tests.unit.noise.pages import blocks
from tests.unit.noise.test_learned_noise import rule_set

NAMES = (
    *("Osprey", "Heron", "Puffin", "Tern", "Gannet", "Skua", "Eider", "Plover"),
    *("Curlew", "Dunlin", "Knot", "Avocet", "Godwit", "Ruff", "Snipe", "Stint"),
)
FORMATS = ("{:.2f} EUR", "${:.2f}", "{:.0f} seats", "{:.0f} May 2027")
Show = Callable[[int, list[float], random.Random], str]
"""Writes a page, by its number, all values, and what picks the cards."""


def cards(values: list[float], some: list[int], form: str) -> str:
    one = "<div class=card><a href='/p{}'>{} lamp</a><span class=price>{}</span></div>"
    return "".join(one.format(n, NAMES[n], form.format(values[n])) for n in some)


def product(form: str, shown: int = 4) -> Show:
    def show(at: int, values: list[float], picks: random.Random) -> str:
        others = picks.sample([n for n in range(len(values)) if n != at], shown)
        own = (
            f"<div class=prod><span class=price>{form.format(values[at])}</span><p>A lamp named {NAMES[at]}.</p></div>"
        )
        return f"<h1>{NAMES[at]} lamp</h1>{own}<div class=reco><h3>More</h3>{cards(values, others, form)}</div>"

    return show


def read(show: Show, at: int, values: list[float], picks: random.Random) -> PageBlocks:
    return blocks(show(at, values, picks), title=NAMES[at])


def learned(show: Show, values: list[float], picks: random.Random, crawls: int = 4) -> RuleSet:
    """What these crawls learn, each of which looks twice at each page."""
    rules: set[LearnedRule] = set()
    pages = range(len(values))
    seen = [[[read(show, at, values, picks) for _ in range(2)] for at in pages] for _ in range(crawls)]
    for before, after in pairwise(seen):
        looks = []
        for at, ((one, two), (three, four)) in enumerate(zip(before, after, strict=True)):
            looks.append(TwoLooks("site/{n}", one, two, after=three, page=str(at)))
            looks.append(TwoLooks("site/{n}", three, four, before=two, page=str(at)))
        rules |= set(learn(looks))
    return rule_set(sorted(rules, key=LearnedRule.as_value))


def told(old: PageBlocks, new: PageBlocks, rules: RuleSet, at: int) -> list[str]:
    edits = apply_noise_rules(old, new, rules, shape="site/{n}", page=str(at)).edits
    return [block.text for edit in edits for block in edit if block]


def untold(show: Show, form: str, pages: int, seed: int) -> int:
    """Pages on which an edit of the own value is not told."""
    picks = random.Random(seed)
    values = [19.9 + 3 * n for n in range(pages)]
    rules = learned(show, values, picks)
    missed = 0
    for at in range(pages):
        edited = [value + 5 * (n == at) for n, value in enumerate(values)]
        old, new = read(show, at, values, picks), read(show, at, edited, picks)
        missed += form.format(edited[at]) not in told(old, new, rules, at)
    return missed


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("pages", [8, 12, 16])
def test_an_own_value_is_told_beside_random_cards(form: str, pages: int) -> None:
    assert sum(untold(product(form), form, pages, seed) for seed in range(2)) == 0


@pytest.mark.parametrize("form", FORMATS)
def test_an_own_value_is_told_beside_one_random_card(form: str) -> None:
    assert sum(untold(product(form, shown=1), form, 8, seed) for seed in range(3)) == 0


@pytest.mark.parametrize("form", FORMATS)
def test_an_own_value_is_told_where_some_pages_have_none(form: str) -> None:
    def show(at: int, values: list[float], picks: random.Random) -> str:
        if at % 4:
            return product(form)(at, values, picks)
        others = picks.sample(range(len(values)), 4)
        return f"<h1>{NAMES[at]}</h1><div class=reco>{cards(values, others, form)}</div>"

    picks = random.Random(3)
    values = [19.9 + 3 * n for n in range(12)]
    rules = learned(show, values, picks)
    for at in (1, 2, 3, 5, 6, 7):
        edited = [value + 50 * (n == at) for n, value in enumerate(values)]
        old, new = read(show, at, values, picks), read(show, at, edited, picks)
        assert form.format(edited[at]) in told(old, new, rules, at)


@pytest.mark.parametrize("form", FORMATS)
def test_random_cards_are_mostly_quiet_beside_an_own_value(form: str) -> None:
    show, picks = product(form), random.Random(1)
    values = [19.9 + 3 * n for n in range(8)]
    rules = learned(show, values, picks)
    loud = 0
    for at in range(8):
        texts = told(read(show, at, values, picks), read(show, at, values, picks), rules, at)
        loud += any(form.format(value) in texts for value in values)
    assert loud <= 1


def test_a_list_that_always_says_the_same_is_told_beside_a_random_one() -> None:
    def show(at: int, values: list[float], picks: random.Random) -> str:
        entry = "<li class=item><b class=seats>{:.0f} seats</b></li>".format
        sizes = "".join(entry(values[at] + 100 * n) for n in range(3))
        others = "".join(entry(values[n]) for n in picks.sample(range(len(values)), 3))
        return f"<h1>{NAMES[at]}</h1><ul class=sizes>{sizes}</ul><ul class=related>{others}</ul>"

    picks = random.Random(2)
    values = [19.0 + 3 * n for n in range(12)]
    rules = learned(show, values, picks)
    for at in range(12):
        edited = [value + 1000 * (n == at) for n, value in enumerate(values)]
        assert f"{edited[at] + 100:.0f} seats" in told(
            read(show, at, values, picks), read(show, at, edited, picks), rules, at
        )


def test_counters_of_all_sections_are_quiet_where_nobody_came_to_some_topics() -> None:
    def topics(visitors: int) -> PageBlocks:
        rows = [
            "".join(
                f"<tr><td>Topic {n}</td><td class=views>{50 + n + visitors * (n % 4 == 0)}</td></tr>"
                for n in range(start, start + 20)
            )
            for start in (0, 100)
        ]
        return blocks("".join(f"<h2>Part {n}</h2><table>{some}</table>" for n, some in enumerate(rows)))

    first, second, third = map(topics, (1, 2, 3))
    rules = rule_set(learn([TwoLooks("site/{n}", first, second, after=third)]))
    assert told(topics(1), topics(9), rules, 0) == []


@pytest.mark.parametrize(
    ("rule", "bare"),
    [
        (LearnedRule("span.price", Varies.VALUES, None, "# EUR", (), (0,)), True),
        (LearnedRule("span.price", Varies.VALUES, None, "$#", (), (0,)), True),
        (LearnedRule("b.mass", Varies.VALUES, None, "# kg", (), (0,)), True),
        (LearnedRule("b.n", Varies.VALUES, None, "#", (), (0,), page="7"), True),
        (LearnedRule("b.n", Varies.VALUES, None, "# EUR", (), (0,), page="7"), True),
        (LearnedRule("b.n", Varies.VALUES, None, "# people online", (), (0,), page="7"), False),
        (LearnedRule("b.n", Varies.VALUES, None, "#", (), (0,), rows=("Online",)), False),
    ],
)
def test_a_rule_that_masks_a_number_which_no_word_names_is_disclosed(rule: LearnedRule, bare: bool) -> None:
    assert rule.masks_bare_values is bare


def test_a_rule_is_stored_with_its_lists_and_says_so() -> None:
    rule = LearnedRule("span.price", Varies.VALUES, None, "# EUR", (), (0,), lists=("div.reco",))
    assert LearnedRule.from_value(rule.as_value()) == rule
    assert rule.words.endswith("in lines like '# EUR' in div.reco")
