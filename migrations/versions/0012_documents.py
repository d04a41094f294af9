"""Documents: due ingestion, chunks with words and vectors, and the change feed in commit order."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_UUID = postgresql.UUID(as_uuid=True)
_WHEN = sa.DateTime(timezone=True)
_BYTES = sa.Text(collation="C")

# The server may lack pgvector, or not let us create it: then everything works without vectors.
_VECTOR = """
DO $$ BEGIN
    IF EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector') THEN
        CREATE EXTENSION IF NOT EXISTS vector;
    END IF;
EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN NULL;
END $$
"""


def upgrade() -> None:
    op.execute(_VECTOR)
    _documents()
    _chunks()
    op.create_table(
        "document_waits",
        sa.Column("document_id", _UUID, sa.ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("crawl_id", _UUID, sa.ForeignKey("crawl_jobs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("normalized_url", _BYTES, nullable=False),
    )
    op.create_index("ix_document_waits_crawl", "document_waits", ["crawl_id"])
    op.create_table(
        "document_feeds",
        sa.Column("project_id", _UUID, sa.ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("last_seq", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("configs", postgresql.ARRAY(sa.Text()), nullable=False, server_default=sa.text("'{}'::text[]")),
        sa.Column("embedded_with", sa.Text()),
    )
    # Skipping URLs that have a document is now an option of single crawls, not of a project's later ones.
    op.execute("UPDATE projects SET settings = jsonb_set(settings, '{refresh}', 'true') WHERE settings ? 'refresh'")


def _documents() -> None:
    for column in (
        sa.Column("language", sa.String(12)),
        sa.Column("version_id", _UUID),
        sa.Column("due_version_id", _UUID),
        sa.Column("attempts", sa.SmallInteger(), nullable=False, server_default="0"),
        sa.Column("claimed_until", _WHEN),
        sa.Column("chunk_count", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("token_count", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("embedded_with", sa.Text()),
        sa.Column("embed_at", _WHEN),
        sa.Column("embed_tries", sa.SmallInteger(), nullable=False, server_default="0"),
        sa.Column("embedding_error", sa.Text()),
        sa.Column("ingested_at", _WHEN),
    ):
        op.add_column("documents", column)
    op.create_index("ix_documents_feed", "documents", ["project_id", "feed_seq"])
    op.create_index("ix_documents_due", "documents", ["updated_at"], postgresql_where=sa.text("status = 'pending'"))
    op.create_index("ix_documents_embed", "documents", ["embed_at"], postgresql_where=sa.text("embed_at IS NOT NULL"))


def _chunks() -> None:
    op.drop_constraint("uq_document_chunks_position", "document_chunks", type_="unique")
    op.drop_column("document_chunks", "heading")
    for column in (
        sa.Column("project_id", _UUID, nullable=False),
        sa.Column("headings", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("config", sa.String(32), nullable=False),
        sa.Column("words", postgresql.TSVECTOR(), nullable=False),
        sa.Column("embedded_with", sa.Text()),
    ):
        op.add_column("document_chunks", column)
    op.create_index("ix_document_chunks_position", "document_chunks", ["document_id", "position"])
    op.create_index("ix_document_chunks_words", "document_chunks", ["words"], postgresql_using="gin")


def downgrade() -> None:
    op.drop_table("document_feeds")
    op.drop_table("document_waits")
    op.execute("DELETE FROM document_chunks")
    for name in ("words", "position"):
        op.drop_index(f"ix_document_chunks_{name}", table_name="document_chunks")
    for name in ("embedded_with", "words", "config", "headings", "project_id"):
        op.drop_column("document_chunks", name)
    op.add_column("document_chunks", sa.Column("heading", sa.Text()))
    op.create_unique_constraint("uq_document_chunks_position", "document_chunks", ["document_id", "position"])
    for name in ("embed", "due", "feed"):
        op.drop_index(f"ix_documents_{name}", table_name="documents")
    for name in (
        "ingested_at", "embedding_error", "embed_tries", "embed_at", "embedded_with", "token_count", "chunk_count",
        "claimed_until", "attempts", "due_version_id", "version_id", "language",
    ):  # fmt: skip
        op.drop_column("documents", name)
