"""Mail servers that say odd things: what they did counts, and what they said can be stored and shown to everybody."""

import socket
import threading
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from uuid import uuid4

import pytest

from crawler.adapters.notices.mailer import Mailer
from crawler.domain.notices.notice import DeliveryResult, Mail
from tests.integration.live_engine import Engine
from tests.integration.notices.test_notify import told_crawl
from tests.integration.raw_server import response, serving

MAIL = Mail("Subject", "Text", "<p>Text</p>")
SAID = {
    b"EHLO": b"250-here\r\n250 AUTH PLAIN LOGIN\r\n",
    b"AUTH": b"235 welcome\r\n",
    b"DATA": b"354 go on\r\n",
    b"QUIT": b"221 bye\r\n",
}


@contextmanager
def saying(said: Mapping[bytes, bytes]) -> Iterator[str]:
    """A mail server that says this, each time to that command. Its place."""

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                threading.Thread(target=speak, args=(client,), daemon=True).start()

    def speak(client: socket.socket) -> None:
        with client, client.makefile("rb") as lines, suppress(OSError):
            client.sendall(b"220 here\r\n")
            in_mail = False
            for line in lines:
                command = b"." if line == b".\r\n" else line[:4].upper().strip()
                if not in_mail or command == b".":
                    in_mail = command == b"DATA"
                    client.sendall({**SAID, **said}.get(command, b"250 well\r\n"))

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        try:
            yield f"127.0.0.1:{listening.getsockname()[1]}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)


def sent(said: Mapping[bytes, bytes], login: str = "") -> DeliveryResult:
    with saying(said) as place:
        return Mailer(f"smtp://{login}{place}", "crawler@example.org")("ann@example.org", MAIL, uuid4())


@pytest.mark.parametrize("goodbye", [b"250 bye\r\n", b"500 what?\r\n", b"see you\r\n", b""])
def test_a_mail_that_was_taken_is_sent_whatever_is_said_to_the_goodbye(
    monkeypatch: pytest.MonkeyPatch, goodbye: bytes
) -> None:
    monkeypatch.setattr("crawler.adapters.notices.mailer.SECONDS", 0.5)
    assert sent({b"QUIT": goodbye}).delivered


def test_what_a_mail_server_says_shows_no_password() -> None:
    told = b64encode(b"\0ann\0open sesame") + b" " + b64encode(b"open sesame")
    found = sent({b"AUTH": b"535 wrong: " + told + b" open sesame\r\n"}, login="ann:open%20sesame@")
    assert found.words.endswith("said 535 wrong: … … ….")


def test_what_a_mail_server_says_is_kept_without_signs_that_cannot_be(crawler: Engine) -> None:
    with (
        saying({b"MAIL": b"550 not\0 \x1b[31mhere\r\n"}) as place,
        serving(lambda *_: response(b"ok")) as receiver,
    ):
        crawler.tools.notices.mailer._url = f"smtp://{place}"
        crawler.tools.notices.mailer._sender = "crawler@example.org"
        crawl = told_crawl(crawler, notification_email="ann@example.org", notification_webhook=receiver.url("/hook"))
        crawler.tools.notices.notify_crawl(crawl.id)
    found = {kept.channel: (kept.status, kept.answer) for kept in crawler.tools.notices.notifications.newest(10)}
    assert found == {
        "email": ("failed", f"Not sent: the mail server {place} said 550 not [31mhere."),
        "webhook": ("sent", "200 ok"),
    }
