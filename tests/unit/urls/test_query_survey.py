"""Which query parameters name pages: by the links, and by what a few pages say."""

import pytest

from crawler.domain.crawls.crawl import CrawlConfig, QueryParams
from crawler.domain.crawls.learned_params import ANY_PATH, LearnedParam, ParamRole
from crawler.domain.urls.query_survey import (
    MOST_TRIALS,
    Answer,
    FoundLink,
    LinkBook,
    Verdict,
    judge_by_links,
    judge_by_pages,
    newest,
    open_groups,
    plain_address,
    trials,
    views_by_default,
)
from crawler.domain.urls.url import QueryRule, Url, normalize, parse

SITE = "http://e.org"


def links(*paths: str) -> list[FoundLink]:
    return [FoundLink(parse(SITE + path), 1) for path in paths]


def rule(**roles: str) -> QueryRule:
    """What is known of the parameters of /x."""
    known = [LearnedParam(path="/x", name=name, role=ParamRole(role)) for name, role in roles.items()]
    return QueryRule.of(CrawlConfig(learned_params=tuple(known)))


def by_links(paths: list[str], name: str, known: QueryRule) -> ParamRole | None:
    found = links(*paths)
    (group,) = [group for group in open_groups(found, known) if group.name == name]
    pages = frozenset(normalize(link.url, known) for link in found if not known.leaves_open(link.url))
    verdict = judge_by_links(group, LinkBook(found, known, pages))
    return verdict.role if verdict else None


def test_only_unknown_parameters_wait() -> None:
    known = rule(id="kept", sort="dropped")
    for path in ("/x?id=1", "/x?id=1&sort=up", "/x?page=2", "/x?utm_source=mail", "/x"):
        assert not known.leaves_open(parse(SITE + path)), path
    for path in ("/x?id=1&do=edit", "/y?id=1"):
        assert known.leaves_open(parse(SITE + path)), path
    assert not QueryRule(QueryParams.MEANINGFUL, frozenset()).leaves_open(parse(f"{SITE}/x?id=1"))


def test_keys_have_what_tells_pages_apart() -> None:
    known = rule(id="kept", sort="dropped", do="view")
    assert normalize(parse(f"{SITE}/x?sort=up&id=7"), known) == f"{SITE}/x?id=7"
    assert normalize(parse(f"{SITE}/y?id=7"), known) == f"{SITE}/y", "another path is another script"
    assert known.view(parse(f"{SITE}/x?id=7&do=edit")) == "do"
    anywhere = QueryRule.of(
        CrawlConfig(learned_params=(LearnedParam(path=ANY_PATH, name="ref", role=ParamRole.DROPPED),))
    )
    assert not anywhere.leaves_open(parse(f"{SITE}/z?ref=mail"))


def test_what_people_name_is_not_asked_for() -> None:
    named = QueryRule.of(CrawlConfig(meaningful_params=("Topic",)))
    assert not named.leaves_open(parse(f"{SITE}/x?topic=a"))
    assert normalize(parse(f"{SITE}/x?topic=a"), named).endswith("?topic=a")


def test_a_parameter_is_tried_where_it_is_the_only_unknown_one() -> None:
    found = links("/x?id=1", "/x?id=2", "/x?id=1&do=a", "/x?id=2&do=b")
    assert [(group.name, len(group.links)) for group in open_groups(found, rule())] == [("id", 2)]
    assert [group.name for group in open_groups(found, rule(id="kept"))] == ["do"]


def test_of_two_that_always_come_together_the_one_with_more_values_is_tried() -> None:
    found = links("/x?mod=read&id=1", "/x?mod=read&id=2", "/x?mod=read&id=3")
    assert [group.name for group in open_groups(found, rule())] == ["id"]


def test_trials_are_few_and_always_the_same() -> None:
    paths = [f"/x?id={n}" for n in range(50)]
    (group,) = open_groups(links(*paths), rule())
    (again,) = open_groups(links(*reversed(paths)), rule())
    assert trials(group) == trials(again)
    assert len(trials(group)) == MOST_TRIALS


def test_by_another_session_id_an_address_is_not_tried_twice() -> None:
    found = links(*(f"/x?id={page}&sid={session:04x}" for page in range(3) for session in range(10)))
    (group,) = open_groups(found, rule())
    assert sorted(url.query.partition("&")[0] for url in trials(group)) == ["id=0", "id=1", "id=2"]


@pytest.mark.parametrize(
    ("values", "role"),
    [
        (["2026-11", "2026-12"], ParamRole.DROPPED),
        (["202611", "202612"], ParamRole.DROPPED),
        (["20261101", "20261102"], ParamRole.DROPPED),
        (["12", "13"], None),
        (["spring", "2026-11"], None),
    ],
)
def test_dates_are_a_calendar(values: list[str], role: ParamRole | None) -> None:
    assert by_links([f"/x?when={value}" for value in values], "when", rule()) is role


