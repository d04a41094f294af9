"""The first schema."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# Large text is stored as it is: Postgres' default compression costs more time than the space is worth
# on the crawl's hot path (the raw page is kept compressed beside it).
UNCOMPRESSED = (
    ("crawled_pages", "content_text"),
    ("crawled_pages", "links_found"),
    ("crawled_pages", "links_followed"),
    ("page_versions", "links"),
    ("snapshots", "content"),
)

CRAWL_HISTORY = """
CREATE VIEW crawl_history AS
SELECT id, project_id, crawl_type, coalesce(started_at, created_at) AS started_at, completed_at, status,
       pages_crawled, change_summary, error_message
FROM crawl_jobs
"""


def upgrade() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("hint", sa.String(length=16), nullable=False),
        sa.Column("scope", sa.String(length=8), nullable=False),
        sa.Column("project_ids", postgresql.ARRAY(sa.UUID()), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("scope IN ('read', 'write', 'admin')", name=op.f("ck_api_keys_scope")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("key_hash", name=op.f("uq_api_keys_key_hash")),
    )
    op.create_table(
        "categories",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column(
            "selectors",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_categories")),
    )
    op.create_table(
        "hosts",
        sa.Column("host", sa.Text(collation="C"), nullable=False),
        sa.Column("delay_seconds", sa.Float(), nullable=True),
        sa.Column("learned_seconds", sa.Float(), server_default="0", nullable=False),
        sa.Column("incidents", sa.Integer(), server_default="0", nullable=False),
        sa.Column("blocked_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("paused", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("denied", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("robots_status", sa.SmallInteger(), nullable=True),
        sa.Column("robots_text", sa.LargeBinary(), nullable=True),
        sa.Column("robots_fetched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("robots_failing_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("robots_failure", sa.String(length=24), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("host", name=op.f("pk_hosts")),
    )
    op.create_table(
        "outbox",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column(
            "arguments",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
    )
    op.create_index("ix_outbox_unsent", "outbox", ["id"], unique=False, postgresql_where=sa.text("sent_at IS NULL"))
    op.create_table(
        "projects",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("website_url", sa.String(length=2000), nullable=True),
        sa.Column(
            "settings",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("secrets", sa.LargeBinary(), nullable=True),
        sa.Column("is_active", sa.Boolean(), server_default="true", nullable=False),
        sa.Column("flagged_for_review", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("phase_status", sa.String(length=20), server_default="pending", nullable=False),
        sa.Column(
            "learned",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
        sa.UniqueConstraint("name", name=op.f("uq_projects_name")),
    )
    op.create_table(
        "request_log",
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("crawl_id", sa.UUID(), nullable=False),
        sa.Column("host", sa.Text(collation="C"), nullable=False),
        sa.Column("kind", sa.String(length=1), nullable=False),
        sa.Column("lane", sa.String(length=8), nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=True),
        sa.Column("elapsed_ms", sa.Integer(), nullable=True),
        sa.Column("certain", sa.Boolean(), server_default="true", nullable=False),
    )
    op.create_index("ix_request_log_at", "request_log", ["at"], unique=False, postgresql_using="brin")
    op.create_index("ix_request_log_host", "request_log", ["crawl_id", "host", "at"], unique=False)
    op.create_table(
        "settings",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("value", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_settings")),
    )
    op.create_table(
        "snapshots",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("content_hash", sa.LargeBinary(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("encoding", sa.String(length=8), server_default="zstd", nullable=False),
        sa.Column("content_type", sa.Text(), nullable=True),
        sa.Column("byte_length", sa.Integer(), nullable=False),
        sa.Column("fetched_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshots")),
    )
    op.create_table(
        "crawl_jobs",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("project_id", sa.UUID(), nullable=False),
        sa.Column("seed_url", sa.Text(), nullable=False),
        sa.Column("domain", sa.String(length=255), nullable=False),
        sa.Column("crawl_type", sa.String(length=20), nullable=False),
        sa.Column(
            "config",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("status", sa.String(length=20), server_default="pending", nullable=False),
        sa.Column("paused", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("exclusive", sa.Boolean(), server_default="true", nullable=False),
        sa.Column("seeded", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("end_reason", sa.String(length=20), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("total_discovered", sa.Integer(), server_default="0", nullable=False),
        sa.Column("total_ingested", sa.Integer(), server_default="0", nullable=False),
        sa.Column("pages_crawled", sa.Integer(), server_default="0", nullable=False),
        sa.Column("pages_failed", sa.Integer(), server_default="0", nullable=False),
        sa.Column("pages_skipped", sa.Integer(), server_default="0", nullable=False),
        sa.Column("lightweight", sa.Integer(), server_default="0", nullable=False),
        sa.Column("rendered", sa.Integer(), server_default="0", nullable=False),
        sa.Column(
            "stats",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column(
            "scope",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("change_summary", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("compared_to", sa.UUID(), nullable=True),
        sa.Column("retry_of", sa.UUID(), nullable=True),
        sa.Column("diffed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("notified_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "crawl_type IN ('initial', 'manual', 'scheduled', 'fetch_only')",
            name=op.f("ck_crawl_jobs_crawl_type"),
        ),
        sa.CheckConstraint(
            "status IN ('pending', 'in_progress', 'completed', 'failed', 'cancelled')",
            name=op.f("ck_crawl_jobs_status"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_crawl_jobs_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crawl_jobs")),
    )
    op.create_index(
        "ix_crawl_jobs_open",
        "crawl_jobs",
        ["status"],
        unique=False,
        postgresql_where=sa.text("status IN ('pending', 'in_progress')"),
    )
    op.create_index(
        "ix_crawl_jobs_project_created",
        "crawl_jobs",
        ["project_id", sa.literal_column("created_at DESC")],
        unique=False,
    )
    op.create_index(
        "uq_crawl_jobs_running",
        "crawl_jobs",
        ["project_id"],
        unique=True,
        postgresql_where=sa.text("exclusive AND status IN ('pending', 'in_progress')"),
    )
    op.create_table(
        "crawl_queue",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("project_id", sa.UUID(), nullable=True),
        sa.Column("source_url", sa.Text(), nullable=False),
        sa.Column("normalized_url", sa.Text(collation="C"), nullable=False),
        sa.Column("status", sa.String(length=32), server_default="pending", nullable=False),
        sa.Column("category", sa.String(length=64), nullable=True),
        sa.Column("priority", sa.SmallInteger(), server_default="5", nullable=False),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("last_attempted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("is_active", sa.Boolean(), server_default="true", nullable=False),
        sa.Column("page_id", sa.UUID(), nullable=True),
        sa.Column("crawl_id", sa.UUID(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "status IN ('pending', 'fetching', 'fetched', 'extracting', 'done', 'failed')",
            name=op.f("ck_crawl_queue_status"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_crawl_queue_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crawl_queue")),
        sa.UniqueConstraint("normalized_url", name=op.f("uq_crawl_queue_normalized_url")),
    )
    op.create_index("ix_crawl_queue_category", "crawl_queue", ["category"], unique=False)
    op.create_index(
        "ix_crawl_queue_pending",
        "crawl_queue",
        ["priority", "created_at"],
        unique=False,
        postgresql_where=sa.text("status = 'pending' AND is_active"),
    )
    op.create_index("ix_crawl_queue_status", "crawl_queue", ["status"], unique=False)
    op.create_table(
        "crawl_schedules",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("project_id", sa.UUID(), nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("frequency", sa.String(length=20), nullable=False),
        sa.Column("day_of_week", sa.Integer(), nullable=True),
        sa.Column("day_of_month", sa.Integer(), nullable=True),
        sa.Column("time_of_day", sa.Time(), nullable=False),
        sa.Column("timezone", sa.String(length=50), server_default="UTC", nullable=False),
        sa.Column("cron", sa.Text(), nullable=True),
        sa.Column(
            "options",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("notify_on_changes", sa.Boolean(), server_default="true", nullable=False),
        sa.Column("notify_on", sa.String(length=12), server_default="significant", nullable=False),
        sa.Column("notification_email", sa.String(length=255), nullable=True),
        sa.Column("notification_webhook", sa.String(length=500), nullable=True),
        sa.Column("next_run_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_crawl_schedules_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crawl_schedules")),
        sa.UniqueConstraint("project_id", name=op.f("uq_crawl_schedules_project_id")),
    )
    op.create_index(
        "ix_crawl_schedules_due",
        "crawl_schedules",
        ["next_run_at"],
        unique=False,
        postgresql_where=sa.text("enabled"),
    )
    op.create_table(
        "crawled_pages",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("project_id", sa.UUID(), nullable=False),
        sa.Column("url", sa.String(length=2000), nullable=False),
        sa.Column("normalized_url", sa.String(length=2000, collation="C"), nullable=False),
        sa.Column("title", sa.String(length=500), nullable=True),
        sa.Column("h1", sa.String(length=500), nullable=True),
        sa.Column("meta_description", sa.Text(), nullable=True),
        sa.Column("content_text", sa.Text(), nullable=True),
        sa.Column("word_count", sa.Integer(), nullable=True),
        sa.Column(
            "links_found",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'[]'::jsonb"),
            nullable=False,
        ),
        sa.Column("links_followed", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("crawled_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("status", sa.String(length=20), server_default="success", nullable=False),
        sa.Column("reason", sa.String(length=24), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("content_hash", sa.LargeBinary(), nullable=True),
        sa.Column("canonical_url", sa.Text(), nullable=True),
        sa.Column("noindex", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("last_modified", sa.Text(), nullable=True),
        sa.Column("language", sa.String(length=12), nullable=True),
        sa.Column("crawl_method", sa.String(length=12), nullable=True),
        sa.Column("http_status", sa.SmallInteger(), nullable=True),
        sa.Column("byte_length", sa.Integer(), nullable=True),
        sa.Column("depth", sa.Integer(), nullable=True),
        sa.Column("version_id", sa.UUID(), nullable=True),
        sa.Column("crawl_id", sa.UUID(), nullable=True),
        sa.Column("first_seen_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_changed_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("status IN ('success', 'failed', 'skipped')", name=op.f("ck_crawled_pages_status")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_crawled_pages_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crawled_pages")),
        sa.UniqueConstraint("project_id", "normalized_url", name="uq_crawled_pages_url"),
    )
    op.create_table(
        "documents",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("project_id", sa.UUID(), nullable=False),
        sa.Column("page_id", sa.UUID(), nullable=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("normalized_url", sa.Text(collation="C"), nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("status", sa.String(length=20), server_default="pending", nullable=False),
        sa.Column("content_hash", sa.LargeBinary(), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("feed_seq", sa.BigInteger(), nullable=True),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("status IN ('pending', 'ingested', 'failed')", name=op.f("ck_documents_status")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_documents_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_documents")),
        sa.UniqueConstraint("project_id", "normalized_url", name="uq_documents_url"),
    )
    op.create_table(
        "noise_rules",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("project_id", sa.UUID(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("origin", sa.String(length=20), server_default="operator", nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default="true", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_noise_rules_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_noise_rules")),
    )
    op.create_table(
        "notifications",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("project_id", sa.UUID(), nullable=False),
        sa.Column("crawl_id", sa.UUID(), nullable=True),
        sa.Column("channel", sa.String(length=20), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column(
            "payload",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("sends", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_notifications_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notifications")),
        sa.UniqueConstraint("crawl_id", "channel", "kind", name="uq_notifications_once"),
    )
    op.create_table(
        "crawl_discovered_urls",
        sa.Column("crawl_job_id", sa.UUID(), nullable=False),
        sa.Column("normalized_url", sa.Text(collation="C"), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("priority", sa.SmallInteger(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("fetch_state", sa.String(length=8), server_default="queued", nullable=False),
        sa.Column("status", sa.String(length=8), server_default="pending", nullable=False),
        sa.Column("reason", sa.String(length=24), nullable=True),
        sa.Column("rule", sa.Text(), nullable=True),
        sa.Column("source", sa.String(length=8), server_default="link", nullable=False),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("variants", sa.Integer(), server_default="0", nullable=False),
        sa.Column("parent", sa.Text(), nullable=True),
        sa.Column("final_url", sa.Text(), nullable=True),
        sa.Column("http_status", sa.SmallInteger(), nullable=True),
        sa.Column("content_hash", sa.LargeBinary(), nullable=True),
        sa.Column("version_id", sa.UUID(), nullable=True),
        sa.Column("document_id", sa.UUID(), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("found_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "fetch_state IN ('queued', 'done', 'skipped', 'failed')",
            name=op.f("ck_crawl_discovered_urls_fetch_state"),
        ),
        sa.CheckConstraint(
            "status IN ('pending', 'ingested', 'skipped', 'failed')",
            name=op.f("ck_crawl_discovered_urls_status"),
        ),
        sa.ForeignKeyConstraint(
            ["crawl_job_id"],
            ["crawl_jobs.id"],
            name=op.f("fk_crawl_discovered_urls_crawl_job_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("crawl_job_id", "normalized_url", name=op.f("pk_crawl_discovered_urls")),
        postgresql_with={"fillfactor": "75"},
    )
    op.create_table(
        "document_chunks",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("document_id", sa.UUID(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("heading", sa.Text(), nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("token_count", sa.Integer(), nullable=False),
        sa.Column("embedding", postgresql.ARRAY(sa.REAL()), nullable=True),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.id"], name=op.f("fk_document_chunks_document_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document_chunks")),
        sa.UniqueConstraint("document_id", "position", name="uq_document_chunks_position"),
    )
    op.create_table(
        "extractions",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("page_id", sa.UUID(), nullable=True),
        sa.Column("version_id", sa.UUID(), nullable=True),
        sa.Column("queue_id", sa.BigInteger(), nullable=True),
        sa.Column("category", sa.String(length=64), nullable=True),
        sa.Column(
            "fields",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column("extracted_text", sa.Text(), nullable=False),
        sa.Column("language", sa.String(length=12), nullable=True),
        sa.Column("extracted_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["page_id"], ["crawled_pages.id"], name=op.f("fk_extractions_page_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["queue_id"], ["crawl_queue.id"], name=op.f("fk_extractions_queue_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extractions")),
    )
    op.create_index("ix_extractions_queue", "extractions", ["queue_id"], unique=False)
    op.create_table(
        "idempotency_keys",
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("crawl_id", sa.UUID(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["crawl_id"], ["crawl_jobs.id"], name=op.f("fk_idempotency_keys_crawl_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_idempotency_keys")),
    )
    op.create_table(
        "page_versions",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("page_id", sa.UUID(), nullable=False),
        sa.Column("crawl_id", sa.UUID(), nullable=False),
        sa.Column("snapshot_id", sa.UUID(), nullable=True),
        sa.Column("content_hash", sa.LargeBinary(), nullable=False),
        sa.Column("title", sa.String(length=500), nullable=True),
        sa.Column(
            "links",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'[]'::jsonb"),
            nullable=False,
        ),
        sa.Column(
            "headers",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'::jsonb"),
            nullable=False,
        ),
        sa.Column(
            "hreflang",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'[]'::jsonb"),
            nullable=False,
        ),
        sa.Column("final_url", sa.Text(), nullable=True),
        sa.Column("crawl_method", sa.String(length=12), nullable=True),
        sa.Column("fetched_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["page_id"], ["crawled_pages.id"], name=op.f("fk_page_versions_page_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_page_versions")),
    )
    op.create_index("ix_page_versions_page", "page_versions", ["page_id", "fetched_at"], unique=False)
    op.create_table(
        "schedule_slots",
        sa.Column("schedule_id", sa.UUID(), nullable=False),
        sa.Column("slot_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("outcome", sa.String(length=20), nullable=False),
        sa.Column("crawl_id", sa.UUID(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["schedule_id"],
            ["crawl_schedules.id"],
            name=op.f("fk_schedule_slots_schedule_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("schedule_id", "slot_at", name=op.f("pk_schedule_slots")),
    )
    op.create_table(
        "classification_jobs",
        sa.Column("id", sa.UUID(), nullable=False),
        sa.Column("extraction_id", sa.UUID(), nullable=False),
        sa.Column("status", sa.String(length=20), server_default="pending", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["extraction_id"],
            ["extractions.id"],
            name=op.f("fk_classification_jobs_extraction_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_classification_jobs")),
        sa.UniqueConstraint("extraction_id", name=op.f("uq_classification_jobs_extraction_id")),
    )
    op.create_table(
        "screenshots",
        sa.Column("version_id", sa.UUID(), nullable=False),
        sa.Column("image", sa.LargeBinary(), nullable=False),
        sa.Column("thumbnail", sa.LargeBinary(), nullable=False),
        sa.Column("taken_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["page_versions.id"], name=op.f("fk_screenshots_version_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("version_id", name=op.f("pk_screenshots")),
    )
    for table, column in UNCOMPRESSED:
        op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")
    op.execute(CRAWL_HISTORY)


def downgrade() -> None:
    op.execute("DROP VIEW crawl_history")
    op.drop_table("screenshots")
    op.drop_table("classification_jobs")
    op.drop_table("schedule_slots")
    op.drop_index("ix_page_versions_page", table_name="page_versions")
    op.drop_table("page_versions")
    op.drop_table("idempotency_keys")
    op.drop_index("ix_extractions_queue", table_name="extractions")
    op.drop_table("extractions")
    op.drop_table("document_chunks")
    op.drop_table("crawl_discovered_urls")
    op.drop_table("notifications")
    op.drop_table("noise_rules")
    op.drop_table("documents")
    op.drop_table("crawled_pages")
    op.drop_index("ix_crawl_schedules_due", table_name="crawl_schedules", postgresql_where=sa.text("enabled"))
    op.drop_table("crawl_schedules")
    op.drop_index("ix_crawl_queue_status", table_name="crawl_queue")
    op.drop_index(
        "ix_crawl_queue_pending",
        table_name="crawl_queue",
        postgresql_where=sa.text("status = 'pending' AND is_active"),
    )
    op.drop_index("ix_crawl_queue_category", table_name="crawl_queue")
    op.drop_table("crawl_queue")
    op.drop_index(
        "uq_crawl_jobs_running",
        table_name="crawl_jobs",
        postgresql_where=sa.text("exclusive AND status IN ('pending', 'in_progress')"),
    )
    op.drop_index("ix_crawl_jobs_project_created", table_name="crawl_jobs")
    op.drop_index(
        "ix_crawl_jobs_open",
        table_name="crawl_jobs",
        postgresql_where=sa.text("status IN ('pending', 'in_progress')"),
    )
    op.drop_table("crawl_jobs")
    op.drop_table("snapshots")
    op.drop_table("settings")
    op.drop_index("ix_request_log_host", table_name="request_log")
    op.drop_index("ix_request_log_at", table_name="request_log", postgresql_using="brin")
    op.drop_table("request_log")
    op.drop_table("projects")
    op.drop_index("ix_outbox_unsent", table_name="outbox", postgresql_where=sa.text("sent_at IS NULL"))
    op.drop_table("outbox")
    op.drop_table("hosts")
    op.drop_table("categories")
    op.drop_table("api_keys")
