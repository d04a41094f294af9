"""Logs say that a message was dropped, and why, but not what was in it."""

import logging
from typing import Any
from unittest.mock import Mock

import pytest
from celery.exceptions import InvalidTaskError
from celery.worker.consumer import consumer
from celery.worker.consumer.consumer import Consumer

from workers.dropped_messages import hide_contents

BODY = b'[[], {"config": {"password": "hunter2"}}]'
HEADERS = {"id": "1", "task": "crawler.strat_crawl", "kwargsrepr": BODY.decode()}


@pytest.mark.parametrize(
    ("method", "arguments", "said"),
    [
        ("on_unknown_task", (None, KeyError("crawler.strat_crawl")), "there is no task 'crawler.strat_crawl'."),
        ("on_invalid_task", (None, InvalidTaskError("It is too deep.")), "that cannot be taken: It is too deep."),
        ("on_unknown_message", (BODY,), "that is none of Celery's."),
        ("on_decode_error", (ValueError(BODY),), "whose body is not JSON."),
    ],
)
def test_a_dropped_message_is_logged_without_its_contents(
    method: str, arguments: tuple[Any, ...], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    hide_contents()
    message = Mock(body=BODY, headers=HEADERS, properties={})
    first, *rest = (message, *arguments) if method == "on_decode_error" else (arguments[0], message, *arguments[1:])
    with caplog.at_level(logging.WARNING, consumer.__name__):  # another test may have left it quieter
        getattr(Consumer, method)(Mock(), first, *rest)
    (logged,) = caplog.records
    assert logged.getMessage().endswith(said)
    assert "hunter2" not in caplog.text
