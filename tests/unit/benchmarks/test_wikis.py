"""How the crawls of the wikis are judged."""

import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from benchmarks.wikis import Watch, table
from benchmarks.wikis.clock import MovedClock
from benchmarks.wikis.content import harbour
from benchmarks.wikis.dokuwiki import DokuWiki
from benchmarks.wikis.forms import fields
from benchmarks.wikis.judging import Judge, Told, Truth, Verdict, read_told
from benchmarks.wikis.mediawiki import MediaWiki
from benchmarks.wikis.story import Step

EDIT = Truth(changed=frozenset({"a"}))


def changed(*names: str, compared: int = 10, template: int = 0) -> Told:
    return Told(changed=Counter(names), compared=compared, template=template)


def test_an_edit_is_told_or_untold_and_what_nobody_made_is_a_false_alarm() -> None:
    judge = Judge(10)
    assert judge(EDIT, changed("a"), 10).is_right
    assert judge(Truth(changed=frozenset({"b"})), changed("c"), 10) == Verdict(
        edits=1, untold=("b",), false_alarms=("c",), compared=10
    )
    assert judge.owed == ("b",)


def test_what_is_told_by_a_later_crawl_is_late_and_no_longer_owed() -> None:
    judge = Judge(10)
    judge(Truth(new=frozenset({"n"})), changed(), 10)
    assert judge(Truth(), Told(new=Counter(["n"]), compared=10), 11) == Verdict(late=("n",), compared=10)
    assert judge.owed == ()


def test_told_again_and_told_under_two_addresses_are_both_twice() -> None:
    judge = Judge(10)
    assert judge(EDIT, changed("a", "a"), 10).twice == ("a (×2)",)
    assert judge(Truth(), changed("a"), 10).twice == ("a",)
    assert judge(Truth(), changed("a"), 10).false_alarms == ("a",), "once the edit is older than the crawl before"


def test_an_edit_of_a_template_is_told_as_one_or_on_each_of_its_pages() -> None:
    truth = Truth(template=frozenset({"a", "b"}))
    assert Judge(10)(truth, changed(template=1), 10).is_right
    assert Judge(10)(truth, changed("a", "b"), 10).is_right
    assert Judge(10)(truth, changed("a"), 10).untold == ("the template",)
    assert Judge(10)(Truth(), changed(template=2), 10).false_alarms == ("the template",) * 2


def test_an_edit_of_a_template_may_be_told_late_and_its_pages_are_no_false_alarms_until_then() -> None:
    judge = Judge(10)
    judge(Truth(template=frozenset({"a", "b"})), changed(), 10)
    assert judge(Truth(), changed("a"), 10).is_right
    assert judge(Truth(), changed(template=1), 10) == Verdict(late=("the template",), compared=10)
    verdict = judge(Truth(), changed("a", template=1), 10)
    assert (verdict.twice, verdict.false_alarms) == (("a",), ("the template",))


def test_a_move_is_told_as_such_or_as_one_page_gone_and_one_new() -> None:
    truth = Truth(moved={"old": "new"})
    assert Judge(10)(truth, Told(moved=frozenset({("old", "new")}), compared=9), 10).is_right
    assert Judge(10)(truth, Told(new=Counter(["new"]), removed=Counter(["old"]), compared=9), 10).is_right
    assert Judge(10)(truth, Told(removed=Counter(["old"]), compared=9), 9).untold == ("new",)


def test_a_page_that_says_that_it_is_gone_may_be_told_as_changed() -> None:
    truth = Truth(removed=frozenset({"a"}))
    assert Judge(10)(truth, changed("a"), 10).is_right
    assert Judge(10)(truth, changed(), 10).untold == ("a",)


def test_pages_that_show_what_was_done_elsewhere_may_be_told_but_not_twice() -> None:
    judge = Judge(10)
    truth = Truth(changed=frozenset({"a"}), may=frozenset({"list"}))
    assert judge(truth, changed("a", "list"), 10).is_right
    assert judge(Truth(), changed("list"), 10).false_alarms == ("list",)


