"""JSONPath: what a path names, what is refused, and how much it may cost."""

import json
import time
from typing import Any

import pytest

from crawler.domain.watching.json_paths import MOST_FOUND, find_json, parse_path
from crawler.errors import Invalid

SHOP = {
    "store": {
        "name": "Corner",
        "items": [
            {"sku": "a", "price": 3, "tags": ["x"]},
            {"sku": "b", "price": 12.5},
            {"sku": "c", "price": 8, "sold out": True},
        ],
    },
    "price": 1,
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$.store.name", ["Corner"]),
        ("$['store']['name']", ["Corner"]),
        ("$.store.items[0].sku", ["a"]),
        ("$.store.items[-1].sku", ["c"]),
        ("$.store.items[*].price", [3, 12.5, 8]),
        ("$.store.items[1:].sku", ["b", "c"]),
        ("$.store.items[::-1].sku", ["c", "b", "a"]),
        ("$.store.items[0,2].sku", ["a", "c"]),
        ("$..sku", ["a", "b", "c"]),
        ("$..price", [1, 3, 12.5, 8]),
        ("$.store.items[?@.price < 10].sku", ["a", "c"]),
        ("$.store.items[?(@.sku == 'b')].price", [12.5]),
        ('$.store.items[?@["sold out"] == true].sku', ["c"]),
        ("$.store.items[?@.tags].sku", ["a"]),
        ("$.store.items[?@.sku != 'a'].sku", ["b", "c"]),
        ("$.nothing", []),
        ("$.price.deeper", []),
        ("$", [SHOP]),
    ],
)
def test_a_path_names_values(path: str, found: list[Any]) -> None:
    assert find_json(parse_path(path), SHOP) == found


@pytest.mark.parametrize(
    "path", ["", "store", "$.", "$[", "$[abc]", "$..", "$.a b", "$[?@.a ~ 1]", "$[1:2:0]", "$" + ".a" * 100, "$['a]"]
)
def test_what_is_no_path_is_refused_with_a_sentence(path: str) -> None:
    with pytest.raises(Invalid) as refused:
        parse_path(path)
    assert refused.value.message.endswith(".")


def test_a_path_through_everything_is_bounded() -> None:
    wide: Any = 0
    for _ in range(40):
        wide = {"a": wide, "b": [1, 2, 3]}
    started = time.process_time()
    assert len(find_json(parse_path("$..*..*..*..*"), wide)) <= MOST_FOUND
    assert time.process_time() - started < 2


def test_deep_json_does_not_exhaust_the_stack() -> None:
    deep = json.loads("[" * 500 + "1" + "]" * 500)
    assert find_json(parse_path("$..[0]"), deep)[-1] == 1
