"""Tables of projects and their credentials, crawls, every URL a crawl found (the ledger), reports and probes."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from crawler.adapters.postgres.tables.columns import KEY, UUID_, count, flag, json, metadata, now, one_of, project, when

projects = Table(
    "projects",
    metadata,
    Column("id", UUID_, primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("website_url", String(2000)),
    json("settings"),
    flag("is_active", default=True),
    flag("flagged_for_review", default=False),
    Column("phase_status", String(20), nullable=False, server_default="pending"),
    json("learned"),  # learned from crawls: rendering, URL shapes
    Column("tags", ARRAY(Text), nullable=False, server_default=text("'{}'::text[]")),
    when("muted_until"),
    now("created_at"),
    now("updated_at"),
    Index("ix_projects_tags", "tags", postgresql_using="gin"),
)

# Credentials belong to an origin, not to the project's present address: headers, cookies, basic auth, encrypted.
project_credentials = Table(
    "project_credentials",
    metadata,
    Column("project_id", UUID_, ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("origin", KEY, primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
    now("updated_at"),
)

# Steps that sign in to an origin in a browser; the session they bring is gone when the site asks to sign in again.
project_logins = Table(
    "project_logins",
    metadata,
    Column("project_id", UUID_, ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("origin", KEY, primary_key=True),
    json("steps", "[]"),
    Column("signed_in", Text, nullable=False, server_default=""),
    Column("sealed", LargeBinary, nullable=False),
    Column("session", LargeBinary),
    when("session_at"),
    Column("state", String(20), nullable=False, server_default="untried"),
    Column("problem", Text),
    Column("tried_for", UUID_),  # the crawl
    when("tried_at"),
    count("tries"),  # in that crawl
    when("taken_until"),  # somebody signs in
    now("updated_at"),
)

crawl_jobs = Table(
    "crawl_jobs",
    metadata,
    Column("id", UUID_, primary_key=True),
    project(),
    Column("seed_url", Text, nullable=False),
    Column("domain", String(255), nullable=False),
    Column("crawl_type", String(20), nullable=False),
    json("config"),
    Column("status", String(20), nullable=False, server_default="pending"),
    flag("paused", default=False),
    when("paused_at"),
    Column("paused_seconds", Float, nullable=False, server_default="0"),
    flag("exclusive", default=True),
    flag("seeded", default=False),
    Column("end_reason", String(20)),
    Column("error_message", Text),
    count("total_discovered"),
    count("total_ingested"),
    count("pages_crawled"),
    count("pages_failed"),
    count("pages_skipped"),
    count("lightweight"),
    count("rendered"),
    json("stats"),
    json("scope"),
    Column("rendering", JSONB(none_as_null=True)),  # whether its pages need a browser, and by which signal
    Column("change_summary", JSONB),
    Column("compared_to", UUID_),
    Column("retry_of", UUID_),
    flag("from_queue", default=False),
    Column("started_by", UUID_),  # the key with which it was started, if it was one
    flag("behind", default=False),
    when("diffed_at"),
    when("notified_at"),
    now("created_at"),
    now("updated_at"),
    when("started_at"),
    when("completed_at"),
    one_of("status", "pending", "in_progress", "completed", "failed", "cancelled"),
    one_of("crawl_type", "initial", "manual", "scheduled", "fetch_only"),
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
    # "One crawl of a project at a time" is enforced by the database, so that two processes cannot both start one.
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

# The ledger. Programs read it as the view `crawl_discovered_urls`, which shows the URLs whole and fills in what a row
# leaves out: here `url`, `parent` and `final_url` are folded (`engine/folded_urls.py`), a `url` that is the key and a
# `source` that is a link are null, and so is a `status` that follows from `fetch_state`. Wide columns come first, which
# saves the space between. Its parts (`partitions.py`) hold the crawls of a week each.
crawl_urls = Table(
    "crawl_urls",
    metadata,
    Column(
        "crawl_job_id",
        UUID_,
        ForeignKey("crawl_jobs.id", ondelete="CASCADE"),
        primary_key=True,
        nullable=False,
    ),
    Column("version_id", UUID_),
    Column("seq", BigInteger, nullable=False),
    when("found_at"),
    when("fetched_at"),
    Column("depth", Integer, nullable=False),
    Column("variants", Integer, nullable=False, server_default="0"),
    Column("priority", SmallInteger, nullable=False),
    Column("attempts", SmallInteger, nullable=False, server_default="0"),
    Column("http_status", SmallInteger),
    Column("normalized_url", KEY, primary_key=True, nullable=False),
    Column("url", Text),
    Column("fetch_state", String(8), nullable=False, server_default="queued"),
    Column("status", String(8)),
    Column("reason", String(24)),
    Column("rule", Text),  # the text of the rule that refused or admitted the URL
    Column("source", String(8)),
    Column("parent", Text),
    Column("final_url", Text),
    Column("content_hash", LargeBinary),
    Column("document_id", UUID_),
    Column("error_message", Text),
    Column("rendering", JSONB),  # why this one page was rendered, or was not
    one_of("fetch_state", "queued", "done", "skipped", "failed"),
    one_of("status", "pending", "ingested", "skipped", "failed"),
    # For lists of failed and skipped URLs. Few rows have a reason; most that get one later stay `unchanged`.
    Index(
        "ix_crawl_urls_reason",
        "crawl_job_id",
        "reason",
        "normalized_url",
        postgresql_where=text("reason IS NOT NULL AND reason <> 'unchanged'"),
    ),
    postgresql_partition_by="RANGE (crawl_job_id)",
)

# Findings about the site, stored when the crawl ends: later crawls change the pages' rows.
crawl_reports = Table(
    "crawl_reports",
    metadata,
    Column("crawl_id", UUID_, ForeignKey("crawl_jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("compared_to", UUID_),
    json("limits"),
    json("counts"),
    json("notes"),
    now("built_at"),
)

crawl_findings = Table(
    "crawl_findings",
    metadata,
    Column("crawl_id", UUID_, ForeignKey("crawl_jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("kind", String(24), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("normalized_url", KEY, nullable=False),
    Column("url", Text, nullable=False),
    Column("problem", String(24), nullable=False),
    Column("text", Text),
    Column("value", BigInteger),
    json("related", "[]"),
    count("related_count"),
    Column("is_new", Boolean),
    Index("ix_crawl_findings_new", "crawl_id", "kind", "position", postgresql_where=text("is_new")),
)

# Probes: requests of a crawl beyond its pages. They check pages it did not find, and fetch some pages a second time.
crawl_probes = Table(
    "crawl_probes",
    metadata,
    Column("crawl_id", UUID_, ForeignKey("crawl_jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("normalized_url", KEY, primary_key=True),
    Column("url", Text, nullable=False),
    Column("host", KEY, nullable=False),
    Column("purpose", String(8), nullable=False),
    Column("position", Integer, nullable=False),
    Column("state", String(8), nullable=False, server_default="queued"),
    Column("outcome", String(12)),
    Column("reason", String(24)),
    Column("http_status", SmallInteger),
    Column("final_url", Text),
    Column("content_hash", LargeBinary),  # hash of the missing page's content
    Column("rounds", SmallInteger, nullable=False, server_default="0"),  # crawls that checked it without a result
    Column("snapshot_id", UUID_),  # the bytes of the second fetch
    Column("depth", Integer, nullable=False, server_default="0"),  # of the missing page, in the crawl that had it
    when("at"),
    one_of("purpose", "missing", "again", "trial"),
    one_of("state", "queued", "done"),
    Index("ix_crawl_probes_snapshot", "snapshot_id", postgresql_where=text("snapshot_id IS NOT NULL")),
)
