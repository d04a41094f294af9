"""What became of pages that are none any more, and which of them moved."""

from uuid import UUID

import pytest

from crawler.domain.changes.comparison import (
    Changes,
    Probed,
    SeenPage,
    Standing,
    barred_probes,
    compare,
)
from crawler.domain.changes.removals import (
    SHARED_TARGET,
    LostPage,
    Move,
    ProbeResult,
    Removal,
    judge_probe,
    kind_by_reason,
    redirect_groups,
)
from crawler.domain.changes.significance import is_significant
from crawler.domain.changes.summary import change_summary
from crawler.domain.engine.judging import Judgement, ResponseVerdict
from crawler.domain.reasons import FAILED, SKIPPED, Reason

HOST = "https://e.org/"
_ID = UUID(int=1)


def url(name: str) -> str:
    return HOST + name


def key_of(href: str) -> str | None:
    return href.removeprefix(HOST) if href.startswith(HOST) else None


def seen(name: str, content: str = "", state: Standing = Standing.PAGE, target: str | None = None) -> SeenPage:
    """Each page has words of its own unless they are given."""
    words = (content or name).encode() if state is Standing.PAGE else None
    status = 301 if target else None
    return SeenPage(name, url(name), words, state, target=url(target) if target else None, status=status)


def probed(name: str, kind: Removal, target: str | None = None, status: int = 301) -> Probed:
    return Probed(name, url(name), kind, None, url(target) if target else None, status)


def found(old: list[SeenPage], new: list[SeenPage], *probes: Probed, whole: bool = True) -> Changes:
    return compare(old, new, probed=probes, baseline_exhausted=whole, key_of=key_of)


def kinds(changes: Changes) -> dict[str, Removal]:
    return {page.url.removeprefix(HOST): page.kind for page in changes.lost}


# ---- what one answer says


@pytest.mark.parametrize(
    ("judgement", "status", "expected"),
    [
        (Judgement(ResponseVerdict.SKIP, Reason.NOT_FOUND), 404, Removal.GONE),
        (Judgement(ResponseVerdict.SKIP, Reason.NOT_FOUND), 410, Removal.GONE),
        (Judgement(ResponseVerdict.SKIP, Reason.NOT_FOUND), 400, Removal.BLOCKED),
        (Judgement(ResponseVerdict.STORE), 200, Removal.ALIVE),
        (Judgement(ResponseVerdict.SKIP, Reason.CONTENT_TYPE), 200, Removal.ALIVE),
        (Judgement(ResponseVerdict.FAIL, Reason.TOO_LARGE), 200, Removal.ALIVE),
        (Judgement(ResponseVerdict.REDIRECT, target="/b"), 302, Removal.MOVED),
        (Judgement(ResponseVerdict.FAIL, Reason.REDIRECT_LOOP), 302, Removal.BLOCKED),
        (Judgement(ResponseVerdict.SKIP, Reason.FORBIDDEN), 403, Removal.BLOCKED),
        (Judgement(ResponseVerdict.FAIL, Reason.HTTP_5XX), 500, Removal.BLOCKED),
        (Judgement(ResponseVerdict.SKIP, Reason.EGRESS), 0, Removal.BLOCKED),
        (Judgement(ResponseVerdict.FAIL, Reason.TIMEOUT), 0, Removal.BLOCKED),
    ],
)
def test_only_404_and_410_are_gone_and_only_a_redirect_moved(
    judgement: Judgement, status: int, expected: Removal
) -> None:
    assert judge_probe(judgement, status).kind is expected


def test_a_host_that_complains_or_is_silent_is_left_alone() -> None:
    busy = Judgement(ResponseVerdict.RETRY, Reason.RATE_LIMITED, block_host=True)
    assert judge_probe(busy, 503) == ProbeResult(Removal.BLOCKED, Reason.RATE_LIMITED, silences_host=True)
    for reason in (Reason.CONNECT, Reason.DNS, Reason.TLS, Reason.TIMEOUT):
        assert judge_probe(Judgement(ResponseVerdict.FAIL, reason), 0).silences_host
    for judgement, status in (
        (Judgement(ResponseVerdict.FAIL, Reason.HTTP_5XX), 500),
        (Judgement(ResponseVerdict.STORE), 200),
    ):
        assert not judge_probe(judgement, status).silences_host


