"""Entries become batches, and come back when a batch is over before their turn.

How many places there are, in all and for a host: `handlers/acquisition/run_queue.py`. How a stranded entry ends:
`stranded_end` in `domain/acquisition/entries.py`.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from heapq import heapify, heapreplace
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, text

from crawler.adapters.engine.crawl_store import insert_crawl
from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.fair_claim import WAITING_PROJECTS
from crawler.adapters.postgres.tables.acquisition import ENTRY_PROJECT
from crawler.domain.acquisition.entries import (
    EntryStatus,
    LedgerEnd,
    QueueBatch,
    Stranded,
    StrandedEnd,
    Waiting,
    sources_of,
)
from crawler.domain.engine.ledger import Found
from crawler.domain.retries import MAX_ROUNDS

_LOCK = 0x7175_6575
"""Any constant: those who claim take turns, so that each counts what the others took."""
_HOLD_SECONDS = 60
"""A host that is blocked for longer is left alone: its entries would only take the places of others."""
SWEPT_AT_ONCE = 2000
FEW = 20
"""A project has few entries under way if it has less than one of so many places. Where others have them all, for as
long as their hosts like, it gets so many on top."""
LEFT_TO_OTHERS = 4
"""Of the places on top, as many as all others, one project gets one of so many that are free."""
AT_FULL_HOST = 4
"""Of a host's places, one of so many is on top for each project, where others have them all."""


Plan = Callable[[Sequence[Waiting]], Sequence[tuple[QueueBatch, Sequence[Found]]]]


class QueueClaims:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def claim(self, places: int, per_run: int, per_host: int, plan: Plan) -> list[tuple[UUID, int]]:
        """One transaction: entries are `fetching` and their batches are there, or neither. The batches, and their size.

        At most `per_run` now, at most `places` at once in all, of one host `per_host`.
        """
        with transaction(self._engine) as db:
            db.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            waiting = _take(db, places, per_run, per_host)
            batches = list(plan(waiting)) if waiting else []
            for batch, urls in batches:
                insert_crawl(db, batch.crawl, urls, exclusive=False)
                values = {
                    "ids": list(batch.keys),
                    "urls": list(batch.keys.values()),
                    "crawl": batch.crawl.id,
                    "from": [status.value for status in sources_of(EntryStatus.FETCHING)],
                }
                db.execute(text(_FETCHING), values)
        return [(batch.crawl.id, len(batch.keys)) for batch, _ in batches]

    def under_way(self) -> int:
        with transaction(self._engine) as db:
            return int(db.execute(text(_UNDER_WAY)).scalar_one())

    def stranded(self) -> list[Stranded]:
        with transaction(self._engine) as db:
            rows = db.execute(text(_STRANDED), {"limit": SWEPT_AT_ONCE}).all()
        return [_stranded(row) for row in rows]

    def ledger_end(self, crawl_id: UUID, url: str) -> LedgerEnd | None:
        with transaction(self._engine) as db:
            row = db.execute(text(_LEDGER_END), {"crawl": crawl_id, "url": url}).one_or_none()
        return LedgerEnd(*row) if row else None

    def first_redirecting(self, crawl_id: UUID, url: str) -> str | None:
        with transaction(self._engine) as db:
            return db.execute(text(_FIRST_OF_WAY), {"crawl": crawl_id, "url": url}).scalar_one_or_none()

    def settle(self, ends: Sequence[StrandedEnd]) -> None:
        """End stranded entries. One that somebody else settled meanwhile stays as it is."""
        with transaction(self._engine) as db:
            for end in sorted(ends):
                db.execute(text(_SETTLE), end._asdict() | {"status": end.status.value})


def _stranded(row: Row[Any]) -> Stranded:
    end = LedgerEnd(row.fetch_state, row.reason, row.final_url, row.error_message, row.http_status)
    known = end if row.fetch_state else None
    return Stranded(row.id, row.crawl_id, row.source_url, row.ledger_url, row.project_id, row.config, known)


