"""A project of so many pages with two crawls behind it, written by SQL from real pages' texts and bytes."""

import hashlib
import json
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import zstandard
from sqlalchemy import Connection, text

from benchmarks.ours import Ours
from benchmarks.sites import PACKAGES, Sites
from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.domain.crawls.project import Project
from crawler.domain.pages.parsing import parse_page

SITE = "postgresql"
TEXTS = 200
"""Different pages; each stands for many."""
HOSTS = 500
REQUESTS = 100_000
_NAMESPACE = UUID("3c1b7a52-64a8-4c57-9f0e-0a5d1f2f8a11")


@dataclass(frozen=True)
class Stocked:
    """What can be asked for."""

    project: Project
    before: CrawlJob
    latest: CrawlJob
    page_id: UUID
    """It has two versions."""
    url: str


def stock(crawler: Ours, sites: Sites, pages: int, **config: Any) -> Stocked:
    tools = crawler.tools
    project = crawler.project(sites.portal, **config)
    before, latest = (_past_crawl(crawler, project, days) for days in (8, 1))
    values = {
        "project": project.id, "before": before.id, "latest": latest.id, "pages": pages, "texts": TEXTS,
        "base": sites.portal, "hosts": HOSTS, "requests": REQUESTS,
    }  # fmt: skip
    with tools.database.begin() as db:
        _write_texts(db)
        for statement in _STATEMENTS:
            db.execute(text(statement), values)
    with tools.database.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
        db.execute(text("VACUUM ANALYZE"))
        page_id, url = db.execute(text(_CHANGED_PAGE), values).one()
    tools.changes.diff_crawl(latest.id)
    tools.crawls.report.ensure(latest.id)
    return Stocked(project, before, latest, page_id, url)


def _past_crawl(crawler: Ours, project: Project, days: int) -> CrawlJob:
    now = crawler.tools.clock() - timedelta(days=days)
    crawl = CrawlJob.create(
        project_id=project.id, seed_url=project.website_url or "", domain="127.0.0.1", crawl_type=CrawlType.MANUAL,
        config=project.settings, now=now,
    )  # fmt: skip
    added = crawler.tools.store.add_crawl(crawl)
    with crawler.tools.database.begin() as db:
        db.execute(text(_ENDED), {"crawl": added.id, "at": now})
    return crawler.tools.store.get_crawl(added.id)


def _write_texts(db: Connection) -> None:
    """Pages of the manual, as a crawl would keep them."""
    db.execute(text(_TEXTS_TABLE))
    files = sorted(PACKAGES[SITE][1].glob("*.html"))[:TEXTS]
    db.execute(text(_SNAPSHOTS), [_snapshot(file) for file in files])
    db.execute(text(_TEXTS), [_words(number, file) for number, file in enumerate(files)])


def _snapshot(file: Path) -> dict[str, Any]:
    body = file.read_bytes()
    return {
        "id": uuid5(_NAMESPACE, file.name), "hash": hashlib.sha256(body).digest(),
        "content": zstandard.compress(body), "length": len(body),
    }  # fmt: skip


def _words(number: int, file: Path) -> dict[str, Any]:
    page = parse_page(file.read_bytes(), url=f"http://127.0.0.1/{file.name}", content_type="text/html")
    links = [f"http://127.0.0.1/{link.url}" for link in page.links]
    return {
        "n": number, "title": page.title, "h1": page.h1, "words": page.text, "links": json.dumps(links),
        "snapshot": uuid5(_NAMESPACE, file.name),
    }  # fmt: skip


