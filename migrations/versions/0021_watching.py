"""Watch rules: which parts and values of pages count, and when a change of them is told."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB, UUID

revision = "0021"
down_revision = "0019"
branch_labels = None
depends_on = None

_NOW = sa.text("now()")


def upgrade() -> None:
    op.create_table(
        "watch_rules",
        sa.Column("id", UUID(as_uuid=True), nullable=False),
        sa.Column("project_id", UUID(as_uuid=True), nullable=False),
        sa.Column("name", sa.String(100), server_default="", nullable=False),
        sa.Column("pattern", sa.Text(), server_default="", nullable=False),
        sa.Column("priority", sa.Integer(), server_default="0", nullable=False),
        sa.Column("body", JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default="true", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_watch_rules"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_watch_rules_project_id", ondelete="CASCADE"),
    )
    op.create_index("ix_watch_rules_project", "watch_rules", ["project_id"])


def downgrade() -> None:
    op.drop_table("watch_rules")
