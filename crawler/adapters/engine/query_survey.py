"""What a crawl finds out about query parameters, in Postgres: links, trials, and each step as one transaction."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import Engine, text

from crawler.adapters.engine.batch_writer import admit
from crawler.adapters.engine.folded_urls import WHOLE_URL
from crawler.adapters.engine.probe_store import plan_probes
from crawler.adapters.postgres.database import cursor, transaction
from crawler.adapters.postgres.snapshot_bytes import find_bytes
from crawler.domain.changes.probes import Probe
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob
from crawler.domain.crawls.frontier import Lane
from crawler.domain.crawls.learned_params import LearnedParam, ParamRole
from crawler.domain.engine.ledger import LIGHT, RENDERED, Found
from crawler.domain.urls.folded_addresses import NO_PAGE
from crawler.domain.urls.query_survey import OUTAGES

MOST_LINKS = 50_000
"""Links that one survey looks at, the shortest first. That takes some ten seconds of a processor at worst."""
MOST_READDRESSED = 1000
_METHOD = {Lane.HTTP: LIGHT, Lane.BROWSER: RENDERED}


class TriedPage(NamedTuple):
    """A page that was fetched for a trial; without content when it did not answer with a page."""

    url: str
    content: bytes | None
    content_type: str


class Saved(NamedTuple):
    """A crawl with what was found out, and how many probes and URLs are new by it."""

    crawl: CrawlJob
    new: int


class QuerySurvey:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def links(self, crawl_id: UUID) -> Iterator[tuple[str, int, str]]:
        """Links with a query on pages of this crawl and in its sitemaps: address, depth, key of the page."""
        with transaction(self._engine) as db:
            given = {"crawl": crawl_id, "most": MOST_LINKS}
            yield from (tuple(row) for row in db.execution_options(yield_per=5000).execute(text(_LINKS), given))

    def met(self, crawl_id: UUID) -> set[str]:
        """Keys of all URLs that the crawl has met and judged."""
        with transaction(self._engine) as db:
            return set(db.execute(text(_MET), {"crawl": crawl_id}).scalars())

    def addresses(self, crawl_id: UUID, keys: Sequence[str]) -> set[str]:
        """By which addresses the project's pages with these keys were last fetched."""
        with transaction(self._engine) as db:
            return set(db.execute(text(_ADDRESSES), {"crawl": crawl_id, "keys": list(keys)}).scalars())

    def standing(self, crawl_id: UUID, keys: Sequence[str]) -> dict[str, str]:
        """By which addresses this crawl fetched its pages with these keys."""
        with transaction(self._engine) as db:
            rows = db.execute(text(_STANDING), {"crawl": crawl_id, "keys": list(keys)})
            return {row.normalized_url: row.url for row in rows}

    def no_pages(self, crawl_id: UUID, keys: Sequence[str]) -> dict[str, str]:
        """Which addresses this crawl asked for by these keys that are no pages."""
        given = {"crawl": crawl_id, "keys": list(keys), "reasons": sorted(NO_PAGE)}
        with transaction(self._engine) as db:
            return {row.normalized_url: row.url for row in db.execute(text(_NO_PAGES), given)}

    def readdressed(self, crawl_id: UUID) -> list[tuple[str, str]]:
        """Pages that the project's last crawl fetched by another address: how this one did, and how that did."""
        with transaction(self._engine) as db:
            rows = db.execute(text(_READDRESSED), {"crawl": crawl_id, "most": MOST_READDRESSED})
            return [(now, before) for now, before in rows]

    def tried(self, crawl_id: UUID) -> list[TriedPage]:
        return self._pages(_TRIED, {"crawl": crawl_id})

    def asked(self, crawl_id: UUID) -> dict[str, str]:
        """By key, the addresses of all requests beyond the crawl's pages. No other request has one of these keys."""
        with transaction(self._engine) as db:
            rows = db.execute(text(_ASKED), {"crawl": crawl_id})
            return {row.normalized_url: row.url for row in rows}

    def unanswered(self, crawl_id: UUID) -> set[str]:
        """Addresses of trials that an outage of the site left without an answer."""
        with transaction(self._engine) as db:
            return set(db.execute(text(_UNANSWERED), {"crawl": crawl_id, "outages": sorted(OUTAGES)}).scalars())

    def tried_before(self, crawl_id: UUID, urls: Sequence[str], lane: Lane) -> list[TriedPage]:
        """What the project's last crawl saw at these addresses when it tried them, if it did so in this lane."""
        return self._pages(_TRIED_BEFORE, {"crawl": crawl_id, "urls": list(urls), "method": _METHOD[lane]})

    def stored_before(self, crawl_id: UUID, urls: Sequence[str], lane: Lane) -> list[TriedPage]:
        """Pages of the project's last crawl that were fetched in this lane."""
        return self._pages(_STORED_BEFORE, {"crawl": crawl_id, "urls": list(urls), "method": _METHOD[lane]})

    def stored(self, crawl_id: UUID, urls: Sequence[str], lane: Lane) -> list[TriedPage]:
        """Pages of this crawl that were fetched in this lane."""
        return self._pages(_STORED, {"crawl": crawl_id, "urls": list(urls), "method": _METHOD[lane]})

    def _pages(self, query: str, given: dict[str, object]) -> list[TriedPage]:
        with transaction(self._engine) as db:
            rows = db.execute(text(query), given).all()
        return [TriedPage(url, find_bytes(content, length), kind or "") for url, content, length, kind in rows]

    def save(
        self,
        crawl: CrawlJob,
        config: CrawlConfig,
        probes: Sequence[Probe] = (),
        found: Sequence[Found] = (),
        settled: Sequence[str] = (),
    ) -> Saved | None:
        """Keep what was found out, with the crawl and its project; None when another process did so first.

        `settled`: links of sitemaps among these need not wait in the ledger any more.
        """
        given = {
            "id": crawl.id,
            "config": config.model_dump_json(),
            "before": _learned(crawl.config.learned_params),
            "learned": _learned([one for one in config.learned_params if one.lasting and one.role != ParamRole.TRIED]),
        }
        with transaction(self._engine) as connection:
            if connection.execute(text(_CONFIG), given).one_or_none() is None:
                return None
            connection.execute(text(_REMEMBER), given)
            with cursor(connection) as db:
                planned = plan_probes(db, probes) if probes else 0
                if settled:
                    db.execute(_FORGET, (crawl.id, list(settled)))
                    (gone,) = db.fetchone() or (0,)
                    db.execute(_UNCOUNT, (gone, gone, crawl.id))
            new = planned + admit(connection, found)
        return Saved(crawl.model_copy(update={"config": config}), new)


