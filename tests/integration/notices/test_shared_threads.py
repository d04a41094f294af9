"""Threads of senders are shared: who waits for a place is told later, once, and nobody waits for what hangs."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from math import inf
from uuid import UUID

import pytest

from crawler.adapters.notices import webhook_sender
from crawler.bootstrap.judging import AT_ONCE, FOR_OTHERS
from crawler.domain import judging
from crawler.domain.changes.page_digest import PageDigest
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.notices.recipients import read_recipient
from crawler.domain.notices.templates import rendered
from crawler.handlers.notices import notify_crawl
from crawler.handlers.notices.sender_places import MOST_OF_ONE, THREADS, Receiver
from tests.integration.inbox import Inbox
from tests.integration.live_engine import Engine
from tests.integration.notices.test_notify import LOOP, told_crawl
from tests.integration.raw_server import response, serving


@pytest.fixture
def engine_settings(inbox: Inbox) -> dict[str, object]:
    settings = {"smtp_url": f"smtp://127.0.0.1:{inbox.port}", "mail_from": "crawler@example.org"}
    return {**settings, "egress_allow": ("127.0.0.0/8",)}


@contextmanager
def hanging() -> Iterator[int]:
    """A port at which every address of the loopback network takes what comes and never answers."""
    with socket.socket() as listening:
        listening.bind(("0.0.0.0", 0))
        listening.listen(128)
        yield listening.getsockname()[1]


def statuses(crawler: Engine, crawl: CrawlJob) -> list[str]:
    asked = "SELECT channel || ' ' || status AS said FROM notifications WHERE crawl_id = :id ORDER BY channel"
    return [str(row["said"]) for row in crawler.rows(asked, id=crawl.id)]


def fill(held: ExitStack, crawler: Engine, address: str) -> None:
    """All places that this receiver has."""
    for number in range(MOST_OF_ONE):
        place = crawler.tools.notices.places.telling(Receiver.of("webhook", address), UUID(int=number))
        assert held.enter_context(place)


@pytest.mark.slow
def test_forty_projects_each_with_a_receiver_that_hangs_do_not_delay_a_stranger(
    crawler: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook_sender, "SECONDS", 30)
    answered = serving(lambda *_: response(b""))
    with ThreadPoolExecutor(THREADS) as threads, hanging() as port, answered as stranger:
        crawls = [
            told_crawl(crawler, notification_webhook=f"http://127.0.1.{number + 1}:{port}/") for number in range(40)
        ]
        other = told_crawl(crawler, notification_webhook=stranger.url())
        notify = crawler.tools.notices.notify_crawl
        hung = [threads.submit(notify, crawl.id) for crawl in crawls]
        began = time.monotonic()
        assert threads.submit(notify, other.id).result(20) == 1
        assert time.monotonic() - began < 15
        assert not any(one.done() for one in hung), "they hang"


@pytest.mark.slow
def test_a_receiver_without_a_place_is_told_later_and_the_others_now(crawler: Engine, inbox: Inbox) -> None:
    with serving(lambda *_: response(b"")) as server:
        address = server.url()
        crawl = told_crawl(crawler, notification_webhook=address, notification_email="ops@example.org")
        notify = crawler.tools.notices.notify_crawl
        with ExitStack() as held:
            fill(held, crawler, address)
            assert [notify(crawl.id), notify(crawl.id)] == [1, 0]
            assert statuses(crawler, crawl) == ["email sent"]
            crawler.sent.clear()
        assert set(crawler.sent) == {("notify", crawl.id)}, "it goes on when a place is free"
        assert [notify(crawl.id), notify(crawl.id)] == [1, 0]
    assert statuses(crawler, crawl) == ["email sent", "webhook sent"]
    assert len(inbox.mails) == 1


def test_what_was_held_and_finds_no_place_waits_again(crawler: Engine) -> None:
    with serving(lambda *_: response(b"")) as server:
        address = server.url()
        crawl = told_crawl(crawler)
        order = {"channel": "webhook", "address": address, "form": "daily"}
        crawler.tools.notices.manage_recipients.add(crawl.project_id, read_recipient(order))
        notify = crawler.tools.notices.notify_crawl
        assert notify(crawl.id) == 0
        assert statuses(crawler, crawl)[0].endswith(" held")
        past = "UPDATE notifications SET deliver_at = :at WHERE crawl_id = :id RETURNING id"
        crawler.rows(past, id=crawl.id, at=crawler.tools.clock() - timedelta(seconds=1))
        with ExitStack() as held:
            fill(held, crawler, address)
            assert notify(crawl.id) == 0
            assert statuses(crawler, crawl)[0].endswith(" held")
        assert [notify(crawl.id), notify(crawl.id)] == [1, 0]
        assert statuses(crawler, crawl)[0].endswith(" sent")


def test_who_finds_no_judge_lets_others_prepare_and_is_told_a_moment_later(
    crawler: Engine, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = told_crawl(crawler, notification_email="ops@example.org")
    notify, judges = crawler.tools.notices.notify_crawl, crawler.tools.judging.pool
    with ExitStack() as held, monkeypatch.context() as hurried:  # on a busy machine a judge takes longer than that
        hurried.setattr(notify_crawl, "SLOW_SECONDS", 0.3)
        for number in range(AT_ONCE + FOR_OTHERS):
            held.enter_context(judges.places.place(number, 1))
        crawler.sent.clear()
        began = time.monotonic()
        assert notify(crawl.id) == 0
        assert time.monotonic() - began < 10
    assert crawler.sent == [("notify", crawl.id)]
    assert not crawler.tools.notices.places.is_slow(crawl.project_id), "others took long"
    assert [notify(crawl.id), notify(crawl.id)] == [1, 0]
    assert len(inbox.mails) == 1


@pytest.mark.slow
def test_changed_pages_that_take_long_to_read_are_read_among_those_that_take_long(
    crawler: Engine, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify_crawl, "SLOW_SECONDS", 0.3)
    monkeypatch.setattr("crawler.handlers.notices.sender_places.SLOW_SECONDS", 0.3)
    crawl = told_crawl(crawler, notification_email="ops@example.org")
    notify, places = crawler.tools.notices.notify_crawl, crawler.tools.notices.places

    def slow_pages(_: UUID) -> tuple[PageDigest, ...]:
        with crawler.tools.judging.for_digest() as judge:
            judge.one(rendered, LOOP, {}, 100, seconds=1.5)
        return ()

    monkeypatch.setattr(notify, "_digest", slow_pages)
    crawler.sent.clear()
    assert notify(crawl.id) == 0
    assert (places.is_slow(crawl.project_id), crawler.sent) == (True, [("notify", crawl.id)])
    monkeypatch.setattr(notify, "_digest", lambda _: () if judging.until.get() == inf else slow_pages(crawl.id))
    assert [notify(crawl.id), notify(crawl.id)] == [1, 0], "they have the time they need"
    assert len(inbox.mails) == 1


@pytest.mark.slow
def test_what_takes_long_to_prepare_is_begun_anew_among_its_like(
    crawler: Engine, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify_crawl, "SLOW_SECONDS", 2.0)
    crawl = told_crawl(crawler, notification_email="ops@example.org")
    order = {"channel": "email", "address": "a@example.org", "body_template": LOOP}
    crawler.tools.notices.manage_recipients.add(crawl.project_id, read_recipient(order))
    notify, places = crawler.tools.notices.notify_crawl, crawler.tools.notices.places
    monkeypatch.setattr("crawler.handlers.notices.sender_places.SLOW_SECONDS", 2.0)
    crawler.sent.clear()
    assert notify(crawl.id) == 1, "who is quick is told"
    assert places.is_slow(crawl.project_id)
    assert ("notify", crawl.id) in crawler.sent
    assert [notify(crawl.id), notify(crawl.id)] == [1, 0], "nobody twice"
    assert [received.to for received in inbox.mails] == [["ops@example.org"], ["a@example.org"]]
