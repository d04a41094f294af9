"""How notices are sent, as operators set it at run time: mail server, sender, and the secret that signs webhooks."""

from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

PORTS = {"smtp": 587, "smtps": 465}


class NoticeSettings(NamedTuple):
    """What is None is not set here: the environment's value holds."""

    smtp_url: str | None = None
    sender: str | None = None
    webhook_secret: str | None = None

    def over(self, environment: "NoticeSettings") -> "NoticeSettings":
        """These, and the environment's where they are not set. Server and sender belong together."""
        server = self if self.smtp_url else environment
        return NoticeSettings(server.smtp_url, server.sender, self.webhook_secret or environment.webhook_secret)


class MailServer(NamedTuple):
    """A mail server in single values, as a form has them."""

    host: str = ""
    port: str = ""
    security: str = "smtp"
    """smtp: encrypted as soon as the server offers it; smtps: from the first byte."""
    user: str = ""
    password: str = ""

    @classmethod
    def of(cls, url: str | None) -> "MailServer":
        parts = urlsplit(url or "")
        if not parts.hostname:
            return cls()
        return cls(
            parts.hostname,
            str(parts.port or ""),
            parts.scheme,
            unquote(parts.username or ""),
            unquote(parts.password or ""),
        )

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        login = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}@" if self.user else ""
        return f"{self.security}://{login}{host}:{self.port or PORTS[self.security]}"


def wrong_server(server: MailServer, sender: str) -> dict[str, str]:
    """What is wrong, by field."""
    errors = {}
    if not server.host or any(sign.isspace() or sign in "/@?#" for sign in server.host):
        errors["mail_host"] = "Type the name of the server, such as smtp.example.org."
    if server.port and not (server.port.isascii() and server.port.isdigit() and 0 < int(server.port) < 65_536):
        errors["mail_port"] = "A port is a number from 1 to 65535."
    if server.security not in PORTS:
        errors["mail_security"] = "Choose how the connection is encrypted."
    name, _, domain = sender.rpartition("@")
    if not name or not domain or any(sign.isspace() and sign != " " for sign in sender):
        errors["mail_from"] = "Type the sender's address, such as crawler@example.org."
    return errors
