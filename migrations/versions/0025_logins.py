"""Logins of projects: steps that sign in to an origin, with secrets and session encrypted.

Atom feeds of a tag. Which crawl took a document out.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB, UUID

revision = "0025"
down_revision = "0022"
branch_labels = None
depends_on = None

_PROJECT = "coalesce(project_id, '00000000-0000-0000-0000-000000000000'::uuid)"


def upgrade() -> None:
    op.create_table(
        "project_logins",
        sa.Column("project_id", UUID(as_uuid=True), nullable=False),
        sa.Column("origin", sa.Text(collation="C"), nullable=False),
        sa.Column("steps", JSONB(), server_default=sa.text("'[]'::jsonb"), nullable=False),
        sa.Column("signed_in", sa.Text(), server_default="", nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("session", sa.LargeBinary()),
        sa.Column("session_at", sa.DateTime(timezone=True)),
        sa.Column("state", sa.String(20), server_default="untried", nullable=False),
        sa.Column("problem", sa.Text()),
        sa.Column("tried_for", UUID(as_uuid=True)),
        sa.Column("tried_at", sa.DateTime(timezone=True)),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("taken_until", sa.DateTime(timezone=True)),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "origin", name="pk_project_logins"),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="fk_project_logins_project_id", ondelete="CASCADE"
        ),
    )

    op.add_column("documents", sa.Column("deleted_by", UUID(as_uuid=True)))
    op.add_column("feed_tokens", sa.Column("tag", sa.Text(), server_default="", nullable=False))
    op.drop_index("uq_feed_tokens_project", table_name="feed_tokens")
    op.create_index("uq_feed_tokens_project", "feed_tokens", [sa.text(_PROJECT), "tag"], unique=True)


def downgrade() -> None:
    op.execute("DELETE FROM feed_tokens WHERE tag <> ''")
    op.drop_index("uq_feed_tokens_project", table_name="feed_tokens")
    op.drop_column("feed_tokens", "tag")
    op.create_index("uq_feed_tokens_project", "feed_tokens", [sa.text(_PROJECT)], unique=True)
    op.drop_column("documents", "deleted_by")
    op.drop_table("project_logins")
