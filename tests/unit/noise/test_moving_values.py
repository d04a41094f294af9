from datetime import UTC, date, datetime

import pytest

from crawler.domain.noise.builtin import builtin_rule, may_run_with_clock
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.moments import dates_in
from crawler.domain.noise.moving_values import ValueKind, skeleton, value_changes

UNKNOWN = Moments()
BEFORE, AFTER = datetime(2026, 11, 15, 10, tzinfo=UTC), datetime(2026, 11, 22, 10, tzinfo=UTC)


def why(old: str, new: str, moments: Moments = UNKNOWN) -> list[str | None] | None:
    changes = value_changes(old, new)
    return None if changes is None else [builtin_rule(change, moments) for change in changes]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Updated 3 May 2026 at 14:05", "Updated @"),
        ("Sunday, 15 November 2026", "@"),
        ("posted 5 minutes ago by Ann", "posted @ by Ann"),
        ("1,234,567 views", "# views"),
        ("id 7f3a9c2e-11", "id #"),
        ("Your reference is 7f3a9c2e. Thanks", "Your reference is #. Thanks"),
        ("see v1.2b and a file.py3", "see v#b and a file.py#"),
        ("-4 °C, 5-7 days", "# °C, #-# days"),
        ("May I? I may.", "May I? I may."),
        ("version 3.11.2 of 2", "version # of #"),
    ],
)
def test_values_are_taken_out_of_a_line(text: str, words: str) -> None:
    assert skeleton(text).words == words


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-05-03", date(2026, 5, 3)),
        ("3 May 2026", date(2026, 5, 3)),
        ("May 3, 2026", date(2026, 5, 3)),
        ("3. März 2026", date(2026, 3, 3)),
        ("03.05.2026", date(2026, 5, 3)),
        ("05/03/2026", date(2026, 5, 3)),
        ("2026-05-03T10:00:00Z", date(2026, 5, 3)),
        ("Sun May 03 10:00:00 2026", date(2026, 5, 3)),
        ("3-May-2026", date(2026, 5, 3)),
        ("05/03/26", date(2026, 5, 3)),
        ("May 2026", date(2026, 5, 3)),
    ],
)
def test_dates_are_read_in_many_ways_of_writing(text: str, day: date) -> None:
    assert day in dates_in(text)


def test_a_date_that_does_not_exist_is_none() -> None:
    assert dates_in("31.02.2026 2026-13-40") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Edited 3 days ago", "Edited 10 days ago"),
        ("Edited 3 days ago", "Edited a week ago"),
        ("Edited yesterday", "Edited 8 days ago"),
        ("Posted today by Ann", "Posted about a week ago by Ann"),
        ("Posted a few seconds ago", "Posted a week ago"),
        ("Posted 2 months ago", "Posted 2 months, 7 days ago"),
        ("Edited yesterday", "Edited 14 November 2026"),
        ("Geändert vor 3 Tagen", "Geändert vor 10 Tagen"),
        ("Modificato 3 giorni fa", "Modificato 10 giorni fa"),
        ("Escrito há 3 dias", "Escrito há 10 dias"),
        ("3 dagen geleden geschreven", "10 dagen geleden geschreven"),
        ("Napisano 3 dni temu", "Napisano 10 dni temu"),
        ("Skrevet for 3 dager siden", "Skrevet for 10 dager siden"),
        ("Написано 3 дня назад", "Написано 10 дней назад"),
        ("投稿：3日前", "投稿：10日前"),
        ("5小时前发布", "7天前发布"),
        ("30초 전", "7일 전"),
        ("Last build: Sun Nov 15 09:05:07 2026", "Last build: Sat Nov 21 20:45:33 2026"),
        (
            "This page was last edited on 3 May 2026, at 14:05.",
            "This page was last edited on 19 November 2026, at 09:17.",
        ),
        ("Last updated: 1 May 2026", "Last updated: 18 November 2026"),
        ("Viewed 1,204 times", "Viewed 1,377 times"),
        ("You are visitor no. 1204", "You are visitor no. 1377"),
        ("You are visitor 10482.", "You are visitor 10533."),
        ("© 2009–2026 Example Ltd", "© 2009–2027 Example Ltd"),
        ("Page generated in 0.031 seconds", "Page generated in 0.027 seconds"),
        ("Request ID: 7f3a9c2e11", "Request ID: 99ab01cd7e"),
        ("Imprint · 1204 visitors · Privacy", "Imprint · 1231 visitors · Privacy"),
    ],
)
def test_values_that_move_as_clocks_and_counters_of_views_do_are_noise_anywhere(old: str, new: str) -> None:
    found = why(old, new, Moments(BEFORE, AFTER))
    assert found
    assert all(found)
    assert old.startswith(("Viewed", "You", "Page", "Request", "Imprint")) or not all(why(old, new) or [None])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Edited 3 days ago", "Edited 2 weeks ago and more"),
        ("Last outage: 30 days ago", "Last outage: 2 hours ago"),
        ("Founded 20 years ago", "Founded 25 years ago"),
        ("Sales of last month", "Sales of last year"),
        ("Closed since yesterday", "Closed since last month"),
        ("Show, today at 19:00", "Show, today at 21:00"),
        ("Doors open today, 10:30", "Doors open today, 14 May 2027"),
        ("Doors open, today 10:30", "Doors open, today"),
        ("To rent for 3 days", "To rent for 10 days"),
        ("Há 3 quartos", "Há 10 quartos"),
        ("3日前まで", "5日前まで"),
        ("Last updated: 1 May 2026", "Last updated: 8 May 2026"),
        ("Last updated: 18 November 2026", "Last updated: 1 May 2026"),
        ("Last updated: 1 May 2027", "Last updated: 18 November 2027"),
        ("Prices last updated by Ann on 1 May 2026", "Prices last updated by Ann on 18 November 2026"),
        ("Viewed 1,204 times", "Viewed 12 times"),
        ("Viewed 1,204 times", "Viewed 9,377 times"),
        ("1,000 views", "1,500 views"),
        ("1 comment", "2 comments"),
        ("12 people are reading this page", "15 people are reading this page"),
        ("It is 09:05:07", "It is 20:45:33"),
        ("© 2009–2020 Example Ltd", "© 2009–2021 Example Ltd"),
        ("Rendered in 120 ms", "Rendered in 90 ms"),
        ("Build 45f9d18", "Build 8a9e4f0"),
    ],
)
def test_values_that_move_otherwise_are_told_whatever_the_words(old: str, new: str) -> None:
    assert not all(why(old, new, Moments(BEFORE, AFTER)) or [None])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Price: € 49.00", "Price: € 59.00"),
        ("Latest version: 3.2.1", "Latest version: 3.2.2"),
        ("Release date: 3 May 2027", "Release date: 10 May 2027"),
        ("Supported until 1 June 2027", "Supported until 1 June 2028"),
        ("It takes at most 20 connections.", "It takes at most 30 connections."),
        ("SHA-1 da39a3ee5e6b4b0d", "SHA-1 99800b85d3383e3a"),
        ("Open from 09:00 to 17:00", "Open from 09:00 to 18:00"),
        ("Closed on Sunday", "Closed on Monday"),
        ("read and write support for format 1 of POSIX", "read and write support for format 5 of POSIX"),
        ("Version 3 may differ", "Version 4 may differ"),
    ],
)
def test_values_a_page_is_about_are_no_noise(old: str, new: str) -> None:
    assert why(old, new, Moments(BEFORE, AFTER)) == [None]


