"""Documents: manuals' pages cut into chunks, ingested, and searched among a hundred thousand chunks."""

import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from statistics import median, quantiles
from uuid import UUID

import zstandard
from sqlalchemy import text

from benchmarks.options import Options
from benchmarks.ours import ending_with_us
from benchmarks.sites import PACKAGES
from crawler.adapters.postgres.schema import migrate
from crawler.bootstrap import App, build
from crawler.config import load_settings
from crawler.domain.crawls.project import Project
from crawler.domain.documents.chunking import ChunkRule, chunk_markdown
from crawler.domain.documents.document import document_id
from crawler.domain.engine.ledger import page_id, snapshot_id, version_id
from crawler.domain.markdown.page import to_markdown
from crawler.embedded import EmbeddedServers

TITLE = "Documents and search"
CHUNKS = 100_000
LEAST_PAGES_A_SECOND = 200
MOST_P95_MS = 100
_SITE = "http://manual.test"
_COMMON = ("table", "function", "server", "query", "value", "data", "index", "command", "type", "parameter", "column",
           "string", "object", "module", "file", "return", "default", "example", "class", "method")  # fmt: skip
_OPERATORS = ('"foreign key"', "vacuum -full", "select or insert", '"write ahead log"', "index -gin -gist",
              "json or xml", "the table of contents", "how do I create an index without locking the table",
              "pg_dump restore", "error code 42601")  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    pages: int
    chunked: float
    """Pages a second, from markdown."""
    extracted: float
    """From HTML."""
    ingested: float
    """With everything, kept in Postgres."""
    chunks: int
    queries: int
    milliseconds: Sequence[float]
    by_kind: dict[str, float]


def run(options: Options) -> str:
    pages = [path.read_bytes() for path in _files(options)]
    chunked, extracted = _cut(pages)
    with (
        tempfile.TemporaryDirectory(prefix="bench-documents-") as folder,
        EmbeddedServers(Path(folder)) as servers,
        ending_with_us(Path(folder)),
    ):
        tools = build(load_settings(database_url=servers.database_url, redis_url=servers.redis_url, shift_seconds=300))
        migrate(tools.database)
        project = tools.store.add_project(Project.create(name="manuals", website_url=_SITE, now=tools.clock()))
        _store(tools, project.id, pages)
        began = time.perf_counter()
        made = tools.documents.ingest()
        ingested = made / (time.perf_counter() - began)
        assert made == len(pages)
        chunks = _multiply(tools, project.id, options.size(CHUNKS, 5_000))
        times = _search(tools, project.id, options.size(5, 1))
        tools.database.dispose()
    everything = [ms for kind in times.values() for ms in kind]
    by_kind = {kind: quantiles(found, n=20)[-1] for kind, found in times.items()}
    return table(Outcome(len(pages), chunked, extracted, ingested, chunks, len(everything), everything, by_kind))


def _files(options: Options) -> list[Path]:
    """Pages, not indexes of them: some are megabytes of links."""
    found = [path for name in options.sites for path in sorted(PACKAGES[name][1].rglob("*.html"))]
    if not found:
        raise SystemExit("There are no manuals; install postgresql-doc-15 and python3.11-doc.")
    return found[: options.size(len(found), 60)]


def _cut(pages: Sequence[bytes]) -> tuple[float, float]:
    rule, began = ChunkRule(), time.perf_counter()
    texts = [to_markdown(body, url=_SITE) for body in pages]
    between = time.perf_counter()
    for found in texts:
        chunk_markdown(found, rule)
    ended = time.perf_counter()
    return len(pages) / (ended - between), len(pages) / (ended - began)


def _store(tools: App, project_id: UUID, pages: Sequence[bytes]) -> None:
    """As a crawl that ingests would have left them."""
    rows = []
    for number, body in enumerate(pages):
        url = f"{_SITE}/{number}"
        digest = sha256(url.encode()).digest()
        page = page_id(project_id, url)
        rows.append(
            {
                "project": project_id, "url": url, "page": page, "version": version_id(page, project_id, digest),
                "snapshot": snapshot_id(digest), "hash": digest, "content": zstandard.compress(body),
                "length": len(body), "document": document_id(project_id, url),
            }
        )  # fmt: skip
    with tools.database.begin() as db:
        for statement in _STATEMENTS:
            db.execute(text(statement), rows)


