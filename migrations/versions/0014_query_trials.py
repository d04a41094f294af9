"""Probes may be trials: pages that are fetched to find out which query parameters tell pages apart."""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_constraint("purpose", "crawl_probes", type_="check")
    op.create_check_constraint("purpose", "crawl_probes", "purpose IN ('missing', 'again', 'trial')")


def downgrade() -> None:
    op.execute("DELETE FROM crawl_probes WHERE purpose = 'trial'")
    op.drop_constraint("purpose", "crawl_probes", type_="check")
    op.create_check_constraint("purpose", "crawl_probes", "purpose IN ('missing', 'again')")
