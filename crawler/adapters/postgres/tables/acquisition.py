"""Tables of the acquisition queue: categories, entries, extractions of their pages, and the outbox."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    LargeBinary,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from crawler.adapters.postgres.tables.columns import KEY, UUID_, count, flag, json, metadata, now, one_of, project, when

ENTRY_PROJECT = "coalesce(project_id, '0ac90151-7100-7000-8000-000000000001'::uuid)"
"""Whose an entry is; `ACQUISITION_ID` stands for entries without a project."""

categories = Table(
    "categories",
    metadata,
    Column("name", String(64), primary_key=True),
    json("selectors"),
    now("created_at"),
    now("updated_at"),
)

crawl_queue = Table(
    "crawl_queue",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    project(nullable=True),
    Column("source_url", Text, nullable=False),
    Column("normalized_url", KEY, nullable=False, unique=True),
    Column("host", KEY, nullable=False),
    Column("status", String(32), nullable=False, server_default="pending"),
    Column("category", String(64)),
    Column("priority", SmallInteger, nullable=False, server_default="5"),
    Column("attempts", SmallInteger, nullable=False, server_default="0"),
    Column("rounds", SmallInteger, nullable=False, server_default="0"),  # batches that ended before the entry's turn
    Column("last_error", Text),
    when("last_attempted_at"),
    flag("is_active", default=True),
    Column("page_id", UUID_),
    Column("crawl_id", UUID_),
    Column("ledger_url", KEY),  # the URL's key in that crawl's ledger; for a redirect, the target's
    Column("claim_id", UUID_),  # claim of the worker that extracts the entry
    when("claimed_at"),
    Column("extraction_id", UUID_),  # the extraction in force; if the content did not change, of an earlier fetch
    now("created_at"),
    now("updated_at"),
    one_of("status", "pending", "fetching", "fetched", "extracting", "done", "failed"),
    CheckConstraint("priority BETWEEN 0 AND 9", name="priority"),
    Index("ix_crawl_queue_category", "category", "id", postgresql_where=text("category IS NOT NULL")),
    Index("ix_crawl_queue_host", "host", "id"),
    Index("ix_crawl_queue_order", "priority", "created_at", "id"),
    # By project first: projects take turns.
    Index(
        "ix_crawl_queue_pending",
        text(ENTRY_PROJECT),
        "priority",
        "created_at",
        "id",
        postgresql_where=text("status = 'pending' AND is_active"),
    ),
    Index("ix_crawl_queue_under_way", "crawl_id", "ledger_url", postgresql_where=text("status = 'fetching'")),
    Index("ix_crawl_queue_fetched", text(ENTRY_PROJECT), "id", postgresql_where=text("status = 'fetched'")),
    Index("ix_crawl_queue_status", "status", "id"),
)

extractions = Table(
    "extractions",
    metadata,
    Column("id", UUID_, primary_key=True),
    Column("page_id", UUID_, ForeignKey("crawled_pages.id", ondelete="CASCADE")),
    Column("version_id", UUID_),
    Column("queue_id", BigInteger, ForeignKey("crawl_queue.id", ondelete="SET NULL")),
    Column("category", String(64)),
    Column("revision", String(16), nullable=False, server_default=""),  # revision of the selectors
    Column("content_hash", LargeBinary),  # hash of the page's bytes
    json("fields"),
    Column("extracted_text", Text, nullable=False),
    Column("language", String(12)),
    now("extracted_at"),
    UniqueConstraint("queue_id", "version_id", "revision", name="uq_extractions_once"),
    Index("ix_extractions_page", "page_id", "extracted_at"),
)

# How often a field had a value, by category ('' is none), for some consecutive extractions at a time.
extraction_counts = Table(
    "extraction_counts",
    metadata,
    Column("category", String(64), primary_key=True),
    Column("extractions", BigInteger, nullable=False, server_default="0"),
)

field_fills = Table(
    "field_fills",
    metadata,
    Column("category", String(64), primary_key=True),
    Column("field", String(64), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    count("filled"),
    count("total"),
    now("began_at"),
    now("ended_at"),
    when("alarmed_at"),
)

classification_jobs = Table(
    "classification_jobs",
    metadata,
    Column("id", UUID_, primary_key=True),
    Column(
        "extraction_id",
        UUID_,
        ForeignKey("extractions.id", ondelete="CASCADE"),
        nullable=False,
        unique=True,
    ),
    Column("status", String(20), nullable=False, server_default="pending"),
    now("created_at"),
    when("sent_at"),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", BigInteger, Identity(), primary_key=True),
    Column("task", Text, nullable=False),
    Column("queue", Text, nullable=False),
    json("arguments"),
    now("created_at"),
    when("sent_at"),
    Index("ix_outbox_unsent", "id", postgresql_where=text("sent_at IS NULL")),
    Index("ix_outbox_sent", "sent_at", postgresql_where=text("sent_at IS NOT NULL")),
    Index("uq_outbox_job", text("(arguments ->> 'job_id')"), unique=True, postgresql_where=text("task = 'classify'")),
)