def test_what_only_lists_pages_may_move_when_something_was_done_and_never_else() -> None:
    told = Told(changed=Counter(["a"]), echoes=("/list",), compared=10)
    verdict = Judge(10)(EDIT, told, 10)
    assert (verdict.is_right, verdict.echoes) == (True, 1)
    assert Judge(10)(Truth(), Told(echoes=("/list",), compared=10), 10).false_alarms == ("/list",)


def test_far_fewer_pages_compared_is_a_silent_fall_unless_it_is_told() -> None:
    judge = Judge(10)
    assert not judge(Truth(), Told(compared=9), 2).is_silent_fall
    assert not judge(Truth(), Told(compared=2), 20).is_silent_fall, "as many as the crawl before had"
    assert judge(Truth(), Told(compared=10), 20).is_silent_fall
    assert not judge(Truth(), Told(compared=10, is_announced=True), 20).is_silent_fall


def test_what_only_lists_pages_is_an_echo() -> None:
    wiki = DokuWiki(Path(), "http://h/")
    summary: dict[str, Any] = {
        "changed_page_urls": ["http://h/", "http://h/doku.php?id=boats:heron", "http://h/doku.php?id=start&do=index"],
        "new_page_urls": [], "removed_page_urls": [], "template_changes": [], "wall_notes": [],
        "moved": [{"from": "http://h/doku.php?id=a", "to": "http://h/doku.php?id=b:c"}],
        "summary": {"changed_pages": 3, "unchanged_pages": 4},
    }  # fmt: skip
    assert read_told(summary, wiki.name_of) == Told(
        changed=Counter(["start", "boats/heron"]),
        moved=frozenset({("a", "b/c")}),
        echoes=("/doku.php?id=start&do=index",),
        compared=7,
    )


def test_pages_of_a_wiki_have_one_name_under_all_addresses(tmp_path: Path) -> None:
    name_of = MediaWiki(tmp_path, "http://h/", MovedClock(tmp_path, Path("none"))).name_of
    assert {name_of(f"http://h{path}") for path in ("/", "/index.php", "/index.php/Main_Page")} == {"start"}
    assert name_of("http://h/index.php/Boats/heron") == name_of("http://h/index.php?title=Boats/heron") == "boats/heron"
    assert name_of("http://h/index.php?title=Boats/heron&action=history") is None
    assert name_of("http://h/index.php/Special:RecentChanges") is None


def test_a_form_sends_what_it_holds_but_for_its_buttons() -> None:
    form = LexborHTMLParser(
        "<form><input type=hidden name=token value=7><input type=submit name=go value=1><input type=checkbox name=no>"
        "<input type=checkbox name=yes checked><textarea name=words>\nline</textarea>"
        "<select name=kind><option value=1>one<option value=2 selected>two</select></form>"
    ).css_first("form")
    assert form is not None
    assert fields(form) == {"token": "7", "yes": "on", "words": "line", "kind": "2"}


def test_a_moved_clock_leaves_files_as_old_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "wiki").mkdir()
    page = tmp_path / "wiki" / "page"
    page.write_text("")
    os.utime(page, (5000, 5000))
    clock = MovedClock(tmp_path, Path("none"))
    clock.move(timedelta(hours=1), [tmp_path / "wiki"])
    assert page.stat().st_mtime == 1400, "an hour more is shown"
    assert (tmp_path / "clock").read_text() == "+3600\n"
    assert timedelta(minutes=59) < clock() - datetime.now(UTC) < timedelta(minutes=61)


def test_the_table_counts_false_alarms_from_the_third_crawl_on() -> None:
    step = Step("nothing")
    watch = Watch(
        "wiki", "defaults", 45, 42, ("x",), [(step, Verdict(2, false_alarms=("a",))), (step, Verdict(late=("b",)))]
    )
    row = table([watch]).splitlines()[2]
    assert row == f"| wiki | defaults | 45 | 42 of {len(harbour())} | 2 | 1 | 1 | 0 | 1 | 0 | 0 |"
