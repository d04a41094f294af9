"""Sends mails through the SMTP server that CRAWLER_SMTP_URL names.

Whether somebody is told is decided by `should_notify` (`domain/notices/notice.py`). The words are in `mail.py` there.
"""

import smtplib
import ssl
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from urllib.parse import unquote, urlsplit
from uuid import UUID

from crawler.domain.notices.notice import DeliveryResult, Mail

SECONDS = 15
_PORTS = {"smtp": 25, "smtps": 465}
_UNFOLDED = SMTP.clone(max_line_length=900)  # a subject broken at its first word shows a blank before it


class Mailer:
    def __init__(self, smtp_url: str | None, sender: str | None) -> None:
        self._url = smtp_url
        self._sender = sender

    def __call__(self, to: str, mail: Mail, message_id: UUID) -> DeliveryResult:
        """Never raises for what the server does."""
        if not self._url or not self._sender:
            return DeliveryResult(delivered=False, words="Not sent: set CRAWLER_SMTP_URL and CRAWLER_MAIL_FROM.")
        try:
            with self._connected() as server:
                server.send_message(self._message(to, mail, message_id))
        except (smtplib.SMTPException, OSError, ValueError) as exc:
            return DeliveryResult(delivered=False, words=f"Not sent: the mail server {self.place} {_why(exc)}."[:2000])
        return DeliveryResult(delivered=True, words="The mail server took it.")

    @property
    def place(self) -> str | None:
        """The server, without what is secret."""
        parts = urlsplit(self._url or "")
        return f"{parts.hostname or 'localhost'}:{parts.port or _PORTS.get(parts.scheme, 25)}" if self._url else None

    def why_unreachable(self) -> str | None:
        """Greets the server and sends nothing."""
        try:
            with self._connected() as server:
                server.noop()
        except (smtplib.SMTPException, OSError, ValueError) as exc:
            return _why(exc)
        return None

    def _message(self, to: str, mail: Mail, message_id: UUID) -> EmailMessage:
        message = EmailMessage(policy=_UNFOLDED)
        message["Subject"], message["From"], message["To"] = mail.subject, self._sender, to
        message["Date"] = formatdate(usegmt=True)
        message["Message-ID"] = f"<{message_id}@{(self._sender or '').rpartition('@')[2] or 'localhost'}>"
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(mail.text)
        message.add_alternative(mail.html, subtype="html")
        return message

    def _connected(self) -> smtplib.SMTP:
        """smtps: encrypted from the first byte; smtp: as soon as the server offers it, and always before a password."""
        parts = urlsplit(self._url or "")
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