def test_other_words_are_never_only_values() -> None:
    assert why("Updated 3 days ago by Ann", "Updated 3 days ago by Bob") is None


def suspicious(old: str, new: str, moments: Moments) -> bool:
    changes = value_changes(old, new)
    assert changes is not None
    (change,) = changes
    return may_run_with_clock(change, moments)


@pytest.mark.slow
def test_a_date_that_is_the_day_of_the_fetch_on_both_sides_is_a_suspicion_and_no_more() -> None:
    old, new = "Nightly of 2026-11-15", "Nightly of 2026-11-22"
    assert why(old, new, Moments(BEFORE, AFTER)) == [None]
    assert suspicious(old, new, Moments(BEFORE, AFTER))
    assert not suspicious(old, new, UNKNOWN)
    assert not suspicious(old, "Nightly of 2026-12-24", Moments(BEFORE, AFTER))
    assert not suspicious(old, "Nightly of 2026-11-21", Moments(BEFORE, AFTER)), "in no zone is it that day"
    assert not suspicious("Ends 2026-11-15", "Ends 2026-11-22", Moments(BEFORE, AFTER)), "an appointment"


def test_a_time_that_is_as_far_from_ours_as_it_was_is_a_suspicion() -> None:
    here, there = Moments(BEFORE, AFTER.replace(hour=17, minute=42)), Moments(BEFORE, AFTER)
    assert suspicious("In Tokyo 7:01 pm", "In Tokyo 2:43 am", here)
    assert not suspicious("In Tokyo 7:01 pm", "In Tokyo 2:43 am", there)
    assert not suspicious("Bus at 10:01", "Bus at 10:02", there), "at the same time of the day nothing can be told"


def test_a_counter_in_long_prose_is_what_the_page_says() -> None:
    prose = "In the spring of that year the small library counted {} visits by readers of the whole northern valley"
    assert why(prose.format(310), prose.format(420)) == [None]


def test_kinds_are_told_apart() -> None:
    changes = value_changes("a 1 b 3 May 2026 c 12ab34cd", "a 2 b 4 May 2026 c 99ab34cd")
    assert changes is not None
    assert [change.kind for change in changes] == [ValueKind.NUMBER, ValueKind.MOMENT, ValueKind.TOKEN]


@pytest.mark.parametrize(
    ("old", "new"), [("Rank: #", "Rank: 5"), ("# 1", "1 #"), ("write to @", "write to 3 May 2026")]
)
def test_a_mark_that_the_page_has_itself_is_a_word(old: str, new: str) -> None:
    assert value_changes(old, new) is None


def test_values_beside_such_a_mark_are_values() -> None:
    (change,) = value_changes("C# 5 lessons", "C# 6 lessons") or []
    assert (change.old, change.new) == ("5", "6")


def test_a_year_before_a_counter_is_a_number_of_its_own() -> None:
    """Only groups of three digits, after one to three, are one number."""
    assert [one[1] for one in skeleton("Fair 2026 407 readers").values] == ["2026", "407"]
    assert [one[1] for one in skeleton("12 4075 readers of 1 204 567,50").values] == ["12", "4075", "1 204 567,50"]