class _Busy:
    """The entries that are fetched now, and who may have more of them."""

    def __init__(self, rows: Sequence[Row[Any]], places: int, per_host: int) -> None:
        self._places = places
        self._per_host = per_host
        self.most_of_few = max(1, places // FEW)
        self._most_at_host = max(1, per_host // AT_FULL_HOST)
        self.by_project = Counter[UUID]()
        self._by_host, self._by_both = Counter[str](), Counter[tuple[UUID, str]]()
        for row in rows:
            self.add(row.project_id, row.host, row.entries)

    def add(self, project: UUID, host: str, entries: int = 1) -> None:
        self.by_project[project] += entries
        self._by_host[host] += entries
        self._by_both[project, host] += entries

    @property
    def free(self) -> int:
        return self._places - self.by_project.total()

    def shares_of_few(self, projects: Sequence[UUID]) -> dict[UUID, int]:
        """Where no place is free: what each may have on top that has few. Each leaves most of these to others."""
        on_top, shares = self._places + min(0, self.free), dict[UUID, int]()
        for project in sorted(projects, key=self.by_project.__getitem__):
            share = min(self.most_of_few - self.by_project[project], -(-on_top // LEFT_TO_OTHERS))
            if share > 0:
                shares[project] = share
                on_top -= share
        return shares

    def has_room(self, project: UUID, host: str) -> bool:
        """Of a host that has all its places, too, each project may have some."""
        return self._by_host[host] < self._per_host or self._by_both[project, host] < self._most_at_host

    def full(self) -> list[str]:
        """Projects with the hosts of which they get no more."""
        return sorted(f"{project} {host}" for project, host in self._by_both if not self.has_room(project, host))


def _take(db: Connection, places: int, per_run: int, per_host: int) -> list[Waiting]:
    """Each project's in order, and of none more than of another that waits; of one host no more than its share.

    So neither a large project nor a slow host takes all places.
    """
    busy = _Busy(db.execute(text(_BUSY)).all(), places, per_host)
    held = sorted(db.execute(text(_HELD), {"seconds": _HOLD_SECONDS}).scalars())
    waiting = list(db.execute(text(_PROJECTS)).scalars())
    taken: list[Waiting] = []
    while waiting and len(taken) < per_run:
        if (left := min(per_run - len(taken), busy.free)) > 0:
            shares = even_shares({project: busy.by_project[project] for project in waiting}, left)
        else:
            shares = busy.shares_of_few(waiting)
        asked = {project: 2 * share for project, share in shares.items()}
        values = {
            "held": held,
            "full": busy.full(),
            "taken": [entry.id for entry in taken],
            "projects": list(asked),
            "most": list(asked.values()),
        }
        found = db.execute(text(_NEXT), values).all() if asked else []
        for row in found:
            if shares[row.project_id] > 0 and len(taken) < per_run and busy.has_room(row.project_id, row.host):
                busy.add(row.project_id, row.host)
                shares[row.project_id] -= 1
                taken.append(Waiting(row.id, row.source_url, row.project_id))
        told = Counter(row.project_id for row in found)
        # One with fewer than asked for has no more; one without a share this time waits for the next.
        waiting = [project for project in waiting if asked and told[project] >= asked.get(project, 0)]
    return taken


def even_shares(busy: Mapping[UUID, int], places: int) -> dict[UUID, int]:
    """Free places for each project, so that those with the fewest entries under way get the next."""
    line = [(entries, project) for project, entries in busy.items()]
    heapify(line)
    shares: dict[UUID, int] = {}
    for _ in range(places):
        entries, project = line[0]
        heapreplace(line, (entries + 1, project))
        shares[project] = shares.get(project, 0) + 1
    return shares


_BUSY = f"""
SELECT host, {ENTRY_PROJECT} AS project_id, count(*) AS entries FROM crawl_queue WHERE status = 'fetching'
GROUP BY host, {ENTRY_PROJECT}
"""  # noqa: S608 - our own words
_HELD = """
SELECT host FROM hosts
WHERE NOT denied AND (paused OR blocked_until > now() + make_interval(secs => :seconds))
"""
_PENDING = "status = 'pending' AND is_active"
_PROJECTS = f"""{WAITING_PROJECTS.format(table="crawl_queue", project=ENTRY_PROJECT, waiting=_PENDING)}
SELECT project FROM waiting w
WHERE project IS NOT NULL AND NOT EXISTS (SELECT 1 FROM projects p WHERE p.id = w.project AND NOT p.is_active)
"""  # noqa: S608 - our own words
_NEXT = f"""
SELECT found.*, share.project AS project_id
FROM unnest(CAST(:projects AS uuid[]), CAST(:most AS int[])) AS share(project, most)
CROSS JOIN LATERAL (
    SELECT id, source_url, host, priority, created_at FROM crawl_queue
    WHERE {_PENDING} AND {ENTRY_PROJECT} = share.project
      AND host <> ALL(:held) AND id <> ALL(:taken) AND CAST(share.project AS text) || ' ' || host <> ALL(:full)
    ORDER BY priority, created_at, id LIMIT share.most FOR UPDATE SKIP LOCKED
) AS found
ORDER BY found.priority, found.created_at, found.id
"""  # noqa: S608 - our own words
_FETCHING = """
UPDATE crawl_queue q SET status = 'fetching', crawl_id = :crawl, ledger_url = v.url, updated_at = now()
FROM unnest(CAST(:ids AS bigint[]), CAST(:urls AS text[])) AS v(id, url)
WHERE q.id = v.id AND q.status = ANY(:from)
"""
_UNDER_WAY = "SELECT count(*) FROM crawl_queue WHERE status = 'fetching'"
_STRANDED = """
SELECT q.id, q.crawl_id, q.source_url, q.ledger_url, c.project_id, c.config,
    u.fetch_state, u.reason, u.final_url, u.error_message, u.http_status
FROM crawl_queue q LEFT JOIN crawl_jobs c ON c.id = q.crawl_id
LEFT JOIN crawl_discovered_urls u ON u.crawl_job_id = q.crawl_id AND u.normalized_url = q.ledger_url
WHERE q.status = 'fetching' AND (c.id IS NULL OR c.status IN ('completed', 'failed', 'cancelled'))
ORDER BY q.id LIMIT :limit
"""
_LEDGER_END = """
SELECT fetch_state, reason, final_url, error_message, http_status FROM crawl_discovered_urls
WHERE crawl_job_id = :crawl AND normalized_url = :url
"""
_FIRST_OF_WAY = """
WITH RECURSIVE way AS (
    SELECT normalized_url, parent, source, 0 AS steps FROM crawl_discovered_urls
    WHERE crawl_job_id = :crawl AND normalized_url = :url
    UNION ALL
    SELECT u.normalized_url, u.parent, u.source, steps + 1
    FROM way JOIN crawl_discovered_urls u ON u.crawl_job_id = :crawl AND u.normalized_url = way.parent
    WHERE way.source = 'redirect' AND steps < 50
)
SELECT normalized_url FROM way ORDER BY steps DESC LIMIT 1
"""
_SETTLE = f"""
UPDATE crawl_queue SET
    status = CASE WHEN :status = 'pending' AND rounds + 1 >= {MAX_ROUNDS} THEN 'failed' ELSE :status END,
    rounds = CASE WHEN :status = 'pending' THEN rounds + 1 ELSE 0 END,
    page_id = coalesce(CAST(:page_id AS uuid), page_id), last_error = CAST(:error AS text), updated_at = now()
WHERE id = :id AND crawl_id IS NOT DISTINCT FROM CAST(:crawl_id AS uuid) AND status = 'fetching'
"""  # noqa: S608 - our own number
