"""A local twin of services that speak OpenAI's `POST /chat/completions`, and whatever faults a test wants."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.integration.raw_server import Request, response, serving


def message(said: Any) -> bytes:
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": said}}]}
    return response(json.dumps(body).encode(), "200 OK", "Content-Type: application/json")


def verdict(summary: str = "The price fell.", *, matters: bool = True) -> bytes:
    return message(json.dumps({"summary": summary, "matters": matters}))


@dataclass
class ChatServer:
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    answer: Callable[[dict[str, Any]], bytes] = lambda _: verdict()
    hangs: threading.Event = field(default_factory=threading.Event)
    """Set: nobody is answered until the server ends."""
    ends: threading.Event = field(default_factory=threading.Event)

    def respond(self, _: object, request: Request) -> bytes | None:
        asked = json.loads(request.body)
        self.asked.append(asked)
        self.keys.append(request.headers.get("authorization", ""))
        if request.line != "POST /v1/chat/completions HTTP/1.1":
            return response(b"{}", "404 Not Found")
        if self.hangs.is_set():
            self.ends.wait(60)
            return None
        return self.answer(asked)


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    twin = ChatServer()
    with serving(twin.respond) as server:
        twin.url = server.url("/v1")
        yield twin
        twin.ends.set()
