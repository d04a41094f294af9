"""Tables of documents made from pages, their chunks and a project's feed."""

from sqlalchemy import (
    REAL,
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, TSVECTOR

from crawler.adapters.postgres.tables.columns import KEY, UUID_, count, metadata, now, one_of, project, when

documents = Table(
    "documents",
    metadata,
    Column("id", UUID_, primary_key=True),
    project(),
    Column("page_id", UUID_),
    Column("url", Text, nullable=False),
    Column("normalized_url", KEY, nullable=False),
    Column("title", Text),
    Column("language", String(12)),
    Column("status", String(20), nullable=False, server_default="pending"),
    Column("content_hash", LargeBinary),
    Column("version_id", UUID_),  # the page version it was made of
    Column("due_version_id", UUID_),  # the page version it has to be made of
    Column("attempts", SmallInteger, nullable=False, server_default="0"),
    when("claimed_until"),
    Column("error_message", Text),
    count("chunk_count"),
    count("token_count"),
    Column("feed_seq", BigInteger),
    Column("embedded_with", Text),
    when("embed_at"),
    Column("embed_tries", SmallInteger, nullable=False, server_default="0"),
    Column("embedding_error", Text),
    when("ingested_at"),
    when("deleted_at"),
    Column("deleted_by", UUID_),  # the crawl that found its page gone
    now("created_at"),
    now("updated_at"),
    UniqueConstraint("project_id", "normalized_url", name="uq_documents_url"),
    one_of("status", "pending", "ingested", "failed"),
    Index("ix_documents_feed", "project_id", "feed_seq"),
    # By project first: projects take turns.
    Index("ix_documents_due", "project_id", "attempts", "updated_at", postgresql_where=text("status = 'pending'")),
    Index("ix_documents_embed", "project_id", "embed_at", postgresql_where=text("embed_at IS NOT NULL")),
)

document_chunks = Table(
    "document_chunks",
    metadata,
    Column("id", UUID_, primary_key=True),  # from document, headings and content: the same chunk stays the same row
    Column("document_id", UUID_, ForeignKey("documents.id", ondelete="CASCADE"), nullable=False),
    Column("project_id", UUID_, nullable=False),
    Column("position", Integer, nullable=False),
    Column("headings", ARRAY(Text), nullable=False),
    Column("content", Text, nullable=False),
    Column("token_count", Integer, nullable=False),
    Column("config", String(32), nullable=False),  # full-text search configuration: the language its words were read in
    Column("words", TSVECTOR, nullable=False),
    Column("embedding", ARRAY(REAL)),
    Column("embedded_with", Text),
    Index("ix_document_chunks_position", "document_id", "position"),
    Index("ix_document_chunks_words", "words", postgresql_using="gin"),
)

# Crawls whose URLs are updated when a document is made.
document_waits = Table(
    "document_waits",
    metadata,
    Column("document_id", UUID_, ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("crawl_id", UUID_, ForeignKey("crawl_jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("normalized_url", KEY, nullable=False),
    Index("ix_document_waits_crawl", "crawl_id"),
)

# Positions in a project's feed are given under this row's lock, so their order is that of the commits.
document_feeds = Table(
    "document_feeds",
    metadata,
    Column("project_id", UUID_, ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
    Column("last_seq", BigInteger, nullable=False, server_default="0"),
    Column("configs", ARRAY(Text), nullable=False, server_default=text("'{}'::text[]")),
    Column("embedded_with", Text),  # the model of the newest vectors
)
