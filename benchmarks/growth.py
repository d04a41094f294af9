"""A database that grows: bytes of each page in each crawl, lists at two sizes, plans, and what `crawler prune` takes.

Rows are generated. What a row costs is measured on a crawl that the engine's own statements wrote, in their order.
"""

import hashlib
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import psutil
from sqlalchemy import Connection, Engine, event, text

from benchmarks.diff import tools_of
from benchmarks.options import Options
from benchmarks.ours import ending_with_us
from crawler.adapters.crawls.explain_reader import ExplainReader
from crawler.adapters.crawls.url_reader import UrlReader
from crawler.adapters.engine.url_commit import end_urls, insert_found
from crawler.adapters.operating.host_reader import HostReader
from crawler.adapters.pages.reader import PageReader
from crawler.adapters.postgres.database import cursor, transaction
from crawler.adapters.postgres.partitions import LEDGER, REQUESTS, make_parts
from crawler.adapters.postgres.retention import Pruner, Retention
from crawler.adapters.postgres.schema import migrate
from crawler.bootstrap import App
from crawler.domain.crawls.crawl import FetchState
from crawler.domain.engine.ledger import Found, Source, UrlEnd, UrlKey
from crawler.domain.ids import new_id
from crawler.domain.pages.lists import PageFilter, UrlFilter
from crawler.domain.reasons import Reason
from crawler.embedded import EmbeddedServers

TITLE = "A database that grows"
PAGES = 100_000
CRAWLS = 30
WRITTEN = 20_000
"""URLs of the crawl that the engine's statements write."""
OUTSIDE = 1_000_000
"""At most so many rows are deleted one by one."""
KEPT_DAYS = 14
ROUNDS = 15
_SITE = "http://www.example.test"
_HOST = "www.example.test"
_MANY_ROWS = 2000


class Bytes(NamedTuple):
    relation: str
    each: float


class Lists(NamedTuple):
    rows: int
    took: Mapping[str, float]
    """Milliseconds, the median."""
    plans: Mapping[str, "Plans"]


class Plans(NamedTuple):
    blocks: int
    """Read by Postgres, from memory or disk: the same however busy the machine is."""
    scans: set[str]
    """Large tables that are read from end to end."""


class Prunes(NamedTuple):
    dropped: int
    drop_seconds: float
    deleted: int
    delete_seconds: float


@dataclass
class Sayings:
    """Statements that were said while somebody listened."""

    said: list[tuple[str, Any]] = field(default_factory=list)

    def __call__(self, _c: Any, _cursor: Any, statement: str, given: Any, *_: Any) -> None:
        if statement.lstrip().upper().startswith(("SELECT", "WITH")):
            self.said.append((statement, given))


