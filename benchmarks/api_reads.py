"""Everything that can be read of a large project over HTTP, with every filter, and a reader that measures it."""

import http.client
import json
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from benchmarks.api_project import Stocked
from benchmarks.service import PATH, Service

BULK = frozenset({"export as jsonl", "the site as markdown", "report as CSV"})
"""Long answers: measured until they begin."""
BULK_EVERY = 20
"""Rounds: each asks Postgres for much that nobody takes."""


class Read(NamedTuple):
    name: str
    path: str
    query: Mapping[str, str | int] = {}

    @property
    def target(self) -> str:
        return f"{PATH}{self.path}" + (f"?{urlencode(self.query)}" if self.query else "")


@dataclass
class Timing:
    """Milliseconds."""

    took: list[float] = field(default_factory=list)

    def quantile(self, share: float) -> float:
        ordered = sorted(self.took)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


class Reader:
    """One kept connection, one request after the other."""

    def __init__(self, service: Service) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        self._headers = {"Authorization": f"Bearer {service.key}"}

    def get(self, read: Read) -> tuple[float, bytes]:
        """Milliseconds, and the answer. Of long ones only the beginning is measured."""
        began = time.perf_counter()
        self._connection.request("GET", read.target, headers=self._headers)
        answer = self._connection.getresponse()
        body = answer.read(1 if read.name in BULK else None)
        took = 1000 * (time.perf_counter() - began)
        if answer.status != 200:
            raise SystemExit(f"{read.target} was answered {answer.status}: {body[:300]!r}")
        if read.name in BULK:
            self._connection.close()  # nobody wants the rest
        return took, body

    def post(self, path: str) -> dict[str, Any]:
        """On a connection of its own: the service has closed one that waited for seconds."""
        self._connection.close()
        self._connection.request("POST", f"{PATH}{path}", headers=self._headers)
        answer = self._connection.getresponse()
        found: dict[str, Any] = json.loads(answer.read())
        self._connection.close()
        return found


def measure(reader: Reader, reads: list[Read], rounds: int) -> dict[str, Timing]:
    """Each once a round, in another order each time: nobody profits from the one before. The first is not counted."""
    for read in reads:
        reader.get(read)
    timings = {read.name: Timing() for read in reads}
    chance = random.Random(1)
    for number in range(rounds):
        some = [read for read in reads if read.name not in BULK or number % BULK_EVERY == 0]
        for read in chance.sample(some, len(some)):
            timings[read.name].took.append(reader.get(read)[0])
    return timings


def all_reads(reader: Reader, stocked: Stocked, running: UUID, host: str) -> list[Read]:
    """`running` is the crawl that goes on meanwhile, `host` one of those it asks."""
    project, crawl = f"/projects/{stocked.project.id}", f"/crawl/{stocked.latest.id}"
    middle = json.loads(reader.get(Read("", f"{project}/pages", {"prefix": "/section3"}))[1])["next_cursor"]
    kinds = json.loads(reader.get(Read("", f"{crawl}/report"))[1])["kinds"]
    kind = max(kinds, key=lambda one: one["found"])["kind"]
    return [
        Read("projects", "/projects"),
        Read("project", project),
        Read("progress", f"{project}/phases/crawl/status"),
        Read("crawl that runs", f"/crawl/{running}"),
        Read("crawl that runs, urls", f"/crawl/{running}/urls"),
        Read("crawl", crawl),
        Read("crawl with urls", crawl, {"include": "urls"}),
        *_pages(f"{project}/pages", middle),
        *_urls(f"{crawl}/urls"),
        *_one_page(f"{project}/pages/{stocked.page_id}"),
        Read("history", f"{project}/crawl-history"),
        Read("changes", f"{project}/crawl-history/{stocked.latest.id}/changes"),
        Read("changes with pages", f"{project}/crawl-history/{stocked.latest.id}/changes", {"include": "pages"}),
        Read("crawls of a notebook", f"/notebooks/{stocked.project.id}/crawl"),
        Read("report", f"{crawl}/report"),
        Read("report, first 100", f"{crawl}/report", {"first": 100}),
        Read("findings of a kind", f"{crawl}/report/{kind}"),
        Read("findings of a kind, new", f"{crawl}/report/{kind}", {"new": "true"}),
        Read("export as jsonl", f"{crawl}/export", {"format": "jsonl"}),
        Read("report as CSV", f"{crawl}/report.csv"),
        Read("the site as markdown", f"{project}/markdown"),
        Read("hosts", "/hosts"),
        Read("one host", f"/hosts/{host}"),
        Read("settings", "/settings"),
        Read("keys", "/keys"),
        Read("notifications", "/notifications"),
        Read("health", "/health"),
        Read("metrics", "/metrics"),
        Read("openapi", "/openapi.json"),
    ]


def _pages(path: str, middle: str) -> list[Read]:
    recent = (datetime.now(UTC) - timedelta(days=2)).isoformat()
    filters: dict[str, dict[str, str | int]] = {
        "": {},
        "200 at once": {"limit": 200},
        "from the middle": {"cursor": middle},
        "failed": {"status": "failed"},
        "skipped": {"status": "skipped"},
        "succeeded": {"status": "success"},
        "reason timeout": {"reason": "timeout"},
        "reason tls (none)": {"reason": "tls"},
        "reason unchanged (none)": {"reason": "unchanged"},
        "reason render_unavailable (none)": {"reason": "render_unavailable"},
        "changed lately": {"changed_since": recent},
        "changed ever": {"changed_since": "2020-01-01T00:00:00Z"},
        "changed never": {"changed_since": "2099-01-01T00:00:00Z"},
        "prefix": {"prefix": "/section7/"},
        "prefix (none)": {"prefix": "/zzz"},
        "title word, rare": {"q": "77"},
        "title word, common": {"q": "PostgreSQL"},
        "title word (none)": {"q": "nosuchword"},
        "title word, two": {"q": "PostgreSQL 77"},
        "title word and failed": {"q": "PostgreSQL", "status": "failed"},
        "title word and prefix": {"q": "PostgreSQL", "prefix": "/section9/"},
        "changed lately and prefix": {"changed_since": recent, "prefix": "/section41/"},
    }
    return [Read(f"pages: {name}" if name else "pages", path, query) for name, query in filters.items()]


def _urls(path: str) -> list[Read]:
    filters: dict[str, dict[str, str | int]] = {
        "": {},
        "200 at once": {"limit": 200},
        "done": {"fetch_state": "done"},
        "failed": {"fetch_state": "failed"},
        "skipped": {"fetch_state": "skipped"},
        "queued (none)": {"fetch_state": "queued"},
        "ingestion pending (none)": {"status": "pending"},
        "ingestion failed": {"status": "failed"},
        "reason not_found": {"reason": "not_found"},
        "reason tls, rare": {"reason": "tls"},
        "reason dns (none)": {"reason": "dns"},
        "reason unchanged (none)": {"reason": "unchanged"},
        "prefix": {"prefix": "http://127.0.0.1"},
        "prefix (none)": {"prefix": "https://elsewhere.example/"},
    }
    return [Read(f"urls: {name}" if name else "urls", path, query) for name, query in filters.items()]


def _one_page(path: str) -> list[Read]:
    names = ("markdown", "snapshot", "versions", "diff")
    return [Read("page", path), *(Read(f"page's {name}", f"{path}/{name}") for name in names)]
