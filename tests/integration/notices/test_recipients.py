"""Recipients beside the schedule: by Apprise, and what becomes of notices that wait for somebody."""

from datetime import timedelta
from typing import Any

import pytest

from crawler.domain.notices.channels import masked
from crawler.domain.notices.recipients import Recipient, read_recipient
from crawler.domain.notices.schedule_choices import Form
from crawler.errors import InvalidConfig
from tests.integration.handmade import Clock
from tests.integration.inbox import Inbox
from tests.integration.live_engine import Engine
from tests.integration.notices.test_notify import next_crawl, told_crawl
from tests.integration.raw_server import response, serving

TOKEN = "AbCdEfGh12345678"


@pytest.fixture
def engine_settings(inbox: Inbox) -> dict[str, object]:
    return {"smtp_url": f"smtp://127.0.0.1:{inbox.port}", "mail_from": "crawler@example.org"}


def add(crawler: Engine, project: Any, **given: Any) -> Recipient:
    order = read_recipient({"channel": "email", "address": "anna@example.org", "notify_on": "any", **given})
    return crawler.tools.notices.manage_recipients.add(project, order)


def statuses(crawler: Engine) -> list[tuple[str, str]]:
    return [(kept.status, kept.answer or "") for kept in crawler.tools.notices.notifications.newest(10)]


def test_a_chat_has_its_own_conditions_form_and_words_and_its_token_stays_secret(crawler: Engine) -> None:
    clock = Clock(crawler)
    with serving(lambda *_: response(b"{}")) as chat:
        url = f"gotify://127.0.0.1:{chat.port}/{TOKEN}"
        crawl = told_crawl(crawler)
        order = {"channel": "apprise", "address": url, "subject_template": "Look: {{ new_pages }}"}
        one = add(crawler, crawl.project_id, **order)
        assert one.address == masked(url)
        assert add(crawler, crawl.project_id, **order).id == one.id, "the same twice is one"
        assert TOKEN not in repr(crawler.rows("SELECT body FROM recipients"))
        assert TOKEN not in repr(crawler.tools.notices.manage_recipients.list(crawl.project_id))
        manage = crawler.tools.notices.manage_recipients
        manage.mute(crawl.project_id, one.id, clock() + timedelta(hours=1))
        manage.mute(crawl.project_id, one.id, None)
        assert crawler.tools.notices.notify_crawl(crawl.id) == 1
        (request,) = chat.requests
        assert b"Look: 6" in request.body
        at = f"{clock() + timedelta(hours=2):%H:%M}"
        manage.replace(crawl.project_id, one.id, one.order.model_copy(update={"form": Form.DAILY, "time": at}))
        for _ in range(2):
            crawl = next_crawl(crawler, crawl)
            crawler.tools.notices.notify_crawl(crawl.id)
        clock.forward(hours=3)
        crawler.tools.notices.notify_crawl(crawl.id)
        assert len(chat.requests) == 2
        assert b"2 notices" in chat.requests[1].body
        assert {kept.target for kept in crawler.tools.notices.notifications.newest(10)} == {masked(url)}


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("json://hooks.example.org/x", "use the channel webhook"),
        (f"gotify://10.0.0.1/{TOKEN}", "may not be reached"),
        (f"nonsense://{TOKEN}", "Apprise knows no such channel"),
        ("slack://…3f9a1c", "looks like"),
    ],
)
@pytest.mark.quick(1)
def test_a_chat_that_cannot_work_is_refused_when_it_is_added(crawler: Engine, url: str, words: str) -> None:
    project = crawler.project("http://example.org/")
    with pytest.raises(InvalidConfig, match=words) as refused:
        add(crawler, project.id, channel="apprise", address=url)
    assert TOKEN not in str(refused.value)


def waiting(crawler: Engine, clock: Clock) -> tuple[Any, Recipient]:
    crawl = told_crawl(crawler)
    one = add(crawler, crawl.project_id, form="daily", time=f"{clock() + timedelta(hours=2):%H:%M}")
    assert crawler.tools.notices.notify_crawl(crawl.id) == 0
    assert [status for status, _ in statuses(crawler)] == ["held"]
    return crawl, one


def test_who_was_removed_while_a_digest_waited_is_not_told(crawler: Engine, inbox: Inbox) -> None:
    clock = Clock(crawler)
    crawl, one = waiting(crawler, clock)
    crawler.tools.notices.manage_recipients.remove(crawl.project_id, one.id)
    clock.forward(hours=3)
    crawler.tools.notices.notify_crawl(crawl.id)
    assert inbox.mails == []
    assert statuses(crawler) == [("failed", "Not sent: this recipient was removed, or switched off, while it waited.")]
    assert crawler.tools.notices.notifications.due_crawls(clock()) == []


@pytest.mark.slow
@pytest.mark.parametrize("what", ["recipient", "project"])
def test_what_waited_for_somebody_who_is_muted_now_is_told_when_the_mute_is_over(
    crawler: Engine, inbox: Inbox, what: str
) -> None:
    clock = Clock(crawler)
    crawl, one = waiting(crawler, clock)
    until = clock() + timedelta(hours=5)
    if what == "recipient":
        crawler.tools.notices.manage_recipients.mute(crawl.project_id, one.id, until)
    else:
        crawler.tools.projects.manage.change(crawl.project_id, {"muted_until": until})
    clock.forward(hours=3)
    assert crawler.tools.notices.notify_crawl(crawl.id) == 0
    assert (inbox.mails, [status for status, _ in statuses(crawler)]) == ([], ["held"])
    assert crawler.tools.notices.notifications.due_crawls(clock()) == []
    clock.forward(hours=24)
    assert crawler.tools.notices.notifications.due_crawls(clock()) == [crawl.id]
    assert crawler.tools.notices.notify_crawl(crawl.id) == 1
    assert [mail.to for mail in inbox.mails] == [["anna@example.org"]]
