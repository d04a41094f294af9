"""How long a worker waits for messages before it asks Redis again, and how that wait ends when it shall stop.

A worker at rest asks, and that is most of what it does. kombu waits for a second, and a worker that stops waits for its
last question to be answered. Here it waits for longer, and Redis is told to answer at once when the worker stops.
"""

import os
import socket
import threading
import time
from contextlib import suppress
from typing import Any

from celery import Celery
from kombu.transport.redis import Transport

WAIT_SECONDS = 5
AGAIN_SECONDS = 0.2
MOST_SECONDS = 2 * WAIT_SECONDS


def wait_longer(app: Celery) -> None:
    """For the consumer that this process will have. Its connections have a name, by which they are found again."""
    Transport.brpop_timeout = WAIT_SECONDS
    app.conf.broker_transport_options = {**app.conf.broker_transport_options, "client_name": _name()}


def wait_no_more(app: Celery) -> None:
    """Called in a signal handler, in the middle of anything: so beside it, on a connection of its own."""
    threading.Thread(target=_keep_waking, args=(app,), daemon=True, name="wake-consumer").start()


def _keep_waking(app: Celery) -> None:
    """More than once: the worker may ask once more before it knows that it shall stop."""
    until = time.monotonic() + MOST_SECONDS
    # Without Redis, or the right to do this, the worker stops some seconds later.
    with suppress(Exception), app.connection_for_read() as connection:
        while time.monotonic() < until:
            wake(connection)
            time.sleep(AGAIN_SECONDS)


def wake(connection: Any) -> None:
    """Have Redis say at once that there is no message. One that comes at the same moment is not lost."""
    if connection.transport.driver_type != "redis":
        return
    redis = connection.default_channel.client
    for client in redis.client_list(_type="normal"):
        if client["name"] == _name() and client["cmd"] == "brpop":
            redis.client_unblock(client["id"])


def _name() -> str:
    return f"crawler-{socket.gethostname()}-{os.getpid()}"
