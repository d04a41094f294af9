"""An address as people type it."""

import pytest

from crawler.domain.urls.typed_url import typed_url
from crawler.errors import InvalidUrl


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("example.org", "https://example.org/"),
        ("  example.org/a?b=1 ", "https://example.org/a?b=1"),
        ("//example.org/a", "https://example.org/a"),
        ("http://example.org", "http://example.org/"),
        ("HTTPS://Example.org/A", "https://example.org/A"),
        ("example.org:8080/a", "https://example.org:8080/a"),
        ("localhost:8000", "http://localhost:8000/"),
        ("127.0.0.1/x", "http://127.0.0.1/x"),
        ("[::1]:8000", "http://[::1]:8000/"),
        ("localhost.example.org", "https://localhost.example.org/"),
    ],
)
def test_a_missing_scheme_is_added(typed: str, meant: str) -> None:
    assert typed_url(typed).href == meant


@pytest.mark.parametrize("typed", ["", "two words", "ftp://example.org/", "http://"])
def test_what_is_no_web_address_is_refused(typed: str) -> None:
    with pytest.raises(InvalidUrl):
        typed_url(typed)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("", "No address was given; write one such as example.org."),
        ("exa mple", "'exa mple' has a blank in the name of its host; write an address such as example.org."),
        ("8088", "'8088' is a number without a host; write an address such as localhost:8080."),
        ("8088/a", "'8088/a' is a number without a host; write an address such as localhost:8080."),
        ("me@example.org", "'me@example.org' looks like a mail address; write a web address such as example.org."),
        ("me:secret@example.org", "The URL holds a user name or password; those are not sent."),
    ],
)
def test_what_is_wrong_is_said_with_an_example(typed: str, told: str) -> None:
    with pytest.raises(InvalidUrl) as refused:
        typed_url(typed)
    assert refused.value.message == told


def test_a_long_text_is_not_quoted_whole() -> None:
    with pytest.raises(InvalidUrl) as refused:
        typed_url("a b" * 1000)
    assert len(refused.value.message) < 200


@pytest.mark.parametrize("typed", ["https://app.example/#/prices", "app.example/x#!/a ", "https://app.example/#!a?b=1"])
def test_a_view_behind_a_hash_is_refused_and_the_page_before_it_is_named(typed: str) -> None:
    with pytest.raises(InvalidUrl) as refused:
        typed_url(typed)
    assert f"write https://{typed.removeprefix('https://').partition('#')[0]} to crawl" in refused.value.message


@pytest.mark.parametrize("typed", ["https://app.example/#/", "https://app.example/#prices", "https://app.example/#!"])
def test_a_place_in_a_page_is_that_page(typed: str) -> None:
    assert typed_url(typed).href == "https://app.example/"
