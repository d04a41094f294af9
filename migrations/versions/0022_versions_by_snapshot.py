"""Which versions use a snapshot is found by an index, so that `crawler prune` looks at few at a time."""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_page_versions_snapshot", "page_versions", ["snapshot_id"])


def downgrade() -> None:
    op.drop_index("ix_page_versions_snapshot", table_name="page_versions")
