"""Who watches a crawl over WebSocket takes no place of others, and loses it with the connection and with the key."""

import json
import time
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
import requests
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from crawler.entrypoints.http import page_waits, sockets
from tests.integration.firecrawl.conftest import Door
from tests.site.client import Site


@pytest.fixture
def watched(door: Door, shop: Site) -> Iterator[str]:
    """A crawl that does not end by itself."""
    shop.set_fault("/kettles", hang=60)
    started = door.app.start_crawl(shop.url(), limit=10)
    yield started.id
    door.engine.tools.crawls.control.cancel(UUID(started.id))


def watch(door: Door, crawl: str) -> ClientConnection:
    address = door.address.replace("http", "ws", 1)
    return connect(f"{address}/v2/crawl/{crawl}", additional_headers={"Authorization": f"Bearer {door.secret}"})


def first(socket: ClientConnection) -> Any:
    return json.loads(socket.recv(timeout=30))["type"]


def drain(socket: ClientConnection) -> None:
    while True:
        socket.recv(timeout=30)


@pytest.mark.slow
def test_watchers_that_have_gone_leave_their_place_and_take_none_of_those_who_fetch(
    door: Door, shop: Site, watched: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_waits, "MOST_PER_KEY", 2)
    with watch(door, watched) as one, watch(door, watched) as other, watch(door, watched) as third:
        assert [first(one), first(other), first(third)] == ["catchup", "catchup", "error"]
        headers = {"Authorization": f"Bearer {door.secret}"}
        body = {"url": shop.url("/a"), "maxAge": 0}
        assert requests.post(f"{door.address}/v2/scrape", json=body, headers=headers, timeout=60).status_code == 200
    until = time.monotonic() + 30
    while time.monotonic() < until:
        with watch(door, watched) as again:
            if first(again) == "catchup":
                return
    raise AssertionError("places of those who have gone are not free")


def test_a_key_that_is_revoked_watches_no_longer(door: Door, watched: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "CHECK_SECONDS", 0.1)
    store = door.engine.tools.store
    key = store.find_key(door.secret)
    assert key is not None
    with watch(door, watched) as socket:
        assert first(socket) == "catchup"
        store.revoke_key(key.id, door.engine.tools.clock())
        with pytest.raises(ConnectionClosed) as closed:
            drain(socket)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4401
