"""A local server that speaks OpenAI's `POST /embeddings`, and whatever faults a test wants."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.embedding_twin import DIMENSION, vector_of
from tests.integration.threaded_server import ThreadedServer


class EmbeddingServer:
    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.status = 200
        self.body: bytes | None = None
        self.headers: dict[str, str] = {}
        self.dimension = DIMENSION
        self.failures = 0
        """So many requests are answered with `status`; -1 is all."""
        self.refused = ""
        """A text with this in it is refused, and all that came with it."""
        self.hangs = threading.Event()
        """While it is set nobody is answered."""
        self.drips = threading.Event()
        """While it is set an answer's head comes a byte at a time, for some seconds."""
        self.url = ""

    @property
    def texts(self) -> list[str]:
        return [text for request in self.asked for text in request["input"]]

    def answer(self, request: dict[str, Any]) -> tuple[int, bytes]:
        self.asked.append(request)
        if self.failures:
            self.failures -= 1 if self.failures > 0 else 0
            return self.status, self.body or b'{"error": {"message": "no"}}'
        if self.refused and any(self.refused in text for text in request["input"]):
            return 400, b'{"error": {"message": "the input is too long"}}'
        if self.body is not None:
            return 200, self.body
        vectors = [vector_of(text, self.dimension) for text in request["input"]]
        rows = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
        rows.reverse()  # their order is not promised
        return 200, json.dumps({"object": "list", "data": rows, "model": request["model"]}).encode()


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    state = EmbeddingServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            state.keys.append(self.headers.get("Authorization"))
            length = int(self.headers["Content-Length"])
            while state.hangs.is_set():
                time.sleep(0.02)
            if state.drips.is_set():
                self._drip()
            status, body = state.answer(json.loads(self.rfile.read(length)))
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **state.headers}.items():
                self.send_header(name, value)
            with suppress(ConnectionError):  # whoever asked may have given up
                self.end_headers()
                self.wfile.write(body)

        def _drip(self) -> None:
            with suppress(ConnectionError):
                for byte in b"HTTP/1.1 200 OK\r\nX-Head: " + bytes(20).hex().encode():
                    self.wfile.write(bytes([byte]))
                    time.sleep(0.1)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadedServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
