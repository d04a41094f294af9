"""Site reports: problems each crawl found on its site."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "crawl_reports",
        sa.Column("crawl_id", sa.UUID(), nullable=False),
        sa.Column("compared_to", sa.UUID(), nullable=True),
        sa.Column("limits", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("counts", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("notes", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("built_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["crawl_id"], ["crawl_jobs.id"], name=op.f("fk_crawl_reports_crawl_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("crawl_id", name=op.f("pk_crawl_reports")),
    )
    op.create_table(
        "crawl_findings",
        sa.Column("crawl_id", sa.UUID(), nullable=False),
        sa.Column("kind", sa.String(length=24), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("normalized_url", sa.Text(collation="C"), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("problem", sa.String(length=24), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("value", sa.BigInteger(), nullable=True),
        sa.Column("related", postgresql.JSONB(), server_default=sa.text("'[]'::jsonb"), nullable=False),
        sa.Column("related_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_new", sa.Boolean(), nullable=True),
        sa.ForeignKeyConstraint(
            ["crawl_id"], ["crawl_jobs.id"], name=op.f("fk_crawl_findings_crawl_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("crawl_id", "kind", "position", name=op.f("pk_crawl_findings")),
    )
    op.create_index(
        "ix_crawl_findings_new",
        "crawl_findings",
        ["crawl_id", "kind", "position"],
        postgresql_where=sa.text("is_new"),
    )


def downgrade() -> None:
    op.drop_table("crawl_findings")
    op.drop_table("crawl_reports")
