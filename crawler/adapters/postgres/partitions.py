"""Tables in parts: the ledger has one for the crawls of each week, the request log one for each day.

A part that is old is dropped, which takes the same moment whatever its size. Rows of no part are in `…_rest`: those of
a time for which no part was made, and those that outlived theirs. After an upgrade it is all of the old table; a large
one then becomes the part of everything `…_until` some day, without being rewritten.

Making and dropping parts locks the whole table, so each is one short transaction. It gives up where it would have to
wait for somebody, before Postgres looks for deadlocks, and is tried again later.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from psycopg2.errors import CheckViolation, LockNotAvailable, QueryCanceled
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import IntegrityError, OperationalError

from crawler import telemetry
from crawler.adapters.postgres.database import transaction
from crawler.domain.ids import least_id, time_of

log = telemetry.logger(__name__)

LARGE = 64 << 20
"""Bytes of a part that are not read while others wait."""
_PATIENCE = "900ms"  # Postgres looks for deadlocks after a second
_LONGEST = "5s"
_TURN = 0x7061_7274  # any constant: those who make parts take turns
_SPLIT = 0x7370_6C74  # another one: of those who split a rest off
_MONDAY = datetime(1970, 1, 5, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


class Parted(NamedTuple):
    """A table in parts."""

    table: str
    column: str
    width: timedelta
    ahead: int
    """Parts that are there: that of now, and the next ones."""
    first_key: Callable[[datetime], str]
    """The least value of the column at that moment or later."""
    storage: str

    @property
    def rest(self) -> str:
        return f"{self.table}_rest"


class Part(NamedTuple):
    name: str
    begins: datetime | None
    """None: with the first row there is."""
    ends: datetime


def least_crawl_id(at: datetime) -> UUID:
    return least_id(int(at.timestamp() * 1000))


LEDGER = Parted(
    table="crawl_urls",
    column="crawl_job_id",
    width=timedelta(weeks=1),
    ahead=3,
    first_key=lambda at: str(least_crawl_id(at)),
    # A row is updated once, and grows; with free space on its block that stays off the index.
    storage="WITH (fillfactor = 75)",
)
REQUESTS = Parted("request_log", "at", timedelta(days=1), 4, datetime.isoformat, "")


def about_crawls(crawls: Iterable[UUID]) -> dict[str, Any]:
    """Values for statements that look up rows of the ledger by their keys, which a list names.

    `first` and `last` say in which parts of the ledger the crawls are, and the list is restricted to its own `crawls`.
    So Postgres expects many rows in the parts and few in the list, and looks up each by its key. Were a crawl named,
    Postgres would expect hardly any row of one that it does not know yet, and read all of it for every batch.
    """
    named = sorted(set(crawls))
    width, monday = LEDGER.width // _MS, int(_MONDAY.timestamp() * 1000)
    begins = [made - (made - monday) % width for made in (time_of(named[0]), time_of(named[-1]))]
    # In numbers, as an id may have been made without a time, for one that no calendar has.
    last = min(begins[1] + width, 1 << 48) << 80
    return {"crawls": named, "first": least_id(max(begins[0], 0)), "last": UUID(int=last - 1)}


class Busy(Exception):
    """Somebody uses the table; try again later."""


def parts(db: Connection, of: Parted) -> list[Part]:
    """The parts but for the rest, oldest first."""
    names = db.execute(text(_PARTS), {"table": of.table}).scalars()
    found = [part for name in names if (part := _part(of, name))]
    return sorted(found, key=lambda part: part.ends)


def make_parts(engine: Engine, of: Parted, now: datetime, most_read: int | None = None) -> None:
    """Make the parts for now and the time to come. What is there already of that time stays where it is.

    A rest of more bytes than `most_read` is left as it is: to read it takes minutes.
    """
    with transaction(engine) as db:
        known = parts(db, of)
        size = int(db.execute(text("SELECT pg_relation_size(:rest)"), {"rest": of.rest}).scalar_one())
        is_closed = db.execute(text(_HAS_EARLIER), {"rest": of.rest}).scalar_one()
    begin = _MONDAY + (now - _MONDAY) // of.width * of.width
    wanted = [_made(of, begin + of.width * n) for n in range(of.ahead)]
    covered = max((part.ends for part in known if part.begins is None), default=_MONDAY)
    missing = [part for part in wanted if part not in known and part.ends > covered]
    is_old = size > LARGE and covered == _MONDAY
    is_too_large = is_old and most_read is not None and size > most_read
    try:
        if is_closed and (is_too_large or not is_old):
            _end_dead_split(engine, of)
        if is_too_large:
            return
        if missing and is_old:
            with _splitting(engine):
                covered = _split_off(engine, of, next(part for part in wanted if _is_far(part, now, of)))
        for part in missing:
            if part.ends > covered:
                with briefly(engine) as db:
                    _make(db, of, part)
    except Busy:
        log.info("parts_wait", table=of.table)


def drop_part(db: Connection, of: Parted, part: Part, keep: Iterable[UUID] = ()) -> None:
    """Drop the part with all its rows but those of crawls that are kept: they go to the rest."""
    kept = list(keep)
    db.execute(text(f"LOCK TABLE {of.table} IN ACCESS EXCLUSIVE MODE"))
    if kept:
        db.execute(text(_SET_ASIDE.format(table=of.table, part=part.name, column=of.column)), {"kept": kept})
    db.execute(text(f"DROP TABLE {part.name}"))
    if kept:
        db.execute(text(f"INSERT INTO {of.table} SELECT * FROM set_aside"))  # noqa: S608 - our own names


@contextmanager
def briefly(engine: Engine) -> Iterator[Connection]:
    """A transaction that waits for nobody for long; instead it raises Busy."""
    with transaction(engine) as db:
        db.execute(text(f"SET LOCAL lock_timeout = '{_PATIENCE}'"))
        try:
            yield db
        except (OperationalError, IntegrityError) as exc:
            # CheckViolation: since it was looked for, somebody has written a row that belongs into the new part.
            if isinstance(exc.orig, (LockNotAvailable, QueryCanceled, CheckViolation)):
                raise Busy from exc
            raise


def _part(of: Parted, name: str) -> Part | None:
    kind, _, day = name.removeprefix(f"{of.table}_").partition("_")
    if kind not in ("from", "until"):
        return None
    at = datetime.strptime(day, "%Y%m%d").replace(tzinfo=UTC)
    return _made(of, at) if kind == "from" else Part(name, None, at)


def _made(of: Parted, begins: datetime) -> Part:
    return Part(f"{of.table}_from_{begins:%Y%m%d}", begins, begins + of.width)


def _is_far(part: Part, now: datetime, of: Parted) -> bool:
    """Whether nothing is written there before the split is done."""
    return _begin(part) - now > of.width / 4


def _begin(part: Part) -> datetime:
    return part.begins or _MONDAY


def _make(db: Connection, of: Parted, part: Part) -> None:
    db.execute(text("SELECT pg_advisory_xact_lock(:turn)"), {"turn": _TURN})
    if part in parts(db, of):
        return
    low, high = of.first_key(_begin(part)), of.first_key(part.ends)
    taken = f"SELECT EXISTS (SELECT 1 FROM {of.rest} WHERE {of.column} >= '{low}' AND {of.column} < '{high}')"  # noqa: S608
    if db.execute(text(taken)).scalar_one():
        return
    # To attach a table locks less than to make it as a part. All of the rest is read, under a lock.
    db.execute(text(f"SET LOCAL statement_timeout = '{_LONGEST}'"))
    db.execute(text(_CREATE.format(name=part.name, table=of.table, storage=of.storage)))
    db.execute(text(f"ALTER TABLE {of.table} ATTACH PARTITION {part.name} FOR VALUES FROM ('{low}') TO ('{high}')"))


@contextmanager
def _splitting(engine: Engine) -> Iterator[None]:
    """Nobody else splits meanwhile. Whoever is killed lets go, since Postgres notices."""
    with transaction(engine) as db:
        db.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        if not db.execute(text("SELECT pg_try_advisory_xact_lock(:split)"), {"split": _SPLIT}).scalar_one():
            raise Busy
        yield


def _end_dead_split(engine: Engine, of: Parted) -> None:
    """Let rows of later again into a rest whose split was killed: nobody may begin another one for a long time."""
    with _splitting(engine), briefly(engine) as db:
        db.execute(text(f"ALTER TABLE {of.rest} DROP CONSTRAINT IF EXISTS earlier"))
        log.info("split_undone", table=of.table)


def _split_off(engine: Engine, of: Parted, following: Part) -> datetime:
    """Make the rest as it is the part of everything before one to come; the new rest is empty. Returns its end.

    Only a check that has been validated spares Postgres a look at every row under a lock. While it is there nothing can
    be written that belongs after that moment, so it goes again whatever happens.
    """
    until = _begin(following)
    name, end = f"{of.table}_until_{until:%Y%m%d}", of.first_key(until)
    late = f"SELECT EXISTS (SELECT 1 FROM {of.rest} WHERE {of.column} >= '{end}')"  # noqa: S608 - our own names
    with briefly(engine) as db:
        if db.execute(text(late)).scalar_one():
            log.warning("rows_of_the_future", table=of.table)
            raise Busy
        db.execute(text(f"ALTER TABLE {of.rest} DROP CONSTRAINT IF EXISTS earlier"))
        db.execute(text(f"ALTER TABLE {of.rest} ADD CONSTRAINT earlier CHECK ({of.column} < '{end}') NOT VALID"))
    try:
        with transaction(engine) as db:
            db.execute(text("SET LOCAL statement_timeout = 0"))
            db.execute(text(f"ALTER TABLE {of.rest} VALIDATE CONSTRAINT earlier"))
        with briefly(engine) as db:
            db.execute(text(f"ALTER TABLE {of.table} DETACH PARTITION {of.rest}"))
            db.execute(text(f"ALTER TABLE {of.rest} RENAME TO {name}"))
            db.execute(text(f"ALTER TABLE {of.table} ATTACH PARTITION {name} FOR VALUES FROM (MINVALUE) TO ('{end}')"))
            db.execute(text(f"ALTER TABLE {name} DROP CONSTRAINT earlier"))
            db.execute(text(_CREATE.format(name=of.rest, table=of.table, storage=of.storage)))
            db.execute(text(f"ALTER TABLE {of.table} ATTACH PARTITION {of.rest} DEFAULT"))
    except BaseException:
        with transaction(engine) as db:
            db.execute(text(f"ALTER TABLE {of.rest} DROP CONSTRAINT IF EXISTS earlier"))
        raise
    log.info("rest_split_off", table=of.table, part=name)
    return until


_PARTS = """
SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = CAST(:table AS regclass)
"""
_HAS_EARLIER = """
SELECT EXISTS (SELECT 1 FROM pg_constraint WHERE conrelid = CAST(:rest AS regclass) AND conname = 'earlier')
"""
_CREATE = "CREATE TABLE {name} (LIKE {table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS) {storage}"
_SET_ASIDE = """
CREATE TEMPORARY TABLE set_aside ON COMMIT DROP AS
SELECT whole.* FROM {table} whole WHERE tableoid = CAST('{part}' AS regclass) AND {column} = ANY(CAST(:kept AS uuid[]))
"""
