"""What changed between two crawls of a large site, from stored rows to the saved summary, in a process of its own."""

import multiprocessing
import resource
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text
from zstandard import ZstdCompressor

from benchmarks.options import Options
from benchmarks.ours import ending_with_us
from crawler.adapters.postgres.schema import migrate
from crawler.bootstrap import App, build
from crawler.config import load_settings
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlType
from crawler.domain.crawls.project import Project
from crawler.embedded import EmbeddedServers

TITLE = "The diff of two crawls"
PAGES = 10_000
MOST_SECONDS = 2.0
MOST_MEGABYTES = 200
_SITE = "http://site.test"


class Measured(NamedTuple):
    seconds: float
    megabytes: float
    """The most its process had resident, all code included."""
    summary: dict[str, int]
    moved: int


def run(options: Options) -> str:
    pages = options.size(PAGES, 1_000)
    with (
        tempfile.TemporaryDirectory(prefix="bench-diff-") as folder,
        EmbeddedServers(Path(folder)) as servers,
        ending_with_us(Path(folder)),
    ):
        tools = tools_of(servers.database_url, servers.redis_url)
        migrate(tools.database)
        crawl_id = stock(tools, pages)
        tools.database.dispose()
        spawn = multiprocessing.get_context("spawn")
        with spawn.Pool(1, maxtasksperchild=1) as processes:
            job = (servers.database_url, servers.redis_url, crawl_id)
            rounds = [processes.apply(_measure, job) for _ in range(options.repeats)]
    return table(pages, rounds)


def tools_of(database_url: str, redis_url: str) -> App:
    return build(load_settings(database_url=database_url, redis_url=redis_url))


def _measure(database_url: str, redis_url: str, crawl_id: UUID) -> Measured:
    tools = tools_of(database_url, redis_url)
    tools.store.get_crawl(crawl_id)  # connected
    began = time.perf_counter()
    summary = tools.changes.diff_crawl(crawl_id).change_summary
    seconds = time.perf_counter() - began
    assert summary is not None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Measured(seconds, most, summary["summary"], summary["moved_pages"])


def table(pages: int, rounds: list[Measured]) -> str:
    seconds, most = median(one.seconds for one in rounds), max(one.megabytes for one in rounds)
    counts = ", ".join(f"{n:,} {kind.removesuffix('_pages')}" for kind, n in rounds[0].summary.items())
    return f"""Two crawls of {pages:,} pages ({counts}, {rounds[0].moved:,} moved), median of {len(rounds)}:

| | measured | wanted |
|---|--:|--:|
| seconds from rows to the saved summary | {seconds:.2f} | < {MOST_SECONDS:.0f} |
| megabytes of its process at most | {most:.0f} | < {MOST_MEGABYTES} |"""


def stock(tools: App, pages: int) -> UUID:
    """Of a hundred pages in the second crawl one is new, two are edited, one redirects to a new one, one is gone.

    What was edited has its bytes: a page of a manual, before and after, is weighed for each.
    """
    project = tools.store.add_project(Project.create(name="diff", website_url=_SITE, now=tools.clock()))
    before, latest = (_crawl(tools, project) for _ in range(2))
    values = {"project": project.id, "before": before.id, "latest": latest.id, "pages": pages, "site": _SITE}
    with tools.database.begin() as db:
        for statement in _STATEMENTS:
            db.execute(text(statement), values)
        edited = [number for number in range(1, pages + 1) if number % 100 < 2]
        bodies = [(crawl.id, number, _page(crawl.id, number)) for crawl in (before, latest) for number in edited]
        db.execute(text(_SNAPSHOTS), [_snapshot(*body) for body in bodies])
        db.execute(text(_EDITED), [{"crawl": crawl_id, "n": number} for crawl_id, number, _ in bodies])
    with tools.database.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
        db.execute(text("VACUUM ANALYZE"))
    return latest.id


def _page(crawl_id: UUID, number: int) -> bytes:
    """As long as pages of manuals are. Its edit is like no other page's: it is no change of the template."""
    prose = "".join(f"<h2>Part {n}</h2><p>{'Some words that stay as they are. ' * 12}</p>" for n in range(20))
    words = " ".join(sha256(f"{crawl_id} {number} {n}".encode()).hexdigest().translate(_LETTERS)[:7] for n in range(12))
    return f"<html><head><title>A page</title></head><body><main>{prose}<p>{words}</p></main></body></html>".encode()


