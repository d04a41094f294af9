"""Values that are read from pages, as values: what changed, what is the same, and what is told when it is not found."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from crawler.domain.noise.page_pairs import PagePair, PageSide
from crawler.domain.watching.comparing import WatchedPair, watched_changes
from crawler.domain.watching.rules import InvalidWatch, WatchIndex, WatchRule, read_order
from crawler.domain.watching.values import WatchedChange

URL = "https://shop.example/lamp"
AT = datetime(2026, 11, 1, tzinfo=UTC)


def rule(number: int = 1, **given: Any) -> WatchRule:
    return WatchRule(**read_order(given).model_dump(), id=UUID(int=number), project_id=uuid4(), created_at=AT)


def side(body: str | bytes, content_type: str = "text/html") -> PageSide:
    return PageSide(body.encode() if isinstance(body, str) else body, content_type, AT)


def changes(old: PageSide | str, new: PageSide | str, *rules: WatchRule) -> list[WatchedChange]:
    before, after = (side(one) if isinstance(one, str) else one for one in (old, new))
    found = watched_changes(WatchedPair(PagePair(URL, UUID(int=1), before, after), WatchIndex(rules).watch(URL)), None)
    assert found is not None
    return found


def words(old: PageSide | str, new: PageSide | str, **given: Any) -> list[str]:
    return [change.words for change in changes(old, new, rule(**given))]


def test_a_price_is_compared_as_a_value() -> None:
    old, new = '<b class="cost">119,00 €</b>', '<b class="cost"><del>119,00 €</del> 99,00&nbsp;€</b>'
    (found,) = changes(old, new, rule(fields={"price": "price .cost"}))
    assert found.words == "price 119.00 € → 99.00 €, −16.8 %"
    assert (found.percent, str(found.number)) == (-16.8, "99.00")
    assert words(old, '<b class="cost">EUR 119.00</b>', fields={"price": "price .cost"}) == []


def test_another_currency_is_a_change_without_a_percentage() -> None:
    said = words("<b>119,00 €</b>", "<b>$119.00</b>", fields={"price": "price b"})
    assert said == ["price 119.00 € → 119.00 $, in another currency"]


def test_a_price_that_cannot_be_read_is_told_with_its_text() -> None:
    said = words("<b>119,00 €</b>", "<b>on request</b>", fields={"price": "price b"})
    assert said == ["price 119.00 € → “on request” (it names no price)"]
    assert words("<b>119,00 €</b>", "<b>free</b>", fields={"price": "price b"}) == ["price 119.00 € → 0, −100.0 %"]


def test_raised_digits_are_cents() -> None:
    assert words("<b>99<sup>90</sup> €</b>", "<b>89<sup>90</sup> €</b>", fields={"p": "price b"}) == [
        "p 99.90 € → 89.90 €, −10.0 %"
    ]


def test_a_selector_that_names_nothing_any_more_is_told_once() -> None:
    fields = {"price": "price .cost"}
    assert words('<b class="cost">9 €</b>', "<b>9 €</b>", fields=fields) == ["price is not found any more; it was 9 €"]
    assert words("<b>9 €</b>", "<b>8 €</b>", fields=fields) == []
    assert words("<b>9 €</b>", '<b class="cost">8 €</b>', fields=fields) == ["price is found: 8 €"]


def test_a_watched_part_that_is_gone_is_told_once() -> None:
    gone = words("<p class=a>x</p>", "<p class=b>x</p>", watch=[".a"])
    assert gone == [".a is not found any more; the page is compared as a whole"]
    assert words("<p class=b>x</p>", "<p class=b>y</p>", watch=[".a"]) == []
    assert words("<p class=a>x</p>", "<p class=b>x</p>", watch=[".a", ".b"]) == [], "one of them is there"


def test_numbers_dates_lists_and_counts() -> None:
    old = "<html lang=en><i>4.125</i><time>16 Nov 2026</time><ul><li>a<li>b</ul></html>"
    new = "<html lang=en><i>4.5</i><time>2026-11-16</time><ul><li>b<li>a<li>c</ul></html>"
    fields = {"stars": "number i", "day": "date time", "names": "list li", "how-many": "count li"}
    assert words(old, new, fields=fields) == ["how-many 2 → 3, +50.0 %", "names: + c", "stars 4.125 → 4.5, +9.1 %"]
    assert words("<ul><li>a<li>b</ul>", "<ul><li>b<li>a</ul>", fields={"names": "list li"}) == [], "in any order"
    assert words("<ul><li>a</ul>", "<p>none</p>", fields={"n": "count li"}) == ["n 1 → 0, −100.0 %"], "no broken rule"


def test_attributes_links_and_images() -> None:
    old = '<a class=buy href="/cart">Buy</a><img src="a.jpg" alt="red">'
    new = '<a class=buy href="/order">Buy</a><img src="a.jpg" alt="blue">'
    fields = {"link": "a.buy@href", "picture": "img@src", "alt": "img@alt"}
    assert words(old, new, fields=fields) == [
        "alt red → blue",
        "link https://shop.example/cart → https://shop.example/order",
    ]


def test_json_is_read_by_paths_whatever_the_order_of_its_names() -> None:
    def api(**given: Any) -> PageSide:
        return side(json.dumps(given), "application/json")

    fields = {"price": "price $.price", "sizes": "list $.sizes", "maker": "$.maker"}
    old = api(price=119.0, sizes=["S", "M"], maker={"a": 1, "b": 2})
    assert words(old, api(maker={"b": 2, "a": 1}, sizes=["M", "S"], price="119.00"), fields=fields) == []
    assert words(old, api(price=99, sizes=["S"]), fields=fields) == [
        'maker is not found any more; it was {"a": 1, "b": 2}',
        "price 119 → 99, −16.8 %",
        "sizes: − M",
    ]


def test_json_that_is_none_is_a_broken_rule() -> None:
    good, bad = side('{"price": 9}', "application/json"), side("<oops", "application/json")
    assert words(good, bad, fields={"price": "price $.price"}) == ["price is not found any more; it was 9"]


LINKED = """<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [{"@type": "Product",
"sku": "7", "name": "Lamp", "brand": {"@type": "Brand", "name": "Acme"}, "offers": {"@type": "Offer", "price": %s,
"priceCurrency": "EUR", "availability": "https://schema.org/%s"}}]}</script><p>A lamp.</p>"""
MICRO = """<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Lamp</h1>
<span itemprop="brand" itemscope itemtype="https://schema.org/Brand"><b itemprop="name">Acme</b></span>
<div itemprop="offers" itemscope itemtype="https://schema.org/Offer"><b itemprop="price" content="%s">?</b>
<meta itemprop="priceCurrency" content="EUR"><link itemprop="availability" href="https://schema.org/%s"></div></div>"""


@pytest.mark.parametrize("page", [LINKED, MICRO])
def test_declared_products_are_understood_without_a_selector(page: str) -> None:
    found = changes(page % ("119.00", "OutOfStock"), page % ("99.00", "InStock"), rule(products=True))
    assert [change.words for change in found] == [
        "product.price 119.00 EUR → 99.00 EUR, −16.8 %",
        "product.availability OutOfStock → InStock",
    ]
    assert [change.back_in_stock for change in found] == [False, True]


def test_products_of_a_list_are_told_apart() -> None:
    def shelf(*items: tuple[str, str]) -> str:
        things = [{"@type": "Product", "name": name, "offers": {"price": price}} for name, price in items]
        return f'<script type="application/ld+json">{json.dumps(things)}</script>'

    old, new = shelf(("Lamp", "9"), ("Chair", "20")), shelf(("Chair", "25"), ("Lamp", "9"), ("Desk", "50"))
    assert words(old, new, products=True) == ["Chair: product.price 20 → 25, +25.0 %", "products: + Desk"]
    assert words(old, "<p>nothing", products=True) == ["products is not found any more; it was Lamp, Chair"]


def test_broken_linked_data_is_no_product() -> None:
    page = '<script type="application/ld+json">{"@type": "Product", </script><p>x</p>'
    assert words(page, page + "<p>y", products=True) == []


def test_each_thing_is_taken_from_the_most_important_rule_that_says_it() -> None:
    first = rule(1, watch=[".a"], fields={"price": "price b"})
    second = rule(2, priority=5, pattern="/lamp$", fields={"price": "price i", "name": "h1"})
    other = rule(3, priority=9, pattern="/chair$", watch=[".z"])
    watch = WatchIndex([first, second, other]).watch(URL)
    assert watch.part is not None
    assert watch.part.selectors == (".a",)
    assert {field.name: field.field.selector for field in watch.fields} == {"name": "h1", "price": "i"}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"watch": ["["]},
        {"watch": ["$.a"]},
        {"watch": ["xpath://b["]},
        {"watch": ["p:has(b:has(i))"]},
        {"fields": {"1": "b"}},
        {"fields": {"a": "xpath:document('x')"}},
        {"fields": {"a": "$.["}},
        {"fields": {"a": {"selector": "b", "type": "colour"}}},
        {"watch": ["b"], "pattern": "("},
        {"watch": ["b"], "colour": 1},
        {"tell": {"of": []}},
        {"tell": {"of": [{"kind": "contains"}]}},
        {"tell": {"of": [{"kind": "field", "field": "a", "below": 1, "above": 2}]}},
        {"tell": {"of": [{"kind": "new_page", "text": "a"}]}},
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_with_a_sentence(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidWatch) as refused:
        read_order(given)
    assert refused.value.message.endswith(".")
