"""Every table of the database."""

from crawler.adapters.postgres.tables.acquisition import (
    categories,
    classification_jobs,
    crawl_queue,
    extraction_counts,
    extractions,
    field_fills,
    outbox,
)
from crawler.adapters.postgres.tables.columns import metadata
from crawler.adapters.postgres.tables.crawls import (
    crawl_discovered_urls,
    crawl_findings,
    crawl_jobs,
    crawl_probes,
    crawl_reports,
    project_credentials,
    projects,
)
from crawler.adapters.postgres.tables.documents import document_chunks, document_feeds, document_waits, documents
from crawler.adapters.postgres.tables.pages import crawled_pages, page_versions, screenshots, snapshots
from crawler.adapters.postgres.tables.recurring import (
    change_feed,
    crawl_schedules,
    feed_tokens,
    mutes,
    noise_rules,
    notifications,
    recipients,
    schedule_slots,
    watch_rules,
)
from crawler.adapters.postgres.tables.service import (
    api_keys,
    hosts,
    http_answers,
    idempotency_keys,
    request_log,
    settings,
)

__all__ = [
    "api_keys",
    "categories",
    "change_feed",
    "classification_jobs",
    "crawl_discovered_urls",
    "crawl_findings",
    "crawl_jobs",
    "crawl_probes",
    "crawl_queue",
    "crawl_reports",
    "crawl_schedules",
    "crawled_pages",
    "document_chunks",
    "document_feeds",
    "document_waits",
    "documents",
    "extraction_counts",
    "extractions",
    "feed_tokens",
    "field_fills",
    "hosts",
    "http_answers",
    "idempotency_keys",
    "metadata",
    "mutes",
    "noise_rules",
    "notifications",
    "outbox",
    "page_versions",
    "project_credentials",
    "projects",
    "recipients",
    "request_log",
    "schedule_slots",
    "screenshots",
    "settings",
    "snapshots",
    "watch_rules",
]