def test_every_reason_a_crawl_can_give_has_a_class_and_none_of_them_counts() -> None:
    for reason in (FAILED | SKIPPED) - {Reason.NOT_FOUND, Reason.REDIRECTED, Reason.OFF_DOMAIN}:
        assert kind_by_reason(reason) not in {Removal.GONE, Removal.MOVED}
    assert kind_by_reason(Reason.MAX_DEPTH) is Removal.EXCLUDED
    assert kind_by_reason(Reason.ROBOTS) is kind_by_reason("http_5xx") is Removal.BLOCKED
    assert kind_by_reason(Reason.HOST_BLOCKED) is kind_by_reason(None) is Removal.NOT_REACHED


# ---- redirects


def test_redirects_are_followed_to_their_end_as_far_as_the_crawl_knows_it() -> None:
    after = [seen("b", state=Standing.MOVED, target="c"), seen("c", state=Standing.MOVED, target="d"), seen("d")]
    changes = found([seen("a"), seen("d")], after, probed("a", Removal.MOVED, "b"))
    assert changes.lost == (LostPage(url("a"), b"a", Removal.MOVED, url("d"), 301),)


def test_redirects_that_lead_in_a_circle_end() -> None:
    after = [seen("b", state=Standing.MOVED, target="c"), seen("c", state=Standing.MOVED, target="b")]
    assert kinds(found([seen("a")], after, probed("a", Removal.MOVED, "b"))) == {"a": Removal.MOVED}


def led_away(count: int, target: str, status: int, still_there: int = 20) -> Changes:
    """So many of all pages lead to one place now."""
    old = [seen(str(n)) for n in range(count)]
    rest = [seen(f"kept {n}") for n in range(still_there)]
    away = [probed(page.normalized_url, Removal.MOVED, target, status) for page in old]
    return found([*old, *rest], [*rest, seen(target)], *away)


def test_many_pages_sent_to_one_place_for_the_time_being_are_behind_a_barrier() -> None:
    assert set(kinds(led_away(SHARED_TARGET, "shop", 302)).values()) == {Removal.BLOCKED}
    assert set(kinds(led_away(SHARED_TARGET - 1, "shop", 302)).values()) == {Removal.MOVED}


@pytest.mark.parametrize("target", ["login", "users/sign_in", "auth/realms/x", "account/login.php"])
def test_many_pages_sent_to_a_login_are_behind_a_barrier_for_good_too(target: str) -> None:
    changes = led_away(SHARED_TARGET, target, 301)
    assert set(kinds(changes).values()) == {Removal.BLOCKED}
    assert changes.removed == ()


def test_a_login_that_is_told_where_to_go_on_is_one_place() -> None:
    old = [seen(str(n)) for n in range(4)]
    away = [probed(str(n), Removal.MOVED, f"login?next=/{n}", 302) for n in range(4)]
    changes = found([*old, seen("kept")], [seen("kept")], *away)
    assert set(kinds(changes).values()) == {Removal.BLOCKED}
    (group,) = redirect_groups(changes.lost, Removal.BLOCKED)
    assert (group.target, group.pages) == (url("login"), 4)


def test_most_of_a_site_sent_to_one_place_is_behind_a_barrier() -> None:
    assert set(kinds(led_away(6, "home", 301, still_there=6)).values()) == {Removal.BLOCKED}
    assert set(kinds(led_away(6, "home", 301, still_there=7)).values()) == {Removal.MOVED}


def test_pages_nobody_asked_for_do_not_hide_that_all_others_lead_to_one_place() -> None:
    old = [seen(str(n)) for n in range(30)]
    away = [
        probed(str(n), Removal.MOVED if n < 6 else Removal.NOT_REACHED, "home" if n < 6 else None) for n in range(30)
    ]
    changes = found([*old, seen("home")], [seen("home")], *away)
    assert changes.removed == ()
    assert [kinds(changes)[str(n)] for n in (0, 5, 6)] == [Removal.BLOCKED, Removal.BLOCKED, Removal.NOT_REACHED]


