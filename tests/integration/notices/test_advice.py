"""From a wish to the message, with a local twin of a language model's service."""

import json
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from crawler.domain.changes.advice import NoAdvice
from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.chat_server import ChatServer, chat_server, message, verdict
from tests.integration.handmade import lay, page
from tests.integration.inbox import Inbox
from tests.integration.live_engine import Engine
from tests.integration.raw_server import response, serving
from tests.integration.watching.test_watching import Shop, inbox
from tests.site.client import Site

__all__ = ["inbox"]

WISH = {"wish": "Tell me when refunds change.", "may_silence": False}


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with chat_server() as twin:
        yield twin


@pytest.fixture
def engine_settings(inbox: Inbox, model: ChatServer) -> dict[str, object]:
    mail = {"smtp_url": f"smtp://127.0.0.1:{inbox.port}", "mail_from": "crawler@example.org"}
    asked = {"advise_url": model.url, "advise_model": "twin", "advise_key": "sesame", "advise_seconds": 2}
    return {**mail, **asked}


def changed(shop: Shop, words: str = "Refunds within 14 days.") -> CrawlJob:
    shop.crawl()
    lay(shop.site, {"/news": page(body=f"<p>{words}</p>")})
    return shop.crawl()


def test_what_matters_is_told_in_one_sentence_and_kept(
    crawler: Engine, site: Site, inbox: Inbox, model: ChatServer
) -> None:
    model.answer = lambda _: verdict("Refunds are\u202e shorter now.")
    shop = Shop(crawler, site)
    shop.schedule(notify_on="conditions", advice=WISH)
    crawl = changed(shop)
    (mail,) = [one.text() for one in inbox.mails]
    assert "Refunds are shorter now." in mail
    assert "it matters to “Tell me when refunds change.”" in mail
    (asked,) = model.asked
    assert model.keys == ["Bearer sesame"]
    assert "Refunds within 14 days." in asked["messages"][1]["content"]
    kept = crawler.tools.store.get_crawl(crawl.id).change_summary or {}
    (advice,) = kept["advice"]
    assert (advice["matters"], advice["model"], len(advice["prompt"])) == (True, "twin", 64)


@pytest.mark.slow
def test_without_a_wish_nobody_is_asked(crawler: Engine, site: Site, inbox: Inbox, model: ChatServer) -> None:
    shop = Shop(crawler, site)
    shop.schedule(notify_on="any")
    changed(shop)
    assert (len(inbox.mails), model.asked) == (1, [])


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("may_silence", [False, True])
def test_what_does_not_matter_is_silent_only_if_that_is_asked_for(
    crawler: Engine, site: Site, inbox: Inbox, model: ChatServer, may_silence: bool
) -> None:
    model.answer = lambda _: verdict("Only the weather.", matters=False)
    shop = Shop(crawler, site)
    wish = {**WISH, "may_silence": may_silence}
    shop.schedule(notify_on="any", conditions={"of": ["contains refunds"]}, advice=wish)
    crawl = changed(shop)
    assert len(inbox.mails) == (0 if may_silence else 1)
    said = crawler.tools.notices.explain(crawler.tools.store.get_crawl(crawl.id)).why
    assert ("none of the changes matters" in said) is may_silence


FAULTS = {
    "an error": lambda _: response(b'{"error": "hunter2"}', "500 Internal Server Error"),
    "no JSON": lambda _: response(b"<html>", "200 OK"),
    "no choices": lambda _: response(b'{"choices": []}', "200 OK"),
    "nonsense": lambda _: message("I would rather talk about the weather."),
    "no text": lambda _: message(None),
    "too much": lambda _: response(json.dumps({"x": "y" * 300_000}).encode()),
    "elsewhere": lambda _: response(b"", "302 Found", "Location: http://127.0.0.2/"),
}


@pytest.mark.quick(1)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_model_that_fails_holds_no_notice_and_silences_nothing(
    crawler: Engine, site: Site, inbox: Inbox, model: ChatServer, fault: str
) -> None:
    model.answer = FAULTS[fault]
    shop = Shop(crawler, site)
    shop.schedule(notify_on="any", advice={**WISH, "may_silence": True})
    crawl = changed(shop)
    assert len(inbox.mails) == 1
    (advice,) = (crawler.tools.store.get_crawl(crawl.id).change_summary or {})["advice"]
    assert (advice["sentence"], advice["matters"]) == (None, None)
    assert advice["problem"].startswith("The model")
    assert "hunter2" not in str(advice)


@pytest.mark.slow
def test_a_model_that_never_answers_is_waited_for_once(
    crawler: Engine, site: Site, inbox: Inbox, model: ChatServer
) -> None:
    model.hangs.set()
    shop = Shop(crawler, site)
    shop.schedule(notify_on="any", advice=WISH)
    shop.crawl()
    lay(shop.site, {path: page(body=f"<p>New words at {path}.</p>") for path in ("/news", "/a", "/b")})
    shop.crawl()
    assert len(inbox.mails) == 1
    assert len(model.asked) == 1


def test_a_model_that_answers_a_byte_at_a_time_is_left_after_its_time(crawler: Engine) -> None:
    over = threading.Event()

    def drip(connection: socket.socket, _: object) -> None:
        for part in (b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n", *[b" "] * 200):
            connection.sendall(part)
            if over.wait(0.1):
                return

    adviser = crawler.tools.notices.adviser
    assert adviser is not None
    with serving(drip) as server:
        vars(adviser)["_url"] = server.url()
        began = time.monotonic()
        with pytest.raises(NoAdvice, match="in time"):
            adviser.ask([], 0.5)
        assert time.monotonic() - began < 10, "it would take 20"
        over.set()
