from datetime import UTC, datetime
from uuid import UUID

import pytest

from crawler.domain.noise.learned_rule import LearnedRule, Varies
from crawler.domain.noise.learning import learn
from crawler.domain.noise.page_noise import apply_noise_rules
from crawler.domain.noise.rules import NoiseRule, RuleKind, RuleSet
from crawler.domain.noise.second_looks import TwoLooks
from tests.unit.noise.pages import blocks


def look(first: str, second: str, shape: str = "site/{name}") -> TwoLooks:
    return TwoLooks(shape, blocks(first), blocks(second))


def rule_set(rules: list[LearnedRule], *, enabled: bool = True) -> RuleSet:
    return RuleSet.of(
        NoiseRule(id=UUID(int=n), project_id=UUID(int=0), kind=RuleKind.LEARNED, value=rule.as_value(),
                  enabled=enabled, created_at=datetime(2026, 1, 1, tzinfo=UTC))
        for n, rule in enumerate(rules)
    )  # fmt: skip


def left(old: str, new: str, rules: RuleSet) -> list[tuple[str | None, str | None]]:
    edits = apply_noise_rules(blocks(old), blocks(new), rules).edits
    return [(edit.removed and edit.removed.text, edit.added and edit.added.text) for edit in edits]


NONCE = "<div class='ref'>Quote {} to our staff</div>"
AD = "<div class='ad'><h4>Partners</h4><p>{}</p></div>"
LIST = "<ul class='more'>{}</ul>"


def items(*names: str) -> str:
    return LIST.format("".join(f"<li>{name}</li>" for name in names))


def test_values_that_vary_at_a_place_are_masked_and_its_words_are_not() -> None:
    rules = learn([look(NONCE.format("a81f03"), NONCE.format("9c44d1"))])
    assert rules == [LearnedRule("div.ref", Varies.VALUES)]
    known = rule_set(rules)
    assert left(NONCE.format("a81f03"), NONCE.format("77aa10"), known) == []
    assert left(NONCE.format("a81f03"), "<div class='ref'>Quote 12ab34 to nobody</div>", known) != []


def test_a_place_whose_words_vary_is_masked_whole_and_nothing_else_is() -> None:
    rules = learn([look(AD.format(f"Ad {one}"), AD.format(f"Other {one}")) for one in ("a", "b", "c")])
    assert rules == [LearnedRule("div.ad>p", Varies.ALL)]
    known = rule_set(rules)
    assert left(AD.format("x") + "<p>text</p>", AD.format("y") + "<p>text</p>", known) == []
    assert left(AD.format("x") + "<p>text</p>", AD.format("y") + "<p>edited</p>", known) == [("text", "edited")]


BOX = "<div class='box'>{}</div>"


def box(*lines: str) -> str:
    return BOX.format("".join(f"<p>{line}</p>" for line in lines))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["Open from 9 to 5", "{ad}"], ["Open from 9 to 6", "{ad}"]),
        (["{ad}", "Call 0800 1234"], ["{ad}", "Call 0800 9999"]),
        (["{ad}", "Open on Sunday", "{ad} too"], ["{ad}", "Closed on Sunday", "{ad} too"]),
        (["Heading", "{ad}", "Call Ann"], ["Heading", "{ad}", "Call Bob"]),
    ],
)
def test_lines_that_never_varied_still_count_though_an_advertisement_rotates_beside_them(
    before: list[str], after: list[str]
) -> None:
    def shown(lines: list[str], ad: str) -> str:
        return box(*(line.format(ad=ad) for line in lines))

    ads = [("Buy shoes", "Fly away"), ("Sleep on wool", "Learn to sail"), ("Fresh bread", "A new bank")]
    known = rule_set(learn([look(shown(before, one), shown(before, other)) for one, other in ads]))
    assert [new for _, new in left(shown(before, "Buy shoes"), shown(after, "Hire us"), known)] == [
        line for line in after if line not in before
    ]
    assert left(shown(before, "Buy shoes"), shown(before, "Hire us"), known) == []


def test_a_number_that_never_varied_still_counts_beside_one_that_does() -> None:
    looks = [look(box(f"Ref. {n}81f0", "Room 12"), box(f"Ref. {n}c44d", "Room 12")) for n in "abc"]
    known = rule_set(learn(looks))
    assert left(box("Ref. a81f0", "Room 12"), box("Ref. 77aa1", "Room 12"), known) == []
    assert left(box("Ref. a81f0", "Room 12"), box("Ref. 77aa1", "Room 14"), known) == [("Room 12", "Room 14")]