_LETTERS = str.maketrans("0123456789", "ghijklmnop")


def _snapshot(crawl_id: UUID, number: int, body: bytes) -> dict[str, object]:
    content = ZstdCompressor().compress(body)
    return {"crawl": crawl_id, "n": number, "hash": sha256(body).digest(), "content": content, "length": len(body)}


def _crawl(tools: App, project: Project) -> CrawlJob:
    crawl = CrawlJob.create(
        project_id=project.id, seed_url=_SITE, domain="site.test", crawl_type=CrawlType.MANUAL,
        config=CrawlConfig(max_pages=100_000), now=tools.clock(),
    )  # fmt: skip
    added = tools.store.add_crawl(crawl)
    with tools.database.begin() as db:
        db.execute(text(_ENDED), {"crawl": added.id})
    return tools.store.get_crawl(added.id)


_ENDED = """
UPDATE crawl_jobs SET status = 'completed', end_reason = 'exhausted', started_at = clock_timestamp(),
    completed_at = clock_timestamp() WHERE id = :crawl
"""
_PAGES = """
INSERT INTO crawled_pages (id, project_id, url, normalized_url)
SELECT md5(n::text)::uuid, :project, :site || '/section/page-' || n, :site || '/section/page-' || n
FROM generate_series(1, :pages + :pages / 50) n
"""
_VERSIONS = """
INSERT INTO page_versions (id, page_id, crawl_id, content_hash, crawl_method)
SELECT md5(c.name || n)::uuid, md5(n::text)::uuid, c.id,
       sha256((n || CASE WHEN c.name = 'latest' AND n % 100 < 2 THEN ' edited' ELSE '' END)::bytea), 'lightweight'
FROM generate_series(1, :pages + :pages / 50) n,
     (VALUES (CAST(:before AS uuid), 'before'), (CAST(:latest AS uuid), 'latest')) AS c(id, name)
"""
_LEDGER = """
INSERT INTO crawl_urls (crawl_job_id, normalized_url, url, depth, priority, seq, fetch_state, status,
    content_hash, version_id, http_status)
SELECT v.crawl_id, p.normalized_url, p.url, 2, 2, n, 'done', 'ingested', v.content_hash, v.id, 200
FROM generate_series(1, :pages + :pages / 50) n
JOIN page_versions v ON v.page_id = md5(n::text)::uuid
JOIN crawled_pages p ON p.id = v.page_id
WHERE CASE v.crawl_id WHEN :before THEN n <= :pages ELSE n > :pages OR n % 100 NOT IN (50, 51) END
"""
_PROBES = """
INSERT INTO crawl_probes (crawl_id, normalized_url, url, host, purpose, position, state, outcome, http_status,
    final_url, content_hash)
SELECT :latest, u.normalized_url, u.url, 'site.test', 'missing', u.seq, 'done',
       CASE u.seq % 100 WHEN 50 THEN 'gone' ELSE 'moved' END, CASE u.seq % 100 WHEN 50 THEN 404 ELSE 301 END,
       CASE u.seq % 100 WHEN 51 THEN :site || '/section/page-' || (:pages + u.seq / 100 + 1) END, u.content_hash
FROM crawl_discovered_urls u WHERE u.crawl_job_id = :before AND u.seq % 100 IN (50, 51)
"""
_SNAPSHOTS = """
INSERT INTO snapshots (id, content_hash, content, content_type, byte_length)
VALUES (md5(CAST(:crawl AS text) || CAST(:n AS text))::uuid, :hash, :content, 'text/html', :length)
"""
_EDITED = """
UPDATE page_versions SET snapshot_id = md5(CAST(:crawl AS text) || CAST(:n AS text))::uuid
WHERE crawl_id = CAST(:crawl AS uuid) AND page_id = md5(CAST(:n AS text))::uuid
"""
_STATEMENTS = (_PAGES, _VERSIONS, _LEDGER, _PROBES)
