"""Serves the demo site over HTTP on loopback, in threads of this process."""

from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Self

from crawler.demo import pages

HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # an idle keep-alive connection must not delay the end
    version = 1


class DemoSite:
    """`with DemoSite() as site:` serves `site.url` until the end of the block; `site.edit()` switches to version 2."""

    def __init__(self, port: int = 0) -> None:
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), name="demo-site", daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/"

    def edit(self) -> None:
        """Switch to version 2: one page changed, one new, one gone."""
        self._server.version = 2

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each response waits for an ACK between headers and body

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        page = pages.version(self.server.version).get(path)
        if page:
            self._answer(200, HTML, pages.html(page))
        elif path == "/robots.txt":
            self._answer(200, TEXT, pages.ROBOTS_TXT)
        else:
            self._answer(404, TEXT, "There is no such page.\n")

    do_HEAD = do_GET  # noqa: N815 - the standard library's name

    def _answer(self, status: int, content_type: str, text: str) -> None:
        body = text.encode()
        tag = f'"{sha256(body).hexdigest()[:16]}"'
        if status == 200 and self.headers.get("If-None-Match") == tag:
            status, body = 304, b""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("ETag", tag)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing: the user wants to see the crawl's output."""
