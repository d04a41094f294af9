"""What chat services hand out becomes an address that Apprise takes."""

import pytest

from crawler.domain.notices.presets import PRESETS, channel_of

TOKEN = "123456789:" + "A" * 35  # one that nobody has


@pytest.mark.parametrize(
    ("preset", "pasted", "address"),
    [
        ("slack", " https://hooks.slack.com/services/T000/B000/XXXX ", "slack://T000/B000/XXXX"),
        ("discord", "https://discord.com/api/webhooks/4174216/Jx-a_b", "discord://4174216/Jx-a_b"),
        ("discord", "https://discordapp.com/api/webhooks/4174216/Jxab", "discord://4174216/Jxab"),
        ("telegram", f"{TOKEN} 12315544", f"tgram://{TOKEN}/12315544"),
        ("telegram", f"bot{TOKEN}/-100123", f"tgram://{TOKEN}/-100123"),
        (
            "teams",
            "https://prod-1.west.logic.azure.com:443/workflows/f1/triggers/manual/paths/invoke?api-version=1&sig=s1",
            "workflows://prod-1.west.logic.azure.com:443/f1/s1",
        ),
        ("ntfy", "my-topic", "ntfys://ntfy.sh/my-topic"),
        ("ntfy", "https://push.example.org:8443/alerts", "ntfys://push.example.org:8443/alerts"),
        ("ntfy", "http://push.example.org/alerts", "ntfy://push.example.org/alerts"),
        ("apprise", "matrix://u:p@host/#room", "matrix://u:p@host/#room"),
    ],
)
def test_a_service_is_reached_by_what_it_handed_out(preset: str, pasted: str, address: str) -> None:
    assert channel_of(preset, pasted) == ("notification_urls", address)


def test_a_webhook_is_the_projects_own() -> None:
    assert channel_of("webhook", "https://x.example/hook") == ("notification_webhook", "https://x.example/hook")


@pytest.mark.parametrize("preset", [one.name for one in PRESETS if one.name not in ("webhook", "apprise")])
@pytest.mark.parametrize("pasted", ["", "https://example.org/secret-token", "http://[", "two words here"])
def test_something_else_is_refused_without_repeating_it(preset: str, pasted: str) -> None:
    if preset == "ntfy" and pasted.endswith("secret-token"):
        return  # which is a topic of a server
    with pytest.raises(ValueError, match="does not look like") as refused:
        channel_of(preset, pasted)
    assert "secret-token" not in str(refused.value)
