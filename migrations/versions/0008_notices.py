"""Notifications: more channels of a schedule, webhooks that are gone (410), and indexes for the reconciler."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("crawl_schedules", sa.Column("notification_secrets", sa.LargeBinary(), nullable=True))
    op.add_column("crawl_schedules", sa.Column("webhook_gone_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index("ix_notifications_project", "notifications", ["project_id", "kind", "id"])
    op.create_index(
        "ix_schedule_slots_starting",
        "schedule_slots",
        ["created_at"],
        postgresql_where=sa.text("outcome = 'starting'"),
    )
    op.create_index(
        "ix_crawl_jobs_failed_runs",
        "crawl_jobs",
        ["completed_at"],
        postgresql_where=sa.text("crawl_type = 'scheduled' AND status = 'failed'"),
    )
    op.create_index(
        "ix_crawl_jobs_untold",
        "crawl_jobs",
        ["diffed_at"],
        postgresql_where=sa.text("crawl_type = 'scheduled' AND notified_at IS NULL"),
    )


def downgrade() -> None:
    op.drop_index("ix_crawl_jobs_untold", table_name="crawl_jobs")
    op.drop_index("ix_crawl_jobs_failed_runs", table_name="crawl_jobs")
    op.drop_index("ix_schedule_slots_starting", table_name="schedule_slots")
    op.drop_index("ix_notifications_project", table_name="notifications")
    op.drop_column("crawl_schedules", "webhook_gone_at")
    op.drop_column("crawl_schedules", "notification_secrets")
