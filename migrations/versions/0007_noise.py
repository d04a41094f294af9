"""Noise rules: unique in a project, with a count of the pages whose changes they hid."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("noise_rules", sa.Column("hits", sa.Integer(), server_default="0", nullable=False))
    op.create_index("uq_noise_rules_once", "noise_rules", ["project_id", "kind", sa.text("md5(value)")], unique=True)


def downgrade() -> None:
    op.drop_index("uq_noise_rules_once", table_name="noise_rules")
    op.drop_column("noise_rules", "hits")
