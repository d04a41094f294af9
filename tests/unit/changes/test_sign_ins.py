"""Which redirects ask to sign in, and where."""

import pytest

from crawler.domain.changes.sign_ins import BY_NAME, SignIns, shared_places

SITE = "https://e.org"


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("/login?next=/a", "/login"),
        ("/users/sign_in", "/users/sign_in"),
        ("/index.php?route=account/login&back=7", "/index.php?route=account/login"),
        ("/index.php?action=login&returnto=Main", "/index.php?action=login"),
        ("/index.php?action=catalogin", None),
        ("/loginfo", None),
        ("/index.php?title=Blogin", None),
    ],
)
def test_an_address_may_say_so_by_itself(target: str, place: str | None) -> None:
    assert BY_NAME.place(SITE + target) == (place and SITE + place)


def test_what_all_ways_to_a_page_share_is_its_place() -> None:
    asking = [f"{SITE}/go?was=zutritt&danach={n}" for n in range(5)]
    others = [f"{SITE}/go?was=boote", f"{SITE}/go?was=seile"]
    places = shared_places(asking, others)
    assert places == {f"{SITE}/go?was=zutritt"}
    sign_ins = SignIns(places)
    assert sign_ins.place(f"{SITE}/go?danach=99&was=zutritt") == f"{SITE}/go?was=zutritt"
    assert not sign_ins.asks(f"{SITE}/go?was=boote&danach=99")
    assert not sign_ins.asks(f"{SITE}/geh?was=zutritt")


def test_a_path_of_its_own_is_a_place_whatever_the_query_says() -> None:
    places = shared_places([f"{SITE}/zugang?weiter=/a", f"{SITE}/zugang?weiter=/b"], [f"{SITE}/page?weiter=/a"])
    assert places == {f"{SITE}/zugang"}


def test_a_path_that_other_pages_have_too_is_no_place() -> None:
    """Nothing is shared: only what is known to ask does."""
    asking = [f"{SITE}/go?zutritt=1", f"{SITE}/go?zutritt=2"]
    places = shared_places(asking, [f"{SITE}/go?was=boote"])
    assert places == {*asking}
    assert not SignIns(places).asks(f"{SITE}/go?was=seile")
