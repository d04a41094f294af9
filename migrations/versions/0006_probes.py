"""Probes: requests for pages that a crawl did not find, and second fetches of pages it stored."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "crawl_probes",
        sa.Column("crawl_id", sa.UUID(), nullable=False),
        sa.Column("normalized_url", sa.Text(collation="C"), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(collation="C"), nullable=False),
        sa.Column("purpose", sa.String(8), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(8), server_default="queued", nullable=False),
        sa.Column("outcome", sa.String(12), nullable=True),
        sa.Column("reason", sa.String(24), nullable=True),
        sa.Column("http_status", sa.SmallInteger(), nullable=True),
        sa.Column("final_url", sa.Text(), nullable=True),
        sa.Column("content_hash", sa.LargeBinary(), nullable=True),
        sa.Column("rounds", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("snapshot_id", sa.UUID(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("purpose IN ('missing', 'again')", name=op.f("ck_crawl_probes_purpose")),
        sa.CheckConstraint("state IN ('queued', 'done')", name=op.f("ck_crawl_probes_state")),
        sa.ForeignKeyConstraint(
            ["crawl_id"], ["crawl_jobs.id"], name=op.f("fk_crawl_probes_crawl_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("crawl_id", "normalized_url", name=op.f("pk_crawl_probes")),
    )
    op.create_index(
        "ix_crawl_probes_snapshot",
        "crawl_probes",
        ["snapshot_id"],
        postgresql_where=sa.text("snapshot_id IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_table("crawl_probes")
