"""A real mail server on loopback, and what it was given."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import NamedTuple, cast

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session


class Received(NamedTuple):
    to: list[str]
    mail: EmailMessage

    def text(self, kind: str = "plain") -> str:
        part = self.mail.get_body((kind,))
        assert part is not None
        return str(part.get_content()).replace("\r\n", "\n")


class Inbox:
    def __init__(self, port: int) -> None:
        self.port = port
        self.mails: list[Received] = []

    async def handle_DATA(self, _: SMTP, __: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's name
        mail = message_from_bytes(cast("bytes", envelope.content), policy=default)
        self.mails.append(Received(envelope.rcpt_tos, mail))
        return "250 OK"


@contextmanager
def receiving_mail(kind: type[Inbox] = Inbox) -> Iterator[Inbox]:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    box = kind(port)
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield box
    finally:
        controller.stop()
