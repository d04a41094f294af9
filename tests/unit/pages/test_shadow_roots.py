"""Shadow roots that markup declares, and templates that stay templates."""

import time

import pytest

from crawler.domain.pages.parsing import parse_page
from crawler.domain.pages.shadow_roots import opened

HOST = '<x-a><template shadowrootmode="open"><p>inside</p></template>light</x-a>'


def text_of(markup: str) -> list[str]:
    return parse_page(markup.encode(), url="https://example.test/").text.split("\n")


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (HOST, ["inside", "light"]),
        (HOST.replace('"open"', "closed"), ["inside", "light"]),
        (HOST.replace("template", "TEMPLATE"), ["inside", "light"]),
        (HOST.replace('"open"', '"other"'), ["light"]),
        (HOST.replace("shadowrootmode", "data-shadowrootmode"), ["light"]),
        (f"<x-b><template shadowrootmode=open>outer {HOST}</template></x-b>", ["outer", "inside", "light"]),
        (f"<template>{HOST}</template>after", ["after"]),
        ("<template shadowrootmode=open><template>not</template>shown</template>after", ["shown", "after"]),
        ("<template shadowrootmode=open>to the end", ["to the end"]),
        ("</template><p>stray</p>" + HOST, ["stray", "inside", "light"]),
        (f"<!-- {HOST} --><p>seen</p>", ["seen"]),
        ("<script>'<template shadowrootmode=open>'</script><template>not</template>seen", ["seen"]),
        ("<textarea><template shadowrootmode=open></textarea>", ["<template shadowrootmode=open>"]),
    ],
)
def test_what_is_declared_is_a_part_of_the_page(markup: str, text: list[str]) -> None:
    assert text_of(f"<body>{markup}</body>") == text


def test_pages_without_any_are_left_as_they_are() -> None:
    markup = b"<body><template><p>not shown</p></template></body>"
    assert opened(markup) is markup


@pytest.mark.parametrize("piece", ["<template shadowrootmode=open>", "<!--", "<script>", "<template", "</template>"])
def test_hostile_markup_costs_no_more_than_its_length(piece: str) -> None:
    began = time.process_time()
    opened(("<template shadowrootmode=open>" + piece * 50_000).encode())
    assert time.process_time() - began < 1
