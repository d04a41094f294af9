"""When somebody is told, and in which words."""

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.policy import SMTP
from typing import Any
from uuid import UUID, uuid4

import pytest

from crawler.domain.changes.page_digest import LineChange, PageDigest
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlType
from crawler.domain.crawls.project import Project
from crawler.domain.notices.mail import (
    Section,
    Sender,
    brief,
    change_sections,
    changes_mail,
    failing_mail,
    recovered_mail,
)
from crawler.domain.notices.notice import (
    DeliveryResult,
    LastFailureNotice,
    Mail,
    NoticeKind,
    Streak,
    has_failed,
    is_failing,
    is_recovered,
    should_notify,
    targets,
)
from crawler.domain.notices.schedule import Schedule, ScheduleConfig
from crawler.domain.notices.webhook import (
    failing_payload,
    recovered_payload,
    told_pages,
    webhook_headers,
    webhook_payload,
)

NOW = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
SENDER = Sender("Acme", "http://d/")
PROJECT = Project.create(name="Acme Coffee", website_url="https://acme.coffee/", now=NOW)


def summary(new: int = 0, changed: int = 0, removed: int = 0, *, significant: bool = False) -> dict[str, Any]:
    return {
        "summary": {"new_pages": new, "changed_pages": changed, "removed_pages": removed, "unchanged_pages": 9},
        "new_page_urls": [f"https://acme.coffee/<b>{n}" for n in range(new)],
        "is_significant": significant,
    }


def crawl(change: dict[str, Any]) -> CrawlJob:
    made = CrawlJob.create(
        project_id=PROJECT.id, seed_url="https://acme.coffee/", domain="acme.coffee", crawl_type=CrawlType.SCHEDULED,
        config=CrawlConfig(), now=NOW,
    )  # fmt: skip
    return made.model_copy(update={"change_summary": change})


def schedule(**more: Any) -> ScheduleConfig:
    return ScheduleConfig(frequency="daily", **more)


@pytest.mark.parametrize(
    ("change", "significant", "any_", "always"),
    [
        (None, False, False, False),
        (summary(), False, False, True),
        (summary(changed=1), False, True, True),
        (summary(removed=1), False, True, True),
        (summary(new=5, significant=True), True, True, True),
    ],
)
def test_news_is_what_the_schedule_asks_for(
    change: dict[str, Any] | None, significant: bool, any_: bool, always: bool
) -> None:
    found = [should_notify(schedule(notify_on=rule), change) for rule in ("significant", "any", "always")]
    assert found == [significant, any_, always]
    assert not should_notify(schedule(notify_on="always", notify_on_changes=False), change)


def planned(next_run_at: datetime | None = None, **config: Any) -> Schedule:
    made = schedule(**{"enabled": True, **config})
    return Schedule(id=uuid4(), project_id=PROJECT.id, config=made, next_run_at=next_run_at or NOW + timedelta(days=1))


def test_each_channel_that_has_a_target_is_told() -> None:
    urls = ("slack://…1", "tgram://…2")
    all_ = planned(notification_email="a@b.org", notification_webhook="https://h.org/x", notification_urls=urls)
    found = [(target.name, target.address) for target in targets(all_)]
    assert found == [
        ("email", "a@b.org"), ("webhook", "https://h.org/x"), ("apprise", "slack://…1"), ("apprise-2", "tgram://…2"),
    ]  # fmt: skip
    assert targets(planned()) == []
    gone = all_.model_copy(update={"webhook_gone_at": NOW})
    assert "webhook" not in [target.name for target in targets(gone)], "it wants nothing more"


