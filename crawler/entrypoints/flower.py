"""Runs Flower: `python -m crawler.entrypoints.flower`, with the options of `celery flower`.

Flower on a loopback address asks for no password, and its page steers every worker. So it must not be reached by other
sites' pages through a visitor's browser, which Flower itself does not refuse.
"""

import os
import sys
from typing import Any

from celery.bin.celery import celery
from flower import command
from flower.app import Flower
from starlette.datastructures import Headers
from tornado.httputil import HTTPServerRequest
from tornado.web import ErrorHandler

from crawler.config import load_settings
from crawler.entrypoints.http.origins import is_from_this_machine, is_harmless
from crawler.entrypoints.processes import is_loopback


class GuardedFlower(Flower):  # type: ignore[misc]
    def find_handler(self, request: HTTPServerRequest, **options: Any) -> Any:
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
