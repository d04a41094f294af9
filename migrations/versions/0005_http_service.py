"""Indexes for lists of pages by status, change and title; responses stored for an Idempotency-Key."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        "ix_crawled_pages_ended_badly",
        "crawled_pages",
        ["project_id", "status", "normalized_url"],
        postgresql_where=sa.text("status <> 'success'"),
    )
    op.create_index("ix_crawled_pages_changed", "crawled_pages", ["project_id", "last_changed_at"])
    op.create_index(
        "ix_crawled_pages_title",
        "crawled_pages",
        [sa.literal_column("to_tsvector('simple', title)")],
        postgresql_using="gin",
    )
    op.create_table(
        "http_answers",
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("request", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=True),
        sa.Column("answer", postgresql.JSONB(), nullable=True),
        sa.Column("claimed_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_http_answers")),
    )
    op.create_index("ix_http_answers_claimed", "http_answers", ["claimed_at"])


def downgrade() -> None:
    op.drop_table("http_answers")
    op.drop_index("ix_crawled_pages_title", table_name="crawled_pages")
    op.drop_index("ix_crawled_pages_changed", table_name="crawled_pages")
    op.drop_index("ix_crawled_pages_ended_badly", table_name="crawled_pages")
