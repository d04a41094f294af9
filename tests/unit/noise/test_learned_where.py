"""What varies on some pages is not ignored on others that have texts of their own at the same place."""

import pytest

from crawler.domain.noise.learned_rule import LearnedRule, Varies
from crawler.domain.noise.learning import learn
from crawler.domain.noise.page_noise import apply_noise_rules
from crawler.domain.noise.second_looks import TwoLooks
from tests.unit.noise.pages import blocks
from tests.unit.noise.test_learned_noise import rule_set

SHAPE = "site/wiki/{name}"


def article(*lines: str, tag: str = "p") -> str:
    return f"<div id='content'>{''.join(f'<{tag}>{line}</{tag}>' for line in lines)}</div>"


def text(line: str) -> str:
    return f"<div class='body'>{line}</div>"


def looked_at(page: str, *looks: str, shape: str = SHAPE) -> TwoLooks:
    first, second, after = map(blocks, looks)
    return TwoLooks(shape, first, second, after=after, page=page)


def lines_left(old: str, new: str, rules: list[LearnedRule], page: str, shape: str = SHAPE) -> int:
    found = apply_noise_rules(blocks(old), blocks(new), rule_set(rules), shape=shape, page=page)
    return len(found.edits)


SAYINGS = ("Well begun is half done", "Still waters run deep", "Better late than never", "Many hands, light work")


def rotating(name: str) -> TwoLooks:
    return looked_at(name, *(article(SAYINGS[at], f"{name}, {SAYINGS[at + 1].lower()}") for at in range(3)))


def fixed(name: str) -> TwoLooks:
    return looked_at(name, *[article(f"All about {name} is said here", f"Also about {name}")] * 3)


WIKI = [*map(rotating, ("quote", "riddle", "proverb")), *map(fixed, ("rye", "oats", "wheat", "spelt"))]


def test_a_few_pages_of_sayings_do_not_silence_all_articles() -> None:
    rules = learn(WIKI)
    edited = article("All about rye is said here", "Rye was recalled")
    assert lines_left(article("All about rye is said here", "Also about rye"), edited, rules, "rye") == 1
    assert lines_left(article("All about new is said here", "Also about new"), edited, rules, "new") > 0


def test_articles_that_nobody_fetched_twice_are_no_sayings_either() -> None:
    """Pages that did not change get no second look."""
    rules = learn(WIKI[:3], still=WIKI[3:])
    assert {rule.page for rule in rules} == {"quote", "riddle", "proverb"}


def test_what_varies_on_one_page_is_quiet_there() -> None:
    rules = learn(WIKI)
    assert {rule.varies for rule in rules} == {Varies.ALL}
    assert lines_left(article("Saying a", "Then a"), article("Saying x", "Then y"), rules, "quote") == 0


def test_a_box_that_some_pages_happen_to_show_twice_is_ignored_everywhere() -> None:
    """What they show stands on other pages, too: they are part of the same rotation."""
    pages = [looked_at(str(at), *(text(SAYINGS[(at + n) % 4]) for n in (0, 1, 3))) for at in range(4)]
    same = [looked_at(f"same {at}", *[text(SAYINGS[at])] * 3) for at in range(2)]
    assert learn([*pages, *same]) == [LearnedRule("div.body", Varies.ALL)]


def test_a_class_that_articles_share_with_sayings_names_neither() -> None:
    sayings = [looked_at(name, *map(text, SAYINGS[:3])) for name in "xyz"]
    articles = [looked_at(name, *[text(f"What {name} is about")] * 3) for name in ("rye", "oats", "wheat")]
    rules = learn([*sayings, *articles])
    assert lines_left(text("What rye is about"), text("Rye was recalled"), rules, "rye") == 1
    assert lines_left(text(SAYINGS[0]), text("Haste makes waste"), rules, "x") == 0


def test_a_kind_of_pages_that_varies_is_ignored_also_where_nobody_looked() -> None:
    sayings = [rotating(name)._replace(shape="site/say/{name}") for name in ("quote", "riddle", "proverb")]
    rules = learn([*sayings, *map(fixed, ("rye", "oats", "wheat"))])
    assert lines_left(article("Saying a", "Then a"), article("Saying x", "So y"), rules, "joke", "site/say/{name}") == 0
    assert lines_left(article("Saying a", "Then a"), article("Saying x", "So y"), rules, "joke") > 0


