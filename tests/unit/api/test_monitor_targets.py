"""Which target of a monitor a page belongs to, found in a moment however many there are."""

import time
from typing import Any

import pytest

from crawler.entrypoints.firecrawl.targets import TargetIndex

TARGETS: list[dict[str, Any]] = [
    {"id": "shop", "type": "crawl", "url": "https://shop.example/"},
    {"id": "sale", "type": "crawl", "urls": ["https://shop.example/sale"]},
    {"id": "pages", "type": "scrape", "urls": ["https://shop.example/sale/lamp", "https://other.example/"]},
]


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://shop.example/sale/lamp", "pages"),
        ("https://other.example/", "pages"),
        ("https://shop.example/sale/kettle", "sale"),
        ("http://www.shop.example/about", "shop"),
        ("https://nobody.example/", "shop"),
    ],
)
def test_the_page_itself_then_the_longest_address_then_the_first(url: str, target: str) -> None:
    assert TargetIndex(TARGETS).find(url) == target


def test_without_targets_there_is_none() -> None:
    assert TargetIndex([]).find("https://shop.example/") is None


def test_five_thousand_pages_of_targets_take_no_time() -> None:
    targets = [
        {"id": str(n), "type": "scrape", "urls": [f"https://a.example/{n}/{page}" for page in range(100)]}
        for n in range(50)
    ]
    began = time.process_time()
    index = TargetIndex(targets)
    assert [index.find(f"https://a.example/none/{page}") for page in range(100)] == ["0"] * 100
    assert time.process_time() - began < 0.5
