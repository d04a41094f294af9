"""What one crawl's rows say, laid out in temporary tables for the report's queries; they go with the transaction.

report_pages         the crawl's stored pages as they were then
report_keys          every URL that pages name → its key in the ledger, and whether a page links to it
report_sources       for each broken or redirecting URL the pages that link to it
report_translations  hreflang
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from psycopg2.extras import execute_values
from sqlalchemy import Connection, Row, text

from crawler.adapters.postgres.database import cursor
from crawler.adapters.postgres.snapshot_bytes import find_bytes
from crawler.domain.exports.reports import BROKEN_REASONS, REDIRECT_REASONS, ReportLimits
from crawler.domain.exports.stale_pages import StalePage, as_it_was
from crawler.domain.judging import OpenJudge, Unjudged
from crawler.domain.pages.header_canonical import header_canonical
from crawler.domain.pages.language_tags import is_language_tag

KeyOf = Callable[[str], str | None]

MOST_REREAD = 20_000
"""Pages that have changed since and are read again from their snapshots, a millisecond each."""
_AT_ONCE = 5_000
_SNAPSHOTS_AT_ONCE = 50


class Facts(NamedTuple):
    pages: int
    unknown: int
    """Pages that have changed since, and what they said then is no longer kept."""
    invalid_tags: list[str]


def lay_out(
    db: Connection, crawl_id: UUID, key_of: KeyOf, limits: ReportLimits, robot: str, open_judge: OpenJudge
) -> Facts:
    given = {
        "crawl": crawl_id,
        "pointed_to": sorted(BROKEN_REASONS | REDIRECT_REASONS),
        "most": limits.sources,
        "reread": MOST_REREAD,
    }
    _run(db, _PAGES, given)
    _reread(db, robot, open_judge)
    _read_headers(db)
    _run(db, _TRANSLATIONS, given)
    _run(db, _HREFS, given)
    _find_keys(db, crawl_id, key_of)
    _run(db, _SOURCES, given)
    pages, unknown = db.execute(text("SELECT count(*), count(*) FILTER (WHERE NOT known) FROM report_pages")).one()
    tags = db.execute(text("SELECT DISTINCT tag FROM report_translations")).scalars()
    return Facts(pages, unknown, sorted(tag for tag in tags if not is_language_tag(tag)))


def _run(db: Connection, statements: Iterable[str], given: dict[str, Any]) -> None:
    for statement in statements:
        names = {name: value for name, value in given.items() if f":{name}" in statement}
        db.execute(text(statement), names)


def _streamed(db: Connection, query: str, at_once: int, **given: Any) -> Iterator[Row[Any]]:
    yield from db.execute(text(query), given, execution_options={"yield_per": at_once})  # of this statement alone


def _parts(rows: Iterable[Any], size: int) -> Iterator[list[Any]]:
    left = iter(rows)
    while part := list(islice(left, size)):
        yield part


def _change(db: Connection, statement: str, rows: Iterable[Any]) -> None:
    """While the rows are still being read: a cursor sees what was there when it was opened."""
    with cursor(db) as low:
        for part in _parts(rows, _AT_ONCE):
            execute_values(low, statement, part, page_size=_AT_ONCE)


def _reread(db: Connection, robot: str, open_judge: OpenJudge) -> None:
    """Pages that have changed since say what they said then in their snapshots."""
    rows = _streamed(db, _STALE, _SNAPSHOTS_AT_ONCE, most=MOST_REREAD)
    pages = (
        StalePage(row.key, row.url, row.content_type, row.headers, row.byte_length, body)
        for row in rows
        if (body := find_bytes(row.content, row.byte_length)) is not None
    )
    with open_judge() as judge:
        found = (facts for _, facts in judge.each(as_it_was, pages, robot))
        _change(db, _SET_FACTS, (facts for facts in found if facts and not isinstance(facts, Unjudged)))


def _read_headers(db: Connection) -> None:
    named = ((row.key, header_canonical(row.link, row.url)) for row in _streamed(db, _LINK_HEADERS, _AT_ONCE))
    _change(db, _SET_HEADER, ((key, href) for key, href in named if href))


def _find_keys(db: Connection, crawl_id: UUID, key_of: KeyOf) -> None:
    """Most URLs are spelled as the ledger has them; the others are read by the crawl's own rules."""
    hosts = set(db.execute(text(_HOSTS), {"crawl": crawl_id}).scalars())
    _run(db, _EXACT_KEYS, {"crawl": crawl_id})
    others = (row for row in _streamed(db, _OTHER_HREFS, _AT_ONCE) if row.href.split("/", 3)[2] in hosts)
    _change(db, _ADD_KEYS, ((row.href, key, row.linked) for row in others if (key := key_of(row.href)) is not None))
    db.execute(text("ANALYZE report_keys"))


