"""A small Python client for the HTTP API: projects, crawls, pages, reports, schedules and hosts of a running service.

It needs `requests` and `pydantic` and imports nothing of the engine. `docs/reference/client.md` has examples.
"""

from crawler.client.categories import Categories, Category, ExtractionTrial, FieldFill
from crawler.client.client import Client
from crawler.client.crawl_values import (
    Audit,
    Changes,
    Crawl,
    Event,
    Explanation,
    HostAudit,
    MissingPage,
    MovedPage,
    PageChange,
    Progress,
    Rebuilt,
    Retried,
    Url,
)
from crawler.client.credentials import Credential
from crawler.client.documents import (
    Chunk,
    Document,
    DocumentChange,
    DocumentCounts,
    DocumentFeed,
    Documents,
    SearchHit,
    SearchHits,
    SnippetPart,
)
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
from crawler.client.logins import Login
from crawler.client.noise import NoiseRule, Trial
from crawler.client.notifications import Notification
from crawler.client.pages import Diff, Page, Snapshot, Version, WholePage
from crawler.client.projects import Previewed, Project
from crawler.client.queue import (
    EntryShown,
    Extraction,
    HandOff,
    ImportReport,
    Queue,
    QueueCounts,
    QueueEntry,
    QueueRun,
    RowProblem,
)
from crawler.client.recipients import Mute, Recipient
from crawler.client.reports import Finding, KindReport, Report
from crawler.client.schedules import Schedule, SlotRun
from crawler.client.scraping import MappedUrl, PageMetadata, ScrapedPage, ScrapeJob, SiteMap
from crawler.client.system import Check, Health, RuntimeSettings
from crawler.client.watching import Picked, WatchPreview, WatchRule

__all__ = [
    "Audit",
    "Categories",
    "Category",
    "Changes",
    "Check",
    "Chunk",
    "Client",
    "ClientError",
    "Conflict",
    "Crawl",
    "Credential",
    "Diff",
    "Document",
    "DocumentChange",
    "DocumentCounts",
    "DocumentFeed",
    "Documents",
    "EntryShown",
    "Event",
    "Explanation",
    "Extraction",
    "ExtractionTrial",
    "FieldFill",
    "Finding",
    "HandOff",
    "Health",
    "Host",
    "HostAudit",
    "HostList",
    "ImportReport",
    "Invalid",
    "IssuedKey",
    "Key",
    "KindReport",
    "Login",
    "MappedUrl",
    "MissingPage",
    "MovedPage",
    "Mute",
    "NoAnswer",
    "NoiseRule",
    "NotAService",
    "NotAllowed",
    "NotFound",
    "Notification",
    "Page",
    "PageChange",
    "PageMetadata",
    "Picked",
    "Previewed",
    "Problem",
    "Progress",
    "Project",
    "Queue",
    "QueueCounts",
    "QueueEntry",
    "QueueRun",
    "Rebuilt",
    "Recipient",
    "Report",
    "Retried",
    "RowProblem",
    "RuntimeSettings",
    "Schedule",
    "ScrapeJob",
    "ScrapedPage",
    "SearchHit",
    "SearchHits",
    "SiteMap",
    "SlotRun",
    "Snapshot",
    "SnippetPart",
    "StillRunning",
    "Trial",
    "Unavailable",
    "Url",
    "Version",
    "WatchPreview",
    "WatchRule",
    "WholePage",
]
