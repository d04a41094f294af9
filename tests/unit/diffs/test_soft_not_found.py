"""A page that answers 200 and says that there is nothing, and pages that only speak of it."""

import pytest

from crawler.domain.diffs.soft_not_found import says_not_found


def page(title: str, heading: str = "", words: int = 20) -> bytes:
    return f"<title>{title}</title><body><h1 class='x'>{heading}</h1><p>{'word ' * words}</p></body>".encode()


@pytest.mark.parametrize("said", [
    "Page not found", "404", "Error 404", "404 Not Found", "Not found",
    "Oops! The page you are looking for was not found",
    "This page could not be found.", "Sorry, this product is no longer available", "This page doesn't exist",
    "Seite nicht gefunden", "Page introuvable", "Página no encontrada", "The page can't be found", "404 Error",
])  # fmt: skip
def test_a_title_or_heading_that_says_nothing_else_says_it(said: str) -> None:
    assert says_not_found(page(said), "text/html")
    assert says_not_found(page(f"{said} | Acme"), "text/html; charset=utf-8")
    assert says_not_found(page("Acme", said), "text/html")


@pytest.mark.parametrize("title", [
    "Peugeot 404", "Cars | 404", "How to fix 404 errors", "Lost and found", "The lost page",
    "Room 404 - Rates and photos",
    "Not found guilty", "Acme", "The species was not found in Norway", "",
])  # fmt: skip
def test_a_page_about_something_does_not(title: str) -> None:
    assert not says_not_found(page(title, title), "text/html")


def test_neither_does_a_long_page_nor_what_is_no_html() -> None:
    assert not says_not_found(page("404 Not Found", words=300), "text/html")
    assert not says_not_found(page("404 Not Found"), "application/pdf")
    assert not says_not_found(b"", "text/html")
