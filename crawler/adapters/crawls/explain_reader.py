"""Read what Postgres has about one URL of one crawl, for `handlers/crawls/explain_url.py`."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, Row, text

from crawler.adapters.postgres.database import transaction
from crawler.domain.changes.probe_words import KeptProbe
from crawler.domain.explaining.url_explanation import Attempt, Lead, LedgerUrl, Queued, StoredPage


class ExplainReader:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find_url(self, crawl_id: UUID, normalized_url: str) -> LedgerUrl | None:
        columns = ", ".join(LedgerUrl._fields)
        query = f"SELECT {columns} FROM crawl_discovered_urls {_OF_URL}"  # noqa: S608 - names of our own
        with transaction(self._engine) as db:
            row = db.execute(text(query), {"crawl": crawl_id, "url": normalized_url}).one_or_none()
        return LedgerUrl(*row) if row else None

    def has_ledger(self, crawl_id: UUID) -> bool:
        """Whether the crawl's URLs are there; False after they were pruned."""
        with transaction(self._engine) as db:
            return bool(db.execute(text(_HAS_LEDGER), {"crawl": crawl_id}).scalar_one())

    def mentions(self, crawl_id: UUID, normalized_url: str) -> Iterator[Lead]:
        """Links and redirects of the crawl to this path, in any case and with any query; streamed.

        The caller decides which of those are spellings of one URL: that takes the crawl's own rules.
        """
        given = {"crawl": crawl_id, "url": normalized_url, "path": _path(normalized_url)}
        with transaction(self._engine) as db:
            streamed = db.execution_options(yield_per=1000)
            for row in streamed.execute(text(_MENTIONS), given):
                yield Lead(*row)

    def attempts(self, crawl_id: UUID, host: str, normalized_url: str) -> list[tuple[str, Attempt]]:
        """Requests for this path, each with the requested URL, oldest first."""
        given = {"crawl": crawl_id, "host": host, "path": _path(normalized_url)}
        with transaction(self._engine) as db:
            return [(url, Attempt(**row)) for url, row in map(_split, db.execute(text(_ATTEMPTS), given))]

    def find_probe(self, crawl_id: UUID, normalized_url: str) -> KeptProbe | None:
        with transaction(self._engine) as db:
            row = db.execute(text(_PROBE), {"crawl": crawl_id, "url": normalized_url}).one_or_none()
        return KeptProbe(*row) if row else None

    def queued(self, crawl_id: UUID, host: str, since: datetime, until: datetime) -> Queued:
        given = {"crawl": crawl_id, "host": host, "since": since, "until": until}
        with transaction(self._engine) as db:
            return Queued(*db.execute(text(_QUEUED), given).one())

    def find_page(self, crawl_id: UUID, normalized_url: str) -> StoredPage | None:
        """The page as this crawl stored it."""
        with transaction(self._engine) as db:
            row = db.execute(text(_PAGE), {"crawl": crawl_id, "url": normalized_url}).one_or_none()
        return StoredPage(**row._asdict()) if row else None


def _path(normalized_url: str) -> str:
    """The path that `_PATH_OF` computes from every spelling of this URL."""
    return normalized_url.partition("?")[0].rstrip("/")


def _split(row: Row[Any]) -> tuple[str, dict[str, Any]]:
    return row.url, {name: value for name, value in row._asdict().items() if name != "url"}


