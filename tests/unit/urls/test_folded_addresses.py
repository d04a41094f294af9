"""Addresses that are taken for one page: which are looked at, and what a look says."""

import pytest

from crawler.domain.changes.comparison import SeenPage, Standing, compare
from crawler.domain.changes.readdressed import NewAddress, two_pages
from crawler.domain.crawls.crawl import CrawlConfig
from crawler.domain.crawls.learned_params import LearnedParam, ParamRole
from crawler.domain.urls.folded_addresses import Fold, folds, told_apart
from crawler.domain.urls.query_survey import Answer
from crawler.domain.urls.url import QueryRule, Url, parse

SITE = "http://e.org"
ROWS = [f"Row {n} of the long list of boats" for n in range(8)]
KNOWN = (LearnedParam(path="/x", name="by", role=ParamRole.DROPPED),)


def url(path: str) -> Url:
    return parse(SITE + path)


def answer(path: str, title: str, *lines: str, links: tuple[str, ...] = (), noindex: bool = False) -> Answer:
    return Answer(SITE + path, title, frozenset(lines), noindex, links)


def kept(answers: list[Answer], *, new: str = "", before: tuple[Answer, ...] = ()) -> list[str]:
    """Names of parameters that are kept, where the first answer is the page that all were taken for."""
    looks = [Fold(parse(answers[0].url), parse(other.url)) for other in answers[1:]]
    by_url = {one.url: one for one in answers}
    urls = [parse(one.url) for one in answers]
    earlier = {one.url: one for one in before}
    found = told_apart(looks, by_url, lambda page: bool(new) and new in page.links, KNOWN, urls, earlier)
    return [one.name for one in found]


def test_only_addresses_that_were_taken_for_a_page_are_looked_at() -> None:
    names = ("by", "as", "day", "utm_source")
    rule = QueryRule.of(
        CrawlConfig(learned_params=tuple(LearnedParam(path="/x", name=name, role=ParamRole.DROPPED) for name in names))
    )
    links = [
        url(path) for path in ("/x?by=1", "/x?by=1&as=a", "/x?by=2", "/x?utm_source=m", "/x?day=2026-11-02", "/y?by=1")
    ]
    found = folds(links, {f"{SITE}/x": f"{SITE}/x?by=1"}, [], rule, "a crawl")
    assert sorted(fold.other.href for fold in found) == [
        f"{SITE}/x?by=1&as=a",
        f"{SITE}/x?by=2",
        f"{SITE}/x?day=2026-11-02",
        f"{SITE}/x?utm_source=m",
    ]


def test_the_address_of_the_crawl_before_comes_first_then_one_of_each_kind() -> None:
    rule = QueryRule.of(
        CrawlConfig(learned_params=(*KNOWN, LearnedParam(path="/x", name="as", role=ParamRole.DROPPED)))
    )
    links = [*(url(f"/x?by={n}") for n in range(50)), url("/x?as=print")]
    stands, former = {f"{SITE}/x": f"{SITE}/x"}, [(f"{SITE}/x", f"{SITE}/x?by=old")]
    found = [fold.other.query for fold in folds(links, stands, former, rule, "one")]
    assert found[0] == "by=old"
    assert "as=print" in found[1:3]
    assert len(found) == 52
    assert found != [fold.other.query for fold in folds(links, stands, former, rule, "another")], "all have their turn"


def test_pages_that_say_the_same_stay_one() -> None:
    assert kept([answer("/x", "List", *ROWS), answer("/x?by=age", "List by age", *ROWS, "By age")]) == []
    assert kept([answer("/x?by=a", "All", *ROWS), answer("/x?by=a&of=me", "Mine", *ROWS[2:4])]) == [], "a part of it"


def test_a_page_with_a_text_of_its_own_is_told_apart() -> None:
    form = answer("/x?form=find", "Find a boat", "Say the name of the boat that you look for")
    assert kept([answer("/x?by=a", "All", *ROWS), form]) == ["form"]


def test_the_list_is_told_apart_though_the_form_stands_for_it() -> None:
    form = answer("/x?form=find", "Find a boat", "Say the name of the boat that you look for")
    lists = [answer(f"/x?by={by}&state=1", "All", *ROWS) for by in ("a", "b")]
    assert kept([form, *lists]) == ["state"], "of what differs that with the fewest values, of which nothing is known"


def test_a_single_link_that_nothing_else_has_is_enough() -> None:
    pages = [answer("/x", "List", *ROWS), *(answer(f"/x?by={n}", "List", *ROWS, links=("/a",)) for n in range(3))]
    assert kept(pages) == []
    assert kept([*pages, answer("/x?by=4", "List", *ROWS, links=("/a", "/b"))], new="/b") == ["by"]