def test_the_mail_is_the_seeds_to_the_letter_and_holds_no_markup_of_the_site() -> None:
    told = crawl(summary(3, 5, 1, significant=True))
    mail = changes_mail(SENDER, PROJECT, told)
    assert mail.subject == "[Acme] Significant changes detected for Acme Coffee"
    assert mail.text == (
        "The scheduled crawl for Acme Coffee (https://acme.coffee/) completed and detected significant changes:\n\n"
        "- New pages: 3\n- Changed pages: 5\n- Removed pages: 1\n\n"
        "New pages:\nhttps://acme.coffee/<b>0\nhttps://acme.coffee/<b>1\nhttps://acme.coffee/<b>2\n\n"
        "Please review these changes and determine if content regeneration is needed.\n\n"
        f"View details: http://d/crawls/{told.id}\n"
    )
    assert "<b>" not in mail.html
    assert "https://acme.coffee/&lt;b&gt;2" in mail.html


def test_what_changed_stands_above_the_counts_and_a_crawl_by_hand_is_not_called_scheduled() -> None:
    pages = [PageDigest(f"https://acme.coffee/{n}", None, (LineChange("€3", "€4"),), more=0) for n in range(5)]
    told = crawl(summary(changed=5) | {"changed_page_urls": [page.url for page in pages]})
    by_hand = told.model_copy(update={"crawl_type": CrawlType.MANUAL})
    mail = changes_mail(SENDER, PROJECT, by_hand, change_sections(told.change_summary or {}, pages))
    assert mail.text.startswith("Changed: https://acme.coffee/0\n- €3\n+ €4\n")
    first, counts, last = (mail.text.index(words) for words in ("coffee/2", "- Changed pages: 5", "coffee/3"))
    assert first < counts < last, "a few pages only: the counts stay near"
    assert "The crawl for Acme Coffee (https://acme.coffee/) completed" in mail.text


def test_long_lists_end_after_a_hundred() -> None:
    mail = changes_mail(Sender("P", None), PROJECT, crawl(summary(new=130, significant=True)))
    assert "… and 30 more" in mail.text.splitlines()
    assert "https://acme.coffee/<b>100" not in mail.text
    assert "View details" not in mail.text


POWER = "Sale\r\nBcc: everybody@example.org\x00\x1b[2J\u202egnp.exe\u2066\u2028<script>alert(1)</script>\ud800"


def test_crawled_words_have_no_power_in_a_mail() -> None:
    odd = PROJECT.model_copy(update={"name": POWER})
    told = crawl(summary(1, significant=True) | {"new_page_urls": [POWER], "removed_page_urls": [POWER]})
    mail = changes_mail(
        Sender("P", None), odd, told, [*change_sections(told.change_summary or {}), Section(POWER, [POWER])]
    )
    for part in mail:
        part.encode()
        assert not set(part.replace("\n", "")) & set("\r\x00\x1b\u202e\u2066\u2028"), repr(part)
    assert "\n" not in mail.subject
    assert "<script>" not in mail.html
    assert not any(line.startswith("Bcc:") for line in mail.text.splitlines())
    message = EmailMessage(policy=SMTP)
    message["Subject"] = mail.subject
    assert message.get_all("Bcc") is None


def test_a_book_of_a_title_is_cut() -> None:
    mail = changes_mail(SENDER, PROJECT, crawl(summary() | {"new_page_urls": ["x" * 1_000_000]}))
    assert len(mail.text) < 2000
    assert "x…" in mail.text


def test_channels_for_a_few_words_get_whole_lines() -> None:
    mail = changes_mail(SENDER, PROJECT, crawl(summary(new=100, significant=True)))
    short = brief(mail.text)
    assert len(short) < 2000
    shown, _, link = short.partition("…")
    assert mail.text.startswith(shown)
    assert link.startswith("\n\nView details: http://d/crawls/"), "where to read on is never cut off"
    nowhere = changes_mail(Sender("Acme", None), PROJECT, crawl(summary(new=100, significant=True)))
    assert brief(nowhere.text).endswith("\n…")
    assert brief("a few") == "a few"


