"""The ledger becomes `crawl_urls`: rows without what they repeat, in a table of parts that can be dropped.

`crawl_discovered_urls` stays as a view with the same columns; programs of the release before read and write it. No row
is rewritten: the old table is the first part, whatever its size. Locks are held for some milliseconds.
"""

from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

_NAMES = ("fk_{}_crawl_job_id", "ck_{}_fetch_state", "ck_{}_status")
_NEW = """
CREATE TABLE crawl_urls (
    crawl_job_id uuid NOT NULL,
    version_id uuid,
    seq bigint NOT NULL,
    found_at timestamptz,
    fetched_at timestamptz,
    depth integer NOT NULL,
    variants integer DEFAULT 0 NOT NULL,
    priority smallint NOT NULL,
    attempts smallint DEFAULT 0 NOT NULL,
    http_status smallint,
    normalized_url text COLLATE "C" NOT NULL,
    url text,
    fetch_state varchar(8) DEFAULT 'queued' NOT NULL,
    status varchar(8),
    reason varchar(24),
    rule text,
    source varchar(8),
    parent text,
    final_url text,
    content_hash bytea,
    document_id uuid,
    error_message text,
    rendering jsonb,
    CONSTRAINT pk_crawl_urls PRIMARY KEY (crawl_job_id, normalized_url),
    CONSTRAINT fk_crawl_urls_crawl_job_id FOREIGN KEY (crawl_job_id) REFERENCES crawl_jobs (id) ON DELETE CASCADE,
    CONSTRAINT ck_crawl_urls_fetch_state CHECK (fetch_state IN ('queued', 'done', 'skipped', 'failed')),
    CONSTRAINT ck_crawl_urls_status CHECK (status IN ('pending', 'ingested', 'skipped', 'failed'))
) PARTITION BY RANGE (crawl_job_id)
"""
_REASON = """
CREATE INDEX ix_crawl_urls_reason ON crawl_urls (crawl_job_id, reason, normalized_url)
WHERE reason IS NOT NULL AND reason <> 'unchanged'
"""
_WHOLE = (
    "CASE WHEN starts_with({0}, '~') THEN left(normalized_url, ascii(substr({0}, 2, 1)) - 32) || substr({0}, 3) "
    'ELSE {0} END COLLATE "default"'
)
_STATUS = "CASE fetch_state WHEN 'done' THEN 'ingested' WHEN 'queued' THEN 'pending' ELSE fetch_state END"
_VIEW = f"""
CREATE VIEW crawl_discovered_urls AS
SELECT crawl_job_id, normalized_url, coalesce({_WHOLE.format("url")}, normalized_url) AS url, depth, priority,
    seq, fetch_state, CAST(coalesce(status, {_STATUS}) AS varchar(8)) AS status, reason, rule,
    CAST(coalesce(source, 'link') AS varchar(8)) AS source, attempts, variants, {_WHOLE.format("parent")} AS parent,
    {_WHOLE.format("final_url")} AS final_url, http_status, content_hash, version_id, document_id, error_message,
    rendering, found_at, fetched_at
FROM crawl_urls
"""  # noqa: S608 - our own words
_COLUMNS = (
    "crawl_job_id", "normalized_url", "url", "depth", "priority", "seq", "fetch_state", "status", "reason", "rule",
    "source", "attempts", "variants", "parent", "final_url", "http_status", "content_hash", "version_id",
    "document_id", "error_message", "rendering", "found_at", "fetched_at",
)  # fmt: skip
_DEFAULTS = {"fetch_state": "'queued'", "attempts": "0", "variants": "0"}
_FOLDED = ("url", "parent", "final_url")
"""What is written whole and looks folded gets the mark of one that has nothing in common with its key."""


def _written(column: str) -> str:
    if column in _FOLDED:
        return f"CASE WHEN starts_with(NEW.{column}, '~') THEN '~ ' || NEW.{column} ELSE NEW.{column} END"
    return f"coalesce(NEW.{column}, {_DEFAULTS[column]})" if column in _DEFAULTS else f"NEW.{column}"


