"""Logins of projects: steps that sign in to an origin, with secrets and session encrypted."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB, UUID

revision = "0025"
down_revision = "0022"
branch_labels = None
depends_on = None


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


def downgrade() -> None:
    op.drop_table("project_logins")
