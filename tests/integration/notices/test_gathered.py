"""What waits for an address is gathered over projects: none of them holds up, hides or bloats what others say."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count
from threading import Event
from typing import Any

import pytest

from crawler.adapters.notices import notification_store
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.ids import new_id
from crawler.domain.notices.channels import masked
from crawler.domain.notices.notice import Channel, NoticeKind, Target
from crawler.domain.notices.recipients import read_recipient
from tests.integration.handmade import Clock
from tests.integration.inbox import Inbox
from tests.integration.live_engine import Engine
from tests.integration.notices.test_notify import told_crawl
from tests.integration.raw_server import response, serving

ANNA = "anna@example.org"


@pytest.fixture
def engine_settings(inbox: Inbox) -> dict[str, object]:
    settings = {"smtp_url": f"smtp://127.0.0.1:{inbox.port}", "mail_from": "crawler@example.org"}
    return {**settings, "egress_allow": ("127.0.0.0/8",)}


def gather(crawler: Engine, crawl: CrawlJob, at: str, *addresses: str) -> None:
    """This crawl's notices wait for all of these."""
    for address in addresses:
        channel = "email" if "@" in address else "webhook" if address.startswith("http") else "apprise"
        order = {"channel": channel, "address": address, "form": "daily", "time": at, "notify_on": "any"}
        crawler.tools.notices.manage_recipients.add(crawl.project_id, read_recipient(order))
    assert crawler.tools.notices.notify_crawl(crawl.id) == 0


def hold(crawler: Engine, crawl: CrawlJob, addresses: Sequence[str], text: str = "", subject: str = "big") -> None:
    """Notices that are due, each by a recipient of its own."""
    now, mail = crawler.tools.clock(), {"subject": subject, "text": text, "html": "<html><body></body></html>"}
    for address in addresses:
        order = read_recipient({"channel": "email", "address": address, "name": str(new_id(0))})
        one = crawler.tools.notices.manage_recipients.add(crawl.project_id, order)
        target = Target(Channel.EMAIL, address, one.target.number)
        identity = new_id(int(now.timestamp() * 1000))
        kept = crawler.tools.notices.notifications
        assert kept.claim(identity, crawl.project_id, crawl.id, NoticeKind.CHANGES, target, mail, now)


def test_who_shares_an_address_does_not_wait_for_the_other_receivers_of_somebody_else(
    crawler: Engine, inbox: Inbox
) -> None:
    clock, reached, go_on = Clock(crawler), Event(), Event()

    def hang(*_: Any) -> bytes:
        reached.set()
        go_on.wait(20)
        return response(b"")

    with serving(hang) as slow, ThreadPoolExecutor(1) as thread:
        at = f"{clock() + timedelta(hours=2):%H:%M}"
        other, mine = told_crawl(crawler), told_crawl(crawler)
        gather(crawler, other, at, slow.url(), ANNA)
        gather(crawler, mine, at, ANNA)
        clock.forward(hours=3)
        hanging = thread.submit(crawler.tools.notices.notify_crawl, other.id)
        assert reached.wait(20)
        assert crawler.tools.notices.notify_crawl(mine.id) == 2
        assert [mail.to for mail in inbox.mails] == [[ANNA]]
        go_on.set()
        assert hanging.result(20) == 1


@pytest.mark.slow
def test_chats_whose_masks_happen_to_be_the_same_are_told_nothing_of_each_other(crawler: Engine) -> None:
    clock, known = Clock(crawler), dict[str, str]()
    with serving(lambda *_: response(b"{}")) as chat:
        urls = (f"gotify://127.0.0.1:{chat.port}/AbCdEfGh{number:08}" for number in count())
        mine, other = next((known[masked(url)], url) for url in urls if known.setdefault(masked(url), url) != url)
        at = f"{clock() + timedelta(hours=2):%H:%M}"
        crawls = [told_crawl(crawler), told_crawl(crawler), told_crawl(crawler)]
        for crawl, url in zip(crawls, (mine, other, mine), strict=True):
            gather(crawler, crawl, at, url)
        clock.forward(hours=3)
        assert crawler.tools.notices.notify_crawl(crawls[0].id) == 3
        keys = [{name.lower(): value for name, value in one.headers.items()}["x-gotify-key"] for one in chat.requests]
        told = dict(zip(keys, (b"2 notices" in one.body for one in chat.requests), strict=True))
        assert told == {mine[-16:]: True, other[-16:]: False}


@pytest.mark.slow
def test_one_message_has_a_bound_and_in_it_each_project_has_its_turn(
    crawler: Engine, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notification_store, "MOST_BYTES", 25_000, raising=False)
    large, small = told_crawl(crawler), told_crawl(crawler)
    hold(crawler, large, [ANNA] * 6, "x" * 10_000)
    hold(crawler, large, [ANNA], "y" * 30_000, "too big for any")
    hold(crawler, small, [ANNA], "Here I am.", "small")
    assert crawler.tools.notices.notify_crawl(large.id) == 8
    assert "Here I am." in inbox.mails[0].text()
    assert [len(mail.text()) // 10_000 for mail in inbox.mails] == [2, 2, 2, 3], "all are told"
    assert crawler.tools.notices.notifications.due_crawls(crawler.tools.clock()) == []


def test_a_project_with_many_addresses_that_are_due_hides_nobody(crawler: Engine) -> None:
    many, shares, alone = told_crawl(crawler), told_crawl(crawler), told_crawl(crawler)
    _hold_many(crawler, many, 1000)
    hold(crawler, shares, ["0@example.org"])
    hold(crawler, alone, ["zoe@example.org"])
    due = crawler.tools.notices.notifications.due_crawls(crawler.tools.clock())
    assert set(due) == {many.id, shares.id, alone.id}


def test_a_project_with_many_crawls_that_were_not_told_hides_nobody(crawler: Engine) -> None:
    many, alone = told_crawl(crawler), told_crawl(crawler)
    crawler.rows(_MANY_UNTOLD, id=many.id, at=(crawler.tools.clock() - timedelta(hours=1)).isoformat())
    late = crawler.tools.clock() + timedelta(minutes=5)
    untold = crawler.tools.notices.notifications.untold(late)
    assert (alone.id in untold, len(untold)) == (True, 100)


def _hold_many(crawler: Engine, crawl: CrawlJob, count: int) -> None:
    crawler.rows(
        """
        INSERT INTO notifications (id, project_id, crawl_id, channel, kind, target, status, payload, sends, deliver_at)
        SELECT gen_random_uuid(), :project, CAST(:crawl AS uuid), 'email-' || n, 'changes', n || '@example.org', 'held',
               '{}', 0, :now FROM generate_series(0, :count) AS n RETURNING id
        """,
        project=crawl.project_id, crawl=crawl.id, count=count, now=crawler.tools.clock(),
    )  # fmt: skip


_MANY_UNTOLD = """
INSERT INTO crawl_jobs
SELECT (jsonb_populate_record(j, jsonb_build_object('id', gen_random_uuid(), 'diffed_at', CAST(:at AS text)))).*
FROM crawl_jobs j, generate_series(1, 300) WHERE j.id = :id RETURNING id
"""
