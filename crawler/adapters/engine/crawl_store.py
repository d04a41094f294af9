"""Crawls in Postgres: rows to values and back.

Which status may follow which: `CrawlJob` in `domain/crawls/crawl.py`. The queries of lists: `adapters/crawls`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Row,
    Text,
    bindparam,
    case,
    cast,
    delete,
    func,
    insert,
    literal,
    null,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import insert as pg_insert
from sqlalchemy.exc import IntegrityError

from crawler.adapters.engine.batch_writer import admit
from crawler.adapters.engine.columns import column_values
from crawler.adapters.postgres import tables as t
from crawler.adapters.postgres.database import transaction
from crawler.domain import judging
from crawler.domain.changes.feed import feed_counts
from crawler.domain.changes.listed_summary import UNLISTED, short_changes
from crawler.domain.crawls.crawl import (
    COMPARISON_FAILED,
    FRONT_CRAWLS,
    FRONT_SECONDS,
    STORED,
    CrawlJob,
    CrawlStatus,
    CrawlType,
)
from crawler.domain.crawls.project import SINGLE_PAGES_ID
from crawler.domain.engine.ledger import Found
from crawler.domain.ids import ids_that_begin
from crawler.errors import CrawlRunning, InvalidTransition, NotFound

_CRAWL_COLUMNS = [t.crawl_jobs.c[name] for name in CrawlJob.model_fields]
# Lists and candidates: a summary names every page of a site, so only its counts leave Postgres.
_SUMMARY = t.crawl_jobs.c.change_summary
_SHORT_SUMMARY = case((func.jsonb_typeof(_SUMMARY) == "object", func.jsonb_delete(_SUMMARY, *UNLISTED, type_=JSONB)))
_LISTED_COLUMNS = [_SHORT_SUMMARY.label(_SUMMARY.name) if column is _SUMMARY else column for column in _CRAWL_COLUMNS]
_ONE_CRAWL = select(*_CRAWL_COLUMNS).where(t.crawl_jobs.c.id == bindparam("id"))  # built once: it is asked most often
_LISTED_CRAWL = select(*_LISTED_COLUMNS).where(t.crawl_jobs.c.id == bindparam("id"))
_OPEN = (CrawlStatus.PENDING, CrawlStatus.IN_PROGRESS)
_END_GRACE = timedelta(seconds=15)
_COMPARE_GRACE = timedelta(seconds=30)
# A list has no homepage that could show whether its pages need a browser; the project's last crawl with one has.
_AS_REMEMBERED = text("""
UPDATE crawl_jobs c SET rendering = (p.learned -> 'rendering') - 'unavailable' - 'failed'
FROM projects p WHERE c.id = :id AND p.id = c.project_id AND c.crawl_type = 'fetch_only'
""")

_IN_FRONT = text("""
SELECT count(*) FROM crawl_jobs
WHERE status IN ('pending', 'in_progress') AND started_by = :started_by AND NOT behind AND created_at > :since
""")


def _ended_lately() -> ColumnElement[bool]:
    """Only such crawls are asked to be compared again and again."""
    return t.crawl_jobs.c.completed_at > func.now() - timedelta(days=1)


def _crawl(row: Row[Any]) -> CrawlJob:
    return CrawlJob.model_validate(row._asdict(), context=STORED)


def _listed(row: Row[Any]) -> CrawlJob:
    crawl = _crawl(row)
    return crawl.model_copy(update={"change_summary": short_changes(crawl.change_summary)})


def crawl_in(db: Connection, crawl_id: UUID) -> CrawlJob | None:
    row = db.execute(_ONE_CRAWL, {"id": crawl_id}).one_or_none()
    return _crawl(row) if row else None


def _keep_feed(db: Connection, crawl: CrawlJob, pages: Sequence[dict[str, Any]]) -> None:
    """One entry per crawl that found something; a repeated comparison leaves what was read as read."""
    counts = feed_counts(crawl.change_summary)
    if crawl.from_queue or not any(counts.values()):
        db.execute(delete(t.change_feed).where(t.change_feed.c.crawl_id == crawl.id))
        return
    found = {
        "counts": counts,
        "pages": list(pages),
        "is_significant": bool((crawl.change_summary or {}).get("is_significant")),
    }
    entry = pg_insert(t.change_feed).values(crawl_id=crawl.id, project_id=crawl.project_id, **found)
    db.execute(entry.on_conflict_do_update(index_elements=["crawl_id"], set_=found))


def _set_phase(db: Connection, crawl: CrawlJob) -> None:
    """Set the project's `phase_status`: the status of its latest crawl, not of a batch of the acquisition queue."""
    if not crawl.from_queue:
        db.execute(
            update(t.projects).where(t.projects.c.id == crawl.project_id).values(phase_status=crawl.status.value)
        )