_OF_URL = "WHERE crawl_job_id = :crawl AND normalized_url = :url"
_HAS_LEDGER = "SELECT EXISTS (SELECT 1 FROM crawl_discovered_urls WHERE crawl_job_id = :crawl)"
# A page's row has the links of the last crawl that fetched it. For an earlier crawl the links of its version count, as
# long as that is kept.
# URLs are plain ASCII, and as such (COLLATE "C") compared several times faster.
_LOWER = 'lower({0} COLLATE "C")'
# Without a session id that is a segment of the path, as `path_key` in `domain/urls/url.py` has it.
_SPELLED = (
    f"CASE WHEN position('))' IN {_LOWER}) > 0 "
    f"THEN regexp_replace({_LOWER}, '/\\(([afsx]\\([^()/]+\\))+\\)(?=[/?]|$)', '', 'g') ELSE {_LOWER} END"
)
_PATH_OF = (
    f"starts_with({_SPELLED}, :path) "
    f"AND rtrim(split_part(split_part({_SPELLED}, '?', 1), ';jsessionid', 1), '/') = :path"
)
# A page whose links do not contain the path at all is skipped without reading them one by one.
_HOLDS = """(position(:path IN lower(CAST({0} AS text) COLLATE "C")) > 0 OR position('))' IN CAST({0} AS text)) > 0)"""
_MENTIONS = f"""
WITH pages AS (
    SELECT u.url, u.normalized_url, u.depth, p.canonical_url, p.links_followed,
           CASE WHEN v.id IS NULL AND {_HOLDS.format("p.links_found")} THEN p.links_found END AS links,
           CASE WHEN {_HOLDS.format("v.links")} THEN v.links END AS old
    FROM crawl_discovered_urls u
    JOIN crawl_jobs c ON c.id = u.crawl_job_id
    JOIN crawled_pages p ON p.project_id = c.project_id AND p.normalized_url = u.normalized_url
    LEFT JOIN page_versions v ON v.id = u.version_id AND p.crawl_id <> c.id
    WHERE u.crawl_job_id = :crawl AND u.fetch_state = 'done' AND u.normalized_url <> :url
)
SELECT url, normalized_url, depth, 'link', link, links_followed IS NULL OR links_followed ? link
FROM pages CROSS JOIN LATERAL jsonb_array_elements_text(links) AS link WHERE {_PATH_OF.format("link")}
UNION ALL
SELECT url, normalized_url, depth, 'link', link ->> 'url', position('nofollow' IN link ->> 'rel') = 0
FROM pages CROSS JOIN LATERAL jsonb_array_elements(old) AS link WHERE {_PATH_OF.format("(link ->> 'url')")}
UNION ALL
SELECT url, normalized_url, depth, 'canonic', canonical_url, true FROM pages WHERE {_PATH_OF.format("canonical_url")}
UNION ALL
SELECT url, normalized_url, depth - 1, 'redirect', final_url, true FROM crawl_discovered_urls
WHERE crawl_job_id = :crawl AND normalized_url <> :url AND reason IN ('redirected', 'off_domain')
  AND {_PATH_OF.format("final_url")}
"""  # noqa: S608 - built from our own words
_ATTEMPTS = f"""
SELECT url, at, lane, status, elapsed_ms, certain FROM request_log
WHERE crawl_id = :crawl AND host = :host AND kind = 'p' AND {_PATH_OF.format("url")} ORDER BY at
"""  # noqa: S608 - built from our own words
_PROBE = f"""
SELECT {", ".join(KeptProbe._fields)} FROM crawl_probes WHERE crawl_id = :crawl AND normalized_url = :url
"""  # noqa: S608 - names of our own
_QUEUED = """
SELECT count(*) FILTER (WHERE crawl_id = :crawl), count(*) FILTER (WHERE crawl_id <> :crawl),
       count(*) FILTER (WHERE status IN (429, 503))
FROM request_log WHERE host = :host AND at >= :since AND at < :until
"""
_PAGE = """
SELECT p.id AS page_id, u.version_id, encode(u.content_hash, 'hex') AS content_hash,
       coalesce(v.title, p.title) AS title, s.byte_length,
       CASE WHEN p.crawl_id = u.crawl_job_id THEN p.crawl_method ELSE v.crawl_method END AS crawl_method,
       u.reason IS NOT DISTINCT FROM 'unchanged' AS unchanged, p.first_seen_at, v.fetched_at AS last_changed_at
FROM crawl_discovered_urls u
JOIN crawl_jobs c ON c.id = u.crawl_job_id
JOIN crawled_pages p ON p.project_id = c.project_id AND p.normalized_url = u.normalized_url
LEFT JOIN page_versions v ON v.id = u.version_id
LEFT JOIN snapshots s ON s.id = v.snapshot_id
WHERE u.crawl_job_id = :crawl AND u.normalized_url = :url
"""
