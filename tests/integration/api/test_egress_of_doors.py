"""No door leads to where the egress rule forbids: every vector through the API, /v2 and /mcp."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import anyio
import httpx2
import pytest
import requests
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from crawler.domain.api_keys import ApiKey, Scope
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Server, response, serving
from tests.integration.served import served
from tests.integration.working import working
from tests.unit.hosts.test_egress import VECTORS

HOSTS = [f"[{address}]" if ":" in address else address for verdict, address in VECTORS if verdict == "refuse"]
SPELLINGS = [
    "localhost",
    "127.1",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "127.0.0.1.",
    "[::ffff:7f00:1]",
    "①27.0.0.1",
]


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"egress_allow": ""}


class Service(NamedTuple):
    address: str
    headers: dict[str, str]

    def post(self, path: str, **body: Any) -> requests.Response:
        return requests.post(self.address + path, json=body, headers=self.headers, timeout=60)


@pytest.fixture
def inside() -> Iterator[Server]:
    """Somebody on this machine whom no stranger may reach."""
    with serving(lambda *_: response(b"<h1>Secret</h1>")) as server:
        yield server


@pytest.fixture
def service(crawler: Engine) -> Iterator[Service]:
    key, secret = ApiKey.issue(name="k", scope=Scope.WRITE, now=crawler.tools.clock())
    crawler.tools.store.add_key(key)
    with served(crawler.tools) as address, working(crawler):
        yield Service(address, {"Authorization": f"Bearer {secret}"})


def by_api(service: Service, url: str) -> str:
    answer = service.post("/api/v1/scrape", url=url, timeout=30)
    return "" if answer.status_code != 422 else answer.json().get("reason", answer.json()["code"])


def by_map(service: Service, url: str) -> str:
    answer = service.post("/api/v1/map", url=url, timeout=30)
    return "" if answer.status_code != 422 else answer.json().get("reason", answer.json()["code"])


def by_firecrawl(service: Service, url: str) -> str:
    answer = service.post("/v2/scrape", url=url)
    return answer.json()["code"] if answer.status_code in (400, 403) else ""


def by_firecrawl_map(service: Service, url: str) -> str:
    answer = service.post("/v2/map", url=url)
    return answer.json()["code"] if answer.status_code in (400, 403) else ""


def by_webhook(service: Service, url: str) -> str:
    answer = service.post("/v2/crawl", url="http://example.org/", limit=1, webhook=url)
    return answer.json()["code"] if answer.status_code == 400 else ""


def by_agent(service: Service, url: str) -> str:
    async def ask() -> str:
        async with (
            httpx2.AsyncClient(headers=service.headers, timeout=60) as http,
            Client(streamable_http_client(f"{service.address}/mcp", http_client=http)) as client,
        ):
            told: Any = await client.call_tool("scrape_page", {"url": url})
            return "".join(part.text for part in told.content) if told.is_error else ""

    return anyio.run(ask)


DOORS = [by_api, by_map, by_firecrawl, by_firecrawl_map, by_webhook, by_agent]


@pytest.mark.slow
@pytest.mark.parametrize("turns", [1, pytest.param(len(DOORS), marks=pytest.mark.long)])
def test_every_vector_is_refused(service: Service, inside: Server, turns: int) -> None:
    """One after the other at the next door each, and at every door if there is time for so many turns."""
    hosts = [*HOSTS, *SPELLINGS]
    tried = [
        (DOORS[(number + turn) % len(DOORS)], f"http://{host}:{inside.port}/")
        for turn in range(turns)
        for number, host in enumerate(hosts)
    ]
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda pair: pair[0](service, pair[1]), tried))
    assert [(door.__name__, url) for (door, url), words in zip(tried, told, strict=True) if not words] == []
    assert inside.requests == []


def test_this_machine_is_out_of_reach_of_all_doors(service: Service, inside: Server) -> None:
    told = {door.__name__: door(service, f"http://127.0.0.1:{inside.port}/") for door in DOORS}
    assert told["by_api"] == told["by_map"] == "egress"
    assert told["by_firecrawl"] == told["by_firecrawl_map"] == "SCRAPE_UNSUPPORTED_ADDRESS"
    assert told["by_webhook"] == "BAD_REQUEST"
    assert "egress" in told["by_agent"].lower() or "may not" in told["by_agent"]
    assert inside.requests == []


@pytest.mark.slow
def test_a_batch_of_them_fetches_nothing(service: Service, inside: Server) -> None:
    urls = [f"http://{host}:{inside.port}/" for host in [*HOSTS, *SPELLINGS]]
    started = service.post("/v2/batch/scrape", urls=urls, ignoreInvalidURLs=True).json()
    address = f"{service.address}/v2/batch/scrape/{started['id']}"
    while (told := requests.get(address, headers=service.headers, timeout=60).json())["status"] == "scraping":
        anyio.run(anyio.sleep, 0.1)
    errors = requests.get(f"{address}/errors", headers=service.headers, timeout=60).json()["errors"]
    assert (told["completed"], told["data"]) == (0, [])
    assert {one["code"] for one in errors} == {"egress"}
    assert len(errors) + len(started["invalidURLs"]) >= len(HOSTS)
    assert inside.requests == []
