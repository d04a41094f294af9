"""Other channels by Apprise: told once each, under the egress rule, and their secrets stay secret."""

import gzip
import logging
import threading
import time
from collections import Counter
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

import pytest

from crawler.adapters.notices import apprise_sender
from crawler.adapters.notices.apprise_child import Gate
from crawler.adapters.notices.apprise_sender import AppriseSender
from crawler.domain import judging
from crawler.domain.hosts.egress import EgressRule
from crawler.domain.notices.channels import masked
from crawler.errors import InvalidConfig, Unavailable
from tests.integration.live_engine import Engine
from tests.integration.notices.test_notify import next_crawl, told_crawl
from tests.integration.raw_server import response, serving

TOKEN = "AbCdEfGh12345678"


def gotify(port: int, host: str = "127.0.0.1") -> str:
    return f"gotify://{host}:{port}/{TOKEN}"


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"product_name": "Acme"}


@pytest.mark.slow
def test_each_channel_is_told_once_and_a_failed_one_can_be_told_again(
    crawler: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    answers = {"good": response(b"{}"), "bad": response(b"{}", "500 Oh")}
    with serving(lambda *_: answers["good"]) as good, serving(lambda *_: answers["bad"]) as bad:
        urls = [gotify(good.port), gotify(bad.port)]
        crawl = told_crawl(crawler, notification_urls=urls)
        assert crawler.tools.notices.notify_crawl(crawl.id) == 2
        assert crawler.tools.notices.notify_crawl(crawl.id) == 0
        failed, sent = crawler.tools.notices.notifications.newest(10)
        assert (sent.channel, sent.status, sent.target) == ("apprise", "sent", masked(urls[0]))
        assert (failed.channel, failed.status, failed.target) == ("apprise-2", "failed", masked(urls[1]))
        answers["bad"] = response(b"{}")
        assert crawler.tools.notices.notify_crawl.resend(failed.id).delivered
        assert [len(good.requests), len(bad.requests)] == [1, 2]
    for shown in (repr(crawler.tools.notices.notifications.newest(10)), caplog.text):
        assert TOKEN not in shown


def test_secrets_are_encrypted_at_rest_and_masked_wherever_a_schedule_is_read(crawler: Engine) -> None:
    project = crawler.project("http://example.org/")
    url = f"slack://T1JJ3T3L2/A1BRTD4JD/{TOKEN}TIiajkdnlazkcOXrIdevi7FQ/#general"
    kept = crawler.tools.notices.set_schedule(project.id, {"frequency": "daily", "notification_urls": [url]})
    assert kept.config.notification_urls == (masked(url),)
    (row,) = crawler.rows("SELECT * FROM crawl_schedules")
    assert TOKEN not in repr({name: bytes(v) if isinstance(v, memoryview) else v for name, v in row.items()})
    assert crawler.tools.notices.schedules.notification_urls(project.id) == (url,)
    again = crawler.tools.notices.set_schedule(project.id, {"time": "05:00"})
    assert again.config.notification_urls == (masked(url),)
    assert crawler.tools.notices.schedules.notification_urls(project.id) == (url,), "what was shown was sent back"
    crawler.tools.notices.set_schedule(project.id, {"notification_urls": []})
    assert crawler.tools.notices.schedules.notification_urls(project.id) == ()


@pytest.mark.slow
def test_a_channel_that_was_taken_away_is_not_told_again(crawler: Engine) -> None:
    with serving(lambda *_: response(b"{}")) as receiver:
        crawl = told_crawl(crawler, notification_urls=[gotify(receiver.port)])
        crawler.tools.notices.notify_crawl(crawl.id)
        (kept,) = crawler.tools.notices.notifications.newest(1)
        crawler.tools.notices.set_schedule(crawl.project_id, {"notification_urls": []})
        assert crawler.tools.notices.notify_crawl(next_crawl(crawler, crawl).id) == 0
        answer = crawler.tools.notices.notify_crawl.resend(kept.id)
        assert (answer.delivered, len(receiver.requests)) == (False, 1)
        assert "does not name this channel any more" in answer.words


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("json://hooks.example.org/x", "use notification_webhook"),
        (f"gotify://10.0.0.1/{TOKEN}", "may not be reached"),
        (f"nonsense://{TOKEN}", "Apprise knows no such channel"),
        (f"discord://{TOKEN}", "lacks something"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_set(crawler: Engine, url: str, words: str) -> None:
    project = crawler.project("http://example.org/")
    with pytest.raises(InvalidConfig, match=words) as refused:
        crawler.tools.notices.set_schedule(project.id, {"frequency": "daily", "notification_urls": [url]})
    assert TOKEN not in str(refused.value)


@pytest.mark.slow
def test_a_name_that_leads_inside_is_refused_when_it_is_dialled() -> None:
    with serving(lambda *_: response(b"{}")) as receiver:
        answer = AppriseSender(())(gotify(receiver.port, "localhost"), "subject", "words")
        assert (answer.delivered, answer.blocked, receiver.connections) == (False, True, 0)
        assert AppriseSender((f"127.0.0.1:{receiver.port}",))(gotify(receiver.port, "localhost"), "s", "w").delivered


@pytest.mark.slow
def test_a_channel_that_hangs_is_left_after_its_time() -> None:
    with serving(lambda *_: time.sleep(60)) as receiver:
        began = time.monotonic()
        answer = AppriseSender(("127.0.0.0/8",), seconds=3)(gotify(receiver.port), "subject", "words")
        assert answer.words == "Not sent: no answer within 3 s."
        assert time.monotonic() - began < 15


@pytest.mark.slow
def test_a_channel_that_answers_without_end_costs_bounded_memory() -> None:
    bomb = gzip.compress(bytes(400_000_000), 1)
    with serving(lambda *_: response(bomb, "500 Oh", "Content-Encoding: gzip")) as receiver:
        answer = AppriseSender(("127.0.0.0/8",))(gotify(receiver.port), "subject", "words")
        assert answer.words == "Not sent: the channel answers more than is read."


@pytest.mark.slow
def test_what_apprise_complains_of_holds_no_piece_of_the_address() -> None:
    with serving(lambda *_: response(b"{}", "401 Unauthorized")) as receiver:
        answer = AppriseSender(("127.0.0.0/8",))(gotify(receiver.port), "subject", "words")
        assert not answer.delivered
        assert "401" in answer.words
        assert TOKEN not in answer.words


@pytest.mark.parametrize(
    ("event", "argument"),
    [
        ("open", "/etc/passwd"),
        ("open", b"/etc/passwd"),
        ("open", "/usr/../etc/passwd"),
        ("subprocess.Popen", "sh"),
        ("os.system", "sh"),
        ("socket.connect", "/run/dbus/system_bus_socket"),
        ("socket.connect", ("169.254.169.254", 80)),
        ("socket.sendto", ("10.0.0.1", 514)),
    ],
)
def test_nothing_of_this_machine_is_read_started_or_dialled(event: str, argument: object) -> None:
    with pytest.raises(PermissionError):
        Gate(EgressRule(), "")(event, (argument,))


def test_what_a_message_needs_is_let_through() -> None:
    gate = Gate(EgressRule(), "")
    gate("open", (logging.__file__,))
    gate("open", (7,))
    gate("socket.connect", (None, ("93.184.216.34", 443)))
    assert not gate.refused


def test_channels_of_one_caller_do_not_keep_others_from_having_theirs_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each check is a process: whoever has many checked at once waits, or is told to come back."""
    sender, go_on = AppriseSender(()), threading.Event()
    at_once: Counter[str] = Counter()

    def slowly(_: object) -> list[None]:
        who = str(judging.caller.get())
        at_once[who] += 1
        go_on.wait(10)
        return [None]

    monkeypatch.setattr(sender, "_ask", slowly)
    monkeypatch.setattr(apprise_sender, "CHECK_WAIT_SECONDS", 0.2)

    def checked(who: str) -> list[str | None]:
        judging.caller.set(who)
        return list(sender.why_unusable(["gotify://a.test/x"]))

    with ThreadPoolExecutor(9) as pool:
        many = [pool.submit(checked, "many") for _ in range(8)]
        wait(many, timeout=5, return_when=FIRST_EXCEPTION)
        one = pool.submit(checked, "one")
        wait([*many, one], timeout=1)
        assert at_once == {"many": 2, "one": 1}
        go_on.set()
        assert one.result() == [None]
        assert sum(isinstance(done.exception(), Unavailable) for done in many) == 6
