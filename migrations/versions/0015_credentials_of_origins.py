"""Credentials belong to an origin: those a project has move to the origin of its address as it is now."""

from urllib.parse import urlsplit

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import UUID

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

# A project without an address sent them to where each crawl began: the latest one counts.
STORED = """
SELECT id, secrets, coalesce(website_url,
    (SELECT seed_url FROM crawl_jobs WHERE project_id = projects.id ORDER BY id DESC LIMIT 1)) AS url
FROM projects WHERE secrets IS NOT NULL
"""
KEPT = """
SELECT c.project_id, c.origin, c.sealed, p.website_url
FROM project_credentials c JOIN projects p ON p.id = c.project_id
"""
INSERT = "INSERT INTO project_credentials (project_id, origin, sealed) VALUES (:project, :origin, :sealed)"


def upgrade() -> None:
    op.create_table(
        "project_credentials",
        sa.Column("project_id", UUID(as_uuid=True), nullable=False),
        sa.Column("origin", sa.Text(collation="C"), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="fk_project_credentials_project_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project_id", "origin", name="pk_project_credentials"),
    )
    db = op.get_bind()
    for row in db.execute(sa.text(STORED)).all():
        if row.url is not None:
            db.execute(sa.text(INSERT), {"project": row.id, "origin": origin(row.url), "sealed": row.secrets})
    op.drop_column("projects", "secrets")


def downgrade() -> None:
    """Those of the project's address go back to it; the program before knew no others, and would send them there."""
    op.add_column("projects", sa.Column("secrets", sa.LargeBinary(), nullable=True))
    db = op.get_bind()
    for row in db.execute(sa.text(KEPT)).all():
        if row.website_url is not None and origin(row.website_url) == row.origin:
            given = {"id": row.project_id, "sealed": row.sealed}
            db.execute(sa.text("UPDATE projects SET secrets = :sealed WHERE id = :id"), given)
    op.drop_table("project_credentials")


def origin(href: str) -> str:
    """Scheme, host and port of a stored URL: it is canonical, a usual port is left out."""
    parts = urlsplit(href)
    host, colon, port = parts.netloc.rpartition(":") if parts.port else (parts.netloc, "", "")
    return f"{parts.scheme}://{host.rstrip('.')}{colon}{port}"
