"""Options of the browser lane, and one of its jobs. Imports nothing heavy.

The values come from `config.py`, by way of `bootstrap/engine.py`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ada_url

from crawler.adapters.curl.name_lookup import LookupFunction, system_lookup
from crawler.domain.crawls.fetching import FetchRequest
from crawler.domain.hosts.egress import EgressRule

RECORDS = "browsers"
"""Directory below the data directory: which browser belongs to which worker, and why none starts."""


@dataclass(frozen=True, slots=True)
class Wear:
    """When a browser is replaced by a fresh one."""

    pages: int = 100
    seconds: float = 900
    memory_bytes: int = 2 * 1024**3
    tab_bytes: int = 1024**3
    """Memory limit of a single tab: one that uses more is killed, and fails alone."""


@dataclass(frozen=True, slots=True)
class BrowserOptions:
    chromium: Path
    user_agent: str
    egress: EgressRule
    data_dir: Path
    timeout_seconds: float = 30
    """Timeout of one whole visit."""
    max_body_bytes: int = 5 * 1024 * 1024
    tabs: int = 4
    wear: Wear = Wear()
    proxy: str | None = field(default=None, repr=False)
    ca_bundle: Path | None = None
    """CA bundle for TLS to the proxy. Chromium itself trusts its own roots."""
    resolve: Mapping[str, Sequence[str]] | None = None
    """Addresses for host names, used without asking DNS."""
    lookup: LookupFunction = system_lookup
    """Lookup function for all other names."""
    flags: tuple[str, ...] = ()
    """Further flags for Chromium, beside ours."""

    @property
    def records(self) -> Path:
        return self.data_dir / RECORDS


@dataclass(eq=False, slots=True)
class Job:
    """A request on its way through the browser lane."""

    request: FetchRequest
    abandoned: bool = False
    deaths: int = 0
    """Browsers that died while they showed its page."""
    task: "asyncio.Task[Any] | None" = None
    """The task of the visit, while it is in progress."""
    began_at: float = 0.0

    @property
    def host(self) -> str:
        return str(ada_url.URL(self.request.url).host)