# The release before writes into the view. That a row is still in the state that was read takes the place of the
# second look that an update of a table has.
_WRITE = f"""
CREATE FUNCTION write_crawl_discovered_urls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO crawl_urls ({", ".join(_COLUMNS)}) VALUES ({", ".join(map(_written, _COLUMNS))})
        ON CONFLICT DO NOTHING;
    ELSIF TG_OP = 'UPDATE' THEN
        UPDATE crawl_urls SET ({", ".join(_COLUMNS)}) = ROW ({", ".join(map(_written, _COLUMNS))})
        WHERE crawl_job_id = OLD.crawl_job_id AND normalized_url = OLD.normalized_url
            AND fetch_state = OLD.fetch_state;
    ELSE
        DELETE FROM crawl_urls WHERE crawl_job_id = OLD.crawl_job_id AND normalized_url = OLD.normalized_url;
    END IF;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
END $$
"""  # noqa: S608
_TRIGGER = """
CREATE TRIGGER write_crawl_discovered_urls INSTEAD OF INSERT OR UPDATE OR DELETE ON crawl_discovered_urls
FOR EACH ROW EXECUTE FUNCTION write_crawl_discovered_urls()
"""


def upgrade() -> None:
    op.execute("ALTER TABLE crawl_discovered_urls RENAME TO crawl_urls_rest")
    for name in _NAMES:
        before, after = name.format("crawl_discovered_urls"), name.format("crawl_urls")
        op.execute(f"ALTER TABLE crawl_urls_rest RENAME CONSTRAINT {before} TO {after}")
    for column in ("url", "status", "source"):
        op.execute(f"ALTER TABLE crawl_urls_rest ALTER {column} DROP NOT NULL, ALTER {column} DROP DEFAULT")
    op.execute("ALTER TABLE crawl_urls_rest RENAME CONSTRAINT pk_crawl_discovered_urls TO crawl_urls_rest_pkey")
    op.execute("ALTER INDEX ix_crawl_discovered_urls_reason RENAME TO crawl_urls_rest_reason")
    op.execute(_NEW)
    op.execute(_REASON)
    op.execute("ALTER TABLE crawl_urls ATTACH PARTITION crawl_urls_rest DEFAULT")
    op.execute(_VIEW)
    op.execute(_WRITE)
    op.execute(_TRIGGER)


def downgrade() -> None:
    """Writes every row anew."""
    columns = ", ".join(_COLUMNS)
    op.execute("DROP TRIGGER write_crawl_discovered_urls ON crawl_discovered_urls")
    op.execute("DROP FUNCTION write_crawl_discovered_urls")
    op.execute("ALTER VIEW crawl_discovered_urls RENAME TO crawl_urls_whole")
    op.execute("CREATE TABLE crawl_discovered_urls (LIKE crawl_urls_whole) WITH (fillfactor = 75)")
    op.execute(f"INSERT INTO crawl_discovered_urls ({columns}) SELECT {columns} FROM crawl_urls_whole")  # noqa: S608
    op.execute("DROP VIEW crawl_urls_whole")
    op.execute("DROP TABLE crawl_urls")
    for column in ("url", "depth", "priority", "seq", "fetch_state", "status", "source", "attempts", "variants"):
        op.execute(f"ALTER TABLE crawl_discovered_urls ALTER {column} SET NOT NULL")
    for column, value in {**_DEFAULTS, "status": "'pending'", "source": "'link'"}.items():
        op.execute(f"ALTER TABLE crawl_discovered_urls ALTER {column} SET DEFAULT {value}")
    constraints = {
        "pk_{}": "PRIMARY KEY (crawl_job_id, normalized_url)",
        "fk_{}_crawl_job_id": "FOREIGN KEY (crawl_job_id) REFERENCES crawl_jobs (id) ON DELETE CASCADE",
        "ck_{}_fetch_state": "CHECK (fetch_state IN ('queued', 'done', 'skipped', 'failed'))",
        "ck_{}_status": "CHECK (status IN ('pending', 'ingested', 'skipped', 'failed'))",
    }
    for name, what in constraints.items():
        named = name.format("crawl_discovered_urls")
        op.execute(f"ALTER TABLE crawl_discovered_urls ADD CONSTRAINT {named} {what}")
    op.execute(_REASON.replace("crawl_urls", "crawl_discovered_urls"))
