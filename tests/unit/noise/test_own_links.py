import pytest

from crawler.domain.noise.own_links import names_another_revision

PAGE = "http://wiki.example/w/Red_fox"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("From http://wiki.example/w/Red_fox?rev=12", "From http://wiki.example/w/Red_fox?rev=15"),
        ('"http://wiki.example/x.php?t=Red_fox&oldver=9"', '"http://wiki.example/x.php?t=Red_fox&oldver=31"'),
        ("http://wiki.example/w/Red_fox?revision=7f3a9c2", "http://wiki.example/w/Red_fox?revision=99ab01c"),
    ],
)
def test_a_link_to_the_page_itself_may_name_a_later_revision(old: str, new: str) -> None:
    assert names_another_revision(old, new, PAGE)
    if "7f3a" not in old:
        assert not names_another_revision(new, old, PAGE), "an earlier one is an edit"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("http://wiki.example/w/Red_fox?limit=10", "http://wiki.example/w/Red_fox?limit=20"),
        ("http://wiki.example/w/Otter?rev=12", "http://wiki.example/w/Otter?rev=15"),
        ("http://other.example/w/Red_fox?rev=12", "http://other.example/w/Red_fox?rev=15"),
        ("3 of http://wiki.example/w/Red_fox?rev=12", "4 of http://wiki.example/w/Red_fox?rev=15"),
        ("Revision 12", "Revision 15"),
        ("http://[", "http://]"),
    ],
)
def test_any_other_difference_counts(old: str, new: str) -> None:
    assert not names_another_revision(old, new, PAGE)


def test_a_page_may_be_named_by_several_parts_of_its_path() -> None:
    old, new = (f"See http://wiki.example/x.php?t=animals/Red_fox&old={number}" for number in (9, 31))
    assert names_another_revision(old, new, "http://wiki.example/x.php/animals/Red_fox")
    assert not names_another_revision(old, new, "http://wiki.example/x.php/plants/Red_fox"), "another page"
