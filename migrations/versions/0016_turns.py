"""Projects take turns at documents and at entries of the queue: the indexes of what waits begin with the project."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_ENTRY_PROJECT = sa.text("coalesce(project_id, '0ac90151-7100-7000-8000-000000000001'::uuid)")
_PENDING = sa.text("status = 'pending'")
_ENTRIES = sa.text("status = 'pending' AND is_active")
_EMBED = sa.text("embed_at IS NOT NULL")


def upgrade() -> None:
    _drop()
    op.create_index(
        "ix_documents_due", "documents", ["project_id", "attempts", "updated_at"], postgresql_where=_PENDING
    )
    op.create_index("ix_documents_embed", "documents", ["project_id", "embed_at"], postgresql_where=_EMBED)
    op.create_index(
        "ix_crawl_queue_pending",
        "crawl_queue",
        [_ENTRY_PROJECT, "priority", "created_at", "id"],
        postgresql_where=_ENTRIES,
    )
    op.create_index(
        "ix_crawl_queue_fetched",
        "crawl_queue",
        [_ENTRY_PROJECT, "id"],
        postgresql_where=sa.text("status = 'fetched'"),
    )


def downgrade() -> None:
    op.drop_index("ix_crawl_queue_fetched", table_name="crawl_queue")
    _drop()
    op.create_index("ix_documents_due", "documents", ["updated_at"], postgresql_where=_PENDING)
    op.create_index("ix_documents_embed", "documents", ["embed_at"], postgresql_where=_EMBED)
    op.create_index(
        "ix_crawl_queue_pending", "crawl_queue", ["priority", "created_at", "id"], postgresql_where=_ENTRIES
    )


def _drop() -> None:
    op.drop_index("ix_documents_due", table_name="documents")
    op.drop_index("ix_documents_embed", table_name="documents")
    op.drop_index("ix_crawl_queue_pending", table_name="crawl_queue")
