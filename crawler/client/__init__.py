"""A small client for other programs: projects, crawls, pages, reports and hosts of a running service.

It needs `requests` and `pydantic` and imports nothing of the engine. `docs/client.md` shows it at work.
"""

from crawler.client.client import Client
from crawler.client.crawl_values import Changes, Crawl, PageChange, Progress, Retried, Url
from crawler.client.errors import (
    ClientError,
    Conflict,
    Invalid,
    NoAnswer,
    NotAllowed,
    NotAService,
    NotFound,
    Problem,
    StillRunning,
    Unavailable,
)
from crawler.client.hosts import Host, HostList
from crawler.client.keys import IssuedKey, Key
from crawler.client.pages import Diff, Page, Snapshot, Version, WholePage
from crawler.client.projects import Previewed, Project
from crawler.client.reports import Finding, KindReport, Report
from crawler.client.system import Check, Health, RuntimeSettings

__all__ = [
    "Changes",
    "Check",
    "Client",
    "ClientError",
    "Conflict",
    "Crawl",
    "Diff",
    "Finding",
    "Health",
    "Host",
    "HostList",
    "Invalid",
    "IssuedKey",
    "Key",
    "KindReport",
    "NoAnswer",
    "NotAService",
    "NotAllowed",
    "NotFound",
    "Page",
    "PageChange",
    "Previewed",
    "Problem",
    "Progress",
    "Project",
    "Report",
    "Retried",
    "RuntimeSettings",
    "Snapshot",
    "StillRunning",
    "Unavailable",
    "Url",
    "Version",
    "WholePage",
]
