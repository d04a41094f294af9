"""How the browser lane is set up, and one of its jobs. Imports nothing heavy."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crawler.adapters.curl.name_lookup import LookupFunction, system_lookup
from crawler.domain.crawls.fetching import FetchRequest
from crawler.domain.hosts.egress import EgressRule

RECORDS = "browsers"
"""Below the data directory: which browser belongs to which worker, and why none starts."""


@dataclass(frozen=True, slots=True)
class Wear:
    """When a browser is replaced by a fresh one."""

    pages: int = 100
    seconds: float = 900
    memory_bytes: int = 2 * 1024**3
    tab_bytes: int = 1024**3
    """A single tab that takes more is killed: it fails alone."""


@dataclass(frozen=True, slots=True)
class BrowserOptions:
    chromium: Path
    user_agent: str
    egress: EgressRule
    data_dir: Path
    timeout_seconds: float = 30
    """For one visit, all of it."""
    max_body_bytes: int = 5 * 1024 * 1024
    tabs: int = 4
    wear: Wear = Wear()
    proxy: str | None = field(default=None, repr=False)
    ca_bundle: Path | None = None
    """For TLS to the proxy. Chromium itself trusts its own roots."""
    resolve: Mapping[str, Sequence[str]] | None = None
    """Addresses for names, without asking DNS."""
    lookup: LookupFunction = system_lookup
    """Asked for all other names."""
    flags: tuple[str, ...] = ()
    """For Chromium, beside ours."""

    @property
    def records(self) -> Path:
        return self.data_dir / RECORDS


@dataclass(eq=False, slots=True)
class Job:
    """A request on its way through the lane."""

    request: FetchRequest
    abandoned: bool = False
    repeated: bool = False
    task: "asyncio.Task[Any] | None" = None
    """The visit, while it is under way."""
