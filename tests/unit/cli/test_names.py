"""Projects as people name them."""

from typing import NamedTuple
from uuid import UUID

import pytest

from crawler.domain.ids import ids_that_begin
from crawler.entrypoints.cli.backend.naming import id_named
from crawler.entrypoints.cli.input.names import listed, meant, similar, whole_id
from crawler.errors import Invalid, NotFound


class Known(NamedTuple):
    id: UUID
    name: str
    website_url: str | None = None


SHOP = Known(UUID("01930000-aaaa-7000-8000-000000000001"), "Winter shop", "https://shop.example/")
SITE = Known(UUID("01930000-aaaa-7000-8000-000000000002"), "https://docs.example/guide/")
OTHER = Known(UUID("01940000-aaaa-7000-8000-000000000003"), "https://docs.example/")
LIST = Known(UUID("01950000-aaaa-7000-8000-000000000004"), "win")
ALL = (SHOP, SITE, OTHER, LIST)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("Winter shop", [SHOP]),
        ("winter SHOP", [SHOP]),
        ("wint", [SHOP]),
        ("win", [LIST]),
        ("w", [SHOP, LIST]),
        ("shop.example", [SHOP]),
        ("https://shop.example", [SHOP]),
        ("docs.example", [OTHER]),
        ("docs.example/g", [SITE]),
        ("docs", [SITE, OTHER]),
        ("0195", [LIST]),
        ("01930000-AAAA", [SHOP, SITE]),
        ("example", []),
        ("", []),
        ("https://", []),
        ("%", []),
    ],
)
def test_a_name_means_the_one_so_called_else_all_that_begin_so(typed: str, expected: list[Known]) -> None:
    assert meant(typed, ALL) == expected


def test_a_mistyped_name_is_near_the_one_that_was_meant() -> None:
    assert similar("wintershop", ALL) == [SHOP]
    assert OTHER in similar("dcos.example", ALL)
    assert similar("nothing like it", ALL) == []


def test_long_lists_name_some_and_count_the_rest() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b"], "or") == "a or b"
    assert listed([str(n) for n in range(9)], "or") == "0, 1, 2, 3, 4 and 4 more"


@pytest.mark.parametrize("wrong", ["", "g", "0193-", "019300000", "01930000-aaaa-7", f"{SHOP.id}0", "\x00"])
def test_only_the_beginning_of_an_id_has_ids_that_begin_so(wrong: str) -> None:
    assert (ids_that_begin(wrong) is None) == (wrong != "01930000-aaaa-7")


def test_all_ids_that_begin_so_are_between_the_least_and_the_greatest() -> None:
    for text in ("0", "01930000", "01930000-", "01930000-AAAA-7", str(SHOP.id)):
        least, most = ids_that_begin(text) or (SHOP.id, SHOP.id)
        assert least <= SHOP.id <= most
        assert str(least).startswith(text.lower())
        assert str(most).startswith(text.lower())
    assert whole_id(str(SHOP.id)) == SHOP.id
    assert whole_id("latest") is None


@pytest.mark.parametrize("typed", [str(OTHER.id), str(OTHER.id)[:4], "0194", "https://docs.example/"])
def test_what_is_listed_is_named_by_its_id_its_beginning_or_its_name(typed: str) -> None:
    assert id_named(typed, "rule", "crawler rule list", ALL) == OTHER.id


def test_a_beginning_that_several_have_or_nobody_has_is_said() -> None:
    with pytest.raises(Invalid, match=f"'0193' may be {SHOP.id} or {SITE.id}; write more of it"):
        id_named("0193", "rule", "crawler rule list", ALL)
    for typed in ("", "0200"):
        with pytest.raises(NotFound, match=f"There is no rule '{typed}'; 'crawler rule list' shows them"):
            id_named(typed, "rule", "crawler rule list", ALL)
