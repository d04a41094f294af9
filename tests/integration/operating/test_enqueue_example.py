"""docs/examples/enqueue.py with RabbitMQ as the broker: the message goes there, the answer comes from Redis."""

import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
import redis

from crawler.config import load_settings
from tests.integration.raw_server import serving_connections

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "enqueue.py"
START = struct.pack(">BBI", 0, 9, 0) + struct.pack(">I", 5) + b"PLAIN" + struct.pack(">I", 5) + b"en_US"
TUNE = struct.pack(">HIH", 10, 131_072, 0)
# What a broker answers to each method, by class and method of question and answer.
ANSWERS: dict[tuple[int, int], tuple[int, int, bytes]] = {
    (10, 11): (10, 30, TUNE),
    (10, 40): (10, 41, b"\0"),
    (20, 10): (20, 11, struct.pack(">I", 0)),
    (40, 10): (40, 11, b""),
    (50, 10): (50, 11, b"\0" + struct.pack(">II", 0, 0)),
    (50, 20): (50, 21, b""),
    (20, 40): (20, 41, b""),
    (10, 50): (10, 51, b""),
}


def exactly(stream: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = stream.recv(size - len(data))
        if not more:
            raise OSError("gone")
        data += more
    return data


def speak_amqp(stream: socket.socket, on_task: Callable[[bytes, bytes], None]) -> None:
    """As much of AMQP 0-9-1 as it takes to be given a message."""
    assert exactly(stream, 8) == b"AMQP\0\0\x09\x01"
    send(stream, 0, 10, 10, START)
    properties = b""
    while True:
        kind, channel, size = struct.unpack(">BHI", exactly(stream, 7))
        payload = exactly(stream, size + 1)[:-1]
        if kind == 2:
            properties = payload
        elif kind == 3:
            on_task(properties, payload)
        elif kind == 1 and (answer := ANSWERS.get(struct.unpack(">HH", payload[:4]))) is not None:
            send(stream, channel, *answer)


def send(stream: socket.socket, channel: int, klass: int, method: int, arguments: bytes) -> None:
    payload = struct.pack(">HH", klass, method) + arguments
    stream.sendall(struct.pack(">BHI", 1, channel, len(payload)) + payload + b"\xce")


@pytest.mark.slow
def test_a_message_goes_to_rabbitmq_and_its_answer_comes_from_redis(redis_url: str, tmp_path: Path) -> None:
    settings, messages = load_settings(redis_url=redis_url), []
    project, crawl = str(uuid4()), str(uuid4())

    def answer(properties: bytes, body: bytes) -> None:
        """As a worker of ours does."""
        messages.append(json.loads(body))
        at = properties.index(b"\x02id") + 3  # a name and its text: "S", a length, the value
        length = struct.unpack(">I", properties[at + 1 : at + 5])[0]
        task = properties[at + 5 : at + 5 + length].decode()
        result = json.dumps({"status": "SUCCESS", "result": crawl, "task_id": task, "traceback": None, "children": []})
        with redis.Redis.from_url(settings.redis_database(1)) as client:
            client.set(f"celery-task-meta-{task}", result)
            client.publish(f"celery-task-meta-{task}", result)

    with serving_connections(lambda stream: speak_amqp(stream, answer)) as broker:
        env = {name: value for name, value in os.environ.items() if not name.startswith("CRAWLER_")}
        env |= {"BROKER_URL": f"amqp://guest:guest@127.0.0.1:{broker.port}//", "RESULT_URL": settings.results}
        done = subprocess.run(
            [sys.executable, str(EXAMPLE), project], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60,
            check=False,
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, f"crawl {crawl}\n"), done.stderr
    ((_, arguments, _),) = messages
    assert arguments == {"project_id": project}
