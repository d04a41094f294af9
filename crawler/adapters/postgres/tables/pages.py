"""Tables of pages, their versions, snapshots and screenshots.

Ids of pages and snapshots are derived from what they name, so that a batch can be written without asking Postgres for
ids first, and the same page written twice is the same row.
"""

from sqlalchemy import (
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
from sqlalchemy.dialects.postgresql import JSONB

from crawler.adapters.postgres.tables.columns import UUID_, flag, json, metadata, now, one_of, project, when

crawled_pages = Table(
    "crawled_pages",
    metadata,
    Column("id", UUID_, primary_key=True),
    project(),
    Column("url", String(2000), nullable=False),
    Column("normalized_url", String(2000, collation="C"), nullable=False),
    Column("title", String(500)),
    Column("h1", String(500)),
    Column("meta_description", Text),
    Column("content_text", Text),
    Column("word_count", Integer),
    json("links_found", "[]"),
    Column("links_followed", JSONB),  # links that remain after nofollow; null when all do
    Column("links_unusable", JSONB),  # links that are no web addresses: the text as written, the reason, the rule
    now("crawled_at"),
    Column("status", String(20), nullable=False, server_default="success"),
    Column("reason", String(24)),
    Column("error_message", Text),
    Column("content_hash", LargeBinary),
    Column("canonical_url", Text),
    flag("noindex", default=False),
    Column("etag", Text),
    Column("last_modified", Text),
    Column("language", String(12)),
    Column("crawl_method", String(12)),
    Column("http_status", SmallInteger),
    Column("byte_length", Integer),
    Column("depth", Integer),
    Column("version_id", UUID_),
    Column("crawl_id", UUID_),
    when("first_seen_at"),
    when("last_seen_at"),
    when("last_changed_at"),
    UniqueConstraint("project_id", "normalized_url", name="uq_crawled_pages_url"),
    one_of("status", "success", "failed", "skipped"),
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
    # Each crawl updates the row; its large columns are stored out of line.
    postgresql_with={"fillfactor": "75"},
)

page_versions = Table(
    "page_versions",
    metadata,
    Column("id", UUID_, primary_key=True),
    Column("page_id", UUID_, ForeignKey("crawled_pages.id", ondelete="CASCADE"), nullable=False),
    Column("crawl_id", UUID_, nullable=False),
    Column("snapshot_id", UUID_),
    Column("content_hash", LargeBinary, nullable=False),
    Column("title", String(500)),
    json("links", "[]"),
    json("headers"),
    json("hreflang", "[]"),
    Column("final_url", Text),
    Column("crawl_method", String(12)),
    now("fetched_at"),
    Index("ix_page_versions_page", "page_id", "fetched_at"),
    Index("ix_page_versions_snapshot", "snapshot_id"),
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("id", UUID_, primary_key=True),
    Column("content_hash", LargeBinary, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("encoding", String(8), nullable=False, server_default="zstd"),  # or `lost_snapshots.LOST`
    Column("content_type", Text),
    Column("byte_length", Integer, nullable=False),
    now("fetched_at"),
)

screenshots = Table(
    "screenshots",
    metadata,
    Column("version_id", UUID_, ForeignKey("page_versions.id", ondelete="CASCADE"), primary_key=True),
    Column("image", LargeBinary, nullable=False),
    Column("thumbnail", LargeBinary, nullable=False),
    now("taken_at"),
)
