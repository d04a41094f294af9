"""Index of a crawl's URLs by the reason they were skipped or failed."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        "ix_crawl_discovered_urls_reason",
        "crawl_discovered_urls",
        ["crawl_job_id", "reason", "normalized_url"],
        postgresql_where=sa.text("reason IS NOT NULL AND reason <> 'unchanged'"),
    )


def downgrade() -> None:
    op.drop_index("ix_crawl_discovered_urls_reason", table_name="crawl_discovered_urls")
