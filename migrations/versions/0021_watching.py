"""Watch rules: which parts and values of pages count, and when a change of them is told. Recipients beside the
schedule's, and notices that wait until they are sent."""

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
    op.create_table(
        "recipients",
        sa.Column("id", UUID(as_uuid=True), nullable=False),
        sa.Column("project_id", UUID(as_uuid=True), nullable=False),
        sa.Column("body", JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_recipients"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_recipients_project_id", ondelete="CASCADE"),
    )
    op.create_index("ix_recipients_project", "recipients", ["project_id"])
    op.create_table(
        "mutes",
        sa.Column("id", UUID(as_uuid=True), nullable=False),
        sa.Column("project_id", UUID(as_uuid=True), nullable=False),
        sa.Column("page", sa.Text()),
        sa.Column("rule", UUID(as_uuid=True)),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_mutes"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_mutes_project_id", ondelete="CASCADE"),
    )
    op.create_index("ix_mutes_project", "mutes", ["project_id"])
    op.add_column("notifications", sa.Column("deliver_at", sa.DateTime(timezone=True)))
    op.add_column("notifications", sa.Column("acknowledged_at", sa.DateTime(timezone=True)))
    op.create_index(
        "ix_notifications_held", "notifications", ["deliver_at"], postgresql_where=sa.text("status = 'held'")
    )


def downgrade() -> None:
    op.drop_index("ix_notifications_held", table_name="notifications")
    op.drop_column("notifications", "acknowledged_at")
    op.drop_column("notifications", "deliver_at")
    op.drop_table("mutes")
    op.drop_table("recipients")
    op.drop_table("watch_rules")
