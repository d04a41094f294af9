"""What repeats need: which links of a page may be followed (304s come without them), why robots.txt failed."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("crawled_pages", sa.Column("links_followed", postgresql.JSONB(), nullable=True))
    op.execute("ALTER TABLE crawled_pages ALTER COLUMN links_followed SET STORAGE EXTERNAL")
    op.add_column("hosts", sa.Column("robots_failure", sa.String(length=24), nullable=True))


def downgrade() -> None:
    op.drop_column("hosts", "robots_failure")
    op.drop_column("crawled_pages", "links_followed")
