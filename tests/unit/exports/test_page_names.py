"""Files of pages are named after their paths: safe, bounded, each page its own."""

from itertools import product
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.exports.page_names import PageNames

SITE = "https://example.org"


def named(*urls: str) -> list[str]:
    names = PageNames(".md")
    return [names(url) for url in urls]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", "index.md"),
        ("/", "index.md"),
        ("/docs/intro", "docs/intro.md"),
        ("/docs/intro.html", "docs/intro.md"),
        ("/docs/", "docs/index.md"),
        ("/docs", "docs.md"),
        ("/data.json", "data.json.md"),
        ("/Wiki/VACUUM", "Wiki/VACUUM.md"),
        ("/caf%C3%A9", "café.md"),
        ("/v1.2/change-log", "v1.2/change-log.md"),
    ],
)
def test_a_page_has_the_name_of_its_path(path: str, expected: str) -> None:
    assert named(f"{SITE}{path}") == [expected]


@pytest.mark.parametrize(
    ("path", "begins"),
    [
        ("/item?id=7&lang=de", "item-id-7-lang-de-"),
        ("/my%20page", "my-page-"),
        ("/../../etc/passwd", "-/-/etc/passwd-"),
        ("/%2e%2e/%2e%2e/x", "-/-/x-"),
        ("/..%2f..%2fx", "x-"),
        ("/.ssh/config", "ssh/config-"),
        ("/con", "con_-"),
        ("/a//b", "a/-/b-"),
        ("/docs.md/x", "docs.md_/x-"),
    ],
)
def test_what_a_name_cannot_say_is_marked(path: str, begins: str) -> None:
    (name,) = named(f"{SITE}{path}")
    assert name.startswith(begins)
    assert len(name) == len(begins) + len("0123abcd.md")
    assert named(f"{SITE}{path}") == [name], "the same page has the same name in each export"


def test_pages_of_other_hosts_have_a_folder_of_their_own() -> None:
    assert named(f"{SITE}/a", "https://blog.example.org/a", "https://u:p@example.org/b") == [
        "a.md",
        "blog.example.org/a.md",
        "b.md",
    ]


def test_no_two_pages_have_the_same_file_whatever_the_file_system_tells_apart() -> None:
    paths = ["/A", "/a", "/a.html", "/a/", "/a/index", "/a/index.html", "/a?b", "/a-b", "/a%20b", "/blog.example.org/a"]
    names = named(*(f"{host}{path}" for path, host in product(paths, (SITE, "https://blog.example.org"))))
    assert len({name.casefold() for name in names}) == len(names)
    folders = {str(parent) for name in names for parent in PurePosixPath(name.casefold()).parents}
    assert not folders & {name.casefold() for name in names}


@given(st.lists(st.text(max_size=300), max_size=12))
def test_any_path_is_a_safe_and_short_name(parts: list[str]) -> None:
    (name,) = named(f"{SITE}/{'/'.join(parts)}")
    path = PurePosixPath(name)
    assert not path.is_absolute()
    assert len(path.parts) <= 9
    for part in path.parts:
        assert part not in ("", ".", "..")
        assert not part.startswith(".")
        assert part.isprintable()
        assert len(part.encode()) <= 100
