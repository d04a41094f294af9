"""Sends mails through the SMTP server that the settings or the environment name.

Whether somebody is told is decided by `should_notify` (`domain/notices/notice.py`). The words are in `mail.py` there.
"""

import smtplib
import socket
import ssl
import time
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit
from uuid import UUID

from crawler.domain.notices.notice import NO_SERVER, DeliveryResult, Mail
from crawler.domain.notices.notice_settings import NoticeSettings
from crawler.domain.plain_text import one_line
from crawler.errors import CrawlerError

SECONDS = 15
MOST_SECONDS = 60
"""For all of a conversation: a server that says a little now and then would hold everybody's notices."""
MOST_SAID = 1024 * 1024
_PORTS = {"smtp": 25, "smtps": 465}
_UNFOLDED = SMTP.clone(max_line_length=900)  # a subject broken at its first word shows a blank before it


class Mailer:
    def __init__(
        self,
        smtp_url: str | None,
        sender: str | None,
        stored: Callable[[], NoticeSettings] = NoticeSettings,
    ) -> None:
        """`stored` is what operators set at run time: it is read for each mail, and goes before the environment."""
        self._url = smtp_url
        self._sender = sender
        self._stored = stored

    def __call__(self, to: str, mail: Mail, message_id: UUID) -> DeliveryResult:
        """Never raises for what the server does."""
        try:
            settings = self._settings()
        except CrawlerError as exc:
            return DeliveryResult(delivered=False, words=f"Not sent: {exc.message}")
        if not settings.smtp_url or not settings.sender:
            return DeliveryResult(delivered=False, words=f"Not sent: {NO_SERVER}")
        try:
            with _connected(settings.smtp_url) as server:
                server.send_message(_message(settings.sender, to, mail, message_id))
        except (smtplib.SMTPException, OSError, ValueError) as exc:
            where, why = _place(settings.smtp_url), _why(exc, settings.smtp_url)
            return DeliveryResult(delivered=False, words=f"Not sent: the mail server {where} {why}.")
        return DeliveryResult(delivered=True, words="The mail server took it.")

    @property
    def place(self) -> str | None:
        """The server, without what is secret."""
        url = self._settings().smtp_url
        return _place(url) if url else None

    def why_unreachable(self) -> str | None:
        """Greets the server and sends nothing."""
        url = self._settings().smtp_url or ""
        try:
            with _connected(url) as server:
                server.noop()
        except (smtplib.SMTPException, OSError, ValueError) as exc:
            return _why(exc, url)
        return None

    def _settings(self) -> NoticeSettings:
        return self._stored().over(NoticeSettings(self._url, self._sender))


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname or 'localhost'}:{parts.port or _PORTS.get(parts.scheme, 25)}"


def _message(sender: str, to: str, mail: Mail, message_id: UUID) -> EmailMessage:
    message = EmailMessage(policy=_UNFOLDED)
    message["Subject"], message["From"], message["To"] = mail.subject, sender, to
    message["Date"] = formatdate(usegmt=True)
    message["Message-ID"] = f"<{message_id}@{sender.rpartition('@')[2].rstrip('>') or 'localhost'}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.text)
    message.add_alternative(mail.html, subtype="html")
    return message


class _Replies:
    """What a server says, as `smtplib` reads it: within a time and a size, however it comes."""

    def __init__(self, connection: socket.socket, until: float) -> None:
        self._connection = connection
        self._until = until
        self._said = 0
        self._held = b""

    def readline(self, most: int) -> bytes:
        while b"\n" not in self._held and len(self._held) < most:
            piece = self._next()
            if not piece:
                break
            self._held += piece
        end = min(self._held.find(b"\n") + 1 or len(self._held), most)
        line, self._held = self._held[:end], self._held[end:]
        return line

    def _next(self) -> bytes:
        if self._said > MOST_SAID:
            raise TimeoutError("it says too much")
        left = self._until - time.monotonic()
        try:
            self._connection.settimeout(max(0.001, min(SECONDS, left)))
            piece = self._connection.recv(4096) if left > 0 else b""
        except TimeoutError:
            if left > SECONDS:
                raise
            left = 0
        if left <= 0:
            raise TimeoutError(f"it takes more than {MOST_SECONDS} s")
        self._said += len(piece)
        return piece

    def close(self) -> None:
        """The connection is closed by whom it belongs to."""


class _Server(smtplib.SMTP):
    def connect(self, *given: Any, **named: Any) -> tuple[int, bytes]:
        self._until = time.monotonic() + MOST_SECONDS
        return super().connect(*given, **named)

    def getreply(self) -> tuple[int, bytes]:
        if self.file is None and self.sock is not None:
            self.file = _Replies(self.sock, self._until)
        return super().getreply()

    def __exit__(self, *_: object) -> None:
        """Say goodbye. Whatever is answered, the mail was taken or refused before."""
        with suppress(smtplib.SMTPException, OSError):
            self.docmd("QUIT")
        self.close()


class _SafeServer(_Server, smtplib.SMTP_SSL):
    """Encrypted from the first byte."""


def _connected(url: str) -> smtplib.SMTP:
    """smtps: encrypted from the first byte; smtp: as soon as the server offers it, and always before a password."""
    parts = urlsplit(url)
    host, secure = parts.hostname or "localhost", parts.scheme == "smtps"
    context = ssl.create_default_context()
    server: _Server
    if secure:
        server = _SafeServer(host, parts.port or _PORTS[parts.scheme], timeout=SECONDS, context=context)
    else:
        server = _Server(host, parts.port or _PORTS["smtp"], timeout=SECONDS)
    try:
        _sign_in(server, parts, host, context, secure=secure)
    except BaseException:
        server.close()
        raise
    return server


def _sign_in(server: _Server, parts: SplitResult, host: str, context: ssl.SSLContext, *, secure: bool) -> None:
    if not secure:
        server.ehlo()
        if server.has_extn("starttls"):
            server.starttls(context=context)
            server.ehlo()
            secure = True
    if parts.username:
        if not secure and host not in {"localhost", "127.0.0.1", "::1"}:
            raise ValueError("the mail server offers no encryption, and a password would be sent in the clear")
        server.login(unquote(parts.username), unquote(parts.password or ""))


def _why(exc: Exception, url: str) -> str:
    """What the server said, or that it could not be asked."""
    if isinstance(exc, smtplib.SMTPRecipientsRefused) and exc.recipients:
        code, said = next(iter(exc.recipients.values()))
        return f"said {code} {_one_line(said, url)}"
    if isinstance(exc, smtplib.SMTPResponseException):
        return f"said {exc.smtp_code} {_one_line(exc.smtp_error, url)}"
    why = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
    return f"cannot be used ({_one_line(why, url) or type(exc).__name__})"


def _one_line(said: bytes | str, url: str) -> str:
    """What everybody may read who sees what came of a notice: no sign that cannot be stored, and not the password."""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    for secret in _secrets(url):
        text = text.replace(secret, "…")
    return one_line(text).rstrip(".")


def _secrets(url: str) -> list[str]:
    """The password, also as it is sent: servers may say again what they were told."""
    parts = urlsplit(url)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not password:
        return []
    sent = [b64encode(text.encode()).decode() for text in (f"\0{user}\0{password}", password)]
    return [*sent, *(text.rstrip("=") for text in sent), password]
