"""How many pages should have been compared, and when too few were."""

from dataclasses import replace

import pytest

from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.coverage import Coverage, Found, cover
from crawler.domain.changes.removals import LostPage, Removal
from crawler.domain.diffs.walls import Wall

SITE = "https://e.org"


def urls(count: int, folder: str = "") -> tuple[str, ...]:
    return tuple(f"{SITE}/{folder}{n}" for n in range(count))


def lost(count: int, reason: str | None = "forbidden", folder: str = "lost/", **more: object) -> tuple[LostPage, ...]:
    kind = more.pop("kind", Removal.BLOCKED)
    pages = (LostPage(url, None, kind, reason=reason) for url in urls(count, folder))  # type: ignore[arg-type]
    return tuple(page._replace(**more) for page in pages)  # type: ignore[arg-type]


def covered(compared: int, *pages: LostPage, **found: object) -> Coverage:
    changes = Changes((), (), (), urls(compared), (), lost=pages)
    return cover(changes, Found(**found))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("compared", "missing", "failing"),
    [(0, 1, True), (1, 2, False), (2, 1, False), (2, 3, True), (3, 3, False), (20, 41, True), (41, 20, False)],
)
def test_half_of_the_pages_must_be_compared_unless_the_site_is_tiny(compared: int, missing: int, failing: bool) -> None:
    spread = tuple(page._replace(url=f"{SITE}/x{n}") for n, page in enumerate(lost(missing)))
    found = covered(compared, *spread)
    assert (found.expected, found.compared, found.failing) == (compared + missing, compared, failing)


def test_the_sentence_names_the_causes_the_most_frequent_first() -> None:
    found = covered(20, *lost(38, "http_5xx"), *lost(3, "timeout", "slow/"))
    assert found.sentence == (
        "Only 20 of 61 pages could be compared, because 38 below /lost/ answered with a server error "
        "and 3 below /slow/ could not be reached."
    )
    assert found.code == "server_error"


@pytest.mark.parametrize("kind", [Removal.GONE, Removal.MOVED, Removal.ALIVE, Removal.EXCLUDED])
def test_pages_that_are_gone_or_not_wanted_are_not_missing(kind: Removal) -> None:
    found = covered(3, *lost(40, None, kind=kind))
    assert (found.expected, found.failing, found.sentence) == (3, False, None)


def test_what_max_pages_has_no_room_for_is_said_and_not_missing() -> None:
    left = lost(40, None, kind=Removal.NOT_REACHED)
    assert covered(3, *left).failing
    found = covered(3, *left, is_limited=True)
    assert (found.failing, found.expected, found.compared) == (False, 3, 3)
    assert found.sentence == "40 pages of the crawl before had no room this time: it stops at max_pages."
    assert covered(3, *left[:2], is_limited=True).sentence is None, "two may be an accident"


def test_what_robots_forbids_is_said_and_alarms_nobody_unless_it_is_most_of_the_site() -> None:
    assert not covered(41, *lost(40, "robots")).failing
    found = covered(3, *lost(40, "robots"))
    assert (found.failing, found.code) == (True, "robots"), "a watch that is blind is no success"
    assert found.sentence == ("Only 3 of 43 pages could be compared, because 40 are forbidden by robots.txt now.")


def test_a_section_is_closed_if_no_page_in_it_was_compared() -> None:
    found = covered(50, *lost(3, folder="intern/"))
    assert (found.failing, found.code, found.unseen[0].section) == (True, "section_closed", "/intern/")
    open_pages = Changes((), (), (), (*urls(50), f"{SITE}/intern/open"), (), lost=lost(3, folder="intern/"))
    assert not cover(open_pages).failing
    assert not covered(50, *lost(2, folder="intern/")).failing


def test_one_page_that_stays_open_hides_no_closed_section() -> None:
    open_page = (*urls(50), f"{SITE}/intern/help")
    for missing, closed in ((3, False), (4, True)):
        found = cover(Changes((), (), (), open_page, (), lost=lost(missing, folder="intern/")))
        assert (found.failing, found.unseen[0].section) == (closed, "/intern/" if closed else None)


@pytest.mark.parametrize("reason", ["http_5xx", "timeout", "rate_limited", "content_type"])
def test_a_section_that_could_not_be_seen_is_closed_whoever_closed_it(reason: str) -> None:
    found = covered(50, *lost(3, reason, "shop/"))
    assert (found.failing, found.code, found.unseen[0].section) == (True, "section_closed", "/shop/")


def test_a_section_without_a_browser_is_closed() -> None:
    shells = Changes((), (), (), urls(50), (), needs_browser=urls(4, "app/"))
    found = cover(shells)
    assert (found.failing, found.sentence) == (
        True,
        "Only 50 of 54 pages could be compared, because 4 below /app/ need a browser, and there was none.",
    )


@pytest.mark.parametrize("kind", [Removal.NOT_REACHED, Removal.GONE])
def test_pages_that_were_not_asked_for_close_no_section(kind: Removal) -> None:
    assert not covered(50, *lost(3, None, "intern/", kind=kind)).failing
    assert not covered(50, *lost(3, "robots", "intern/")).failing


def test_several_sections_are_closed_each_and_other_pages_hide_none() -> None:
    found = covered(50, *lost(4, folder="intern/"), *lost(3, folder="staff/"), *lost(1, folder="x"))
    assert (found.failing, found.code) == (True, "section_closed")
    assert [(group.section, group.pages) for group in found.unseen] == [("/intern/", 4), ("/staff/", 3), (None, 1)]
    assert found.sentence == (
        "Only 50 of 58 pages could be compared, because 4 below /intern/ were refused (401, 403 or the like), "
        "3 below /staff/ were refused (401, 403 or the like) and 1 was refused (401, 403 or the like)."
    )


