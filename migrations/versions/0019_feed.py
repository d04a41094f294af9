"""What changed, one row per crawl that found something, to be read and accepted; tags, mutes, addresses of feeds."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql as pg

revision = "0019"
down_revision = "0016"
branch_labels = None
depends_on = None

_UUID = pg.UUID(as_uuid=True)
_WHEN = sa.DateTime(timezone=True)
_UNREAD = sa.text("read_at IS NULL")


def upgrade() -> None:
    op.add_column(
        "projects", sa.Column("tags", pg.ARRAY(sa.Text), nullable=False, server_default=sa.text("'{}'::text[]"))
    )
    op.add_column("projects", sa.Column("muted_until", _WHEN))
    op.create_index("ix_projects_tags", "projects", ["tags"], postgresql_using="gin")
    op.create_table(
        "change_feed",
        sa.Column("crawl_id", _UUID, sa.ForeignKey("crawl_jobs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("project_id", _UUID, sa.ForeignKey("projects.id", ondelete="CASCADE"), nullable=False),
        sa.Column("at", _WHEN, nullable=False, server_default=sa.func.now()),
        sa.Column("counts", pg.JSONB, nullable=False, server_default=sa.text("'{}'::jsonb")),
        sa.Column("pages", pg.JSONB, nullable=False, server_default=sa.text("'[]'::jsonb")),
        sa.Column("is_significant", sa.Boolean, nullable=False, server_default="false"),
        sa.Column("read_at", _WHEN),
        sa.Column("accepted_at", _WHEN),
    )
    op.create_index("ix_change_feed_newest", "change_feed", ["at", "crawl_id"])
    op.create_index("ix_change_feed_project", "change_feed", ["project_id", "at", "crawl_id"])
    op.create_index("ix_change_feed_unread", "change_feed", ["at", "crawl_id"], postgresql_where=_UNREAD)
    op.create_index(
        "ix_change_feed_project_unread", "change_feed", ["project_id", "at", "crawl_id"], postgresql_where=_UNREAD
    )
    op.create_table(
        "feed_tokens",
        sa.Column("token_hash", sa.String(64), primary_key=True),
        sa.Column("project_id", _UUID, sa.ForeignKey("projects.id", ondelete="CASCADE")),
        sa.Column("created_at", _WHEN, nullable=False, server_default=sa.func.now()),
    )
    op.create_index(
        "uq_feed_tokens_project",
        "feed_tokens",
        [sa.text("coalesce(project_id, '00000000-0000-0000-0000-000000000000'::uuid)")],
        unique=True,
    )


def downgrade() -> None:
    op.drop_table("feed_tokens")
    op.drop_table("change_feed")
    op.drop_index("ix_projects_tags", table_name="projects")
    op.drop_column("projects", "muted_until")
    op.drop_column("projects", "tags")
