"""The ledger (a crawl's URLs) outside the hot path: read it whole, close it, lower depths, compute statistics.

The hot path writes by `url_commit.py`. When the ledger is closed: `handlers/crawls/finish_crawl.py`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any
from uuid import UUID

from psycopg2.extras import execute_values
from sqlalchemy import Engine, text

from crawler.adapters.engine.compared_versions import CROSSED, LAST_SEEN
from crawler.adapters.engine.folded_urls import WHOLE_URL, unfolded
from crawler.adapters.postgres.database import cursor, transaction
from crawler.domain.changes.comparison import SeenPage, Standing, standing
from crawler.domain.changes.readdressed import NewAddress
from crawler.domain.crawls.crawl import FetchState
from crawler.domain.engine.ledger import BARE_WORDS, LedgerRow, Lowered, SeedState
from crawler.domain.hosts.refusals import Refusals
from crawler.domain.reasons import FAILED, Reason

_LEDGER_ROW = attrgetter(*LedgerRow._fields)


class Ledger:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def rows(self, crawl_id: UUID, *, queued_only: bool = False) -> Iterator[LedgerRow]:
        """Every URL of the crawl in the order it was queued, streamed."""
        with transaction(self._engine) as connection:
            streamed = connection.execution_options(yield_per=2000)
            rows = streamed.execute(text(_ROWS), {"crawl": crawl_id, "all": not queued_only})
            for row in rows:
                yield LedgerRow(*row)

    def count_queued(self, crawl_id: UUID) -> int:
        with transaction(self._engine) as connection:
            return int(connection.execute(text(_COUNT_QUEUED), {"crawl": crawl_id}).scalar_one())

    def close_rest(self, crawl_id: UUID, reason: Reason) -> int:
        """Skip all URLs that are still queued, with this reason."""
        with transaction(self._engine) as connection:
            n = connection.execute(text(_CLOSE), {"crawl": crawl_id, "reason": reason.value}).rowcount
            connection.execute(text(_COUNT_SKIPPED), {"crawl": crawl_id, "n": n})
        return n

    def refusals(self, crawl_id: UUID, hosts: Sequence[str]) -> dict[str, Refusals]:
        """What hosts refused the crawl since they answered it anything else; without those that refused nothing."""
        with transaction(self._engine) as connection:
            rows = connection.execute(text(_REFUSALS), {"crawl": crawl_id, "hosts": list(hosts)})
            return {host: Refusals(*told) for host, *told in rows}

    def give_up_rest(self, crawl_id: UUID, refusals: Refusals) -> int:
        """End all URLs that are still queued: they were refused."""
        state = FetchState.FAILED if refusals.reason in FAILED else FetchState.SKIPPED
        given = {
            "crawl": crawl_id,
            "reason": refusals.reason.value,
            "state": state.value,
            "http_status": refusals.status,
            "error": refusals.words,
        }
        with transaction(self._engine) as connection:
            n = connection.execute(text(_GIVE_UP), given).rowcount
            connection.execute(text(_COUNT_GIVEN_UP[state]), {"crawl": crawl_id, "n": n})
        return n

    def requeue(self, crawl_id: UUID, reasons: Sequence[Reason], urls: Sequence[str] | None = None) -> list[LedgerRow]:
        """Queue failed or refused URLs again; `urls` limits it to these."""
        given = {
            "crawl": crawl_id,
            "reasons": [reason.value for reason in reasons],
            "urls": None if urls is None else list(urls),
        }
        with transaction(self._engine) as connection:
            rows = connection.execute(text(_REQUEUE), given)
            found = rows.all()
            failed = sum(row.was == FetchState.FAILED for row in found)
            connection.execute(text(_UNCOUNT), {"crawl": crawl_id, "failed": failed, "skipped": len(found) - failed})
        return [LedgerRow._make(_LEDGER_ROW(row)) for row in found]

    def failed_urls(self, crawl_id: UUID) -> list[str]:
        with transaction(self._engine) as connection:
            return list(connection.execute(text(_FAILED), {"crawl": crawl_id}).scalars())

    def lower_depths(self, crawl_id: UUID, depths: Sequence[tuple[str, int]]) -> list[Lowered]:
        """Lower URLs to these depths. Returns the state and the links of each URL that is now at that depth.

        URLs that already were at that depth count too: a worker may have died before it went on from them.
        """
        with transaction(self._engine) as connection, cursor(connection) as db:
            rows = sorted(depths)
            lower = _LOWER.format(crawl=crawl_id)
            lowered = [Lowered(*row) for row in execute_values(db, lower, rows, page_size=len(rows), fetch=True)]
            stored = [
                (crawl_id, row.normalized_url, row.depth) for row in lowered if row.fetch_state == FetchState.DONE
            ]
            if not stored:
                return lowered
            # A second statement: it sees pages that were committed while the first had to wait for locks.
            pages = execute_values(db, _LOWER_PAGES, sorted(stored), page_size=len(stored), fetch=True)
            leads = {url: {"links_followed": links, "canonical_url": canonical} for url, links, canonical in pages}
        return [row._replace(**leads.get(row.normalized_url, {})) for row in lowered]

    def redirects(self, crawl_id: UUID) -> Iterator[tuple[str, str]]:
        with transaction(self._engine) as connection:
            rows = connection.execution_options(yield_per=5000).execute(text(_REDIRECTS), {"crawl": crawl_id})
            yield from ((row.normalized_url, row.final_url) for row in rows)

    def mark_loops(self, crawl_id: UUID, normalized_urls: Sequence[str], error: str) -> None:
        given = {"crawl": crawl_id, "urls": list(normalized_urls), "error": error}
        with transaction(self._engine) as connection:
            given["n"] = connection.execute(text(_LOOPS), given).rowcount
            connection.execute(text(_LOOPS_PAGES), given)
            connection.execute(text(_LOOPS_COUNT), given)

    def page_requests(self, crawl_id: UUID) -> int:
        with transaction(self._engine) as connection:
            return int(connection.execute(text(_PAGE_REQUESTS), {"crawl": crawl_id}).scalar_one())

    def work_done(self, crawl_id: UUID) -> tuple[int, int]:
        with transaction(self._engine) as connection:
            pages, probes = connection.execute(text(_WORK_DONE), {"crawl": crawl_id}).one()
        return pages, probes

    def seen_pages(self, crawl_id: UUID) -> Iterator[SeenPage]:
        """What the crawl found out about each URL, for comparing it with another crawl."""
        with transaction(self._engine) as connection:
            rows = connection.execution_options(yield_per=5000).execute(text(_SEEN), {"crawl": crawl_id})
            for url, key, content_hash, state, reason, method, target, status in rows:
                found = standing(FetchState(state), Reason(reason) if reason else None, status)
                digest = bytes(content_hash) if content_hash else None
                yield SeenPage(key, url, digest, found, method, reason, target, status)

    def last_seen(self, crawl_id: UUID, baseline_id: UUID) -> Iterator[SeenPage]:
        """Pages that the crawl's baseline did not get, as they were last stored before."""
        given = {"crawl": crawl_id, "before": baseline_id, "further": 0}
        with transaction(self._engine) as connection:
            rows = connection.execution_options(yield_per=5000).execute(text(LAST_SEEN), given)
            for key, url, digest, method in rows:
                yield SeenPage(key, url, bytes(digest) if digest else None, Standing.PAGE, method)

    def crossed(self, crawl_id: UUID, baseline_id: UUID) -> dict[str, tuple[bytes, bytes]]:
        """For pages that the baseline fetched in another way: old and new content that were fetched alike."""
        given = {"crawl": crawl_id, "before": baseline_id, "further": 0}
        with transaction(self._engine) as connection:
            rows = connection.execute(text(CROSSED), given)
            return {key: (b"" if told else bytes(old), bytes(new)) for key, old, new, told in rows}

    def addresses_changed(self, crawl_id: UUID, baseline_id: UUID) -> Iterator[NewAddress]:
        """Pages that the baseline fetched by another address."""
        with transaction(self._engine) as connection:
            rows = connection.execute(text(_ADDRESSES_CHANGED), {"crawl": crawl_id, "before": baseline_id})
            yield from (NewAddress(*row) for row in rows)

    def shells(self, crawl_id: UUID) -> set[str]:
        """URLs of pages of which this crawl has but a shell for scripts: a browser has shown more before, or must.

        Without a browser nobody knows whether a short page says all it has to say; one with hardly a word does not.
        """
        with transaction(self._engine) as connection:
            return set(connection.execute(text(_SHELLS), {"crawl": crawl_id, "words": BARE_WORDS}).scalars())

    def parents(self, crawl_id: UUID, urls: Sequence[str]) -> dict[str, str]:
        """For each of these URLs the key of the page on which it was first found."""
        with transaction(self._engine) as connection:
            rows = connection.execute(text(_PARENTS), {"crawl": crawl_id, "urls": list(urls)})
            return {row.url: row.parent for row in rows}

    def light_links(self, crawl_id: UUID) -> Iterator[str]:
        """Where the light copies of rendered pages link to."""
        with transaction(self._engine) as connection:
            rows = connection.execution_options(yield_per=5000).execute(text(_LIGHT_LINKS), {"crawl": crawl_id})
            yield from rows.scalars()

    def count_unlinked(self, crawl_id: UUID, baseline_id: UUID) -> int:
        """Pages that this crawl has only because they were known, and that its baseline was led to."""
        with transaction(self._engine) as connection:
            given = {"crawl": crawl_id, "before": baseline_id}
            return int(connection.execute(text(_COUNT_UNLINKED), given).scalar_one())

    def count_variants(self, crawl_id: UUID, key_of: Callable[[str], str | None]) -> None:
        """Store for each URL how many other spellings of it the crawl's pages link to."""
        with transaction(self._engine) as connection:
            streamed = connection.execution_options(yield_per=5000).execute(text(_SPELLINGS), {"crawl": crawl_id})
            variants = Counter(key for (href,) in streamed if (key := key_of(href)) is not None)
            with cursor(connection) as db:
                rows = sorted(variants.items())
                execute_values(db, _VARIANTS.format(crawl=crawl_id), rows, page_size=5000)

    def statistics(self, crawl_id: UUID) -> dict[str, Any]:
        """A crawl's statistics, counted from rows, not from counters."""
        with transaction(self._engine) as connection:
            stats: dict[str, Any] = connection.execute(text(_STATISTICS), {"crawl": crawl_id}).scalar_one()
        return stats

    def seed_state(self, crawl_id: UUID) -> SeedState | None:
        """How the crawl's first URL, or its redirect's target, stands; None when the row is lost."""
        with transaction(self._engine) as connection:
            row = connection.execute(text(_SEED), {"crawl": crawl_id}).one_or_none()
        return SeedState(*row) if row else None

    def is_whole(self, crawl_id: UUID) -> bool:
        """Whether every URL the crawl counted is in the ledger: only then can its frontier be rebuilt."""
        with transaction(self._engine) as connection:
            return bool(connection.execute(text(_WHOLE), {"crawl": crawl_id}).scalar_one())


