"""Idempotency keys by their crawl: else each crawl of a project that is deleted means a look at all keys.

The index is made in one go: the table has a row of a hundred bytes for each run of a schedule, and starts wait for it.
"""

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_idempotency_keys_crawl", "idempotency_keys", ["crawl_id"])


def downgrade() -> None:
    op.drop_index("ix_idempotency_keys_crawl", "idempotency_keys")