@pytest.mark.parametrize("tag", ["p", "li", "dd"])
def test_numbers_in_the_text_of_one_page_are_not_those_of_another(tag: str) -> None:
    live = looked_at("live", *(article(f"{at}1", f"{at}7", tag=tag) for at in (10, 20, 30)))
    others = [looked_at(name, *[article(at, "500", tag=tag)] * 3) for name, at in (("a", "10"), ("b", "20"))]
    rules = learn([live, *others])
    assert lines_left(article("10", "500", tag=tag), article("10", "777", tag=tag), rules, "a") == 1
    assert lines_left(article("101", "107", tag=tag), article("501", "577", tag=tag), rules, "live") == 0


def test_an_order_that_varies_on_one_page_counts_on_others() -> None:
    orders = (("one", "two", "three"), ("two", "one", "three"), ("three", "one", "two"))
    mixed = looked_at("mixed", *(article(*order, tag="li") for order in orders))
    ranks = [looked_at(name, *[article(f"{name} Anna", f"{name} Bo", tag="li")] * 3) for name in "ab"]
    rules = learn([mixed, mixed._replace(page="more"), *ranks])
    assert lines_left(article("a Anna", "a Bo", tag="li"), article("a Bo", "a Anna", tag="li"), rules, "a") > 0


def test_counters_are_ignored_on_pages_that_nobody_visited_meanwhile() -> None:
    counter = "<span class='views'>{}</span>"
    moving = [looked_at(str(at), *(counter.format(at * 7 + n) for n in (1, 2, 3))) for at in (1, 2)]
    still = [looked_at(str(at), *[counter.format(at)] * 3) for at in (40, 50, 60)]
    rules = learn([*moving, *still])
    assert lines_left(counter.format(40), counter.format(41), rules, "40") == 0


def test_a_rule_is_stored_with_its_page() -> None:
    rules = learn(WIKI)
    assert [LearnedRule.from_value(rule.as_value()) for rule in rules] == rules
    assert {rule.page for rule in rules} == {"quote", "riddle", "proverb"}


def test_one_word_names_a_line_on_pages_of_one_kind() -> None:
    """Where no class names it: a tag of each request that looks like a word or a number."""
    tags = [("ahsw2qcbyy4", "8ykj8xn7mjc", "2wdukd4659o"), ("fwlwry2inhb", "w4x8ti0npcd", "jcrz68pgkn9")]
    product, shape = "<main><p>Request {}</p></main>", "site/p/{n}"
    rules = learn([looked_at(f"p{at}", *map(product.format, some), shape=shape) for at, some in enumerate(tags)])
    assert lines_left(product.format("d4winbsfja5"), product.format("3exhakfboem"), rules, "p7", shape) == 0
    assert lines_left(product.format("d4winbsfja5"), product.format("3exhakfboem"), rules, "p7", "site/a") == 1


def test_an_order_that_varies_on_one_page_counts_where_only_numbers_vary() -> None:
    """Both have a bare table: in one the rows are shuffled, in the others a number is live."""

    def table(*rows: tuple[str, object]) -> str:
        cells = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in rows)
        return f"<main><table>{cells}</table></main>"

    def garage(free: int, *names: str) -> str:
        return table(*zip(names or ("Market", "Station"), ("Anna", "Bo"), strict=True), ("Free", free))

    singers = [("Fritz", "tenor"), ("Gerd", "bass"), ("Ines", "alto")]
    orders = [singers, singers[1:] + singers[:1], singers[2:] + singers[:2]]
    mixed = looked_at("mixed", *(table(*order) for order in orders))
    live = [looked_at(name, *map(garage, (31, 42, 57))) for name in "abc"]
    rules = learn([mixed, mixed._replace(page="more"), *live])
    assert lines_left(table(*orders[0]), table(*orders[2]), rules, "mixed") == 0
    assert lines_left(garage(31), garage(31, "Station", "Market"), rules, "a") > 0


LIVE = ("Today {} guests are in", "Now {} bids are made", "There were {} calls", "Some {} jobs wait")