def _multiply(tools: App, project_id: UUID, wanted: int) -> int:
    """The same chunks under other addresses until there are enough; then the indexes are as they are after a night."""
    with tools.database.begin() as db:
        have = int(db.execute(text("SELECT count(*) FROM document_chunks")).scalar_one())
        for _ in range(max(0, -(-wanted // have) - 1)):
            db.execute(text(_COPY), {"project": project_id, "most": wanted})
    with tools.database.connect().execution_options(isolation_level="AUTOCOMMIT") as db:
        db.execute(text("VACUUM ANALYZE document_chunks"))
        db.execute(text("VACUUM ANALYZE documents"))
        return int(db.execute(text("SELECT count(*) FROM document_chunks")).scalar_one())


def _search(tools: App, project_id: UUID, rounds: int) -> dict[str, list[float]]:
    with tools.database.begin() as db:
        headings = db.execute(text("SELECT DISTINCT headings[array_upper(headings, 1)] FROM document_chunks")).scalars()
        known = sorted(heading for heading in headings if heading and len(heading) < 80)
    kinds = {
        "headings of the manuals": random.Random(1).sample(known, min(60, len(known))),
        "one common word": list(_COMMON),
        "phrases, OR, -without, sentences": list(_OPERATORS),
    }
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind, queries in kinds.items():
            for query in queries:
                began = time.perf_counter()
                tools.documents.search(project_id, query, limit=10)
                times[kind].append((time.perf_counter() - began) * 1000)
    return times


def table(outcome: Outcome) -> str:
    p95 = quantiles(outcome.milliseconds, n=20)[-1]
    kinds = "\n".join(f"| … {kind}, p95 | {ms:.0f} ms | |" for kind, ms in outcome.by_kind.items())
    return f"""{outcome.pages:,} pages of the manuals, one process, embedded Postgres; for the search their chunks are
copied until there are {outcome.chunks:,}. {outcome.queries} searches by words, ten hits with snippets
each, one after the other.

| | measured | wanted |
|---|--:|--:|
| pages a second cut into chunks, from markdown | {outcome.chunked:,.0f} | ≥ {LEAST_PAGES_A_SECOND} |
| … from stored HTML | {outcome.extracted:,.0f} | ≥ {LEAST_PAGES_A_SECOND} |
| … with full-text words, kept and committed | {outcome.ingested:,.0f} | |
| search, median | {median(outcome.milliseconds):.0f} ms | |
| search, p95 | {p95:.0f} ms | < {MOST_P95_MS} ms |
{kinds}
| search, longest | {max(outcome.milliseconds):.0f} ms | |"""


_STATEMENTS = (
    """INSERT INTO crawled_pages
        (id, project_id, url, normalized_url, title, status, content_hash, version_id, language)
    VALUES (:page, :project, :url, :url, 'A page', 'success', :hash, :version, 'en')""",
    """INSERT INTO snapshots (id, content_hash, content, content_type, byte_length)
    VALUES (:snapshot, :hash, :content, 'text/html', :length)""",
    """INSERT INTO page_versions (id, page_id, crawl_id, snapshot_id, content_hash, title)
    VALUES (:version, :page, :project, :snapshot, :hash, 'A page')""",
    """INSERT INTO documents (id, project_id, page_id, url, normalized_url, due_version_id)
    VALUES (:document, :project, :page, :url, :url, :version)""",
)
_COPY = """
WITH source AS (SELECT * FROM documents WHERE project_id = :project AND page_id IS NOT NULL),
copied AS (
    INSERT INTO documents (id, project_id, url, normalized_url, title, language, status)
    SELECT gen_random_uuid(), project_id, url || '?' || gen_random_uuid(), id || ' ' || gen_random_uuid(), title,
        language, 'ingested' FROM source
    RETURNING id, normalized_url)
INSERT INTO document_chunks (id, document_id, project_id, position, headings, content, token_count, config, words)
SELECT gen_random_uuid(), d.id, c.project_id, c.position, c.headings, c.content, c.token_count, c.config, c.words
FROM copied d JOIN document_chunks c ON c.document_id = CAST(split_part(d.normalized_url, ' ', 1) AS uuid)
LIMIT greatest(0, :most - (SELECT count(*) FROM document_chunks))
"""
