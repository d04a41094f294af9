"""Tables of schedules, their runs, notifications, the feed of changes, and rules for what is ignored or watched."""

from sqlalchemy import (
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    Time,
    UniqueConstraint,
    text,
)

from crawler.adapters.postgres.tables.columns import UUID_, count, flag, json, metadata, now, project, when

crawl_schedules = Table(
    "crawl_schedules",
    metadata,
    Column("id", UUID_, primary_key=True),
    Column("project_id", UUID_, ForeignKey("projects.id", ondelete="CASCADE"), nullable=False, unique=True),
    flag("enabled", default=False),
    Column("frequency", String(20), nullable=False),
    Column("day_of_week", Integer),
    Column("day_of_month", Integer),
    Column("time_of_day", Time, nullable=False),
    Column("timezone", String(50), nullable=False, server_default="UTC"),
    Column("cron", Text),
    json("options"),
    flag("notify_on_changes", default=True),
    Column("notify_on", String(12), nullable=False, server_default="significant"),
    Column("notification_email", String(255)),
    Column("notification_webhook", String(500)),
    Column("notification_secrets", LargeBinary),  # Apprise URLs: encrypted
    when("webhook_gone_at"),
    when("next_run_at"),
    Column("set_by", UUID_),  # the key with which it was set last, if it was one: whose turn its runs are
    now("created_at"),
    now("updated_at"),
    Index("ix_crawl_schedules_due", "next_run_at", postgresql_where=text("enabled")),
)

schedule_slots = Table(
    "schedule_slots",
    metadata,
    Column("schedule_id", UUID_, ForeignKey("crawl_schedules.id", ondelete="CASCADE"), primary_key=True),
    Column("slot_at", DateTime(timezone=True), primary_key=True),
    Column("outcome", String(20), nullable=False),
    Column("crawl_id", UUID_),
    now("created_at"),
    Index("ix_schedule_slots_starting", "created_at", postgresql_where=text("outcome = 'starting'")),
)

notifications = Table(
    "notifications",
    metadata,
    Column("id", UUID_, primary_key=True),
    project(),
    Column("crawl_id", UUID_),
    Column("channel", String(20), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("target", Text, nullable=False),
    Column("status", String(20), nullable=False),
    json("payload"),
    Column("answer", Text),
    count("sends"),
    now("created_at"),
    when("sent_at"),
    when("deliver_at"),  # of what waits
    when("acknowledged_at"),
    UniqueConstraint("crawl_id", "channel", "kind", name="uq_notifications_once"),
    Index("ix_notifications_project", "project_id", "kind", "id"),
    Index("ix_notifications_held", "deliver_at", postgresql_where=text("status = 'held'")),
)

# What the Firecrawl door keeps of one crawl (the id is the crawl's), or of a monitor (the project's): its webhook.
door_jobs = Table(
    "door_jobs",
    metadata,
    Column("id", UUID_, primary_key=True),
    project(),
    Column("crawl_id", UUID_, ForeignKey("crawl_jobs.id", ondelete="CASCADE")),
    json("hook"),
    json("targets", "[]"),  # what a monitor watches, as it was asked for
    count("told"),
    count("tries"),
    Column("answer", Text),
    when("due_at"),  # null: nothing more is told
    Index("ix_door_jobs_project", "project_id"),
    Index("ix_door_jobs_crawl", "crawl_id"),
    Index("ix_door_jobs_due", "due_at", postgresql_where=text("due_at IS NOT NULL")),
)

noise_rules = Table(
    "noise_rules",
    metadata,
    Column("id", UUID_, primary_key=True),
    project(),
    Column("kind", String(20), nullable=False),
    Column("value", Text, nullable=False),
    Column("origin", String(20), nullable=False, server_default="operator"),
    flag("enabled", default=True),
    now("created_at"),
    count("hits"),
    Index("uq_noise_rules_once", "project_id", "kind", text("md5(value)"), unique=True),
)

# One row per crawl that found something changed, with its first pages and lines: cheap to read over all projects.
change_feed = Table(
    "change_feed",
    metadata,
    Column("crawl_id", UUID_, ForeignKey("crawl_jobs.id", ondelete="CASCADE"), primary_key=True),
    project(),
    now("at"),
    json("counts"),
    json("pages", "[]"),
    flag("is_significant", default=False),
    when("read_at"),
    when("accepted_at"),
    Index("ix_change_feed_newest", "at", "crawl_id"),
    Index("ix_change_feed_project", "project_id", "at", "crawl_id"),
    Index("ix_change_feed_unread", "at", "crawl_id", postgresql_where=text("read_at IS NULL")),
    Index("ix_change_feed_project_unread", "project_id", "at", "crawl_id", postgresql_where=text("read_at IS NULL")),
)

# Whoever has the token reads the feed of one project, of a tag, or of all. Each has one; a new one replaces it.
feed_tokens = Table(
    "feed_tokens",
    metadata,
    Column("token_hash", String(64), primary_key=True),
    project(nullable=True),
    Column("tag", Text, nullable=False, server_default=""),
    now("created_at"),
    Index(
        "uq_feed_tokens_project",
        text("coalesce(project_id, '00000000-0000-0000-0000-000000000000'::uuid)"),
        "tag",
        unique=True,
    ),
)

watch_rules = Table(
    "watch_rules",
    metadata,
    Column("id", UUID_, primary_key=True),
    project(),
    Column("name", String(100), nullable=False, server_default=""),
    Column("pattern", Text, nullable=False, server_default=""),
    count("priority"),
    json("body"),  # what is watched, and when it is told
    flag("enabled", default=True),
    now("created_at"),
    now("updated_at"),
    Index("ix_watch_rules_project", "project_id"),
)

recipients = Table(
    "recipients",
    metadata,
    Column("id", UUID_, primary_key=True),
    project(),
    json("body"),  # who is told of what, when and how
    now("created_at"),
    Index("ix_recipients_project", "project_id"),
)

mutes = Table(
    "mutes",
    metadata,
    Column("id", UUID_, primary_key=True),
    project(),
    Column("page", Text),
    Column("rule", UUID_),
    Column("until", DateTime(timezone=True), nullable=False),
    now("created_at"),
    Index("ix_mutes_project", "project_id"),
)