_ENDED = """
UPDATE crawl_jobs SET status = 'completed', end_reason = 'exhausted', seeded = true, started_at = :at,
    completed_at = CAST(:at AS timestamptz) + interval '1 hour' WHERE id = :crawl
"""
_TEXTS_TABLE = """
CREATE TEMPORARY TABLE texts (n int PRIMARY KEY, title text, h1 text, words text, links jsonb, snapshot uuid)
ON COMMIT DROP
"""
_SNAPSHOTS = """
INSERT INTO snapshots (id, content_hash, content, content_type, byte_length)
VALUES (:id, :hash, :content, 'text/html', :length) ON CONFLICT DO NOTHING
"""
_TEXTS = "INSERT INTO texts VALUES (:n, :title, :h1, :words, CAST(:links AS jsonb), :snapshot)"
# One page in five hundred failed, one in a hundred was skipped, one in a thousand changed in the second crawl.
_PAGES = """
INSERT INTO crawled_pages (id, project_id, url, normalized_url, title, h1, meta_description, content_text, word_count,
    links_found, status, reason, http_status, byte_length, depth, crawl_method, content_hash, version_id, crawl_id,
    crawled_at, first_seen_at, last_seen_at, last_changed_at)
SELECT gen_random_uuid(), :project, u, u, t.title || ' ' || g % 1000, t.h1, NULL, t.words, 500, t.links,
    CASE WHEN g % 500 = 0 THEN 'failed' WHEN g % 100 = 0 THEN 'skipped' ELSE 'success' END,
    CASE WHEN g % 500 = 0 THEN 'timeout' WHEN g % 100 = 0 THEN 'not_found' END,
    CASE WHEN g % 100 <> 0 THEN 200 END, 20000, 2, 'lightweight', sha256(CAST(u AS bytea)), gen_random_uuid(), :latest,
    now() - interval '1 day', now() - interval '8 days', now() - interval '1 day',
    now() - CASE WHEN g % 1000 = 1 THEN interval '1 day' ELSE interval '8 days' END
FROM (SELECT g, :base || 'section' || g % 50 || '/page' || g AS u FROM generate_series(1, :pages) AS g) AS given
JOIN texts t ON t.n = g % (SELECT count(*) FROM texts)
"""
_VERSIONS = """
INSERT INTO page_versions (id, page_id, crawl_id, snapshot_id, content_hash, title, headers, crawl_method, fetched_at)
SELECT p.version_id, p.id, CASE WHEN changed THEN CAST(:latest AS uuid) ELSE CAST(:before AS uuid) END, t.snapshot,
    p.content_hash, p.title, '{"content-type": "text/html; charset=utf-8"}', 'lightweight', p.last_changed_at
FROM (SELECT *, last_changed_at > now() - interval '2 days' AS changed FROM crawled_pages) AS p
JOIN texts t ON t.n = abs(hashtext(p.normalized_url)) % (SELECT count(*) FROM texts)
WHERE p.project_id = :project AND p.status = 'success'
"""
_OLD_VERSIONS = """
INSERT INTO page_versions (id, page_id, crawl_id, snapshot_id, content_hash, title, headers, crawl_method, fetched_at)
SELECT gen_random_uuid(), p.id, :before, t.snapshot, sha256(CAST(p.url || 'old' AS bytea)), p.title,
    '{"content-type": "text/html; charset=utf-8"}', 'lightweight', now() - interval '8 days'
FROM crawled_pages p JOIN texts t ON t.n = (1 + abs(hashtext(p.normalized_url))) % (SELECT count(*) FROM texts)
WHERE p.project_id = :project AND p.status = 'success' AND p.last_changed_at > now() - interval '2 days'
"""
_LEDGER = """
INSERT INTO crawl_urls (crawl_job_id, normalized_url, url, depth, priority, seq, fetch_state, status, reason,
    parent, http_status, content_hash, version_id, found_at, fetched_at)
SELECT :{crawl}, p.normalized_url, p.url, 2, 2, row_number() OVER (),
    CASE p.status WHEN 'success' THEN 'done' ELSE p.status END,
    CASE p.status WHEN 'success' THEN 'ingested' ELSE p.status END, p.reason, :base, p.http_status, v.content_hash,
    v.id, p.last_seen_at, p.last_seen_at
FROM crawled_pages p
LEFT JOIN LATERAL (SELECT id, content_hash FROM page_versions WHERE page_id = p.id
                   ORDER BY fetched_at {order} LIMIT 1) AS v ON true
WHERE p.project_id = :project ON CONFLICT DO NOTHING
"""
# A few that nobody finds by chance.
_RARE = """
UPDATE crawl_urls SET fetch_state = 'failed', status = 'failed', reason = 'tls'
WHERE crawl_job_id = :latest AND seq % 20000 = 7
"""
_HOSTS = """
INSERT INTO hosts (host, robots_status, robots_fetched_at)
SELECT 'h' || g || '.example', 200, now() FROM generate_series(1, :hosts) AS g
"""
_LOG = """
INSERT INTO request_log (at, crawl_id, host, kind, lane, status, elapsed_ms, url)
SELECT now() - make_interval(secs => (:requests - g) * 0.9), :latest, 'h' || 1 + g % :hosts || '.example', 'p', 'http',
    200, 20 + g % 50, 'http://h' || 1 + g % :hosts || '.example/p' || g
FROM generate_series(1, :requests) AS g
"""
_STATEMENTS = (
    _PAGES, _VERSIONS, _OLD_VERSIONS, _LEDGER.format(crawl="before", order="ASC"),
    _LEDGER.format(crawl="latest", order="DESC"), _RARE, _HOSTS, _LOG,
)  # fmt: skip
_CHANGED_PAGE = """
SELECT id, url FROM crawled_pages WHERE project_id = :project AND last_changed_at > now() - interval '2 days'
    AND status = 'success' ORDER BY normalized_url LIMIT 1
"""
