"""Chats and push services by what they hand out: a pasted webhook address or token becomes an address to send to.

The addresses are Apprise's: `channels.py` has which are taken.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

WEBHOOK = "webhook"
APPRISE = "apprise"
_WORD = r"[A-Za-z0-9_.-]+"
_SLACK = re.compile(rf"https://hooks\.slack(?:-gov)?\.com/services/({_WORD})/({_WORD})/({_WORD})/?").fullmatch
_DISCORD = re.compile(rf"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/(\d+)/({_WORD})/?(?:\?.*)?").fullmatch
_TELEGRAM = re.compile(r"(?:bot)?(\d{5,}:[A-Za-z0-9_-]{20,})[\s/,]+(@?-?\w+)").fullmatch
_WORKFLOW = re.compile(r"/workflows/([^/]+)/triggers/")
_TOPIC = re.compile(r"[A-Za-z0-9_-]{1,64}").fullmatch


class Preset(NamedTuple):
    name: str
    label: str
    example: str
    help: str


PRESETS = (
    Preset(WEBHOOK, "Webhook", "https://hooks.example.org/crawls", "A POST of JSON to an address of yours."),
    Preset(
        "slack",
        "Slack",
        "https://hooks.slack.com/services/T…/B…/…",
        "The address of an incoming webhook of a Slack app.",
    ),
    Preset(
        "discord",
        "Discord",
        "https://discord.com/api/webhooks/…",
        "Server settings, Integrations, Webhooks: copy the webhook's URL.",
    ),
    Preset(
        "telegram",
        "Telegram",
        "123456789:AAE… 987654321",
        "The bot's token from @BotFather, a blank, and the id of the chat.",
    ),
    Preset(
        "teams",
        "Microsoft Teams",
        "https://….logic.azure.com/workflows/…",
        "In the channel: Workflows, “Post to a channel when a webhook request is received”; paste its URL.",
    ),
    Preset("ntfy", "ntfy", "my-topic", "A topic at ntfy.sh, or the address of a topic on a server of yours."),
    Preset(APPRISE, "Other (Apprise URL)", "scheme://tokens", "Any of the services that Apprise knows, by its URL."),
)


class Channel(NamedTuple):
    field: str
    """notification_webhook or notification_urls."""
    address: str


def channel_of(preset: str, pasted: str) -> Channel:
    """Where to send, from what a service handed out. Raises ValueError with a sentence that has no secret in it."""
    text = pasted.strip()
    if preset == WEBHOOK:
        return Channel("notification_webhook", text)
    if preset == APPRISE:
        return Channel("notification_urls", text)
    make = _MAKE.get(preset)
    address = make(text) if make else None
    if address is None:
        example = next((one.example for one in PRESETS if one.name == preset), "")
        raise ValueError(f"This does not look like {example}.")
    return Channel("notification_urls", address)


def _slack(text: str) -> str | None:
    found = _SLACK(text)
    return f"slack://{found[1]}/{found[2]}/{found[3]}" if found else None


def _discord(text: str) -> str | None:
    found = _DISCORD(text)
    return f"discord://{found[1]}/{found[2]}" if found else None


def _telegram(text: str) -> str | None:
    found = _TELEGRAM(text)
    return f"tgram://{found[1]}/{found[2]}" if found else None


def _teams(text: str) -> str | None:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return None
    flow, given = _WORKFLOW.search(parts.path), parse_qs(parts.query)
    if parts.scheme != "https" or not parts.hostname or flow is None or "sig" not in given:
        return None
    return f"workflows://{parts.hostname}:{port or 443}/{flow[1]}/{given['sig'][0]}"


def _ntfy(text: str) -> str | None:
    if _TOPIC(text):
        return f"ntfys://ntfy.sh/{text}"
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    topic = parts.path.strip("/")
    if parts.scheme not in ("http", "https") or not parts.netloc or not _TOPIC(topic):
        return None
    return f"{'ntfys' if parts.scheme == 'https' else 'ntfy'}://{parts.netloc}/{topic}"


_MAKE: Mapping[str, Callable[[str], str | None]] = {
    "slack": _slack,
    "discord": _discord,
    "telegram": _telegram,
    "teams": _teams,
    "ntfy": _ntfy,
}