def _learned(params: Iterable[LearnedParam]) -> str:
    return orjson.dumps([one.model_dump(mode="json") for one in params]).decode()


_LINKS = """
SELECT link, min(depth) AS depth, min(parent) AS parent FROM (
    SELECT link, u.depth + 1 AS depth, u.normalized_url AS parent
    FROM crawl_discovered_urls u
    JOIN page_versions v ON v.id = u.version_id
    JOIN crawled_pages p ON p.id = v.page_id
    CROSS JOIN LATERAL jsonb_array_elements_text(coalesce(p.links_followed, p.links_found)) AS link
    WHERE u.crawl_job_id = :crawl AND u.fetch_state = 'done' AND link LIKE '%?%'
    UNION ALL
    SELECT url, depth, parent FROM crawl_discovered_urls WHERE crawl_job_id = :crawl AND reason = 'query_open'
) AS all_links GROUP BY link ORDER BY length(link), link LIMIT :most
"""
_MET = """
SELECT normalized_url FROM crawl_discovered_urls
WHERE crawl_job_id = :crawl AND coalesce(reason, '') <> 'query_open'
"""
_ADDRESSES = """
SELECT p.url FROM crawled_pages p JOIN crawl_jobs c ON c.project_id = p.project_id AND c.id = :crawl
WHERE p.normalized_url = ANY(:keys) AND p.url LIKE '%?%'
"""
_TRIED = """
SELECT p.url, s.content, s.byte_length, s.content_type
FROM crawl_probes p LEFT JOIN snapshots s ON s.id = p.snapshot_id
WHERE p.crawl_id = :crawl AND p.purpose = 'trial' AND p.state = 'done' ORDER BY p.normalized_url
"""
_ASKED = "SELECT normalized_url, url FROM crawl_probes WHERE crawl_id = :crawl"
_UNANSWERED = """
SELECT url FROM crawl_probes
WHERE crawl_id = :crawl AND purpose = 'trial' AND state = 'done' AND (outcome = 'not_reached' OR reason = ANY(:outages))
"""
_STANDING = """
SELECT normalized_url, url FROM crawl_discovered_urls
WHERE crawl_job_id = :crawl AND normalized_url = ANY(:keys) AND fetch_state = 'done'
"""
_NO_PAGES = """
SELECT normalized_url, url FROM crawl_discovered_urls
WHERE crawl_job_id = :crawl AND normalized_url = ANY(:keys) AND reason = ANY(:reasons) AND fetch_state <> 'done'
"""
_LAST = """
WITH last AS (
    SELECT e.id FROM crawl_jobs e JOIN crawl_jobs c ON c.project_id = e.project_id AND c.id = :crawl
    WHERE e.id <> c.id AND e.seed_url = c.seed_url AND e.status = 'completed' AND e.crawl_type <> 'fetch_only'
    ORDER BY e.completed_at DESC LIMIT 1)
"""
_TRIED_BEFORE = f"""
{_LAST}
SELECT p.url, s.content, s.byte_length, s.content_type
FROM crawl_probes p JOIN snapshots s ON s.id = p.snapshot_id
WHERE p.crawl_id = (SELECT id FROM last) AND p.purpose = 'trial' AND p.state = 'done' AND p.url = ANY(:urls)
  AND coalesce((SELECT v.crawl_method FROM crawl_discovered_urls h JOIN page_versions v ON v.id = h.version_id
                WHERE h.crawl_job_id = p.crawl_id AND h.depth = 0 AND h.fetch_state = 'done' LIMIT 1),
               'lightweight') = :method
"""  # noqa: S608 - both parts are constants
_READDRESSED = f"""
{_LAST}
SELECT u.url, b.url FROM crawl_discovered_urls u
JOIN crawl_discovered_urls b ON b.crawl_job_id = (SELECT id FROM last) AND b.normalized_url = u.normalized_url
    AND b.fetch_state = 'done' AND b.url <> u.url
WHERE u.crawl_job_id = :crawl AND u.fetch_state = 'done' AND (u.url LIKE '%?%' OR b.url LIKE '%?%')
ORDER BY u.url LIMIT :most
"""  # noqa: S608 - both parts are constants
_STORED = """
SELECT u.url, s.content, s.byte_length, coalesce(v.headers ->> 'content-type', s.content_type)
FROM crawl_discovered_urls u
JOIN page_versions v ON v.id = u.version_id AND v.crawl_method = :method
JOIN snapshots s ON s.id = v.snapshot_id
WHERE u.crawl_job_id = :crawl AND u.url = ANY(:urls) AND u.fetch_state = 'done'
"""
_STORED_BEFORE = f"{_LAST} {_STORED.replace(':crawl', '(SELECT id FROM last)')}"  # noqa: S608 - both parts are constants
_CONFIG = """
UPDATE crawl_jobs SET config = CAST(:config AS jsonb), updated_at = now()
WHERE id = :id AND status = 'in_progress'
  AND coalesce(config -> 'learned_params', '[]') = CAST(:before AS jsonb)
RETURNING id
"""
_REMEMBER = """
UPDATE projects SET settings = jsonb_set(settings, '{learned_params}', CAST(:learned AS jsonb))
WHERE id = (SELECT project_id FROM crawl_jobs WHERE id = :id AND crawl_type <> 'fetch_only')
"""
# Rows that only said that it was not known yet: each is met again, by the key that is known now.
_FORGET = f"""
WITH gone AS (
    DELETE FROM crawl_urls u
    WHERE crawl_job_id = %s AND reason = 'query_open' AND {WHOLE_URL} = ANY(%s) RETURNING 1)
SELECT count(*) FROM gone
"""  # noqa: S608 - our own words
_UNCOUNT = """
UPDATE crawl_jobs SET total_discovered = total_discovered - %s, pages_skipped = pages_skipped - %s WHERE id = %s
"""