NAMES = ("oak", "elm", "ash", "fir")


def test_the_same_few_words_beside_many_pages_are_views_of_them() -> None:
    pages = [f"/x?id={name}" for name in NAMES]
    views = [f"{path}&as={view}" for path in pages for view in ("form", "old")]
    assert by_links(pages + views, "as", rule(id="kept")) is ParamRole.VIEW
    numbers = [f"{path}&from={n}" for path in pages for n in (10, 20)]
    assert by_links(pages + numbers, "from", rule(id="kept")) is None, (
        "parts of a page have numbers: they are looked at"
    )


def test_values_that_name_other_pages_are_views_of_those() -> None:
    pages = [f"/x?id={name}" for name in NAMES]
    cited = [f"/x?id=cite&of={name}" for name in NAMES]
    assert by_links(pages + cited, "of", rule(id="kept")) is ParamRole.VIEW


def test_a_name_that_any_site_may_use_for_its_parts_can_be_a_view_too() -> None:
    pages = [f"/x?id={name}" for name in NAMES]
    cited = [f"/x?id=cite&page={name}" for name in NAMES]
    known = rule(id="kept")
    (found,) = views_by_default(LinkBook(links(*pages, *cited), known), ["page"])
    assert (found.name, found.role) == ("page", ParamRole.VIEW)
    numbered = [f"/x?id={name}&page={n}" for name in NAMES for n in (2, 3)]
    assert not list(views_by_default(LinkBook(links(*pages, *numbered), known), ["page"]))


def test_values_that_are_the_paths_of_pages_are_views_of_those() -> None:
    paths = [f"/x/{name}" for name in NAMES]
    views = [f"/x?name={name}&do={what}" for name in NAMES for what in ("change", "past")]
    found = links(*views)
    group = next(group for group in open_groups(found, rule()) if group.name == "name")
    known = frozenset(SITE + path for path in paths)
    assert judge_by_links(group, LinkBook(found, rule(), known)) == judge_by_links(
        group, LinkBook(found, rule(), known | {f"{SITE}/y"})
    )
    verdict = judge_by_links(group, LinkBook(found, rule(), known))
    assert verdict is not None
    assert verdict.role is ParamRole.VIEW
    assert judge_by_links(group, LinkBook(found, rule(), frozenset({f"{SITE}/x/oak"}))) is None
    alone = links(*(f"/x?name={name}" for name in NAMES))
    (single,) = open_groups(alone, rule())
    assert judge_by_links(single, LinkBook(alone, rule(), known)) is None, "these may be pages: they are looked at"
    assert not rule(name="view").leaves_open(found[0].url)


def test_what_every_address_of_a_page_has_tells_nothing_apart() -> None:
    paths = [f"/x?mod=read&id={name}" for name in NAMES]
    assert by_links(paths, "mod", rule(id="kept")) is ParamRole.DROPPED


def test_what_shows_a_page_in_several_ways_is_looked_at_where_nothing_links_to_the_page_alone() -> None:
    paths = [f"/x?do={do}&id={name}" for name in NAMES for do in ("past", "write")]
    assert by_links(paths, "do", rule(id="kept")) is None


def test_a_query_without_a_name_is_a_value_of_one_parameter() -> None:
    found = links("/x?Oak", "/x?Elm", "/x?do=edit&id=Oak")
    (group,) = open_groups(found, rule())
    assert (group.name, group.values) == ("", ["oak", "elm"])
    known = QueryRule.of(CrawlConfig(learned_params=(LearnedParam(path="/x", name="", role=ParamRole.KEPT),)))
    assert normalize(parse(f"{SITE}/x?Oak"), known) == f"{SITE}/x?oak"
    assert not known.leaves_open(parse(f"{SITE}/x?Elm"))
    meaningful = QueryRule(QueryParams.MEANINGFUL, frozenset({"id"}))
    assert normalize(parse(f"{SITE}/x?id&Oak"), meaningful) == f"{SITE}/x?id"


FRAME = [f"Line {n} of the frame that every page of the site has" for n in range(6)]


def answer(path: str, title: str, *lines: str, noindex: bool = False) -> Answer:
    return Answer(SITE + path, title, frozenset([*FRAME, *lines]), noindex)


def judged(name: str, answers: list[Answer], *bases: Answer) -> Verdict | None:
    return judge_by_pages(name, answers, {base.url: base for base in bases})


