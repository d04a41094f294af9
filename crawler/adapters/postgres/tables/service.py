"""Tables that belong to no project: hosts, the request log, API keys, runtime settings, idempotent responses."""

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, UUID

from crawler.adapters.postgres.tables.columns import KEY, UUID_, count, flag, metadata, now, one_of, when

hosts = Table(
    "hosts",
    metadata,
    Column("host", KEY, primary_key=True),
    Column("delay_seconds", Float),
    Column("learned_seconds", Float, nullable=False, server_default="0"),
    count("incidents"),
    when("blocked_until"),
    flag("paused", default=False),
    flag("denied", default=False),
    Column("robots_status", SmallInteger),
    Column("robots_text", LargeBinary),
    when("robots_fetched_at"),
    when("robots_failing_since"),
    Column("robots_failure", String(24)),
    now("updated_at"),
)

# Its parts (`partitions.py`) hold a day each.
request_log = Table(
    "request_log",
    metadata,
    Column("at", DateTime(timezone=True), nullable=False),
    Column("crawl_id", UUID_, nullable=False),
    Column("host", KEY, nullable=False),
    Column("kind", String(1), nullable=False),
    Column("lane", String(8), nullable=False),
    Column("status", SmallInteger),
    Column("elapsed_ms", Integer),
    Column("certain", Boolean, nullable=False, server_default="true"),
    Column("url", Text),
    Index("ix_request_log_host", "crawl_id", "host", "at"),
    Index("ix_request_log_at", "at", postgresql_using="brin"),
    postgresql_partition_by="RANGE (at)",
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("key", String(200), primary_key=True),
    Column("crawl_id", UUID_, ForeignKey("crawl_jobs.id", ondelete="CASCADE"), nullable=False),
    now("created_at"),
    Index("ix_idempotency_keys_crawl", "crawl_id"),
)

# Responses to requests with an Idempotency-Key, so that a repeat gets the same one; kept for a day.
http_answers = Table(
    "http_answers",
    metadata,
    Column("key", LargeBinary, primary_key=True),  # digest of caller, path and Idempotency-Key
    Column("request", LargeBinary, nullable=False),  # digest of the body
    Column("status", SmallInteger),
    Column("answer", JSONB),
    now("claimed_at"),
    Index("ix_http_answers_claimed", "claimed_at"),
)

settings = Table(
    "settings",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", JSONB, nullable=False),
    now("updated_at"),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", UUID_, primary_key=True),
    Column("name", String(100), nullable=False),
    Column("key_hash", String(64), nullable=False, unique=True),
    Column("hint", String(16), nullable=False),
    Column("scope", String(8), nullable=False),
    Column("project_ids", ARRAY(UUID(as_uuid=True))),
    now("created_at"),
    when("revoked_at"),
    one_of("scope", "read", "write", "admin"),
)