def test_moved_pages_are_told_as_moved() -> None:
    (moved,) = change_sections({"moved": [{"from": "https://a/old", "to": "https://a/new"}]})
    assert (moved.title, moved.lines) == ("Moved pages:", ["https://a/old → https://a/new"])
    assert list(change_sections({})) == [], "a summary of before has less to say"


def test_around_the_template_stand_the_pages_own_words_and_what_the_whole_site_changed() -> None:
    digest = PageDigest("https://a/x", None, (LineChange("Old <b>", "New <b>"), LineChange(None, "More")), more=4)
    gone = PageDigest("https://a/y", None, (), 0, note="No longer kept.")
    told = crawl(
        summary(changed=3)
        | {
            "changed_page_urls": ["https://a/x", "https://a/y", "https://a/z"],
            "removed_page_urls": ["https://a/gone", "https://a/off"],
            "removals": [{"url": "https://a/off", "class": "moved", "target": "https://b/"}],
            "template_changes": [{"removed": "", "added": "Black Friday!", "pages": 40, "example_urls": []}],
        }
    )
    mail = changes_mail(SENDER, PROJECT, told, change_sections(told.change_summary or {}, [digest, gone]))
    assert mail.text.startswith("Changed: https://a/x\n- Old <b>\n+ New <b>\n+ More\n… and 4 more\n\nThe scheduled")
    below = mail.text.partition(f"View details: http://d/crawls/{told.id}\n\n")[2]
    assert below == (
        "Changed: https://a/y\nNo longer kept.\n\n"
        "Other changed pages:\nhttps://a/z\n\n"
        "Removed pages:\nhttps://a/gone\nhttps://a/off → https://b/\n\n"
        "The same on 40 pages:\n+ Black Friday!\n"
    )
    assert "&lt;b&gt;" in mail.html
    assert "<b>" not in mail.html
    assert "<ins " in mail.html


def test_lines_with_values_of_their_own_are_told_as_an_example_and_their_pages_counted() -> None:
    edit = {"removed": "Adult 12", "added": "Adult 13", "pages": 4, "example_urls": [], "own_values": True}
    told = crawl(summary(changed=0) | {"template_changes": [edit], "template_pages": 4})
    (section,) = change_sections(told.change_summary or {})
    assert (section.title, section.lines) == (
        "On 4 pages, each with values of its own, for example:",
        ["- Adult 12", "+ Adult 13"],
    )
    assert "- Changed pages: 0, and 4 by an edit of many pages\n" in changes_mail(SENDER, PROJECT, told).text


def test_pages_behind_a_wall_or_led_to_one_place_are_one_sentence() -> None:
    walls = [
        {"kind": "same_page", "pages": 12, "target": None, "example_urls": []},
        {"kind": "error", "pages": 1, "target": None, "example_urls": []},
        {"kind": "redirect", "pages": 3, "target": "https://a/login", "example_urls": []},
    ]
    led = [{"target": "https://a/", "pages": 40, "example_urls": []}]
    removed, unseen = change_sections(
        {"wall_notes": walls, "redirected_together": led, "removed_page_urls": ["https://a/x"]}
    )
    assert removed.lines == ["40 pages lead to https://a/ now.", "https://a/x"]
    assert (unseen.title, unseen.lines) == (
        "Not seen this time:",
        [
            "12 pages show one and the same text, such as a sign-in page: not compared.",
            "1 page shows an error in place of what was there: not compared.",
            "3 pages lead to https://a/login for the time being: not compared.",
        ],
    )


def test_a_move_or_a_change_of_the_template_is_a_change() -> None:
    for more in ({"moved_pages": 1}, {"template_changes": [{"pages": 3}]}):
        found = [should_notify(schedule(notify_on=rule), summary() | more) for rule in ("significant", "any")]
        assert found == [False, True]


def failed(streak: int, tries: int = 2, last: LastFailureNotice | None = None, **config: Any) -> bool:
    over = crawl({}).model_copy(update={"completed_at": NOW})
    return is_failing(planned(**config), over, Streak(streak, tries), last)


