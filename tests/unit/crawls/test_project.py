"""A project's name is said by a person, or is the URL its crawls begin at."""

import pytest

from crawler.domain.crawls.project import checked_name, name_after
from crawler.errors import Invalid


@pytest.mark.parametrize("name", ["", "  ", "n" * 201, "two\nlines", "\x1b[2J", "\udce9"])
def test_a_name_that_cannot_be_kept_is_refused_not_cut(name: str) -> None:
    with pytest.raises(Invalid, match="1 to 200 characters of text"):
        checked_name(name)


def test_a_name_is_kept_as_it_is() -> None:
    assert checked_name("n" * 200) == "n" * 200


def test_long_urls_that_begin_alike_are_different_projects() -> None:
    url = "https://example.org/" + "a" * 300
    assert name_after("https://example.org/") == "https://example.org/"
    assert name_after(url + "1") == name_after(url + "1")
    assert name_after(url + "1") != name_after(url + "2")
    assert checked_name(name_after(url)).startswith("https://example.org/aaa")
