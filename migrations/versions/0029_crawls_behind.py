"""Which key started a crawl, and whether it goes behind the crawls of others. Adds columns only, without a rewrite."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import UUID

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("crawl_jobs", sa.Column("started_by", UUID(as_uuid=True)))
    op.add_column("crawl_jobs", sa.Column("behind", sa.Boolean(), server_default=sa.text("false"), nullable=False))


def downgrade() -> None:
    op.drop_column("crawl_jobs", "behind")
    op.drop_column("crawl_jobs", "started_by")