def test_failing_is_told_after_enough_runs_and_once() -> None:
    assert [failed(runs) for runs in (1, 2, 3, 4)] == [False, False, True, True]
    assert failed(1, notify_after_failures=1)
    assert not failed(9, notify_after_failures=0), "0 is never"
    assert not failed(4, last=LastFailureNotice(NoticeKind.FAILING, uuid4())), "they know"
    assert failed(4, last=LastFailureNotice(NoticeKind.RECOVERED, uuid4())), "they think it works"


def test_a_run_that_is_tried_again_has_not_failed_yet() -> None:
    assert not failed(3, tries=0)
    assert not failed(3, tries=1)
    assert failed(3, tries=0, next_run_at=NOW + timedelta(minutes=5)), "the next run comes first"
    assert failed(3, tries=1, next_run_at=NOW + timedelta(minutes=15))
    assert failed(3, tries=0, enabled=False), "nobody tries it again"


def test_working_again_is_told_once_and_only_to_whom_failing_was() -> None:
    done = crawl({})
    assert not is_recovered(done, None)
    assert is_recovered(done, LastFailureNotice(NoticeKind.FAILING, uuid4()))
    assert not is_recovered(done, LastFailureNotice(NoticeKind.RECOVERED, uuid4()))
    assert is_recovered(done, LastFailureNotice(NoticeKind.RECOVERED, done.id)), (
        "a repeat goes on where it was left; claims keep it once"
    )


def test_failures_have_words_and_events_of_their_own() -> None:
    over = crawl({}).model_copy(
        update={"error_message": "https://acme.coffee/ could not be fetched: dns", "pages_crawled": 7}
    )
    streak = Streak(3, 2, NOW)
    mail = failing_mail(SENDER, PROJECT, over, streak)
    assert mail.subject == "[Acme] Could not crawl Acme Coffee"
    assert "the last 3 runs failed since 2024-01-15 10:30 UTC" in mail.text
    assert "could not be fetched: dns" in mail.text
    assert recovered_mail(SENDER, PROJECT, over).subject == "[Acme] Acme Coffee can be crawled again"
    told = failing_payload(PROJECT, over, streak, NOW)
    assert (told["event"], told["failures"]["runs"], told["failures"]["since"]) == (
        "crawl_failing",
        3,
        "2024-01-15T10:30:00Z",
    )
    again = recovered_payload(PROJECT, over, NOW)
    assert (again["event"], again["pages_crawled"]) == ("crawl_recovered", 7)
    assert set(told) - {"failures"} == set(again) - {"pages_crawled"}


def test_a_comparison_that_could_not_be_made_is_a_failed_run_with_its_reason() -> None:
    reason = "Comparing it took more than 40 minutes."
    over = crawl({}).model_copy(update={"change_summary": None, "stats": {"comparison_failed": reason}})
    assert has_failed(over)
    assert not has_failed(over.model_copy(update={"stats": {}}))
    mail = failing_mail(SENDER, PROJECT, over, Streak(1, 0))
    assert mail.subject == "[Acme] Could not compare Acme Coffee"
    assert f"could not be compared:\n{reason}" in mail.text
    told = failing_payload(PROJECT, over, Streak(1, 0), NOW)["failures"]
    assert (told["code"], told["error_message"]) == ("comparison_failed", reason)


def test_pages_that_are_too_large_to_weigh_are_counted_and_named() -> None:
    large = [{"url": "https://acme.coffee/a", "reason": "too_large_to_weigh"}]
    told = crawl({**summary(0, 1, 0), "by_hash_pages": 1, "by_hash": large})
    assert webhook_payload(PROJECT, told, NOW)["changes"]["by_hash_pages"] == 1
    mail = changes_mail(SENDER, PROJECT, told, change_sections(told.change_summary or {}))
    assert "Too large to weigh, changed by hash (1):\nhttps://acme.coffee/a" in mail.text