def test_a_section_is_closed_though_its_pages_fail_in_different_ways() -> None:
    broken = (page._replace(url=f"{page.url}b") for page in lost(2, "http_5xx", "intern/"))
    found = covered(50, *lost(2, folder="intern/"), *broken)
    assert (found.failing, found.code) == (True, "section_closed")
    assert [(group.cause, group.section) for group in found.unseen] == [
        ("refused", "/intern/"), ("server_error", "/intern/"),
    ]  # fmt: skip


def test_pages_in_many_places_are_no_section() -> None:
    found = covered(50, *(page._replace(url=f"{SITE}/{n}x") for n, page in enumerate(lost(6))))
    assert (found.failing, found.unseen[0].section) == (False, None)


def test_a_section_of_a_query_site_is_what_its_addresses_have_in_common() -> None:
    def pages(*queries: str) -> list[str]:
        return [f"{SITE}/read?{query}" for query in queries]

    compared = Changes((), (), (), tuple(pages("id=open:1", "id=open:2", "area=3&t=1")), ())
    for queries, section in (
        (("id=staff:1", "id=staff:2", "id=staff:rota:3"), "/read?id=staff:"),
        (("area=4&t=1", "area=4&t=2", "area=4"), "/read?area=4"),
        (("id=a1", "id=a2", "id=a3"), None),
        (("id=open:3", "id=open:4", "id=open:5"), None),
    ):
        refused = tuple(page._replace(url=url) for page, url in zip(lost(3), pages(*queries), strict=True))
        found = cover(replace(compared, lost=refused))
        assert (found.unseen[0].section, found.failing) == (section, section is not None), queries


def test_three_pages_that_ask_to_sign_in_are_told_wherever_they_are() -> None:
    walls = {f"{SITE}/{n}/page": Wall.SIGN_IN for n in range(3)}
    found = covered(50, walls=walls)
    assert (found.failing, found.code, found.unseen[0].section) == (True, "sign_in", None)
    assert not covered(50, walls=dict([*walls.items()][:2])).failing


def test_a_site_that_takes_the_credentials_no_more_is_told_from_one_page_on() -> None:
    walls = {f"{SITE}/account": Wall.SIGN_IN}
    found = covered(50, walls=walls, credentials_of="Acme")
    assert (found.failing, found.code) == (True, "credentials_expired")
    assert str(found.sentence).endswith("The site asks to sign in again: renew the credentials of Acme.")
    assert not covered(50, walls=walls).failing
    refused = lost(1, "forbidden", status=401)
    assert covered(50, *refused, credentials_of="Acme").code == "credentials_expired"
    assert covered(50, *lost(1, "forbidden", status=451), credentials_of="Acme").code is None


def test_pages_that_lead_to_one_sign_in_page_are_one_group() -> None:
    led = [page._replace(target=f"{SITE}/login?next={n}", status=302) for n, page in enumerate(lost(40))]
    (group,) = covered(9, *led).unseen
    assert (group.cause, group.pages, group.target) == ("sign_in", 40, f"{SITE}/login")


def test_many_pages_that_nothing_leads_to_any_more_are_told_unless_the_site_forbids_to_follow() -> None:
    found = covered(13, unlinked=12)
    assert (found.failing, found.lost_links) == (False, True)
    assert str(found.sentence).startswith("No link led to 12 of 13 pages this time: those that answered were compared")
    told = covered(13, unlinked=12, is_nofollow=True)
    assert (told.lost_links, "marks its links as nofollow" in str(told.sentence)) == (False, True)
    assert covered(3, unlinked=2).sentence is covered(13, unlinked=6).sentence is None


def test_of_a_site_behind_a_wall_it_is_not_said_that_links_are_missing() -> None:
    found = covered(0, *lost(18), unlinked=17)
    assert (found.failing, found.lost_links) == (True, False)
    assert (
        found.sentence
        == "None of 18 pages could be compared, because 18 below /lost/ were refused (401, 403 or the like)."
    )
    some = covered(10, *lost(8), unlinked=17)
    assert "No link led to 17 of 18 pages this time: those that answered were compared" in str(some.sentence)


NO_CHANGES = Changes((), (), (), ("https://e.org/",), ())


def test_views_behind_a_hash_are_said_by_each_comparison() -> None:
    told = cover(NO_CHANGES, Found(hash_views=8))
    assert (told.hash_views, told.failing) == (8, False)
    assert told.sentence == (
        "8 views behind a # (#/…) are not crawled as pages of their own: what changes there is not seen."
    )
    assert "1 view behind" in str(cover(NO_CHANGES, Found(hash_views=1)).sentence)


def test_pages_that_are_given_up_are_named() -> None:
    urls = ["https://e.org/a", "https://e.org/b", "https://e.org/c"]
    told = cover(NO_CHANGES, Found(given_up=urls))
    assert (told.given_up, told.given_up_urls) == (3, tuple(urls))
    assert str(told.sentence).startswith("Nothing links to https://e.org/a and 2 other pages, which could not")


def test_pages_that_are_taken_for_views_of_others_now_are_said_and_alarm_nobody() -> None:
    told = covered(3, *lost(40, None, kind=Removal.EXCLUDED), views=urls(40, "lost/"))
    assert (told.expected, told.failing) == (3, False)
    assert told.sentence == (
        "https://e.org/lost/0 and 39 other pages of the crawl before are taken for known pages shown in another way: "
        "they are no longer watched. query_params or meaningful_params changes it."
    )
    one = covered(3, *lost(1, None, kind=Removal.EXCLUDED), views=urls(1, "lost/"))
    assert str(one.sentence).startswith("https://e.org/lost/0 is taken for a known page shown in another way: it is no")