def test_pages_given_up_for_one_other_are_removed_and_told_in_one_statement() -> None:
    changes = led_away(4, "home", 301)
    assert len(changes.removed) == 4
    summary = change_summary(changes, crawl_id=_ID, compared_to=_ID)
    assert summary["redirected_together"] == [
        {"target": url("home"), "pages": 4, "example_urls": [url(str(n)) for n in range(4)]}
    ]
    assert change_summary(led_away(2, "home", 301), crawl_id=_ID, compared_to=_ID)["redirected_together"] == []


def test_pages_that_move_to_addresses_of_their_own_are_no_company() -> None:
    old = [seen(str(n)) for n in range(4)]
    away = [probed(str(n), Removal.MOVED, f"view?id={n}", 302) for n in range(4)]
    assert set(kinds(found(old, [], *away)).values()) == {Removal.MOVED}


def test_pages_that_come_back_from_behind_a_barrier_are_compared_with_what_they_were() -> None:
    barred = [seen(str(n), state=Standing.MOVED, target="login") for n in range(4)]
    back = compare(
        [*barred, seen("login")],
        [seen("0"), seen("1", "edited"), seen("2"), seen("3"), seen("login")],
        last_seen=[seen(str(n)) for n in range(4)],
        key_of=key_of,
    )
    assert (back.new, back.changed, len(back.unchanged)) == ((), (url("1"),), 4)


def test_pages_that_were_only_probed_behind_a_barrier_are_remembered() -> None:
    away = [probed(str(n), Removal.MOVED, "login", 302)._replace(content_hash=b"x") for n in range(4)]
    other = [probed("gone", Removal.GONE), probed("led", Removal.MOVED, "elsewhere"), probed("b", Removal.BLOCKED)]
    assert barred_probes([*away, *other], key_of) == [
        SeenPage(str(n), url(str(n)), b"x", Standing.PAGE, target=url("login")) for n in range(4)
    ]


# ---- moves


def test_a_redirect_to_a_new_page_is_one_move() -> None:
    changes = found([seen("a"), seen("x")], [seen("b"), seen("x")], probed("a", Removal.MOVED, "b"))
    assert changes.moved == (Move(url("a"), url("b")),)
    assert (changes.new, changes.removed, changes.lost) == ((), (), ())


def test_many_pages_that_lead_to_one_new_page_are_removed_unless_one_of_them_says_what_it_says() -> None:
    old = [seen("a"), seen("b")]
    both = [probed("a", Removal.MOVED, "c"), probed("b", Removal.MOVED, "c")]
    apart = found(old, [seen("c")], *both)
    assert (apart.moved, apart.removed, apart.new) == ((), (url("a"), url("b")), (url("c"),))
    same = found(old, [seen("c", "a")], *both)
    assert (same.moved, same.removed, same.new) == ((Move(url("a"), url("c")),), (url("b"),), ())


def test_the_same_words_at_another_address_are_one_move() -> None:
    changes = found([seen("a", "words")], [seen("b", "words")], probed("a", Removal.GONE))
    assert changes.moved == (Move(url("a"), url("b")),)


@pytest.mark.parametrize("kind", [Removal.ALIVE, Removal.BLOCKED, Removal.EXCLUDED, Removal.NOT_REACHED])
def test_a_page_that_is_not_known_to_be_gone_did_not_move(kind: Removal) -> None:
    changes = found([seen("a", "words")], [seen("b", "words")], probed("a", kind))
    assert (changes.moved, changes.new) == ((), (url("b"),))


def test_words_that_several_pages_share_pair_nothing() -> None:
    gone = probed("a", Removal.GONE)
    twice_now = found([seen("a", "w")], [seen("b", "w"), seen("c", "w")], gone)
    assert (twice_now.moved, len(twice_now.new)) == ((), 2)
    twice_before = found([seen("a", "w"), seen("x", "w")], [seen("b", "w"), seen("x", "y")], gone)
    assert (twice_before.moved, twice_before.new) == ((), (url("b"),))


def test_a_page_becomes_the_new_place_of_one_other_only() -> None:
    old = [seen("a"), seen("b", "words")]
    changes = found(old, [seen("c", "words")], probed("a", Removal.MOVED, "c"), probed("b", Removal.GONE))
    assert changes.moved == (Move(url("a"), url("c")),)
    assert changes.removed == (url("b"),)


