"""Sends mails through the SMTP server that the settings or the environment name.

Whether somebody is told is decided by `should_notify` (`domain/notices/notice.py`). The words are in `mail.py` there.
"""

import smtplib
import ssl
from collections.abc import Callable
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from urllib.parse import unquote, urlsplit
from uuid import UUID

from crawler.domain.notices.notice import NO_SERVER, DeliveryResult, Mail
from crawler.domain.notices.notice_settings import NoticeSettings
from crawler.errors import CrawlerError

SECONDS = 15
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
            where = _place(settings.smtp_url)
            return DeliveryResult(delivered=False, words=f"Not sent: the mail server {where} {_why(exc)}."[:2000])
        return DeliveryResult(delivered=True, words="The mail server took it.")

    @property
    def place(self) -> str | None:
        """The server, without what is secret."""
        url = self._settings().smtp_url
        return _place(url) if url else None

    def why_unreachable(self) -> str | None:
        """Greets the server and sends nothing."""
        try:
            with _connected(self._settings().smtp_url or "") as server:
                server.noop()
        except (smtplib.SMTPException, OSError, ValueError) as exc:
            return _why(exc)
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


def _connected(url: str) -> smtplib.SMTP:
    """smtps: encrypted from the first byte; smtp: as soon as the server offers it, and always before a password."""
    parts = urlsplit(url)
    host, secure = parts.hostname or "localhost", parts.scheme == "smtps"
    context = ssl.create_default_context()
    server: smtplib.SMTP
    if secure:
        server = smtplib.SMTP_SSL(host, parts.port or _PORTS[parts.scheme], timeout=SECONDS, context=context)
    else:
        server = smtplib.SMTP(host, parts.port or _PORTS["smtp"], timeout=SECONDS)
        server.ehlo()
        if server.has_extn("starttls"):
            server.starttls(context=context)
            server.ehlo()
            secure = True
    if parts.username:
        if not secure and host not in {"localhost", "127.0.0.1", "::1"}:
            server.close()
            raise ValueError("the mail server offers no encryption, and a password would be sent in the clear")
        server.login(unquote(parts.username), unquote(parts.password or ""))
    return server


def _why(exc: Exception) -> str:
    """What the server said, or that it could not be asked."""
    if isinstance(exc, smtplib.SMTPRecipientsRefused) and exc.recipients:
        code, said = next(iter(exc.recipients.values()))
        return f"said {code} {_one_line(said)}"
    if isinstance(exc, smtplib.SMTPResponseException):
        return f"said {exc.smtp_code} {_one_line(exc.smtp_error)}"
    why = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
    return f"cannot be used ({_one_line(why) or type(exc).__name__})"


def _one_line(said: bytes | str) -> str:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return " ".join(text.split()).rstrip(".")[:500]
