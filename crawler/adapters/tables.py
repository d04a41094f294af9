"""Every table. Names and columns of the seed documents are kept; ours stand beside them.

Ids of pages and snapshots are derived from what they name, so that a batch can be written without
asking Postgres for ids first, and the same page written twice is the same row.
"""

from typing import Any

from sqlalchemy import (
    REAL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    Time,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, UUID

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_UUID = UUID(as_uuid=True)
# Keys are compared byte by byte: faster than any language's order, and the same on every server.
_KEY = Text(collation="C")


def _now(name: str) -> Column[Any]:
    return Column(name, DateTime(timezone=True), nullable=False, server_default=func.now())


def _when(name: str) -> Column[Any]:
    return Column(name, DateTime(timezone=True))


def _count(name: str) -> Column[Any]:
    return Column(name, Integer, nullable=False, server_default="0")


def _flag(name: str, *, default: bool) -> Column[Any]:
    return Column(name, Boolean, nullable=False, server_default=str(default).lower())


def _json(name: str, default: str = "{}") -> Column[Any]:
    return Column(name, JSONB, nullable=False, server_default=text(f"'{default}'::jsonb"))


def _project(*, nullable: bool = False) -> Column[Any]:
    return Column("project_id", _UUID, ForeignKey("projects.id", ondelete="CASCADE"), nullable=nullable)


def _one_of(column: str, *values: str) -> CheckConstraint:
    return CheckConstraint(f"{column} IN ({', '.join(repr(v) for v in values)})", name=column)


projects = Table(
    "projects",
    metadata,
    Column("id", _UUID, primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("website_url", String(2000)),
    _json("settings"),
    Column("secrets", LargeBinary),  # headers, cookies, basic auth: encrypted
    _flag("is_active", default=True),
    _flag("flagged_for_review", default=False),
    Column("phase_status", String(20), nullable=False, server_default="pending"),
    _json("learned"),  # what crawls taught: rendering, URL shapes
    _now("created_at"),
    _now("updated_at"),
)

crawl_jobs = Table(
    "crawl_jobs",
    metadata,
    Column("id", _UUID, primary_key=True),
    _project(),
    Column("seed_url", Text, nullable=False),
    Column("domain", String(255), nullable=False),
    Column("crawl_type", String(20), nullable=False),
    _json("config"),
    Column("status", String(20), nullable=False, server_default="pending"),
    _flag("paused", default=False),
    _when("paused_at"),
    Column("paused_seconds", Float, nullable=False, server_default="0"),
    _flag("exclusive", default=True),
    _flag("seeded", default=False),
    Column("end_reason", String(20)),
    Column("error_message", Text),
    _count("total_discovered"),
    _count("total_ingested"),
    _count("pages_crawled"),
    _count("pages_failed"),
    _count("pages_skipped"),
    _count("lightweight"),
    _count("rendered"),
    _json("stats"),
    _json("scope"),
    Column("rendering", JSONB(none_as_null=True)),  # whether its pages need a browser, and by which signal
    Column("change_summary", JSONB),
    Column("compared_to", _UUID),
    Column("retry_of", _UUID),
    _flag("from_queue", default=False),
    _when("diffed_at"),
    _when("notified_at"),
    _now("created_at"),
    _now("updated_at"),
    _when("started_at"),
    _when("completed_at"),
    _one_of("status", "pending", "in_progress", "completed", "failed", "cancelled"),
    _one_of("crawl_type", "initial", "manual", "scheduled", "fetch_only"),
    Index("ix_crawl_jobs_project_created", "project_id", text("created_at DESC")),
    Index(
        "ix_crawl_jobs_failed_runs",
        "completed_at",
        postgresql_where=text("crawl_type = 'scheduled' AND status = 'failed'"),
    ),
    Index(
        "ix_crawl_jobs_untold",
        "diffed_at",
        postgresql_where=text("crawl_type = 'scheduled' AND notified_at IS NULL"),
    ),
    # The rule "one crawl of a project at a time" is the database's, so that two doors cannot both start one.
    Index(
        "uq_crawl_jobs_running",
        "project_id",
        unique=True,
        postgresql_where=text("exclusive AND status IN ('pending', 'in_progress')"),
    ),
    Index(
        "ix_crawl_jobs_open",
        "status",
        postgresql_where=text("status IN ('pending', 'in_progress')"),
    ),
)

crawl_discovered_urls = Table(
    "crawl_discovered_urls",
    metadata,
    Column(
        "crawl_job_id",
        _UUID,
        ForeignKey("crawl_jobs.id", ondelete="CASCADE"),
        primary_key=True,
        nullable=False,
    ),
    Column("normalized_url", _KEY, primary_key=True, nullable=False),
    Column("url", Text, nullable=False),
    Column("depth", Integer, nullable=False),
    Column("priority", SmallInteger, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("fetch_state", String(8), nullable=False, server_default="queued"),
    Column("status", String(8), nullable=False, server_default="pending"),
    Column("reason", String(24)),
    Column("rule", Text),  # the text of the rule that refused or admitted it
    Column("source", String(8), nullable=False, server_default="link"),
    Column("attempts", SmallInteger, nullable=False, server_default="0"),
    Column("variants", Integer, nullable=False, server_default="0"),
    Column("parent", Text),
    Column("final_url", Text),
    Column("http_status", SmallInteger),
    Column("content_hash", LargeBinary),
    Column("version_id", _UUID),
    Column("document_id", _UUID),
    Column("error_message", Text),
    Column("rendering", JSONB),  # why this page alone was rendered, or was not
    _when("found_at"),
    _when("fetched_at"),
    _one_of("fetch_state", "queued", "done", "skipped", "failed"),
    _one_of("status", "pending", "ingested", "skipped", "failed"),
    # For lists of what went wrong. Few rows have a reason, and of those that get one later most stay `unchanged`.
    Index(
        "ix_crawl_discovered_urls_reason",
        "crawl_job_id",
        "reason",
        "normalized_url",
        postgresql_where=text("reason IS NOT NULL AND reason <> 'unchanged'"),
    ),
    # Each row is updated once in place; room on its block keeps that update off the index.
    postgresql_with={"fillfactor": "75"},
)

crawled_pages = Table(
    "crawled_pages",
    metadata,
    Column("id", _UUID, primary_key=True),
    _project(),
    Column("url", String(2000), nullable=False),
    Column("normalized_url", String(2000, collation="C"), nullable=False),
    Column("title", String(500)),
    Column("h1", String(500)),
    Column("meta_description", Text),
    Column("content_text", Text),
    Column("word_count", Integer),
    _json("links_found", "[]"),
    Column("links_followed", JSONB),  # those that nofollow left; null when that is all of them
    Column("links_unusable", JSONB),  # those that are no web addresses: what is written, the reason, the rule
    _now("crawled_at"),
    Column("status", String(20), nullable=False, server_default="success"),
    Column("reason", String(24)),
    Column("error_message", Text),
    Column("content_hash", LargeBinary),
    Column("canonical_url", Text),
    _flag("noindex", default=False),
    Column("etag", Text),
    Column("last_modified", Text),
    Column("language", String(12)),
    Column("crawl_method", String(12)),
    Column("http_status", SmallInteger),
    Column("byte_length", Integer),
    Column("depth", Integer),
    Column("version_id", _UUID),
    Column("crawl_id", _UUID),
    _when("first_seen_at"),
    _when("last_seen_at"),
    _when("last_changed_at"),
    UniqueConstraint("project_id", "normalized_url", name="uq_crawled_pages_url"),
    _one_of("status", "success", "failed", "skipped"),
    # For lists of pages. None holds a column that an unchanged page's update touches: that must stay off the indexes.
    Index(
        "ix_crawled_pages_ended_badly",
        "project_id",
        "status",
        "normalized_url",
        postgresql_where=text("status <> 'success'"),
    ),
    Index("ix_crawled_pages_changed", "project_id", "last_changed_at"),
    Index("ix_crawled_pages_title", text("to_tsvector('simple', title)"), postgresql_using="gin"),
    # Each crawl updates the row; its large columns stand elsewhere.
    postgresql_with={"fillfactor": "75"},
)

page_versions = Table(
    "page_versions",
    metadata,
    Column("id", _UUID, primary_key=True),
    Column("page_id", _UUID, ForeignKey("crawled_pages.id", ondelete="CASCADE"), nullable=False),
    Column("crawl_id", _UUID, nullable=False),
    Column("snapshot_id", _UUID),
    Column("content_hash", LargeBinary, nullable=False),
    Column("title", String(500)),
    _json("links", "[]"),
    _json("headers"),
    _json("hreflang", "[]"),
    Column("final_url", Text),
    Column("crawl_method", String(12)),
    _now("fetched_at"),
    Index("ix_page_versions_page", "page_id", "fetched_at"),
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("id", _UUID, primary_key=True),
    Column("content_hash", LargeBinary, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("encoding", String(8), nullable=False, server_default="zstd"),
    Column("content_type", Text),
    Column("byte_length", Integer, nullable=False),
    _now("fetched_at"),
)

# What is wrong with the site by what the crawl saw, kept when it ends: later crawls change the pages' rows.
crawl_reports = Table(
    "crawl_reports",
    metadata,
    Column("crawl_id", _UUID, ForeignKey("crawl_jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("compared_to", _UUID),
    _json("limits"),
    _json("counts"),
    _json("notes"),
    _now("built_at"),
)

crawl_findings = Table(
    "crawl_findings",
    metadata,
    Column("crawl_id", _UUID, ForeignKey("crawl_jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("kind", String(24), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("normalized_url", _KEY, nullable=False),
    Column("url", Text, nullable=False),
    Column("problem", String(24), nullable=False),
    Column("text", Text),
    Column("value", BigInteger),
    _json("related", "[]"),
    _count("related_count"),
    Column("is_new", Boolean),
    Index("ix_crawl_findings_new", "crawl_id", "kind", "position", postgresql_where=text("is_new")),
)

# Requests of a crawl beyond its pages: what became of those it did not meet, and second looks at some that it stored.
crawl_probes = Table(
    "crawl_probes",
    metadata,
    Column("crawl_id", _UUID, ForeignKey("crawl_jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("normalized_url", _KEY, primary_key=True),
    Column("url", Text, nullable=False),
    Column("host", _KEY, nullable=False),
    Column("purpose", String(8), nullable=False),
    Column("position", Integer, nullable=False),
    Column("state", String(8), nullable=False, server_default="queued"),
    Column("outcome", String(12)),
    Column("reason", String(24)),
    Column("http_status", SmallInteger),
    Column("final_url", Text),
    Column("content_hash", LargeBinary),  # of the page that is missing
    Column("rounds", SmallInteger, nullable=False, server_default="0"),  # crawls that asked in vain
    Column("snapshot_id", _UUID),  # what the second look saw
    _when("at"),
    _one_of("purpose", "missing", "again"),
    _one_of("state", "queued", "done"),
    Index("ix_crawl_probes_snapshot", "snapshot_id", postgresql_where=text("snapshot_id IS NOT NULL")),
)

screenshots = Table(
    "screenshots",
    metadata,
    Column("version_id", _UUID, ForeignKey("page_versions.id", ondelete="CASCADE"), primary_key=True),
    Column("image", LargeBinary, nullable=False),
    Column("thumbnail", LargeBinary, nullable=False),
    _now("taken_at"),
)

categories = Table(
    "categories",
    metadata,
    Column("name", String(64), primary_key=True),
    _json("selectors"),
    _now("created_at"),
    _now("updated_at"),
)

crawl_queue = Table(
    "crawl_queue",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    _project(nullable=True),
    Column("source_url", Text, nullable=False),
    Column("normalized_url", _KEY, nullable=False, unique=True),
    Column("host", _KEY, nullable=False),
    Column("status", String(32), nullable=False, server_default="pending"),
    Column("category", String(64)),
    Column("priority", SmallInteger, nullable=False, server_default="5"),
    Column("attempts", SmallInteger, nullable=False, server_default="0"),
    Column("rounds", SmallInteger, nullable=False, server_default="0"),  # batches that ended before its turn
    Column("last_error", Text),
    _when("last_attempted_at"),
    _flag("is_active", default=True),
    Column("page_id", _UUID),
    Column("crawl_id", _UUID),
    Column("ledger_url", _KEY),  # its key in that crawl's ledger; of a redirect, where it leads
    _now("created_at"),
    _now("updated_at"),
    _one_of("status", "pending", "fetching", "fetched", "extracting", "done", "failed"),
    CheckConstraint("priority BETWEEN 0 AND 9", name="priority"),
    Index("ix_crawl_queue_category", "category", "id", postgresql_where=text("category IS NOT NULL")),
    Index("ix_crawl_queue_host", "host", "id"),
    Index(
        "ix_crawl_queue_pending",
        "priority",
        "created_at",
        "id",
        postgresql_where=text("status = 'pending' AND is_active"),
    ),
    Index("ix_crawl_queue_under_way", "crawl_id", "ledger_url", postgresql_where=text("status = 'fetching'")),
    Index("ix_crawl_queue_status", "status", "id"),
)

extractions = Table(
    "extractions",
    metadata,
    Column("id", _UUID, primary_key=True),
    Column("page_id", _UUID, ForeignKey("crawled_pages.id", ondelete="CASCADE")),
    Column("version_id", _UUID),
    Column("queue_id", BigInteger, ForeignKey("crawl_queue.id", ondelete="CASCADE")),
    Column("category", String(64)),
    _json("fields"),
    Column("extracted_text", Text, nullable=False),
    Column("language", String(12)),
    _now("extracted_at"),
    Index("ix_extractions_queue", "queue_id"),
)

classification_jobs = Table(
    "classification_jobs",
    metadata,
    Column("id", _UUID, primary_key=True),
    Column(
        "extraction_id",
        _UUID,
        ForeignKey("extractions.id", ondelete="CASCADE"),
        nullable=False,
        unique=True,
    ),
    Column("status", String(20), nullable=False, server_default="pending"),
    _now("created_at"),
    _when("sent_at"),
)

documents = Table(
    "documents",
    metadata,
    Column("id", _UUID, primary_key=True),
    _project(),
    Column("page_id", _UUID),
    Column("url", Text, nullable=False),
    Column("normalized_url", _KEY, nullable=False),
    Column("title", Text),
    Column("status", String(20), nullable=False, server_default="pending"),
    Column("content_hash", LargeBinary),
    Column("error_message", Text),
    Column("feed_seq", BigInteger),
    _when("deleted_at"),
    _now("created_at"),
    _now("updated_at"),
    UniqueConstraint("project_id", "normalized_url", name="uq_documents_url"),
    _one_of("status", "pending", "ingested", "failed"),
)

document_chunks = Table(
    "document_chunks",
    metadata,
    Column("id", _UUID, primary_key=True),
    Column("document_id", _UUID, ForeignKey("documents.id", ondelete="CASCADE"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("heading", Text),
    Column("content", Text, nullable=False),
    Column("token_count", Integer, nullable=False),
    Column("embedding", ARRAY(REAL)),
    UniqueConstraint("document_id", "position", name="uq_document_chunks_position"),
)

crawl_schedules = Table(
    "crawl_schedules",
    metadata,
    Column("id", _UUID, primary_key=True),
    Column("project_id", _UUID, ForeignKey("projects.id", ondelete="CASCADE"), nullable=False, unique=True),
    _flag("enabled", default=False),
    Column("frequency", String(20), nullable=False),
    Column("day_of_week", Integer),
    Column("day_of_month", Integer),
    Column("time_of_day", Time, nullable=False),
    Column("timezone", String(50), nullable=False, server_default="UTC"),
    Column("cron", Text),
    _json("options"),
    _flag("notify_on_changes", default=True),
    Column("notify_on", String(12), nullable=False, server_default="significant"),
    Column("notification_email", String(255)),
    Column("notification_webhook", String(500)),
    Column("notification_secrets", LargeBinary),  # Apprise URLs: encrypted
    _when("webhook_gone_at"),
    _when("next_run_at"),
    _now("created_at"),
    _now("updated_at"),
    Index("ix_crawl_schedules_due", "next_run_at", postgresql_where=text("enabled")),
)

schedule_slots = Table(
    "schedule_slots",
    metadata,
    Column("schedule_id", _UUID, ForeignKey("crawl_schedules.id", ondelete="CASCADE"), primary_key=True),
    Column("slot_at", DateTime(timezone=True), primary_key=True),
    Column("outcome", String(20), nullable=False),
    Column("crawl_id", _UUID),
    _now("created_at"),
    Index("ix_schedule_slots_starting", "created_at", postgresql_where=text("outcome = 'starting'")),
)

notifications = Table(
    "notifications",
    metadata,
    Column("id", _UUID, primary_key=True),
    _project(),
    Column("crawl_id", _UUID),
    Column("channel", String(20), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("target", Text, nullable=False),
    Column("status", String(20), nullable=False),
    _json("payload"),
    Column("answer", Text),
    _count("sends"),
    _now("created_at"),
    _when("sent_at"),
    UniqueConstraint("crawl_id", "channel", "kind", name="uq_notifications_once"),
    Index("ix_notifications_project", "project_id", "kind", "id"),
)

noise_rules = Table(
    "noise_rules",
    metadata,
    Column("id", _UUID, primary_key=True),
    _project(),
    Column("kind", String(20), nullable=False),
    Column("value", Text, nullable=False),
    Column("origin", String(20), nullable=False, server_default="operator"),
    _flag("enabled", default=True),
    _now("created_at"),
    _count("hits"),
    Index("uq_noise_rules_once", "project_id", "kind", text("md5(value)"), unique=True),
)

hosts = Table(
    "hosts",
    metadata,
    Column("host", _KEY, primary_key=True),
    Column("delay_seconds", Float),
    Column("learned_seconds", Float, nullable=False, server_default="0"),
    _count("incidents"),
    _when("blocked_until"),
    _flag("paused", default=False),
    _flag("denied", default=False),
    Column("robots_status", SmallInteger),
    Column("robots_text", LargeBinary),
    _when("robots_fetched_at"),
    _when("robots_failing_since"),
    Column("robots_failure", String(24)),
    _now("updated_at"),
)

request_log = Table(
    "request_log",
    metadata,
    Column("at", DateTime(timezone=True), nullable=False),
    Column("crawl_id", _UUID, nullable=False),
    Column("host", _KEY, nullable=False),
    Column("kind", String(1), nullable=False),
    Column("lane", String(8), nullable=False),
    Column("status", SmallInteger),
    Column("elapsed_ms", Integer),
    Column("certain", Boolean, nullable=False, server_default="true"),
    Column("url", Text),
    Index("ix_request_log_host", "crawl_id", "host", "at"),
    Index("ix_request_log_at", "at", postgresql_using="brin"),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("task", Text, nullable=False),
    Column("queue", Text, nullable=False),
    _json("arguments"),
    _now("created_at"),
    _when("sent_at"),
    Index("ix_outbox_unsent", "id", postgresql_where=text("sent_at IS NULL")),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("key", String(200), primary_key=True),
    Column("crawl_id", _UUID, ForeignKey("crawl_jobs.id", ondelete="CASCADE"), nullable=False),
    _now("created_at"),
)

# What the HTTP service answered to a request with an Idempotency-Key, so that a repeat gets the same; kept for a day.
http_answers = Table(
    "http_answers",
    metadata,
    Column("key", LargeBinary, primary_key=True),  # of caller, path and Idempotency-Key: a digest
    Column("request", LargeBinary, nullable=False),  # digest of the body
    Column("status", SmallInteger),
    Column("answer", JSONB),
    _now("claimed_at"),
    Index("ix_http_answers_claimed", "claimed_at"),
)

settings = Table(
    "settings",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", JSONB, nullable=False),
    _now("updated_at"),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", _UUID, primary_key=True),
    Column("name", String(100), nullable=False),
    Column("key_hash", String(64), nullable=False, unique=True),
    Column("hint", String(16), nullable=False),
    Column("scope", String(8), nullable=False),
    Column("project_ids", ARRAY(UUID(as_uuid=True))),
    _now("created_at"),
    _when("revoked_at"),
    _one_of("scope", "read", "write", "admin"),
)
