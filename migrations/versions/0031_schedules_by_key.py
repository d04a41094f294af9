"""Schedules know the key that set them, so that keys take turns when many are due.

Those of before get the key that last started a crawl of their project. Workers of before go on: they set none.
"""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

_LAST_STARTED = """
UPDATE crawl_schedules s SET set_by = (
    SELECT c.started_by FROM crawl_jobs c
    WHERE c.project_id = s.project_id AND c.started_by IS NOT NULL ORDER BY c.created_at DESC LIMIT 1
)
"""


def upgrade() -> None:
    op.add_column("crawl_schedules", sa.Column("set_by", sa.UUID()))
    op.execute(_LAST_STARTED)


def downgrade() -> None:
    op.drop_column("crawl_schedules", "set_by")
