"""The request log becomes a table of parts, one a day, that are dropped whole.

No row is rewritten: the old table is the first part. Locks are held for some milliseconds.
"""

from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

_COLUMNS = "at, crawl_id, host, kind, lane, status, elapsed_ms, certain, url"
_NEW = """
CREATE TABLE request_log (
    at timestamptz NOT NULL,
    crawl_id uuid NOT NULL,
    host text COLLATE "C" NOT NULL,
    kind varchar(1) NOT NULL,
    lane varchar(8) NOT NULL,
    status smallint,
    elapsed_ms integer,
    certain boolean DEFAULT true NOT NULL,
    url text
)
"""
_INDEXES = (
    "CREATE INDEX ix_request_log_host ON request_log (crawl_id, host, at)",
    "CREATE INDEX ix_request_log_at ON request_log USING brin (at)",
)
# Programs of the release before delete old rows by their ctid, which another part's row may have as well. They delete
# nothing now; ours drop whole parts.
_SPARE = """
CREATE FUNCTION spare_request_log() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$
"""
_TRIGGER = """
CREATE TRIGGER spare_request_log BEFORE DELETE ON request_log FOR EACH ROW
WHEN (current_query() LIKE 'DELETE FROM request\\_log WHERE ctid = ANY(%') EXECUTE FUNCTION spare_request_log()
"""


def upgrade() -> None:
    op.execute("ALTER TABLE request_log RENAME TO request_log_rest")
    op.execute("ALTER INDEX ix_request_log_host RENAME TO request_log_rest_host")
    op.execute("ALTER INDEX ix_request_log_at RENAME TO request_log_rest_at")
    op.execute(f"{_NEW} PARTITION BY RANGE (at)")
    for index in _INDEXES:
        op.execute(index)
    op.execute("ALTER TABLE request_log ATTACH PARTITION request_log_rest DEFAULT")
    op.execute(_SPARE)
    op.execute(_TRIGGER)


def downgrade() -> None:
    """Writes every row anew."""
    op.execute("DROP TRIGGER spare_request_log ON request_log")
    op.execute("DROP FUNCTION spare_request_log")
    op.execute("ALTER TABLE request_log RENAME TO request_log_parts")
    for name in ("ix_request_log_host", "ix_request_log_at"):
        op.execute(f"DROP INDEX {name}")
    op.execute(_NEW)
    op.execute(f"INSERT INTO request_log ({_COLUMNS}) SELECT {_COLUMNS} FROM request_log_parts")  # noqa: S608
    op.execute("DROP TABLE request_log_parts")
    for index in _INDEXES:
        op.execute(index)