def test_other_titles_and_texts_are_other_pages() -> None:
    pages = [answer(f"/x?id={n}", f"Chapter {n}", f"In chapter {n} somebody builds {n} boats") for n in NAMES]
    verdict = judged("id", pages, answer("/x", "Book", "All chapters of the book"))
    assert verdict is not None
    assert verdict.role is ParamRole.KEPT


def test_the_same_text_in_another_order_is_the_same_page() -> None:
    goods = [f"Lamp {n} costs {n} crowns" for n in range(8)]
    pages = [answer(f"/x?sort={by}", f"Lamps by {by}", *goods, f"Sorted by {by} for you") for by in ("price", "age")]
    verdict = judged("sort", pages, answer("/x", "Lamps", *goods))
    assert verdict is not None
    assert verdict.role is ParamRole.DROPPED


def test_a_part_of_the_text_is_no_page() -> None:
    goods = [f"Lamp {n} costs {n} crowns" for n in range(8)]
    pages = [answer(f"/x?colour={n}", "Lamps", goods[n], goods[n + 1]) for n in (1, 3, 5)]
    verdict = judged("colour", pages, answer("/x", "Lamps", *goods))
    assert verdict is not None
    assert verdict.role is ParamRole.DROPPED


def test_more_of_a_topic_under_one_title_is_a_page() -> None:
    def post(n: int) -> list[str]:
        return [f"Post {n}.{line} says that boat {n} has {line} sails and no rope" for line in range(6)]

    pages = [answer(f"/x?t=1&start={n}", "Topic", *post(n)) for n in (10, 20)]
    verdict = judged("start", pages, answer("/x?t=1", "Topic", *post(0)))
    assert verdict is not None
    assert verdict.role is ParamRole.KEPT


def test_views_that_the_site_hides_from_indexes_are_none_of_its_pages() -> None:
    pages = [
        answer(f"/x?id={n}&rev=1", f"{n} then", f"What was written of {n} at that time is here", noindex=True)
        for n in NAMES
    ]
    bases = [answer(f"/x?id={n}", n, f"What is written of {n} now is here") for n in NAMES]
    verdict = judged("rev", pages, *bases)
    assert verdict is not None
    assert verdict.role is ParamRole.VIEW
    hidden = [base._replace(noindex=True) for base in bases]
    other = judged("rev", pages, *hidden)
    assert other is not None
    assert other.role is ParamRole.KEPT, "a site that hides everything says nothing"


def test_one_answer_says_nothing() -> None:
    assert judged("id", [answer("/x?id=1", "One", "Something of its own is said here")]) is None


def test_links_of_one_path_do_not_speak_for_another() -> None:
    found = links("/x?id=1", "/x?id=2", "/y?id=1")
    assert [(group.path, len(group.links)) for group in open_groups(found, rule())] == [("/x", 2), ("/y", 1)]
    assert all(isinstance(link.url, Url) for link in found)


def left_out(name: str, path: str = "/page/ropes", *, plain: bool = True) -> LearnedParam:
    return LearnedParam(path=path, name=name, role=ParamRole.DROPPED, plain=plain)


def test_a_page_is_fetched_without_what_it_answers_without() -> None:
    url = parse("http://a.test/page/ropes?rev=3&part=2&sid=x")
    known = [left_out("rev"), left_out("sid", plain=False), left_out("part", "/page/boats")]
    assert plain_address(url, known).href == "http://a.test/page/ropes?part=2&sid=x"
    assert plain_address(parse("http://a.test/page/ropes?rev=3"), known).href == "http://a.test/page/ropes"


def test_of_revisions_that_have_to_be_named_the_last_one_is_the_page() -> None:
    known = QueryRule.of(CrawlConfig(learned_params=(left_out("rev", plain=False),)))
    urls = [parse(f"http://a.test/page/ropes?rev={number}") for number in ("9", "10", "2")]
    assert min(urls, key=lambda url: newest(url, known)).query == "rev=10"


def test_links_with_what_keys_leave_out_wait_for_links_without() -> None:
    known = QueryRule.of(CrawlConfig(learned_params=(left_out("rev"),)))
    waiting = {
        "/page/ropes?rev=3": True,
        "/page/ropes?other=3": True,
        "/page/ropes?page=3": False,
        "/page/ropes?utm_source=mail": False,
        "/page/ropes": False,
    }
    assert {path: known.waits(parse(f"http://a.test{path}")) for path in waiting} == waiting


def test_what_was_kept_before_is_written_as_it_was() -> None:
    kept = {"path": "/page/ropes", "name": "rev", "role": "dropped", "why": "", "lasting": True}
    assert LearnedParam.model_validate(kept).model_dump(mode="json") == kept
    assert LearnedParam.model_validate(left_out("rev").model_dump()).plain
