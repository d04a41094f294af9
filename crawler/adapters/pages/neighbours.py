"""Which pages a page links to, and which link to it.

There is no index of links: they would cost every crawl more than the question is worth. So who links to a page is
looked for among so many pages at a time.
"""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.postgres.database import transaction

MOST_LOOKED_AT = 5_000
"""Pages at a time: their links are read from disk."""
MOST_OUT = 500


class OutLink(NamedTuple):
    url: str
    anchor: str
    rel: str


class Outgoing(NamedTuple):
    links: list[OutLink]
    total: int


class Finder(NamedTuple):
    """How the last crawl that saw it came to know of a page."""

    source: str
    parent: str | None
    document_id: UUID | None


class Linking(NamedTuple):
    id: UUID
    url: str
    title: str | None


class Incoming(NamedTuple):
    pages: list[Linking]
    looked_until: str | None
    """The last key that was looked at; None when that was all."""
    looked_at: int


class PageNeighbours:
    def __init__(self, engine: Engine, most_looked_at: int = MOST_LOOKED_AT) -> None:
        self._engine = engine
        self._most = most_looked_at

    def outgoing(self, page_id: UUID) -> Outgoing:
        """A page's links, in the order of the page, each with the words of its anchor where its version is kept."""
        with transaction(self._engine) as db:
            rows = db.execute(text(_OUT), {"page": page_id, "most": MOST_OUT}).all()
        total = rows[0].total if rows else 0
        return Outgoing([OutLink(row.url, row.anchor or "", row.rel or "") for row in rows], total)

    def known(self, project_id: UUID, keys: Sequence[str]) -> dict[str, UUID]:
        """The normalized URLs among these that are pages of the project."""
        with transaction(self._engine) as db:
            rows = db.execute(text(_KNOWN), {"project": project_id, "keys": list(keys)})
            return {row.normalized_url: row.id for row in rows}

    def finder(self, crawl_id: UUID, normalized_url: str) -> Finder | None:
        with transaction(self._engine) as db:
            row = db.execute(text(_FINDER), {"crawl": crawl_id, "url": normalized_url}).one_or_none()
        return Finder(*row) if row else None

    def incoming(self, project_id: UUID, page_id: UUID, spellings: Sequence[str], after: str | None) -> Incoming:
        """Pages with a link to one of these addresses, among the next so many by their keys."""
        given = {
            "project": project_id, "page": page_id, "after": after or "", "most": self._most,
            "urls": list(dict.fromkeys(spellings)),
        }  # fmt: skip
        with transaction(self._engine) as db:
            last, count = db.execute(text(_UNTIL), given).one()
            rows = db.execute(text(_IN), {**given, "until": last or ""}).all()
        return Incoming([Linking(*row) for row in rows], last if count == self._most else None, count)


_OUT = """
WITH page AS (
    SELECT CASE WHEN v.id IS NULL OR jsonb_array_length(v.links) = 0 THEN (
        SELECT coalesce(jsonb_agg(jsonb_build_object('url', one.href)), '[]')
        FROM jsonb_array_elements_text(p.links_found) AS one(href)
    ) ELSE v.links END AS held
    FROM crawled_pages p LEFT JOIN page_versions v ON v.id = p.version_id WHERE p.id = :page
)
SELECT link ->> 'url' AS url, link ->> 'anchor' AS anchor, link ->> 'rel' AS rel, jsonb_array_length(held) AS total
FROM page CROSS JOIN LATERAL jsonb_array_elements(held) AS link LIMIT :most
"""
_KNOWN = "SELECT normalized_url, id FROM crawled_pages WHERE project_id = :project AND normalized_url = ANY(:keys)"
_FINDER = """
SELECT source, parent, document_id FROM crawl_discovered_urls WHERE crawl_job_id = :crawl AND normalized_url = :url
"""
_UNTIL = """
SELECT max(normalized_url), count(*) FROM (
    SELECT normalized_url FROM crawled_pages WHERE project_id = :project AND normalized_url > :after
    ORDER BY project_id, normalized_url LIMIT :most
) AS looked
"""
_IN = """
SELECT id, url, title FROM crawled_pages
WHERE project_id = :project AND normalized_url > :after AND normalized_url <= :until AND id <> :page
  AND links_found ?| CAST(:urls AS text[])
ORDER BY project_id, normalized_url
"""
