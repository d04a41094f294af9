"""How long a crawl was paused, and the URL of each request in the log."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("crawl_jobs", sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("crawl_jobs", sa.Column("paused_seconds", sa.Float(), server_default="0", nullable=False))
    op.add_column("request_log", sa.Column("url", sa.Text(), nullable=True))
    op.execute("ALTER TABLE crawled_pages SET (fillfactor = 75)")


def downgrade() -> None:
    op.execute("ALTER TABLE crawled_pages RESET (fillfactor)")
    op.drop_column("request_log", "url")
    op.drop_column("crawl_jobs", "paused_seconds")
    op.drop_column("crawl_jobs", "paused_at")
