"""A web server in a thread, for tests that need one of their own."""

import sys
from http.server import ThreadingHTTPServer
from typing import Any


class ThreadedServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error: some tests want that. All else is printed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)
