"""Runs Flower: `python -m crawler.entrypoints.flower`, with the options of `celery flower`.

Flower on a loopback address asks for no password, and its page steers every worker. So it must not be reached by other
sites' pages through a visitor's browser, which Flower itself does not refuse.
"""

import os
import socket
import sys
import time
from typing import Any

from celery.bin.celery import celery
from flower import command
from flower.app import Flower
from starlette.datastructures import Headers
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPServerRequest
from tornado.ioloop import PeriodicCallback
from tornado.web import ErrorHandler

from crawler.config import load_settings
from crawler.entrypoints.http.origins import is_from_this_machine, is_harmless
from crawler.entrypoints.processes import is_loopback
from crawler.supervisor import SOCKET

IDLE_SECONDS = 900.0
LOOK_SECONDS = 30.0


class GuardedFlower(Flower):  # type: ignore[misc]
    """Started by the first request if a supervisor listens for it, and then ended when nobody has asked for a while.

    Its pages ask again and again as long as one is open.
    """

    _asked_at = 0.0

    def start_http_server(self) -> Any:
        if SOCKET not in os.environ:
            return super().start_http_server()
        listening = socket.socket(fileno=int(os.environ[SOCKET]))
        HTTPServer(self, ssl_options=self.ssl_options, xheaders=self.options.xheaders).add_socket(listening)
        self._asked_at = time.monotonic()
        PeriodicCallback(self._end_if_idle, LOOK_SECONDS * 1000).start()
        return listening.getsockname()[1]

    def _end_if_idle(self) -> None:
        if time.monotonic() - self._asked_at > IDLE_SECONDS:
            self.stop()

    def find_handler(self, request: HTTPServerRequest, **options: Any) -> Any:
        self._asked_at = time.monotonic()
        raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in request.headers.get_all()]
        if _is_welcome(request.method or "GET", Headers(raw=raw), self.options.address or ""):
            return super().find_handler(request, **options)
        return self.get_handler_delegate(request, ErrorHandler, {"status_code": 403})


def _is_welcome(method: str, headers: Headers, address: str) -> bool:
    """On other addresses Flower has a password, and may be reached by any name."""
    if is_loopback(address):
        return is_from_this_machine(method, headers)
    return is_harmless(method, headers)


def main() -> None:
    secret = load_settings().flower_basic_auth
    if secret is not None:
        os.environ.setdefault("FLOWER_BASIC_AUTH", secret.get_secret_value())
    command.Flower = GuardedFlower
    celery(["-A", "workers.app", "flower", *sys.argv[1:]], prog_name="celery")


if __name__ == "__main__":
    main()