def _placed(db: Connection, crawl: CrawlJob, started_by: UUID | None) -> CrawlJob:
    """Whoever starts many at once has all but the first behind those of others. Of our own processes, nothing is."""
    if started_by is None:
        return crawl
    since = crawl.created_at - timedelta(seconds=FRONT_SECONDS)
    in_front = db.execute(_IN_FRONT, {"started_by": started_by, "since": since}).scalar_one()
    return crawl.model_copy(update={"behind": in_front >= FRONT_CRAWLS})


def insert_crawl(
    db: Connection,
    crawl: CrawlJob,
    urls: Sequence[Found],
    *,
    exclusive: bool = True,
    opened: tuple[str, int] | None = None,
    scope: Mapping[str, Any] | None = None,
) -> CrawlJob:
    asked = judging.caller.get()
    started_by = asked if isinstance(asked, UUID) else None
    crawl = _placed(db, crawl, started_by)
    known = {"opened": opened, **(scope or {})}
    row = {**column_values(crawl), "exclusive": exclusive, "scope": known, "started_by": started_by}
    db.execute(insert(t.crawl_jobs).values(row))
    admit(db, urls)
    db.execute(_AS_REMEMBERED, {"id": crawl.id})
    _set_phase(db, crawl)
    return crawl


class CrawlStore:
    """Reads and writes crawls, with guarded changes of status. Each method is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def add_crawl(
        self,
        crawl: CrawlJob,
        *,
        idempotency_key: str | None = None,
        urls: Sequence[Found] = (),
        opened: tuple[str, int] | None = None,
    ) -> CrawlJob:
        """Commit a new crawl with its first URLs; the same idempotency key again returns the same crawl."""
        try:
            with transaction(self.engine) as db:
                if idempotency_key and (known := self._by_key(db, idempotency_key)):
                    return known
                placed = insert_crawl(db, crawl, urls, opened=opened)
                if idempotency_key:
                    db.execute(insert(t.idempotency_keys).values(key=idempotency_key, crawl_id=crawl.id))
        except IntegrityError as exc:
            return self._explain_refusal(crawl, idempotency_key, exc)
        return placed

    def add_batch(
        self,
        crawl: CrawlJob,
        urls: Sequence[Found],
        *,
        scope: Mapping[str, Any] | None = None,
        opened: tuple[str, int] | None = None,
    ) -> CrawlJob:
        """Commit a crawl of a list of URLs that may run beside other crawls of its project."""
        with transaction(self.engine) as db:
            return insert_crawl(db, crawl, urls, exclusive=False, opened=opened, scope=scope)

    def get_scope(self, crawl_id: UUID) -> dict[str, Any]:
        """What was said or found out about this crawl alone."""
        with transaction(self.engine) as db:
            scope = db.execute(select(t.crawl_jobs.c.scope).where(t.crawl_jobs.c.id == crawl_id)).scalar_one_or_none()
        return dict(scope or {})

    def _by_key(self, db: Connection, key: str) -> CrawlJob | None:
        row = db.execute(
            select(*_CRAWL_COLUMNS)
            .join(t.idempotency_keys, t.idempotency_keys.c.crawl_id == t.crawl_jobs.c.id)
            .where(t.idempotency_keys.c.key == key)
        ).one_or_none()
        return _crawl(row) if row else None

    def _explain_refusal(self, crawl: CrawlJob, key: str | None, exc: IntegrityError) -> CrawlJob:
        with transaction(self.engine) as db:
            # Two starts with one key raced: the second gets the first one's crawl.
            if key and (known := self._by_key(db, key)):
                return known
        running = self.find_running(crawl.project_id)
        if running is None:
            raise NotFound(f"There is no project {crawl.project_id}.") from exc
        raise CrawlRunning(
            f"Crawl {running.id} of this project is still {running.status}; wait for it or cancel it.",
            crawl_id=str(running.id),
        ) from exc

    def get_crawl(self, crawl_id: UUID) -> CrawlJob:
        crawl = self.find_crawl(crawl_id)
        if crawl is None:
            raise NotFound(f"There is no crawl {crawl_id}.")
        return crawl

    def find_crawl(self, crawl_id: UUID) -> CrawlJob | None:
        with transaction(self.engine) as db:
            return crawl_in(db, crawl_id)

    def find_listed_crawl(self, crawl_id: UUID) -> CrawlJob | None:
        """As in a list: its changes are counts, without URLs."""
        with transaction(self.engine) as db:
            row = db.execute(_LISTED_CRAWL, {"id": crawl_id}).one_or_none()
        return _listed(row) if row else None

    def project_of(self, crawl_id: UUID) -> UUID:
        with transaction(self.engine) as db:
            query = select(t.crawl_jobs.c.project_id).where(t.crawl_jobs.c.id == crawl_id)
            found: UUID | None = db.execute(query).scalar_one_or_none()
        if found is None:
            raise NotFound(f"There is no crawl {crawl_id}.")
        return found

    def find_running(self, project_id: UUID) -> CrawlJob | None:
        with transaction(self.engine) as db:
            row = db.execute(
                select(*_CRAWL_COLUMNS).where(
                    t.crawl_jobs.c.project_id == project_id,
                    t.crawl_jobs.c.status.in_(_OPEN),
                    t.crawl_jobs.c.exclusive,
                )
            ).one_or_none()
        return _crawl(row) if row else None

    def list_crawls(
        self, project_id: UUID, limit: int = 50, before: UUID | None = None, *, skip: int = 0, everything: bool = True
    ) -> list[CrawlJob]:
        """A project's crawls, newest first; ids grow with time. Their changes are counts, without URLs.

        Without `everything` batches of the acquisition queue and single pages are left out.
        """
        query = (
            select(*_LISTED_COLUMNS)
            .where(t.crawl_jobs.c.project_id == project_id)
            .order_by(t.crawl_jobs.c.id.desc())
            .limit(limit)
            .offset(skip)
        )
        if before:
            query = query.where(t.crawl_jobs.c.id < before)
        if not everything:
            query = query.where(~t.crawl_jobs.c.from_queue)
        with transaction(self.engine) as db:
            return [_listed(row) for row in db.execute(query)]

    def newest_crawls(
        self,
        limit: int,
        before: UUID | None = None,
        only: Sequence[UUID] | None = None,
        *,
        begins: str = "",
        everything: bool = False,
    ) -> list[CrawlJob]:
        """Crawls of all projects, or of `only` some, newest first; `begins` is the beginning of an id.

        Their changes are counts, without URLs.

        Without `everything` those that nobody asked for as a crawl are left out: batches of the acquisition queue, and
        single pages.
        """
        query = select(*_LISTED_COLUMNS).order_by(t.crawl_jobs.c.id.desc()).limit(limit)
        if only is not None:
            query = query.where(t.crawl_jobs.c.project_id.in_(only))
        if begins:
            if (bounds := ids_that_begin(begins)) is None:
                return []
            query = query.where(t.crawl_jobs.c.id.between(*bounds))
        if before:
            query = query.where(t.crawl_jobs.c.id < before)
        if not everything:
            query = query.where(~t.crawl_jobs.c.from_queue, t.crawl_jobs.c.project_id != SINGLE_PAGES_ID)
        with transaction(self.engine) as db:
            return [_listed(row) for row in db.execute(query)]

    def find_latest_crawl(self, project_id: UUID) -> CrawlJob | None:
        """A project's latest crawl that is no batch of the acquisition queue."""
        query = (
            select(*_CRAWL_COLUMNS)
            .where(t.crawl_jobs.c.project_id == project_id, ~t.crawl_jobs.c.from_queue)
            .order_by(t.crawl_jobs.c.id.desc())
            .limit(1)
        )
        with transaction(self.engine) as db:
            row = db.execute(query).one_or_none()
        return _crawl(row) if row else None

    def open_crawls(self, after: UUID | None = None, limit: int | None = None) -> list[CrawlJob]:
        """By their ids, which are in the order of their starts."""
        c = t.crawl_jobs.c
        query = select(*_CRAWL_COLUMNS).where(c.status.in_(_OPEN)).order_by(c.id).limit(limit)
        if after is not None:
            query = query.where(c.id > after)
        with transaction(self.engine) as db:
            return [_crawl(row) for row in db.execute(query)]

    def open_crawl_ids(self) -> list[UUID]:
        with transaction(self.engine) as db:
            return list(db.execute(select(t.crawl_jobs.c.id).where(t.crawl_jobs.c.status.in_(_OPEN))).scalars())

    def take_half_ended(self, most: int) -> list[CrawlJob]:
        """Ended crawls without a comparison, so many at most, those first that wait longest.

        Each is returned 15 s after its end if its results were never counted, and 30 s after it if they were, then at
        ever longer intervals: the comparison may only be slow, or wait behind others.
        """
        c = t.crawl_jobs.c
        grace = case((c.stats == {}, _END_GRACE), else_=_COMPARE_GRACE)
        waited = func.now() - c.updated_at
        age = func.now() - c.completed_at
        due = (
            select(c.id)
            .where(c.status.in_((CrawlStatus.COMPLETED, CrawlStatus.FAILED)), c.diffed_at.is_(None))
            .where(_ended_lately(), waited > grace, waited + waited > age)
            .order_by(c.updated_at)
            .limit(most)
            .with_for_update(skip_locked=True)
        )
        with transaction(self.engine) as db:
            rows = db.execute(
                update(t.crawl_jobs)
                .where(c.id == func.any(func.array(due.scalar_subquery())))
                .values(updated_at=func.now())
                .returning(*_CRAWL_COLUMNS)
            )
            return [_crawl(row) for row in rows]

    def has_full_crawl(self, project_id: UUID) -> bool:
        with transaction(self.engine) as db:
            query = select(t.crawl_jobs.c.id).where(
                t.crawl_jobs.c.project_id == project_id, t.crawl_jobs.c.crawl_type != "fetch_only"
            )
            return db.execute(query.limit(1)).first() is not None

    def change_crawl(self, old: CrawlJob, new: CrawlJob, **columns: Any) -> CrawlJob:
        """Write a change of status, unless another process changed it first."""
        changed = {k: v for k, v in column_values(new).items() if getattr(old, k) != getattr(new, k)}
        with transaction(self.engine) as db:
            done = db.execute(
                update(t.crawl_jobs)
                .where(t.crawl_jobs.c.id == old.id, t.crawl_jobs.c.status == old.status)
                .values(**changed, **columns)
                .returning(*_CRAWL_COLUMNS)
            ).one_or_none()
            if done is not None:
                _set_phase(db, new)
        if done is None:
            now = self.get_crawl(old.id)
            raise InvalidTransition(
                f"Crawl {old.id} is {now.status} and cannot become {new.status}.",
                crawl_id=str(old.id),
                status=str(now.status),
            )
        return _crawl(done)

    def save_stats(self, crawl_id: UUID, stats: dict[str, Any]) -> CrawlJob:
        with transaction(self.engine) as db:
            row = db.execute(
                update(t.crawl_jobs).where(t.crawl_jobs.c.id == crawl_id).values(stats=stats).returning(*_CRAWL_COLUMNS)
            ).one_or_none()
        if row is None:
            raise NotFound(f"There is no crawl {crawl_id} any more.")
        return _crawl(row)

    def earlier_crawls(self, crawl: CrawlJob, limit: int = 50) -> list[CrawlJob]:
        """Completed crawls of the same project and seed whose URLs are still kept, newest first; changes are counts.

        Without those of given URLs: there may be many more than `limit` of them, and nothing is compared with one.
        """
        c = t.crawl_jobs.c
        urls = t.crawl_urls.c
        query = (
            select(*_LISTED_COLUMNS)
            .where(c.project_id == crawl.project_id, c.seed_url == crawl.seed_url, c.id < crawl.id)
            .where(c.status == CrawlStatus.COMPLETED, ~c.from_queue, c.crawl_type != CrawlType.FETCH_ONLY)
            .where(select(urls.normalized_url).where(urls.crawl_job_id == c.id).exists())
            .order_by(c.id.desc())
            .limit(limit)
        )
        with transaction(self.engine) as db:
            return [_listed(row) for row in db.execute(query)]

    def save_diff(
        self,
        crawl_id: UUID,
        summary: dict[str, Any] | None,
        compared_to: UUID | None,
        feed: Sequence[dict[str, Any]] = (),
    ) -> CrawlJob:
        """Keep what was found changed. `feed`: the first changed pages with their lines, for the feed of changes."""
        with transaction(self.engine) as db:
            row = db.execute(
                update(t.crawl_jobs)
                .where(t.crawl_jobs.c.id == crawl_id)
                .values(
                    change_summary=summary or null(),
                    compared_to=compared_to,
                    diffed_at=func.now(),
                    stats=t.crawl_jobs.c.stats.op("-")(cast(COMPARISON_FAILED, Text)),
                )
                .returning(*_CRAWL_COLUMNS)
            ).one()
            _keep_feed(db, _crawl(row), feed)
        return _crawl(row)

    def fail_diff(self, crawl_id: UUID, reason: str) -> CrawlJob:
        """Keep why the crawl could not be compared, beside its statistics."""
        c = t.crawl_jobs.c
        failed = func.jsonb_build_object(cast(COMPARISON_FAILED, Text), cast(reason, Text))
        with transaction(self.engine) as db:
            row = db.execute(
                update(t.crawl_jobs)
                .where(c.id == crawl_id)
                .values(change_summary=null(), diffed_at=func.now(), stats=c.stats.op("||")(failed))
                .returning(*_CRAWL_COLUMNS)
            ).one()
        return _crawl(row)

    def is_diffed(self, crawl_id: UUID) -> bool:
        """Whether the crawl was compared with the one before (or found to have none)."""
        with transaction(self.engine) as db:
            query = select(t.crawl_jobs.c.diffed_at).where(t.crawl_jobs.c.id == crawl_id)
            return db.execute(query).scalar_one_or_none() is not None

    def is_awaiting_diff(self, crawl_id: UUID) -> bool:
        """Whether the crawl ended lately and has not been compared. `take_half_ended` asks for it until it is."""
        c = t.crawl_jobs.c
        with transaction(self.engine) as db:
            query = select(c.id).where(c.id == crawl_id, c.diffed_at.is_(None), _ended_lately())
            return db.execute(query).scalar_one_or_none() is not None

    def set_paused(self, crawl_id: UUID, now: datetime, *, paused: bool) -> CrawlJob:
        c = t.crawl_jobs.c
        since = func.coalesce(func.extract("epoch", literal(now) - c.paused_at), 0.0)
        with transaction(self.engine) as db:
            row = db.execute(
                update(t.crawl_jobs)
                .where(c.id == crawl_id, c.status.in_(_OPEN))
                .values(
                    paused=paused,
                    paused_at=func.coalesce(c.paused_at, now) if paused else null(),
                    paused_seconds=c.paused_seconds if paused else c.paused_seconds + since,
                    updated_at=now,
                )
                .returning(*_CRAWL_COLUMNS)
            ).one_or_none()
        if row is not None:
            return _crawl(row)
        crawl = self.get_crawl(crawl_id)
        raise InvalidTransition(f"Crawl {crawl_id} is {crawl.status}: there is nothing to pause or resume.")
