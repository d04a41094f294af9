"""Apprise URLs: what is refused without asking anybody, and what is shown of them."""

import pytest

from crawler.domain.hosts.egress import EgressRule
from crawler.domain.notices.channels import masked, unmasked, why_refused, without_address

SLACK = "slack://T0123/B4567/s3cr3ts3cr3t/#ops"


def test_a_mask_tells_urls_apart_and_tells_nothing_of_them() -> None:
    mask = masked(SLACK)
    assert mask.startswith("slack://…")
    assert mask != masked(SLACK + "2")
    for piece in ("T0123", "B4567", "s3cr3t", "ops"):
        assert piece not in mask


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("<pre>Cannot POST /hooks/s3cr3ts3cr3t</pre>", "<pre>Cannot POST ***</pre>"),
        (
            "The requested URL /hooks/s3cr3ts3cr3t?key=a%26b&amp;to=x was not found.",
            "The requested URL *** was not found.",
        ),
        ("no /hooks/s3cr3ts3cr3t?key=a&b&to=x", "no ***"),
        ("unknown token: s3cr3ts3cr3t", "unknown token: ***"),
        ('{"hooks": "ok"}', '{"hooks": "ok"}'),
    ],
)
def test_what_a_receiver_answers_does_not_repeat_its_address(said: str, left: str) -> None:
    assert without_address(said, "https://a.example/hooks/s3cr3ts3cr3t?key=a%26b&to=x") == left
    assert without_address(said, "https://a.example/") == said


def test_a_mask_that_is_sent_back_keeps_what_it_hides() -> None:
    assert unmasked([masked(SLACK), "tgram://1:abc/2"], [SLACK]) == (SLACK, "tgram://1:abc/2")
    assert unmasked([masked(SLACK)], []) == (masked(SLACK),)
    assert unmasked([SLACK, SLACK], []) == (SLACK,), "nobody is told twice"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("json://example.org/hook", "use notification_webhook"),
        ("XML://example.org/hook", "use notification_webhook"),
        ("forms://example.org/hook", "use notification_webhook"),
        ("mailto://user:pass@example.org", "use notification_email"),
        ("syslog://", "desktop"),
        ("gotify://127.0.0.1/secret99", "may not be reached"),
        ("gotify://[::1]:80/secret99", "may not be reached"),
        ("ntfy://169.254.169.254/secret99", "may not be reached"),
        ("hello", "looks like slack://"),
        ("slack://a b", "looks like slack://"),
        ("slack://" + "a" * 2000, "at most 1000"),
        (masked(SLACK), "looks like slack://"),
    ],
)
def test_what_cannot_be_told_is_refused_with_a_sentence_that_keeps_the_secret(url: str, words: str) -> None:
    why = why_refused(url, EgressRule())
    assert why is not None
    assert words in why
    assert "secret99" not in why


@pytest.mark.parametrize("url", [SLACK, "tgram://123456789:abcdefg_hijklmnop/12315544/", "gotify://example.org/token"])
def test_tokens_are_not_taken_for_addresses(url: str) -> None:
    assert why_refused(url, EgressRule()) is None


def test_an_operator_may_open_an_address() -> None:
    assert why_refused("gotify://10.0.0.5:8080/token", EgressRule.parse(["10.0.0.5:8080"])) is None