def test_the_payload_is_the_seeds_and_after_it_counts_what_the_seed_does_not_know() -> None:
    told = crawl(summary(3, 5, 1, significant=True))
    payload = webhook_payload(PROJECT, told, NOW)
    assert list(payload["changes"])[:4] == ["new_pages", "changed_pages", "removed_pages", "is_significant"]
    assert payload == {
        "event": "crawl_completed",
        "project_id": str(PROJECT.id),
        "project_name": "Acme Coffee",
        "website_url": "https://acme.coffee/",
        "crawl_id": str(told.id),
        "changes": {
            "new_pages": 3, "changed_pages": 5, "removed_pages": 1, "is_significant": True,
            "moved_pages": 0, "template_changes": 0,
        },
        "timestamp": "2024-01-15T10:30:00Z",
        "pages": [],
        "more_pages": 9,
    }  # fmt: skip
    edit = {"removed": "a", "added": "b", "pages": 9}
    more = {**summary(0, 0, 0, significant=False), "moved_pages": 2, "template_changes": [edit, edit, edit]}
    changes = webhook_payload(PROJECT, crawl(more), NOW)["changes"]
    assert (changes["moved_pages"], changes["template_changes"]) == (2, 3)


def test_a_mail_names_no_list_that_is_empty_and_counts_what_only_moved() -> None:
    edit = {"removed": "a", "added": "b", "pages": 9}
    more = {**summary(0, 1, 0, significant=False), "moved_pages": 2, "template_changes": [edit]}
    text = changes_mail(SENDER, PROJECT, crawl(more)).text
    assert "New pages:\n" not in text
    counts = (
        "- New pages: 0\n- Changed pages: 1\n- Removed pages: 0\n- Moved pages: 2\n- The same edit on many pages: 1\n"
    )
    assert f"{counts}\nPlease review these changes" in text


def test_a_signature_can_be_checked_by_the_standard_rule() -> None:
    key, identity, body = b"0123456789abcdef", uuid4(), b'{"a":1}'
    secret = "whsec_" + base64.b64encode(key).decode()
    headers = webhook_headers(identity, NOW, body, secret)
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    assert headers["webhook-signature"] == "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    assert "webhook-signature" not in webhook_headers(UUID(int=1), NOW, body, None)


def test_a_comparison_that_found_nothing_says_so_and_asks_for_no_review() -> None:
    mail = changes_mail(SENDER, PROJECT, crawl(summary()))
    assert mail.subject == "[Acme] No changes for Acme Coffee"
    opening = "The scheduled crawl for Acme Coffee (https://acme.coffee/) completed and detected no changes."
    assert mail.text.startswith(f"{opening}\n\nView details: ")
    assert "review" not in mail.text + mail.html
    moved = changes_mail(SENDER, PROJECT, crawl(summary() | {"moved_pages": 1}))
    assert moved.subject == "[Acme] Changes detected for Acme Coffee", "a move is a change"


def test_addresses_of_pages_are_links_and_words_of_pages_are_not() -> None:
    digest = PageDigest("https://a/x?b=1&c=2", None, (LineChange(None, "see https://evil.example/"),), more=0)
    told = crawl(
        summary(changed=1)
        | {
            "new_page_urls": ["https://a/<b>0", "javascript:alert(1)", "https://a/two words", 'https://a/"onclick='],
            "changed_page_urls": ["https://a/x?b=1&c=2"],
            "removed_page_urls": ["https://a/off"],
            "removals": [{"url": "https://a/off", "class": "moved", "target": "https://b/"}],
        }
    )
    html = changes_mail(Sender("P", None), PROJECT, told, change_sections(told.change_summary or {}, [digest])).html
    for url in ("https://a/&lt;b&gt;0", "https://a/x?b=1&amp;c=2", "https://a/off", "https://b/"):
        assert f'<a href="{url}" rel="noreferrer">{url}</a>' in html
    assert html.count("<a ") == 5
    assert 'href="https://a/&quot;onclick="' in html
    assert "javascript:" in html


