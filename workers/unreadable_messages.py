"""What stands in a queue of Redis and is no message is dropped and logged, and the worker goes on.

Celery's worker ends at it, once for each, and whoever starts it anew waits ever longer. Meanwhile nobody's crawl
would begin. RabbitMQ has no such thing: what it hands out has an envelope. What is dropped of messages that have one
is in `dropped_messages.py`.
"""

from json import JSONDecodeError
from typing import Any

from kombu.transport import redis
from kombu.transport.virtual import Message

from crawler.telemetry import logger

log = logger(__name__)


class Unreadable(Exception):
    """Something has no envelope, or one that cannot be acknowledged."""


class _Readable(Message):
    def __init__(self, payload: Any, channel: Any = None, **options: Any) -> None:
        try:
            properties = payload["properties"]
            place = properties["delivery_info"]
            for told in (properties["delivery_tag"], place["exchange"], place["routing_key"]):
                told.encode()  # text
            super().__init__(payload, channel=channel, **options)  # type: ignore[no-untyped-call]
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            raise Unreadable(type(exc).__name__) from exc


class _Careful:
    Message = _Readable

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]
        except (Unreadable, JSONDecodeError, UnicodeDecodeError, RecursionError) as exc:
            log.warning("no_message_dropped", why=type(exc).__name__)
            return True  # Redis has given it away: there is nothing to acknowledge


def drop_unreadable() -> None:
    """For the consumer that this process will have."""
    transports: tuple[Any, ...] = redis.Transport, redis.SentinelTransport
    for transport in transports:
        if not issubclass(transport.Channel, _Careful):
            transport.Channel = type("CarefulChannel", (_Careful, transport.Channel), {})
