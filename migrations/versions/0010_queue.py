"""The acquisition queue runs on the crawl engine: batches as crawls, entries by host, keys in the batch's ledger."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_BYTES = sa.Text(collation="C")


def upgrade() -> None:
    op.add_column("crawl_jobs", sa.Column("from_queue", sa.Boolean(), nullable=False, server_default="false"))
    op.add_column("crawl_queue", sa.Column("host", _BYTES, nullable=False, server_default=""))
    op.execute("UPDATE crawl_queue SET host = split_part(split_part(source_url, '://', 2), '/', 1)")
    op.alter_column("crawl_queue", "host", server_default=None)
    op.add_column("crawl_queue", sa.Column("rounds", sa.SmallInteger(), nullable=False, server_default="0"))
    op.add_column("crawl_queue", sa.Column("ledger_url", _BYTES))
    op.create_check_constraint("priority", "crawl_queue", "priority BETWEEN 0 AND 9")
    for name in ("category", "pending", "status"):
        op.drop_index(f"ix_crawl_queue_{name}", table_name="crawl_queue")
    op.create_index(
        "ix_crawl_queue_category",
        "crawl_queue",
        ["category", "id"],
        postgresql_where=sa.text("category IS NOT NULL"),
    )
    op.create_index("ix_crawl_queue_host", "crawl_queue", ["host", "id"])
    op.create_index(
        "ix_crawl_queue_pending",
        "crawl_queue",
        ["priority", "created_at", "id"],
        postgresql_where=sa.text("status = 'pending' AND is_active"),
    )
    op.create_index(
        "ix_crawl_queue_under_way",
        "crawl_queue",
        ["crawl_id", "ledger_url"],
        postgresql_where=sa.text("status = 'fetching'"),
    )
    op.create_index("ix_crawl_queue_status", "crawl_queue", ["status", "id"])


def downgrade() -> None:
    for name in ("status", "under_way", "pending", "host", "category"):
        op.drop_index(f"ix_crawl_queue_{name}", table_name="crawl_queue")
    op.drop_constraint("priority", "crawl_queue", type_="check")
    op.drop_column("crawl_queue", "ledger_url")
    op.drop_column("crawl_queue", "rounds")
    op.drop_column("crawl_queue", "host")
    op.drop_column("crawl_jobs", "from_queue")
    op.create_index("ix_crawl_queue_category", "crawl_queue", ["category"])
    op.create_index(
        "ix_crawl_queue_pending",
        "crawl_queue",
        ["priority", "created_at"],
        postgresql_where=sa.text("status = 'pending' AND is_active"),
    )
    op.create_index("ix_crawl_queue_status", "crawl_queue", ["status"])