def test_a_mail_links_to_each_pages_change_and_asks_before_it_ignores_or_mutes() -> None:
    told = crawl(summary(changed=1))
    asked: list[dict[str, object]] = []

    def sign(what: dict[str, object]) -> str:
        asked.append(what)
        return f"token{len(asked)}"

    sender = Sender("Acme", "https://watch.example/", sign)
    digest = PageDigest("https://a/x?y=1", None, (LineChange("Costs 5 euros", "Costs 6 euros"),), 0)
    sections = change_sections(told.change_summary or {}, [digest], lambda page: sender.page_links(told, page))
    mail = changes_mail(sender, PROJECT, told, sections)
    shown = f"https://watch.example/crawls/{told.id}/changes/page?url=https%3A%2F%2Fa%2Fx%3Fy%3D1"
    assert f"See the change: {shown}\n" in mail.text
    assert f'href="{shown}"' in mail.html
    assert [what["do"] for what in asked] == ["mute", "mute", "ignore"]
    assert "Ignore this block: “Costs 6 euros”: https://watch.example/act/token3" in mail.text
    assert "Mute this project for a week: https://watch.example/act/token2" in mail.text
    assert ">5</del>" in mail.html
    assert ">6</ins>" in mail.html


def test_a_webhook_names_the_first_pages_with_an_excerpt_and_counts_the_others() -> None:
    told = summary(new=9, changed=2) | {"moved": [{"from": "https://a/old", "to": "https://a/new"}], "moved_pages": 1}
    digest = PageDigest("https://a/x", None, (LineChange("5", "6"),), 0)
    pages = told_pages(told, [digest], lambda url: f"https://watch.example/?{url}")
    payload = webhook_payload(PROJECT, crawl(told), NOW, None, pages)
    assert list(payload)[-3:] == ["timestamp", "pages", "more_pages"]
    assert payload["pages"][0] == {
        "url": "https://a/x",
        "kind": "changed",
        "excerpt": [{"removed": "5", "added": "6"}],
        "link": "https://watch.example/?https://a/x",
    }
    assert payload["pages"][-1] == {
        "url": "https://a/old", "kind": "moved", "excerpt": [], "moved_to": "https://a/new", "link": None,
    }  # fmt: skip
    assert len(payload["pages"]) == 1 + 4 + 1, "of each kind few"
    assert payload["more_pages"] == 12 - 6


def short_mail(line: LineChange, changed: int = 2, *, name: str = "Acme Coffee", significant: bool = False) -> Mail:
    page = PageDigest("https://acme.coffee/", None, (line,), more=0)
    told = crawl(summary(changed=changed, significant=significant) | {"changed_page_urls": [page.url]})
    project = PROJECT.model_copy(update={"name": name})
    return changes_mail(SENDER, project, told, change_sections(told.change_summary or {}, [page]), by_schedule=False)


def test_the_subject_names_the_first_change_unless_many_make_it_significant() -> None:
    price = LineChange("£9.80", "£10.40")
    assert short_mail(price).subject == "[Acme] Acme Coffee: £9.80 → £10.40, and 1 more page"
    assert short_mail(price, 1).subject == "[Acme] Acme Coffee: £9.80 → £10.40"
    assert short_mail(price, 4).subject.endswith(", and 3 more pages")
    one_word = LineChange("Open daily from nine to five o'clock", "Open daily from nine to six o'clock")
    assert short_mail(one_word, 1).subject == "[Acme] Acme Coffee: five → six"
    assert short_mail(LineChange(None, "Sale"), 1).subject == "[Acme] Acme Coffee: new: Sale"
    assert short_mail(LineChange("Sale", None), 1).subject == "[Acme] Acme Coffee: gone: Sale"
    assert short_mail(price, significant=True).subject == "[Acme] Significant changes detected for Acme Coffee"