def test_a_box_with_now_one_and_now_two_advertisements_is_masked_but_for_its_head() -> None:
    looks = [look(box("Call 12", f"ad {n}"), box("Call 12", f"other {n}", "second")) for n in "abc"]
    known = rule_set(learn(looks))
    assert left(box("Call 12", "ad a"), box("Call 12", "ad x", "ad y"), known) == []
    assert left(box("Call 12", "ad a"), box("Call 13", "ad x", "ad y"), known) == [("Call 12", "Call 13")]


def test_where_only_the_order_varies_a_new_line_is_still_seen() -> None:
    rules = learn([look(items("a", "b", "c"), items("c", "a", "b")), look(items("d", "e", "f"), items("f", "e", "d"))])
    assert rules == [LearnedRule("ul.more>li", Varies.ORDER)]
    known = rule_set(rules)
    assert left(items("a", "b", "c"), items("b", "c", "a"), known) == []
    assert [new for _, new in left(items("a", "b", "c"), items("d", "b", "a", "c"), known)] == ["d"]


def test_a_value_in_the_midst_of_ordinary_text_is_learned_with_its_words() -> None:
    text = "<main><p>Costs 10 coins</p><p>Served by node {} here</p><p>Since 1990</p><p>Ends 2030</p></main>"
    (rule,) = learn([look(text.format(1), text.format(2))])
    assert rule == LearnedRule("main>p", Varies.VALUES, None, "Served by node # here", (), (0,))
    known = rule_set([rule])
    assert left(text.format(1), text.format(7), known) == []
    assert left(text.format(1), text.format(7).replace("Costs 10", "Costs 12"), known) == [
        ("Costs 10 coins", "Costs 12 coins")
    ]


def test_words_that_vary_in_a_line_are_masked_and_its_other_words_are_not() -> None:
    text = "<main><p>Today your friendly host was {}</p><p>{} coins</p><p>one</p><p>two</p></main>"
    (rule,) = learn([look(text.format("Ann", 10), text.format("Bob", 10))])
    assert rule == LearnedRule("main>p", Varies.WORDS, None, "Today your friendly host was *")
    known = rule_set([rule])
    assert left(text.format("Ann", 10), text.format("Eve", 10), known) == []
    assert left(text.format("Ann", 10), text.format("Eve", 12), known) == [("10 coins", "12 coins")]
    rude = text.replace("friendly", "rude")
    assert len(left(text.format("Ann", 10), rude.format("Eve", 10), known)) == 1


def test_ordinary_paragraphs_are_never_masked_because_one_of_them_was_edited_between_the_looks() -> None:
    page = "<main><p>{}</p><p>two words</p><p>three words</p></main>"
    assert (
        learn([look(page.format("one"), page.format("edited")), *[look(page.format("x"), page.format("x"))] * 3]) == []
    )


def test_what_varies_on_one_kind_of_page_is_masked_there_alone() -> None:
    varying = [look(AD.format(f"{n}a b"), AD.format(f"{n}c d"), "site/shop/{name}") for n in "xyz"]
    still = [look(AD.format("always so"), AD.format("always so"), "site/blog/{name}")] * 9
    (rule,) = learn(varying + still)
    assert rule.shape == "site/shop/{name}"
    known = rule_set([rule])
    assert not known.at("div.ad>p", "site/blog/{name}").rules
    assert known.at("div.ad>p", "site/shop/{name}").rules


def test_a_price_that_was_set_anew_between_two_looks_is_not_masked() -> None:
    price = "<div class='buy'>Only € {} today</div>"
    assert learn([look(price.format(5), price.format(6))]) == []
    assert learn([look(price.format(5), price.format(6)), look(price.format(7), price.format(9))])


def test_pages_that_are_the_same_twice_teach_nothing() -> None:
    assert learn([look("<p>same 1</p>", "<p>same 1</p>")]) == []


def test_a_rule_that_is_switched_off_masks_nothing() -> None:
    rules = learn([look(NONCE.format("a81f03"), NONCE.format("9c44d1"))])
    assert left(NONCE.format("a81f03"), NONCE.format("77aa10"), rule_set(rules, enabled=False)) != []


@pytest.mark.parametrize(
    "rule",
    [
        LearnedRule("p.x", Varies.ALL),
        LearnedRule("p", Varies.VALUES, "s/{n}", "a # “b”"),
        LearnedRule("p", Varies.ALL, None, None, (0, -1)),
    ],
)
def test_a_rule_is_kept_as_text_and_read_again(rule: LearnedRule) -> None:
    assert LearnedRule.from_value(rule.as_value()) == rule
    assert rule.place in rule.words


def test_the_same_looks_always_give_the_same_rules() -> None:
    looks = [look(AD.format(one) + NONCE.format(two), AD.format(two) + NONCE.format(one)) for one, two in ("ab", "cd")]
    assert learn(looks) == learn(looks)
