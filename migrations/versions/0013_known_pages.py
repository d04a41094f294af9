"""Probes keep how deep the missing page was, so that one that answers goes on as a page of the crawl."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("crawl_probes", sa.Column("depth", sa.Integer(), server_default="0", nullable=False))


def downgrade() -> None:
    op.drop_column("crawl_probes", "depth")