def test_one_old_revision_proves_nothing() -> None:
    old = answer("/x?by=3", "Boats", *(f"What was written then in line {n} of it" for n in range(9)))
    assert kept([answer("/x", "Boats", *ROWS), old]) == [], "the same title, and a number"
    named = old._replace(title="Boats, old revision")
    alike = [answer(f"/x?by={n}", f"Boats, revision {n}", *ROWS) for n in range(4, 7)]
    assert kept([answer("/x", "Boats", *ROWS), named, *alike]) == []
    assert kept([answer("/x", "Boats", *ROWS), named]) == ["by"]


def test_days_that_are_all_linked_are_pages_and_those_of_a_calendar_are_not() -> None:
    days = [f"/x?day=2026-11-0{n}" for n in range(1, 5)]
    diary = [answer(day, "Diary", *(f"What was seen on {day} at hour {n} of it" for n in range(9))) for day in days]
    assert kept(diary) == ["day"]
    ahead = diary[3]._replace(links=(f"{SITE}/x?day=2026-11-05",))
    assert kept([*diary[:3], ahead]) == [], "it leads to days that nothing else links to, and so on without end"


def test_what_the_site_hides_from_indexes_is_no_page() -> None:
    hidden = answer("/x?by=z", "Source", "The source of this page as it was written", noindex=True)
    assert kept([answer("/x", "List", *ROWS), hidden]) == []


@pytest.mark.parametrize(
    ("old", "new", "same_title", "looked", "two"),
    [
        ("/x?by=a", "/x?form=b", False, False, True),
        ("/x?by=a", "/x?form=b", True, False, False),
        ("/x?by=a", "/x?form=b", False, True, False),
        ("/x?id=a", "/x?id=b", True, True, True),
        ("/x?by=a", "/x?utm_source=m&by=a", False, False, False),
        ("/X?by=a", "/x?by=a", False, False, False),
    ],
)
def test_two_addresses_may_be_two_pages(old: str, new: str, same_title: bool, looked: bool, two: bool) -> None:
    def key_of(href: str) -> str:
        return href if "id=" in href else href.partition("?")[0].lower()

    page = NewAddress("key", SITE + old, SITE + new, same_title, looked)
    assert two_pages([page], key_of) == (frozenset({"key"}) if two else frozenset())


def test_two_pages_under_one_key_are_not_compared() -> None:
    old, new = (SeenPage("/x", f"/x?{n}", bytes([n]), Standing.PAGE) for n in (1, 2))
    assert compare([old], [new]).changed == ("/x?2",)
    apart = compare([old], [new], readdressed={"/x"})
    assert (apart.changed, apart.not_compared, apart.removed) == ((), ("/x?2",), ())


def test_one_address_that_says_something_of_its_own_since_the_last_look_is_told_apart() -> None:
    stands, same = answer("/x", "Boats", *ROWS), answer("/x?by=age", "Boats", *ROWS)
    wrecks = [f"Wreck {n} was raised from the ground of the old basin" for n in range(4)]
    other = answer("/x?by=old", "Wrecks", *ROWS, *wrecks)
    others = [answer(f"/x?by={name}", "Boats", *ROWS) for name in ("size", "name")]
    assert kept([stands, same, *others, other]) == [], "it may be an old revision"
    assert kept([stands, same, *others, other], before=(other,)) == [], "it was so before"
    assert kept([stands, same, *others, other], before=(answer("/x?by=old", "Boats", *ROWS),)) == ["by"]


def test_a_few_words_that_came_to_one_address_alone_tell_it_apart() -> None:
    page, other = answer("/x", "Boats", *ROWS, "Seen 3 times"), answer("/x?by=age", "Boats", *ROWS, "Seen 4 times")
    edited = answer("/x?by=age", "Boats", *ROWS, "Seen 5 times", "Sold out")
    assert kept([page, edited], before=(page, other)) == ["by"]
    assert kept([page, edited]) == [], "nobody knows what they said"
    assert kept([page, edited], before=(other,)) == [], "nor what the other said"
    assert kept([page, other], before=(page, other)) == [], "numbers are no words"
    teased = answer("/x?by=age", "Boats", *ROWS, "Seen 4 times", "Read about ropes")
    assert kept([page, edited], before=(page, teased)) == [], "they differed before: one of them never stays the same"
    anew = answer("/x", "Boats", *ROWS, "Seen 7 times", "All of them")
    assert kept([anew, edited], before=(page, other)) == [], "both were edited; that of the page is told"
    hidden = edited._replace(noindex=True)
    assert kept([page, hidden], before=(page, other)) == []
