"""Addresses of channels, which hold tokens: nobody is shown those of Apprise, only a mask, and who may only read is not
shown those of webhooks either."""

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from html import escape
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

from crawler.domain.hosts.egress import EgressRule

MOST_URLS = 10
LONGEST_URL = 1000
SHORTEST_TOKEN = 12
"""Characters of a part of an address that may open doors by itself."""
HIDDEN = "***"

_SHAPE = re.compile(r"([a-z0-9][a-z0-9+.-]{0,30})://[\x21-\x7e]*", re.IGNORECASE).fullmatch
_BETWEEN_PARTS = re.compile("[/&=]")
_ANY_HOST = frozenset({"json", "jsons", "xml", "xmls", "form", "forms", "apprise", "apprises"})
_MAIL = frozenset({"mailto", "mailtos"})
_THIS_MACHINE = frozenset(
    {"syslog", "dbus", "qt", "kde", "glib", "gio", "gnome", "macosx", "windows", "blink1"}
)  # fmt: skip


def masked(url: str) -> str:
    """What tells it apart from others, and nothing that opens a door: `slack://…3f9a1c`."""
    scheme = url.partition("://")[0][:31].lower()
    return f"{scheme}://…{blake2b(url.encode(), digest_size=3).hexdigest()}"


def origin_shown(url: str) -> str:
    """Where a webhook leads, without what follows: `https://hooks.example.org/***`."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/{HIDDEN}"


def without_address(said: str, url: str) -> str:
    """What a receiver answers, without its own address: error pages repeat it (`Cannot POST /hooks/…`)."""
    _, _, path, query, _ = urlsplit(url)
    tokens = [part for part in _BETWEEN_PARTS.split(f"{path}&{query}") if len(part) >= SHORTEST_TOKEN]
    written = [text for text in (f"{path}?{query}", path, f"?{query}", *tokens) if len(text) > 1]
    spelled = {form for text in written for form in (text, unquote(text), escape(text), escape(unquote(text)))}
    for text in sorted(spelled, key=len, reverse=True):
        said = said.replace(text, HIDDEN)
    return said


def unmasked(given: Sequence[str], known: Iterable[str]) -> tuple[str, ...]:
    """Whoever sends back what they were shown means what was there; each once."""
    by_mask: Mapping[str, str] = {masked(url): url for url in known}
    return tuple(dict.fromkeys(by_mask.get(url, url) for url in given))


def why_refused(
    url: str, rule: EgressRule, *, webhook: str = "notification_webhook", mail: str = "notification_email"
) -> str | None:
    """A sentence without the address, which is a secret; None where nothing speaks against it so far. `webhook` and
    `mail` say what to use instead."""
    shape = _SHAPE(url)
    if shape is None or len(url) > LONGEST_URL:
        return f"an Apprise URL looks like slack://tokens/#channel and has at most {LONGEST_URL} characters"
    scheme = shape[1].lower()
    if scheme in _ANY_HOST:
        return f"{scheme}:// posts to any address; use {webhook} for that"
    if scheme in _MAIL:
        return f"{scheme}:// sends mails; use {mail} for that"
    if scheme in _THIS_MACHINE:
        return f"{scheme}:// is for the desktop of the machine it runs on"
    if _is_closed(url, rule):
        return f"the address in {scheme}:// may not be reached from here unless CRAWLER_EGRESS_ALLOW opens it"
    return None


def _is_closed(url: str, rule: EgressRule) -> bool:
    """Whether a URL spells out an address that may not be dialled. Names are judged when they are dialled."""
    try:
        parts = urlsplit(url)
        address, port = ip_address(parts.hostname or ""), parts.port
    except ValueError:  # a name, or tokens where other URLs have a host
        return False
    return not rule.allows(str(address), port or 0)