_ROWS = """
SELECT normalized_url, url, depth, priority, seq, fetch_state, reason FROM crawl_discovered_urls
WHERE crawl_job_id = :crawl AND (:all OR fetch_state = 'queued') ORDER BY priority, seq
"""
_PARENTS = """
SELECT url, parent FROM crawl_discovered_urls
WHERE crawl_job_id = :crawl AND url = ANY(:urls) AND parent IS NOT NULL
"""
_SEEN = """
SELECT u.url, u.normalized_url, u.content_hash, u.fetch_state, u.reason, v.crawl_method, u.final_url, u.http_status
FROM crawl_discovered_urls u LEFT JOIN page_versions v ON v.id = u.version_id WHERE u.crawl_job_id = :crawl
"""
_ADDRESSES_CHANGED = """
SELECT u.normalized_url, b.url, u.url, v.title IS NOT DISTINCT FROM o.title, EXISTS (
    SELECT 1 FROM crawl_probes p
    WHERE p.crawl_id = u.crawl_job_id AND p.url = b.url AND p.purpose = 'trial' AND p.snapshot_id IS NOT NULL)
FROM crawl_discovered_urls u
JOIN crawl_discovered_urls b ON b.crawl_job_id = :before AND b.normalized_url = u.normalized_url
    AND b.fetch_state = 'done' AND b.url <> u.url
JOIN page_versions v ON v.id = u.version_id
JOIN page_versions o ON o.id = b.version_id
WHERE u.crawl_job_id = :crawl AND u.fetch_state = 'done'
"""
_SHELLS = """
SELECT u.url FROM crawl_discovered_urls u JOIN page_versions v ON v.id = u.version_id
WHERE u.crawl_job_id = :crawl AND u.fetch_state = 'done'
    AND u.reason IN ('render_unavailable', 'render_failed', 'render_off')
    AND u.rendering ->> 'shell' IS NOT NULL AND ((u.rendering ->> 'shell')::int < :words
        OR EXISTS (SELECT 1 FROM page_versions r WHERE r.page_id = v.page_id AND r.crawl_method = 'crawl4ai'))
"""
_LIGHT_LINKS = """
SELECT DISTINCT link ->> 'url' FROM crawl_discovered_urls u
JOIN page_versions v ON v.id = (u.rendering ->> 'light_copy')::uuid AND v.crawl_method = 'lightweight'
CROSS JOIN LATERAL jsonb_array_elements(v.links) AS link
WHERE u.crawl_job_id = :crawl
"""
_COUNT_UNLINKED = """
SELECT count(*) FROM crawl_discovered_urls u
JOIN crawl_discovered_urls b ON b.crawl_job_id = :before AND b.normalized_url = u.normalized_url
    AND b.fetch_state = 'done' AND b.source <> 'known'
WHERE u.crawl_job_id = :crawl AND u.source = 'known' AND u.fetch_state = 'done'
"""
_FAILED = """
SELECT url FROM crawl_discovered_urls WHERE crawl_job_id = :crawl AND fetch_state = 'failed' ORDER BY priority, seq
"""
_COUNT_QUEUED = "SELECT count(*) FROM crawl_discovered_urls WHERE crawl_job_id = :crawl AND fetch_state = 'queued'"
_CLOSE = """
UPDATE crawl_urls SET fetch_state = 'skipped', status = NULL, reason = :reason
WHERE crawl_job_id = :crawl AND fetch_state = 'queued'
"""
_COUNT_SKIPPED = "UPDATE crawl_jobs SET pages_skipped = pages_skipped + :n WHERE id = :crawl"
_GIVE_UP = """
UPDATE crawl_urls SET fetch_state = :state, status = NULL, reason = :reason, http_status = :http_status,
       error_message = :error
WHERE crawl_job_id = :crawl AND fetch_state = 'queued'
"""
_COUNT_GIVEN_UP = {
    FetchState.FAILED: "UPDATE crawl_jobs SET pages_failed = pages_failed + :n WHERE id = :crawl",
    FetchState.SKIPPED: _COUNT_SKIPPED,
}
_REFUSALS = """
SELECT h.host, r.asked, r.since, r.last, r.status, r.of_robots
FROM unnest(CAST(:hosts AS text[])) AS h(host)
LEFT JOIN LATERAL (
    SELECT at FROM request_log WHERE crawl_id = :crawl AND host = h.host
       AND status IS NOT NULL AND status NOT IN (429, 503) AND NOT (kind = 'r' AND status >= 500)
    ORDER BY at DESC LIMIT 1
) a ON true
CROSS JOIN LATERAL (
    SELECT count(*) AS asked, min(at) AS since, max(at) AS last, (array_agg(status ORDER BY at DESC))[1] AS status,
           (array_agg(kind ORDER BY at DESC))[1] = 'r' AS of_robots
    FROM request_log WHERE crawl_id = :crawl AND host = h.host AND at > coalesce(a.at, '-infinity')
) r
WHERE r.asked > 0
"""
_REQUEUE = f"""
WITH before AS (
    SELECT normalized_url, fetch_state FROM crawl_discovered_urls
    WHERE crawl_job_id = :crawl AND reason = ANY(:reasons) AND fetch_state IN ('failed', 'skipped')
      AND (CAST(:urls AS text[]) IS NULL OR normalized_url = ANY(:urls))
    ORDER BY normalized_url FOR UPDATE
)
UPDATE crawl_urls u
SET fetch_state = 'queued', status = NULL, reason = NULL, error_message = NULL
FROM before b
WHERE u.crawl_job_id = :crawl AND u.normalized_url = b.normalized_url
RETURNING u.normalized_url, {WHOLE_URL} AS url, u.depth, u.priority, u.seq, u.fetch_state, u.reason,
    b.fetch_state AS was
"""  # noqa: S608 - our own words
_UNCOUNT = """
UPDATE crawl_jobs SET pages_failed = pages_failed - :failed, pages_skipped = pages_skipped - :skipped
WHERE id = :crawl
"""
_LOWER = f"""
UPDATE crawl_urls u SET depth = v.depth
FROM (VALUES %s) AS v(normalized_url, depth)
WHERE u.crawl_job_id = '{{crawl}}' AND u.normalized_url = v.normalized_url AND u.depth >= v.depth
RETURNING u.normalized_url, {WHOLE_URL}, u.depth, u.priority, u.seq, u.fetch_state, u.reason, {unfolded("final_url")}
"""  # noqa: S608 - our own words
_LOWER_PAGES = """
UPDATE crawled_pages p SET depth = v.depth
FROM (VALUES %s) AS v(crawl_id, normalized_url, depth)
JOIN crawl_jobs c ON c.id = v.crawl_id
WHERE p.project_id = c.project_id AND p.normalized_url = v.normalized_url
RETURNING p.normalized_url, coalesce(p.links_followed, p.links_found), p.canonical_url
"""
_REDIRECTS = """
SELECT normalized_url, final_url FROM crawl_discovered_urls
WHERE crawl_job_id = :crawl AND reason = 'redirected' AND final_url IS NOT NULL
"""
_LOOPS = """
UPDATE crawl_urls SET fetch_state = 'failed', status = NULL, reason = 'redirect_loop',
       error_message = :error
WHERE crawl_job_id = :crawl AND normalized_url = ANY(:urls) AND reason = 'redirected'
"""
_LOOPS_PAGES = """
UPDATE crawled_pages p SET status = 'failed', reason = 'redirect_loop', error_message = :error
FROM crawl_jobs c
WHERE c.id = :crawl AND p.project_id = c.project_id AND p.normalized_url = ANY(:urls) AND p.reason = 'redirected'
"""
_LOOPS_COUNT = """
UPDATE crawl_jobs SET pages_skipped = pages_skipped - :n, pages_failed = pages_failed + :n WHERE id = :crawl
"""
_WHOLE = """
SELECT u.n > 0 AND u.n >= c.total_discovered FROM crawl_jobs c,
    LATERAL (SELECT count(*) AS n FROM crawl_discovered_urls WHERE crawl_job_id = c.id) u WHERE c.id = :crawl
"""
_PAGE_REQUESTS = "SELECT count(*) FROM request_log WHERE crawl_id = :crawl AND kind = 'p'"
_WORK_DONE = f"""
SELECT ({_PAGE_REQUESTS}), (SELECT count(*) FROM crawl_probes WHERE crawl_id = :crawl AND state = 'done')
"""  # noqa: S608 - our own words
# Few links remain here: those to other sites, and the other spellings.
_SPELLINGS = """
SELECT DISTINCT link FROM crawl_jobs c
JOIN crawled_pages p ON p.project_id = c.project_id AND p.crawl_id = c.id AND p.status = 'success'
CROSS JOIN LATERAL jsonb_array_elements_text(coalesce(p.links_followed, p.links_found)) AS link
WHERE c.id = :crawl
  AND NOT EXISTS (SELECT 1 FROM crawl_discovered_urls u WHERE u.crawl_job_id = c.id AND u.url = link)
"""
_VARIANTS = """
UPDATE crawl_urls u SET variants = v.variants
FROM (VALUES %s) AS v(normalized_url, variants)
WHERE u.crawl_job_id = '{crawl}' AND u.normalized_url = v.normalized_url
"""
_STATISTICS = """
WITH rows AS (SELECT * FROM crawl_discovered_urls WHERE crawl_job_id = :crawl),
log AS (SELECT * FROM request_log WHERE crawl_id = :crawl AND elapsed_ms IS NOT NULL)
SELECT jsonb_build_object(
    'by_status', (SELECT coalesce(jsonb_object_agg(fetch_state, n), '{}') FROM
        (SELECT fetch_state, count(*) n FROM rows GROUP BY 1) a),
    'by_reason', (SELECT coalesce(jsonb_object_agg(reason, n), '{}') FROM
        (SELECT reason, count(*) n FROM rows WHERE reason IS NOT NULL GROUP BY 1) a),
    'by_code', (SELECT coalesce(jsonb_object_agg(http_status, n), '{}') FROM
        (SELECT http_status, count(*) n FROM rows WHERE http_status IS NOT NULL GROUP BY 1) a),
    'by_depth', (SELECT coalesce(jsonb_object_agg(depth, n), '{}') FROM
        (SELECT depth, count(*) n FROM rows WHERE fetch_state = 'done' GROUP BY 1) a),
    'bytes', (SELECT coalesce(sum(p.byte_length), 0) FROM rows r
        JOIN crawl_jobs c ON c.id = r.crawl_job_id
        JOIN crawled_pages p ON p.project_id = c.project_id AND p.normalized_url = r.normalized_url
        WHERE r.fetch_state = 'done'),
    'merged_links', (SELECT coalesce(sum(variants), 0) FROM rows),
    'total_links', (SELECT count(*) + coalesce(sum(variants), 0) FROM rows),
    'nofollow_links', (SELECT coalesce(sum(jsonb_array_length(p.links_found)), 0) FROM rows r
        JOIN crawl_jobs c ON c.id = r.crawl_job_id
        JOIN crawled_pages p ON p.project_id = c.project_id AND p.normalized_url = r.normalized_url
        WHERE r.depth = 0 AND r.fetch_state = 'done' AND p.links_followed = '[]'),
    'damaged_sitemaps', (SELECT coalesce(scope -> 'damaged_sitemaps', '[]') FROM crawl_jobs WHERE id = :crawl),
    'read_in_part', (SELECT count(*) FROM rows WHERE fetch_state = 'done' AND rendering ? 'in_part'),
    'is_cut', (SELECT scope ? 'cut' FROM crawl_jobs WHERE id = :crawl),
    'requests', (SELECT count(*) FROM request_log WHERE crawl_id = :crawl),
    'latency_ms', (SELECT jsonb_build_object(
        'p50', percentile_disc(0.5) WITHIN GROUP (ORDER BY elapsed_ms),
        'p95', percentile_disc(0.95) WITHIN GROUP (ORDER BY elapsed_ms)) FROM log)
)
"""
_SEED = """
SELECT fetch_state, reason, error_message, http_status, url FROM crawl_discovered_urls
WHERE crawl_job_id = :crawl AND (source IN ('seed', 'list') OR (source = 'redirect' AND priority = 0))
ORDER BY reason = 'redirected' NULLS FIRST, seq LIMIT 1
"""