def run(options: Options) -> str:
    pages = options.pages or options.size(PAGES, 1_000)
    crawls = options.size(CRAWLS, 20)
    now = datetime.now(UTC)
    with (
        tempfile.TemporaryDirectory(prefix="bench-growth-") as folder,
        EmbeddedServers(Path(folder)) as servers,
        ending_with_us(Path(folder)),
    ):
        tools = tools_of(servers.database_url, servers.redis_url)
        engine = tools.database
        migrate(engine)
        outside = _grow(engine, min(pages, OUTSIDE), [now - timedelta(days=70)])  # there is no part for it
        for days in range(max(crawls, 35), -1, -7):
            make_parts(engine, LEDGER, now - timedelta(days=days))
        make_parts(engine, REQUESTS, now)
        costs = _costs(engine, min(pages, WRITTEN), now + timedelta(weeks=1))
        lists = []
        for size in (pages // 10, pages):
            project = _grow(engine, size, [now - timedelta(days=days) for days in range(crawls, 0, -1)])
            print(f"  {size:,} pages in {crawls} crawls are there", flush=True)
            lists.append(_lists(tools, project, now))
        log_cost = _log_costs(engine)
        prunes = _prune(engine, now, outside)
        engine.dispose()
    return table(pages, crawls, [*costs, *log_cost], lists, prunes)


def _url(number: int) -> str:
    return f"{_SITE}/documentation/section-{number % 97:02}/chapter-{number:07}.html"


def _costs(engine: Engine, urls: int, at: datetime) -> list[Bytes]:
    """Write a second crawl as the engine does: links are found in any order, fetched later, and unchanged."""
    make_parts(engine, LEDGER, at)
    (crawl,) = _crawls(engine, _project(engine), [at], urls)
    order = list(range(urls))
    random.Random(1).shuffle(order)
    known = fetched = 0
    while fetched < urls:
        with transaction(engine) as connection, cursor(connection) as db:
            some = order[fetched : min(fetched + 50, known)]
            end_urls(db, [_end(crawl, number, at) for number in some])
            fetched += len(some)
            parent = _url(order[max(0, fetched - 1)])
            new = order[known : known + 300]
            insert_found(db, [_found(crawl, number, known + place, parent) for place, number in enumerate(new)])
            known += len(new)
    with engine.begin() as db:
        part = str(db.execute(text(_PART), {"crawl": crawl}).scalar_one())
        return [Bytes(one.relation.replace(part, "crawl_urls"), one.each) for one in _sizes(db, part, urls)]


def _all_rows(db: Connection) -> int:
    """As vacuum counted them."""
    return int(db.execute(text(_ROWS)).scalar_one())


def _sizes(db: Connection, table: str, rows: int) -> list[Bytes]:
    found = db.execute(text(_SIZES), {"table": table})
    return [Bytes(row.name, row.bytes / rows) for row in found if row.bytes / rows >= 1]


def _found(crawl: UUID, number: int, place: int, parent: str) -> Found:
    url = _url(number)
    return Found(UrlKey(crawl, url), url, 2, 2, place, FetchState.QUEUED, None, None, Source.LINK, parent)


def _end(crawl: UUID, number: int, at: datetime) -> UrlEnd:
    digest = hashlib.sha256(str(number).encode()).digest()
    key = UrlKey(crawl, _url(number))
    return UrlEnd(key, FetchState.DONE, Reason.UNCHANGED, None, 1, None, 200, digest, uuid4(), None, at)


def _project(engine: Engine) -> UUID:
    project = uuid4()
    with engine.begin() as db:
        db.execute(text("INSERT INTO projects (id, name) VALUES (:id, CAST(:id AS text))"), {"id": project})
    return project


def _crawls(engine: Engine, project: UUID, moments: list[datetime], urls: int) -> list[UUID]:
    crawls = [new_id(int(at.timestamp() * 1000)) for at in moments]
    with engine.begin() as db:
        for crawl, at in zip(crawls, moments, strict=True):
            db.execute(text(_CRAWL), {"id": crawl, "project": project, "at": at, "urls": urls, "site": _SITE})
    return crawls


def _grow(engine: Engine, pages: int, moments: list[datetime]) -> UUID:
    """A project with so many pages that were crawled then."""
    project = _project(engine)
    crawls = _crawls(engine, project, moments, pages)
    values = {"project": project, "pages": pages, "site": _SITE, "first": crawls[0], "last": crawls[-1]}
    with engine.begin() as db:
        db.execute(text("SET LOCAL statement_timeout = 0"))
        for statement in (_PAGES, _VERSIONS, _IN_ORDER):
            db.execute(text(statement), values)
        with _without_key(db):
            for crawl, at in zip(crawls, moments, strict=True):
                db.execute(text(_LEDGER), {**values, "crawl": crawl, "at": at})
        db.execute(text(_LOG), {**values, "host": _HOST})
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
        db.execute(text("SET statement_timeout = 0"))
        db.execute(text("VACUUM ANALYZE"))
        db.execute(text("SET statement_timeout = 120000"))
    return project


@contextmanager
def _without_key(db: Connection) -> Iterator[None]:
    """Make the ledger's index when its rows are there, and write no log of them: hundreds of millions are loaded."""
    for part in db.execute(text(_LEAVES)).scalars().all():
        db.execute(text(f"ALTER TABLE {part} SET UNLOGGED"))
    name, key = db.execute(text(_KEY)).one()
    db.execute(text(f"ALTER TABLE crawl_urls DROP CONSTRAINT {name}"))
    yield
    db.execute(text(f"SET LOCAL maintenance_work_mem = '{psutil.virtual_memory().total // 4 // 2**20}MB'"))
    db.execute(text(f"ALTER TABLE crawl_urls ADD CONSTRAINT {name} {key}"))


def _log_costs(engine: Engine) -> list[Bytes]:
    with engine.begin() as db:
        requests = int(db.execute(text("SELECT count(*) FROM request_log")).scalar_one())
        parts = db.execute(text("SELECT DISTINCT CAST(tableoid AS regclass)::text FROM request_log")).scalars().all()
        log: dict[str, float] = {}
        for part in parts:
            for one in _sizes(db, part, requests):
                kind = one.relation.replace(part, "request_log")
                log[kind] = log.get(kind, 0.0) + one.each
    return [Bytes(name, each) for name, each in log.items()]


def _lists(tools: App, project: UUID, now: datetime) -> Lists:
    engine = tools.database
    with engine.begin() as db:
        rows = _all_rows(db)
        last, middle, page = db.execute(text(_MIDDLE), {"project": project}).one()
        large = set(db.execute(text(_LARGE), {"least": _MANY_ROWS}).scalars())
    took, plans = {}, {}
    for name, read in _reads(tools, project, last, middle, page, now).items():
        read()
        with _listening(engine) as sayings:
            read()
        plans[name] = _plans(engine, sayings, large)
        took[name] = statistics.median(_milliseconds(read) for _ in range(ROUNDS))
    return Lists(rows, took, plans)


def _reads(
    tools: App, project: UUID, crawl: UUID, middle: str, page: UUID, now: datetime
) -> dict[str, Callable[[], object]]:
    engine, store, content = tools.database, tools.store, tools.pages.content
    urls, pages, explain, hosts = UrlReader(engine), PageReader(engine), ExplainReader(engine), HostReader(engine)
    day = now - timedelta(days=1)
    return {
        "URLs of a crawl": lambda: urls.list_urls(crawl, UrlFilter(), None, 100),
        "… from the middle": lambda: urls.list_urls(crawl, UrlFilter(), middle, 100),
        "… that failed": lambda: urls.list_urls(crawl, UrlFilter(fetch_state="failed"), middle, 100),
        "… of one reason": lambda: urls.list_urls(crawl, UrlFilter(reason=Reason.NOT_FOUND), middle, 100),
        "… that are done": lambda: urls.list_urls(crawl, UrlFilter(fetch_state="done"), middle, 100),
        "… below a path": lambda: urls.list_urls(crawl, UrlFilter(prefix=middle[:-9]), None, 100),
        "one URL of a crawl": lambda: explain.find_url(crawl, middle),
        "its page": lambda: explain.find_page(crawl, middle),
        "requests for it": lambda: explain.attempts(crawl, "one.example.test", middle),
        "pages of a project": lambda: pages.list_pages(project, PageFilter(), None, 100),
        "… from the middle ": lambda: pages.list_pages(project, PageFilter(), middle, 100),
        "… that failed ": lambda: pages.list_pages(project, PageFilter(status="failed"), middle, 100),
        "… that changed": lambda: pages.list_pages(project, PageFilter(changed_since=day), None, 100),
        "… below a path ": lambda: pages.list_pages(project, PageFilter(prefix=middle[:-9]), None, 100),
        "versions of a page": lambda: content.list_versions(project, page, None, 50),
        "crawls of a project": lambda: store.list_crawls(project),
        "crawls to compare with": lambda: store.earlier_crawls(store.get_crawl(crawl)),
        "one host": lambda: hosts.find_host("one.example.test", day),
    }


def _milliseconds(read: Callable[[], object]) -> float:
    began = time.perf_counter()
    read()
    return 1000 * (time.perf_counter() - began)


@contextmanager
def _listening(engine: Engine) -> Iterator[Sayings]:
    sayings = Sayings()
    event.listen(engine, "before_cursor_execute", sayings)
    try:
        yield sayings
    finally:
        event.remove(engine, "before_cursor_execute", sayings)


def _plans(engine: Engine, sayings: Sayings, large: set[str]) -> Plans:
    blocks, scans = 0, set()
    with engine.begin() as db:
        for statement, given in sayings.said:
            (found,) = db.exec_driver_sql(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", given).scalar_one()
            plan = found["Plan"]
            blocks += plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
            scans |= {node["Relation Name"] for node in _nodes(plan) if node["Node Type"] == "Seq Scan"}
    return Plans(blocks, scans & large)


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", []):
        yield from _nodes(inner)


def _prune(engine: Engine, now: datetime, outside: UUID) -> Prunes:
    """All crawls but the newest are old; only one of them stands where nothing is dropped."""
    for _ in range(2):
        _crawls(engine, outside, [now, now], 0)  # a project's last two are kept
    prune = Pruner(engine, Retention(request_log_days=7, keep_versions=0, keep_crawl_days=60))
    began = time.perf_counter()
    deleted = prune(now).urls
    by_rows = time.perf_counter() - began
    prune = Pruner(engine, Retention(request_log_days=7, keep_versions=0, keep_crawl_days=KEPT_DAYS))
    with engine.begin() as db:
        before = _all_rows(db)
    began = time.perf_counter()
    prune(now)
    by_parts = time.perf_counter() - began
    with engine.begin() as db:
        return Prunes(before - _all_rows(db), by_parts, deleted, by_rows)


def table(pages: int, crawls: int, costs: list[Bytes], lists: list[Lists], prunes: Prunes) -> str:
    sizes = "\n".join(f"| `{one.relation}` | {one.each:,.0f} |" for one in costs)
    small, large = lists
    times = "\n".join(
        f"| {name.strip()} | {small.took[name]:.1f} | {large.took[name]:.1f} | {small.plans[name].blocks:,} | "
        f"{large.plans[name].blocks:,} | {', '.join(sorted(large.plans[name].scans)) or '–'} |"
        for name in small.took
    )
    ledger = sum(one.each for one in costs if one.relation.startswith("crawl_urls"))
    return f"""{pages:,} pages in {crawls} crawls. One URL of {len(_url(1))} characters in one crawl that found it
unchanged, written as the engine writes it, takes {ledger:.0f} bytes; one request in the log as many as stand here:

| | bytes |
|---|--:|
{sizes}

Lists of the API, at most 100 entries, when the ledger has {small.rows:,} rows and {large.rows:,}: milliseconds (median
of {ROUNDS}), blocks that Postgres looks at, and large tables that it reads from end to end. "Requests for it" and "one
host" count all requests to that host, of which there are ten times as many.

| | ms | ms, larger | blocks | blocks, larger | scans |
|---|--:|--:|--:|--:|---|
{times}

`crawler prune` dropped {prunes.dropped:,} rows with their weeks in {prunes.drop_seconds:.1f} s. To delete
{prunes.deleted:,} rows of no week one by one took {prunes.delete_seconds:.1f} s."""


_CRAWL = """
INSERT INTO crawl_jobs (id, project_id, seed_url, domain, crawl_type, status, end_reason, total_discovered, created_at,
    started_at, completed_at)
VALUES (:id, :project, :site, 'www.example.test', 'manual', 'completed', 'exhausted', :urls, :at, :at, :at)
"""
_NAMED = """
:site || '/documentation/section-' || lpad(CAST(n % 97 AS text), 2, '0') || '/chapter-'
    || lpad(CAST(n AS text), 7, '0') || '.html'
"""
# One page in five hundred failed, one in a hundred was not found, one in a thousand changed lately.
_PAGES = f"""
INSERT INTO crawled_pages (id, project_id, url, normalized_url, title, status, reason, http_status, version_id,
    crawl_id, content_hash, last_changed_at)
SELECT uuidv7(), :project, u, u, 'Chapter ' || n,
    CASE WHEN n % 500 = 0 THEN 'failed' WHEN n % 100 = 0 THEN 'skipped' ELSE 'success' END,
    CASE WHEN n % 500 = 0 THEN 'timeout' WHEN n % 100 = 0 THEN 'not_found' END, 200, uuidv7(), :last,
    sha256(CAST(u AS bytea)), now() - CASE WHEN n % 1000 = 1 THEN interval '1 hour' ELSE interval '30 days' END
FROM (SELECT n, {_NAMED} AS u FROM generate_series(1, :pages) n) given
"""
_VERSIONS = """
INSERT INTO page_versions (id, page_id, crawl_id, content_hash, crawl_method, fetched_at)
SELECT version_id, id, :first, content_hash, 'lightweight', last_changed_at FROM crawled_pages
WHERE project_id = :project
"""
# In the order of a crawl, not of their names.
_IN_ORDER = """
CREATE TEMP TABLE in_order ON COMMIT DROP AS
SELECT normalized_url, CASE status WHEN 'success' THEN 'done' ELSE status END AS state, reason, http_status,
    content_hash, version_id
FROM crawled_pages WHERE project_id = :project ORDER BY hashtext(normalized_url)
"""
_LEDGER = """
INSERT INTO crawl_urls (crawl_job_id, normalized_url, depth, priority, seq, fetch_state, reason, attempts, parent,
    http_status, content_hash, version_id, found_at, fetched_at)
SELECT :crawl, normalized_url, 2, 2, row_number() OVER (), state,
    coalesce(reason, CASE WHEN CAST(:crawl AS uuid) <> :first THEN 'unchanged' END), 1,
    '~' || chr(32 + 51) || 'chapter-0000001.html', http_status, content_hash, version_id, :at, :at
FROM in_order
"""
_LEAVES = """
SELECT CAST(relid AS text) FROM pg_partition_tree('crawl_urls') JOIN pg_class ON oid = relid
WHERE isleaf AND relpersistence = 'p'
"""
_ROWS = """
SELECT sum(reltuples) FROM pg_partition_tree('crawl_urls') JOIN pg_class ON oid = relid
WHERE isleaf AND reltuples > 0
"""
_KEY = """
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE conrelid = CAST('crawl_urls' AS regclass) AND contype = 'p'
"""
_LOG = """
INSERT INTO request_log (at, crawl_id, host, kind, lane, status, elapsed_ms, url)
SELECT now() - make_interval(secs => row_number() OVER () * 0.1), :last,
    CASE WHEN abs(hashtext(url)) % 50 = 0 THEN 'one.example.test' ELSE :host END, 'p', 'http', 200, 20, url
FROM crawled_pages WHERE project_id = :project ORDER BY id
"""
_MIDDLE = """
SELECT crawl_id, normalized_url, id FROM crawled_pages WHERE project_id = :project
ORDER BY normalized_url OFFSET (SELECT count(*) / 2 FROM crawled_pages WHERE project_id = :project) LIMIT 1
"""
_PART = "SELECT CAST(tableoid AS regclass)::text FROM crawl_urls WHERE crawl_job_id = :crawl LIMIT 1"
_SIZES = """
SELECT relname AS name, pg_table_size(oid) AS bytes FROM pg_class WHERE oid = CAST(:table AS regclass)
UNION ALL SELECT CAST(indexrelid AS regclass)::text, pg_relation_size(indexrelid) FROM pg_index
WHERE indrelid = CAST(:table AS regclass)
"""
_LARGE = """
SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples >= :least
    AND relname ~ '^(crawl_urls|request_log|crawled_pages|page_versions)'
"""