def test_the_subject_is_short_and_one_line_whatever_a_page_says() -> None:
    for line in (LineChange(POWER, POWER * 50), LineChange(None, POWER * 50), LineChange("a " * 500, "b " * 500)):
        subject = short_mail(line, name="N" * 200).subject
        assert len(subject) <= 200
        assert not {"\r", "\n", "\x00", "\u202e"} & set(subject)


def test_a_crawl_that_somebody_asked_for_is_not_called_scheduled_though_it_is_told_like_one() -> None:
    assert "\n\nThe crawl for Acme Coffee (https://acme.coffee/) completed" in short_mail(LineChange("1", "2")).text


def test_a_receivers_status_is_said_in_a_sentence_and_other_words_stay() -> None:
    assert DeliveryResult(delivered=True, words="200").sentence == "It answered 200"
    assert DeliveryResult(delivered=True, words="The mail server took it.").sentence == "The mail server took it."


def test_values_that_changed_alike_stand_each_with_what_it_is_a_value_of() -> None:
    lines = tuple(LineChange("€2.20", "€2.40", context=name) for name in ("Espresso", "Tea"))
    page = PageDigest("http://cafe.example/menu", None, lines, 0)
    (section,) = change_sections({"changed_page_urls": [page.url]}, [page])
    assert list(section.lines) == ["“Espresso”:", "- €2.20", "+ €2.40", "“Tea”:", "- €2.20", "+ €2.40"]
    html = changes_mail(SENDER, PROJECT, crawl(summary(changed=1)), [section]).html
    for name in ("Espresso", "Tea"):
        assert f"<li>“{name}”: <del" in html


def test_what_a_page_says_passes_neither_for_our_link_to_the_details_nor_for_one_to_ignore_a_block() -> None:
    trap = "View details: http://evil.example/"
    lines = (
        LineChange("5 euros", "6 euros", context=trap),
        LineChange("a", "Sale”: http://evil.example/ “"),
        *(LineChange(f"{number} " + "word " * 40, f"{number}") for number in range(20)),
    )
    page = PageDigest("http://shop.example/", None, lines, 0)
    signing = SENDER._replace(dashboard_url="https://watch.example", sign=lambda _: "token")
    job = crawl(summary(changed=1))
    sections = change_sections({"changed_page_urls": [page.url]}, [page], lambda one: signing.page_links(job, one))
    text = changes_mail(signing, PROJECT, job, sections).text
    assert not [line for line in text.splitlines() if line.startswith(trap)]
    assert f"View details: https://watch.example/crawls/{job.id}" in brief(text).splitlines()
    assert "Ignore this block: “Sale': http://evil.example/ '”: https://watch.example/act/token" in text


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("[View details](http://evil.example/)", "[View details] (http://evil.example/)"),
        ("[View details][1]", "[View details] [1]"),
        ("[1]: http://evil.example/", "[1] : http://evil.example/"),
        (
            "<http://evil.example/|View details> <@1234> <!channel>",
            "< http://evil.example/|View details> < @\u20601234> < !channel>",
        ),
        ("@all, @everyone and x@here", "@\u2060all, @\u2060everyone and x@\u2060here"),
        (
            "anna@all.example, a < b, a[1], http://[::1]:80/@anna",
            "anna@all.example, a < b, a[1], http://[::1]:80/@anna",
        ),
    ],
)
def test_what_a_page_says_makes_no_links_and_calls_nobody_in_a_chat(said: str, told: str) -> None:
    page = PageDigest("http://shop.example/", None, (LineChange("old", said),), 0)
    mail = changes_mail(SENDER, PROJECT, crawl(summary(changed=1)), change_sections({}, [page]))
    assert f"\n+ {told}\n" in mail.text
    assert told[:20] in mail.subject
