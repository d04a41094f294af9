"""What the Firecrawl door keeps of a job or a monitor: its webhook, and what a monitor watches."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB, UUID

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "door_jobs",
        sa.Column("id", UUID(as_uuid=True), nullable=False),
        sa.Column("project_id", UUID(as_uuid=True), nullable=False),
        sa.Column("crawl_id", UUID(as_uuid=True)),
        sa.Column("hook", JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("targets", JSONB(), server_default=sa.text("'[]'::jsonb"), nullable=False),
        sa.Column("told", sa.Integer(), server_default="0", nullable=False),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("answer", sa.Text()),
        sa.Column("due_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("id", name="pk_door_jobs"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_door_jobs_project_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["crawl_id"], ["crawl_jobs.id"], name="fk_door_jobs_crawl_id", ondelete="CASCADE"),
    )
    op.create_index("ix_door_jobs_project", "door_jobs", ["project_id"])
    op.create_index("ix_door_jobs_crawl", "door_jobs", ["crawl_id"])
    op.create_index("ix_door_jobs_due", "door_jobs", ["due_at"], postgresql_where=sa.text("due_at IS NOT NULL"))


def downgrade() -> None:
    op.drop_table("door_jobs")
