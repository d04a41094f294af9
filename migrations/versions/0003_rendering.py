"""Browser rendering: whether a crawl needs it, why a page was rendered, and links that cannot be followed."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("crawl_jobs", sa.Column("rendering", JSONB(), nullable=True))
    op.add_column("crawl_discovered_urls", sa.Column("rendering", JSONB(), nullable=True))
    op.add_column("crawled_pages", sa.Column("links_unusable", JSONB(), nullable=True))


def downgrade() -> None:
    op.drop_column("crawled_pages", "links_unusable")
    op.drop_column("crawl_discovered_urls", "rendering")
    op.drop_column("crawl_jobs", "rendering")