def test_what_a_baseline_that_stopped_early_may_have_had_is_no_new_place_except_by_redirect() -> None:
    words = found([seen("a", "w")], [seen("b", "w")], probed("a", Removal.GONE), whole=False)
    assert (words.moved, words.not_compared) == ((), (url("b"),))
    led = found([seen("a")], [seen("b")], probed("a", Removal.MOVED, "b"), whole=False)
    assert (led.moved, led.not_compared) == ((Move(url("a"), url("b")),), ())


def test_every_page_of_the_earlier_crawl_is_told_of_exactly_once() -> None:
    old = [*(seen(kind.value) for kind in Removal), seen("same"), seen("edited"), seen("led"), seen("failed")]
    new = [seen("same"), seen("edited", "2"), seen("new"), seen("failed", state=Standing.UNKNOWN)]
    probes = [probed(kind.value, kind) for kind in Removal]
    changes = found(old, new, *probes, probed("led", Removal.MOVED, "new"))
    moved = [move.source for move in changes.moved]
    told = [*changes.removed, *changes.changed, *changes.unchanged, *changes.not_compared, *moved]
    assert sorted(told) == sorted(page.url for page in old)
    assert len(changes.removed) == sum(page.kind in {Removal.GONE, Removal.MOVED} for page in changes.lost)


# ---- what earlier crawls left open


def test_what_the_crawl_met_counts_more_than_what_a_probe_said() -> None:
    changes = found([seen("a")], [seen("a")], probed("a", Removal.GONE))
    assert (changes.unchanged, changes.lost) == ((url("a"),), ())


def test_a_page_an_earlier_crawl_could_not_settle_is_removed_when_it_is_gone() -> None:
    assert found([], [], probed("a", Removal.GONE)).removed == (url("a"),)


def test_a_page_that_is_remembered_is_compared_with_what_it_was() -> None:
    back = compare([], [seen("a"), seen("b")], remembered=[seen("a"), seen("b", "before")], key_of=key_of)
    assert (back.new, back.unchanged, back.changed) == ((), (url("a"),), (url("b"),))
    assert compare([], [], remembered=[seen("a")]) == Changes((), (), (), (), ())


def test_a_remembered_page_that_was_never_fetched_as_it_is_now_is_not_compared() -> None:
    """What a browser showed and what a server sends now differ without an edit."""
    otherwise = seen("a")._replace(content_hash=None)
    back = compare([], [seen("a")], remembered=[seen("a", "in a browser")], last_seen=[otherwise], key_of=key_of)
    assert (back.changed, back.not_compared) == ((), (url("a"),))


# ---- the summary


def test_the_summary_tells_moves_and_classes_after_the_agreed_keys() -> None:
    old = [seen("a"), seen("gone"), seen("led"), seen("alive")]
    probes = (
        probed("a", Removal.MOVED, "b"), probed("gone", Removal.GONE), probed("led", Removal.MOVED, "x"),
        probed("alive", Removal.ALIVE),
    )  # fmt: skip
    summary = change_summary(found(old, [seen("b")], *probes), crawl_id=_ID, compared_to=_ID)
    assert summary["moved"] == [{"from": url("a"), "to": url("b")}]
    assert summary["removals"] == [
        {"url": url("gone"), "class": "gone"},
        {"url": url("led"), "class": "moved", "target": url("x")},
        {"url": url("alive"), "class": "alive"},
    ]
    assert summary["removal_counts"]["moved"] == summary["removal_counts"]["gone"] == 1
    assert summary["summary"]["removed_pages"] == 2
    assert summary["summary"]["new_pages"] == 0


def test_moved_pages_count_for_significance_like_new_ones() -> None:
    old, new = [seen(f"a{n}") for n in range(5)], [seen(f"b{n}") for n in range(5)]
    changes = found(old, new, *(probed(f"a{n}", Removal.MOVED, f"b{n}") for n in range(5)))
    assert (len(changes.moved), changes.new) == (5, ())
    assert is_significant(changes)
    assert not is_significant(changes, new_pages=6)
