"""Extraction from fetched entries: claims, unchanged content, fill rates, hand-off, and the queue's order."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import UUID

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("crawl_queue", sa.Column("claim_id", UUID(as_uuid=True)))
    op.add_column("crawl_queue", sa.Column("claimed_at", _MOMENT))
    op.add_column("crawl_queue", sa.Column("extraction_id", UUID(as_uuid=True)))
    op.create_index("ix_crawl_queue_order", "crawl_queue", ["priority", "created_at", "id"])
    op.add_column("extractions", sa.Column("revision", sa.String(16), nullable=False, server_default=""))
    op.add_column("extractions", sa.Column("content_hash", sa.LargeBinary()))
    op.drop_constraint("fk_extractions_queue_id", "extractions", type_="foreignkey")
    op.create_foreign_key(
        "fk_extractions_queue_id", "extractions", "crawl_queue", ["queue_id"], ["id"], ondelete="SET NULL"
    )
    op.create_unique_constraint("uq_extractions_once", "extractions", ["queue_id", "version_id", "revision"])
    op.drop_index("ix_extractions_queue", table_name="extractions")  # the constraint's index serves for it
    op.create_index("ix_extractions_page", "extractions", ["page_id", "extracted_at"])
    op.create_table(
        "extraction_counts",
        sa.Column("category", sa.String(64), primary_key=True),
        sa.Column("extractions", sa.BigInteger(), nullable=False, server_default="0"),
    )
    op.create_table(
        "field_fills",
        sa.Column("category", sa.String(64), primary_key=True),
        sa.Column("field", sa.String(64), primary_key=True),
        sa.Column("number", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("filled", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("total", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("began_at", _MOMENT, nullable=False, server_default=sa.func.now()),
        sa.Column("ended_at", _MOMENT, nullable=False, server_default=sa.func.now()),
        sa.Column("alarmed_at", _MOMENT),
    )
    op.create_index(
        "uq_outbox_job",
        "outbox",
        [sa.text("(arguments ->> 'job_id')")],
        unique=True,
        postgresql_where=sa.text("task = 'classify'"),
    )
    op.create_index("ix_outbox_sent", "outbox", ["sent_at"], postgresql_where=sa.text("sent_at IS NOT NULL"))


def downgrade() -> None:
    op.drop_index("ix_outbox_sent", table_name="outbox")
    op.drop_index("uq_outbox_job", table_name="outbox")
    op.drop_table("field_fills")
    op.drop_table("extraction_counts")
    op.drop_index("ix_extractions_page", table_name="extractions")
    op.create_index("ix_extractions_queue", "extractions", ["queue_id"])
    op.drop_constraint("uq_extractions_once", "extractions", type_="unique")
    op.drop_constraint("fk_extractions_queue_id", "extractions", type_="foreignkey")
    op.create_foreign_key(
        "fk_extractions_queue_id", "extractions", "crawl_queue", ["queue_id"], ["id"], ondelete="CASCADE"
    )
    op.drop_column("extractions", "content_hash")
    op.drop_column("extractions", "revision")
    op.drop_index("ix_crawl_queue_order", table_name="crawl_queue")
    op.drop_column("crawl_queue", "extraction_id")
    op.drop_column("crawl_queue", "claimed_at")
    op.drop_column("crawl_queue", "claim_id")