# A page's row is the last crawl's. It is fresh while it still says what this crawl saw.
_PAGES = (
    """
CREATE TEMPORARY TABLE report_pages ON COMMIT DROP AS
SELECT CAST(row_number() OVER (ORDER BY u.depth, u.normalized_url) AS integer) AS no, u.normalized_url AS key,
    coalesce(u.final_url, u.url) AS url, u.url AS found_as, u.version_id, p.id,
    p.version_id IS NOT DISTINCT FROM u.version_id AS fresh, p.version_id IS NOT DISTINCT FROM u.version_id AS known,
    CASE WHEN p.version_id = u.version_id THEN p.title ELSE v.title END AS title,
    CASE WHEN p.version_id = u.version_id THEN p.h1 END AS h1,
    CASE WHEN p.version_id = u.version_id THEN p.meta_description END AS description,
    CASE WHEN p.version_id = u.version_id THEN p.canonical_url END AS canonical,
    CASE WHEN p.version_id = u.version_id THEN p.noindex END AS noindex,
    CASE WHEN p.version_id = u.version_id THEN p.byte_length END AS bytes,
    CAST(NULL AS text) AS header_canonical,
    coalesce(v.headers ->> 'content-type', 'text/html') ~* 'html' AS is_html
FROM crawl_discovered_urls u
JOIN crawl_jobs c ON c.id = u.crawl_job_id
LEFT JOIN crawled_pages p ON p.project_id = c.project_id AND p.normalized_url = u.normalized_url
LEFT JOIN page_versions v ON v.id = u.version_id
WHERE u.crawl_job_id = :crawl AND u.fetch_state = 'done'
""",
    "ALTER TABLE report_pages ADD PRIMARY KEY (key)",
    "ANALYZE report_pages (no, key, url, found_as, canonical, version_id, id, fresh)",
)
_STALE = """
SELECT r.key, r.url, s.content, s.byte_length, v.headers,
    coalesce(v.headers ->> 'content-type', s.content_type) AS content_type
FROM report_pages r JOIN page_versions v ON v.id = r.version_id JOIN snapshots s ON s.id = v.snapshot_id
WHERE NOT r.fresh ORDER BY r.key LIMIT :most
"""
_SET_FACTS = """
UPDATE report_pages r SET known = true, title = v.title, h1 = v.h1, description = v.description,
    canonical = v.canonical, noindex = v.noindex, bytes = v.bytes
FROM (VALUES %s) AS v(key, title, h1, description, canonical, noindex, bytes) WHERE r.key = v.key
"""
_LINK_HEADERS = """
SELECT r.key, r.url, v.headers ->> 'link' AS link
FROM report_pages r JOIN page_versions v ON v.id = r.version_id WHERE v.headers ->> 'link' ~* 'canonical'
"""
_SET_HEADER = """
UPDATE report_pages r SET header_canonical = v.href FROM (VALUES %s) AS v(key, href) WHERE r.key = v.key
"""
_TRANSLATIONS = (
    """
CREATE TEMPORARY TABLE report_translations ON COMMIT DROP AS
SELECT r.key, r.url, said ->> 0 AS tag, CAST(said ->> 1 AS text) COLLATE "C" AS href
FROM report_pages r JOIN page_versions v ON v.id = r.version_id
CROSS JOIN LATERAL jsonb_array_elements(v.hreflang) AS said
WHERE v.hreflang <> '[]'
""",
    "ANALYZE report_translations",
)
# A page that links to itself is not linked. Both tables hold the links; the strings are read twice as fast, but are
# those of the last crawl.
_LINKS = """
SELECT r.no, CAST(link AS text) COLLATE "C" AS href
FROM report_pages r JOIN crawled_pages p ON p.id = r.id
CROSS JOIN LATERAL jsonb_array_elements_text(p.links_found) AS link
WHERE r.fresh AND link COLLATE "C" NOT IN (r.url COLLATE "C", r.key)
UNION ALL
SELECT r.no, CAST(link ->> 'url' AS text) COLLATE "C"
FROM report_pages r JOIN page_versions v ON v.id = r.version_id
CROSS JOIN LATERAL jsonb_array_elements(v.links) AS link
WHERE NOT r.fresh AND (link ->> 'url') COLLATE "C" NOT IN (r.url COLLATE "C", r.key)
"""
_HREFS = (
    f"""
CREATE TEMPORARY TABLE report_hrefs ON COMMIT DROP AS
SELECT href, bool_or(linked) AS linked FROM (
    SELECT DISTINCT href, true AS linked FROM ({_LINKS}) links
    UNION ALL SELECT final_url COLLATE "C", true FROM crawl_discovered_urls
        WHERE crawl_job_id = :crawl AND fetch_state <> 'done' AND final_url IS NOT NULL
    UNION ALL SELECT canonical COLLATE "C", false FROM report_pages WHERE canonical IS NOT NULL
    UNION ALL SELECT header_canonical COLLATE "C", false FROM report_pages WHERE header_canonical IS NOT NULL
    UNION ALL SELECT href, false FROM report_translations
) named GROUP BY href
""",  # noqa: S608 - built from our own words
    "ANALYZE report_hrefs",
    """
CREATE TEMPORARY TABLE report_keys (href text COLLATE "C" PRIMARY KEY, key text COLLATE "C" NOT NULL,
    linked boolean NOT NULL) ON COMMIT DROP
""",
)
_HOSTS = """
SELECT DISTINCT split_part(url, '/', 3) FROM crawl_discovered_urls
WHERE crawl_job_id = :crawl AND http_status IS NOT NULL
"""
_EXACT_KEYS = (
    """
INSERT INTO report_keys
SELECT h.href, u.normalized_url, h.linked
FROM report_hrefs h JOIN crawl_discovered_urls u ON u.crawl_job_id = :crawl AND u.url COLLATE "C" = h.href
ON CONFLICT DO NOTHING
""",
)
_OTHER_HREFS = """
SELECT h.href, h.linked FROM report_hrefs h
WHERE NOT EXISTS (SELECT 1 FROM report_keys k WHERE k.href = h.href) AND h.href LIKE 'http%'
"""
_ADD_KEYS = "INSERT INTO report_keys VALUES %s ON CONFLICT DO NOTHING"
# First who links where, in numbers: a link in every footer is there as often as there are pages. Then, of the few that
# are named, with which words: the links of each page are read once, however many of them are broken.
_SOURCES = (
    """
CREATE TEMPORARY TABLE report_targets ON COMMIT DROP AS
SELECT k.href, k.key, CAST(row_number() OVER (ORDER BY k.href) AS integer) AS no,
    CAST(dense_rank() OVER (ORDER BY k.key) AS integer) AS target
FROM report_keys k JOIN crawl_discovered_urls u ON u.crawl_job_id = :crawl AND u.normalized_url = k.key
WHERE k.linked AND u.reason = ANY(:pointed_to)
""",
    "ANALYZE report_targets",
    f"""
CREATE TEMPORARY TABLE report_sources ON COMMIT DROP AS
WITH hits AS (
    SELECT t.target, links.no AS page, min(t.no) AS spelling
    FROM ({_LINKS}) links JOIN report_targets t ON t.href = links.href GROUP BY 1, 2
),
ranked AS (
    SELECT hits.*, row_number() OVER (PARTITION BY target ORDER BY page) AS place,
           count(*) OVER (PARTITION BY target) AS n
    FROM hits
),
named AS (SELECT * FROM ranked WHERE place <= :most),
anchors AS (
    SELECT DISTINCT ON (page, spelling) r.no AS page, t.no AS spelling, link ->> 'anchor' AS anchor
    FROM report_pages r JOIN page_versions v ON v.id = r.version_id
    CROSS JOIN LATERAL jsonb_array_elements(v.links) WITH ORDINALITY AS listed(link, at)
    JOIN report_targets t ON t.href = CAST(link ->> 'url' AS text) COLLATE "C"
    WHERE r.no IN (SELECT page FROM named)
    ORDER BY page, spelling, at
)
SELECT t.key AS target, max(named.n) AS n,
    jsonb_agg(jsonb_build_object('url', r.url, 'text', coalesce(a.anchor, '')) ORDER BY place) AS related
FROM named
JOIN report_targets t ON t.no = named.spelling
JOIN report_pages r ON r.no = named.page
LEFT JOIN anchors a ON a.page = named.page AND a.spelling = named.spelling
GROUP BY t.key
""",  # noqa: S608 - built from our own words
    "ANALYZE report_sources (target)",
)
