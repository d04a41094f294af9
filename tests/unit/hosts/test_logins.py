"""Logins: what can be stored, and which cookies of a session are sent where."""

from typing import Any

import pytest

from crawler.domain.crawls.page_steps import InvalidSteps
from crawler.domain.hosts.logins import cookie_header
from crawler.domain.reasons import Reason
from crawler.domain.rendering.rendered_page import RenderedPage, RenderRequest
from crawler.handlers.engine.use_logins import why_untried
from crawler.handlers.hosts.manage_logins import checked_login

STEPS = ("open https://example.org/in", "fill #user from user")


def test_secrets_are_in_no_text_of_a_login() -> None:
    order = checked_login({"steps": STEPS, "secrets": {"user": "hunter2"}})
    assert "hunter2" not in repr(order) + order.model_dump_json()
    with pytest.raises(InvalidSteps) as refused:
        checked_login({"steps": ("open https://example.org/in", "fill # from"), "secrets": {"user": "hunter2"}})
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://a.example.org/x", "own=1; wide=2; safe=4"),
        ("http://a.example.org/x", "own=1; wide=2"),
        ("https://b.example.org/x", "wide=2"),
        ("https://a.example.org/deep/er", "own=1; wide=2; deep=3; safe=4"),
        ("https://a.example.org/deeper", "own=1; wide=2; safe=4"),
        ("https://notexample.org/x", ""),
    ],
)
def test_cookies_go_where_a_browser_would_send_them(url: str, sent: str) -> None:
    cookies = [
        {"name": "own", "value": "1", "domain": "a.example.org", "path": "/"},
        {"name": "wide", "value": "2", "domain": ".example.org", "path": "/"},
        {"name": "deep", "value": "3", "domain": "a.example.org", "path": "/deep"},
        {"name": "safe", "value": "4", "domain": "a.example.org", "path": "/", "secure": True},
    ]
    assert cookie_header({"cookies": cookies}, url) == sent


@pytest.mark.parametrize(
    ("came", "words"),
    [
        ({"failure": Reason.TIMEOUT}, "no answer in time"),
        ({"failure": Reason.PROTOCOL, "unshown": True}, "no browser to render it"),
        ({"status": 503}, "HTTP 503"),
        ({}, "rendering failed"),
    ],
)
def test_what_kept_a_page_from_signing_in_is_said(came: dict[str, Any], words: str) -> None:
    page = RenderedPage(RenderRequest("http://a.test/"), "http://a.test/", **came)
    assert why_untried(page) == f"Signing in could not be tried: {words}."
