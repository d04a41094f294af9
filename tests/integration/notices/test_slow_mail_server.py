"""Mail servers that never come to an end: nobody waits for them for long, and little of what they say is kept."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from uuid import uuid4

import pytest

from crawler.adapters.notices import mailer
from crawler.adapters.notices.mailer import Mailer
from crawler.domain.notices.notice import Mail

MAIL = Mail("Subject", "Text", "<p>Text</p>")


@contextmanager
def speaking(greeting: bytes, again: bytes, pause: float) -> Iterator[str]:
    """A mail server that goes on greeting for ever."""
    over = threading.Event()

    def speak() -> None:
        client, _ = listening.accept()
        with client, suppress(OSError):
            client.sendall(greeting)
            while not over.wait(pause):
                client.sendall(again)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=speak)
        thread.start()
        try:
            yield f"smtp://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            over.set()
            thread.join()


def words_of(url: str) -> str:
    result = Mailer(url, "crawler@example.org")("ann@example.org", MAIL, uuid4())
    assert not result.delivered
    return result.words


@pytest.mark.parametrize(
    ("greeting", "again"), [(b"220-hello\r\n", b"220-hello\r\n"), (b"220 h", b"x")], ids=["lines", "one line"]
)
def test_a_mail_server_that_drips_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, greeting: bytes, again: bytes
) -> None:
    monkeypatch.setattr(mailer, "MOST_SECONDS", 0.3)
    with speaking(greeting, again, 0.02) as url:
        assert "it takes more than 0.3 s" in words_of(url)


def test_a_mail_server_that_floods_is_not_heard_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailer, "MOST_SAID", 50_000)
    with speaking(b"", b"220-hello\r\n" * 1000, 0.0) as url:
        assert "it says too much" in words_of(url)
