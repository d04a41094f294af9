"""Let the engine look names up as a test says, and see every address it dials."""

from collections.abc import Mapping
from typing import Any

import pycurl
import pytest

from crawler.adapters.curl.fetcher import CurlFetcher
from crawler.adapters.curl.name_lookup import LookupFunction
from crawler.adapters.curl.transfer import Transfer
from tests.integration.live_engine import Engine


def look_names_up(crawler: Engine, lookup: LookupFunction | Mapping[str, list[str]], **options: Any) -> None:
    """By this function, or in this list. Before the engine's first crawl."""
    settings = crawler.tools.settings
    crawler.tools.engine.fetcher = CurlFetcher(
        user_agent=settings.user_agent,
        egress=crawler.tools.egress,
        timeout_seconds=settings.http_timeout_seconds,
        max_body_bytes=settings.max_body_bytes,
        lookup=lookup if callable(lookup) else lambda name: lookup[name],
        **options,
    )


def watch_dials(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Gets each address to which a socket was opened: what was not dialled is seen, not inferred."""
    dialled: list[str] = []
    open_socket = Transfer._open_socket

    def opening(transfer: Transfer, purpose: int, target: Any) -> int:
        opened = open_socket(transfer, purpose, target)
        if opened != pycurl.SOCKET_BAD:
            dialled.append(str(target.addr[0]))
        return opened

    monkeypatch.setattr(Transfer, "_open_socket", opening)
    return dialled