def live(line: str) -> TwoLooks:
    return looked_at(line, *(article(line.format(count)) for count in (14, 37, 92)), shape=f"site/{line[:5]}")


def test_one_page_of_sayings_among_pages_with_a_number_silences_no_paragraphs() -> None:
    """Each of those has a line of its own there, of which only the number varies: its words count."""
    sayings = looked_at("quote", *(article("By Marten Holt", line) for line in SAYINGS[:3]), shape="site/quote")
    rules = learn([sayings, *map(live, LIVE)])
    assert lines_left(article("Dose: 5 mg"), article("Dose: 50 mg"), rules, "rules", "site/rules") == 1
    for line in LIVE:
        here = (rules, line, f"site/{line[:5]}")
        assert lines_left(article(line.format(14)), article(line.format(53)), *here) == 0
        assert lines_left(article(line.format(14)), article(f"Closed, {line.format(14)}"), *here) == 1


def test_a_box_in_which_some_pages_happen_to_show_the_same_words_twice_is_ignored_everywhere() -> None:
    """Its offers have numbers, and stand on other pages as well."""
    offers = ("Bought {} times", "Only {} are left", "Free for {} days")
    looks = ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 0, 0), (1, 1, 1))
    pages = [
        looked_at(str(n), *(text(offers[at].format(n + 7 * step)) for step, at in enumerate(ats)))
        for n, ats in enumerate(looks)
    ]
    assert [rule.varies for rule in learn(pages)] == [Varies.ALL]


def value(line: object) -> str:
    return f"<p class='value'>{line}</p>"


def meters(line: str, shape: str) -> list[TwoLooks]:
    return [looked_at(f"m{at}", *(value(line.format(at + n)) for n in (7, 52, 81)), shape=shape) for at in range(4)]


def limits(line: str, shape: str) -> list[TwoLooks]:
    return [looked_at(f"l{at}", *[value(line.format(at * 31))] * 3, shape=shape) for at in range(1, 7)]


def test_a_class_of_live_numbers_on_one_kind_of_pages_is_none_of_other_kinds() -> None:
    """`value` names a number, not which: the limits of streets are no live meters."""
    rules = learn([*meters("{}", "site/meter/{n}"), *limits("{}", "site/limit/{n}")])
    assert lines_left(value(31), value(41), rules, "l1", "site/limit/{n}") == 1
    assert lines_left(value(31), value(41), rules, "m9", "site/meter/{n}") == 0


def test_a_class_of_live_numbers_is_none_where_other_words_stand_beside_them() -> None:
    rules = learn([*meters("Flow {} litres", SHAPE), *limits("Holds {} litres", SHAPE)])
    assert lines_left(value("Holds 31 litres"), value("Holds 41 litres"), rules, "l1") == 1
    assert lines_left(value("Flow 31 litres"), value("Flow 41 litres"), rules, "m9") == 0


def test_what_varies_on_many_pages_of_one_kind_counts_on_the_few_of_another() -> None:
    kinds = "site/meter/{n}", "site/limit/{n}"
    many = [looked._replace(page=f"{looked.page} {at}") for at in range(5) for looked in meters("{}", kinds[0])]
    rules = learn([*many, *limits("{}", kinds[1])[:3]])
    assert lines_left(value(31), value(41), rules, "m9", kinds[0]) == 0
    assert lines_left(value(31), value(41), rules, "l1", kinds[1]) == 1


def test_numbers_that_somebody_edited_between_two_crawls_are_not_live_on_other_kinds() -> None:
    """They were the same a moment later."""
    edited = [
        looked_at(f"l{at}", *map(value, (at * 31, at * 31, at * 40)), shape="site/limit/{n}") for at in range(1, 4)
    ]
    rules = learn([*meters("{}", "site/meter/{n}"), *edited])
    assert lines_left(value(31), value(40), rules, "l1", "site/limit/{n}") == 1


def test_pages_that_were_fetched_once_show_what_is_no_live_number_there() -> None:
    """More pages changed than are fetched twice: each has a clock, too."""
    once = [TwoLooks(one.shape, one.first, one.first, one.first) for one in limits("{}", "site/limit/{n}")]
    rules = learn(meters("{}", "site/meter/{n}"), still=once)
    assert lines_left(value(31), value(40), rules, "l1", "site/limit/{n}") == 1
