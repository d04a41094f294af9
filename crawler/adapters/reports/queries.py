"""One query for each kind of finding, over the temporary tables of `reports/facts`.

Each gives key, url, problem, text, value, related and related_count. Their parameters: `crawl`, the lists of reasons
`broken` and `redirecting`, `invalid_tags`, `slow_ms`, `large_bytes`, `sources`.

Limits, lists of reasons and words: `domain/exports/reports.py`.
"""

from typing import NamedTuple

from crawler.domain.exports.reports import FindingKind


class KindQuery(NamedTuple):
    sql: str
    order: str
    """The gravest first; the URL decides between equals."""


_NOBODY = "CAST('[]' AS jsonb), 0"

# Whoever was found in a sitemap alone has no page that links to it.
_BROKEN_LINKS = """
SELECT u.normalized_url AS key, u.url, u.reason AS problem,
    CASE WHEN s.n IS NULL AND u.source = 'sitemap' THEN 'named by the sitemap' ELSE u.error_message END AS text,
    CAST(u.http_status AS bigint) AS value, coalesce(s.related, '[]') AS related, coalesce(s.n, 0) AS related_count
FROM crawl_discovered_urls u LEFT JOIN report_sources s ON s.target = u.normalized_url
WHERE u.crawl_job_id = :crawl AND u.reason = ANY(:broken)
"""

# A URL that only other redirects lead to is a part of their way.
_REDIRECTS = """
WITH RECURSIVE hops AS (
    SELECT u.normalized_url, u.url, u.reason, u.final_url, k.key AS target, u.source
    FROM crawl_discovered_urls u LEFT JOIN report_keys k ON k.href = u.final_url COLLATE "C"
    WHERE u.crawl_job_id = :crawl AND u.reason = ANY(:redirecting)
      AND (u.final_url IS NOT NULL OR u.reason = 'redirect_loop')
),
ways AS (
    SELECT h.normalized_url AS start, h.url, h.reason, h.source, h.target, ARRAY[h.normalized_url] AS seen,
        ARRAY[h.url, h.final_url] AS way, 1 AS n
    FROM hops h
    UNION ALL
    SELECT w.start, w.url, CASE WHEN w.reason = 'redirect_loop' THEN w.reason ELSE h.reason END, w.source, h.target,
        w.seen || h.normalized_url, w.way || h.final_url, w.n + 1
    FROM ways w JOIN hops h ON h.normalized_url = w.target
    WHERE w.n < 20 AND NOT h.normalized_url = ANY(w.seen)
),
longest AS (SELECT DISTINCT ON (start) * FROM ways ORDER BY start, n DESC)
SELECT l.start AS key, l.url,
    CASE WHEN l.reason = 'redirect_loop' OR l.target = ANY(l.seen) THEN 'loop'
         WHEN last.reason = ANY(:broken) THEN 'dead_end'
         WHEN l.reason = 'off_domain' THEN 'off_site'
         WHEN l.n > 1 THEN 'chain' ELSE 'one_hop' END AS problem,
    array_to_string(l.way, ' → ') AS text, CAST(l.n AS bigint) AS value,
    coalesce(s.related, '[]') AS related, coalesce(s.n, 0) AS related_count
FROM longest l
LEFT JOIN crawl_discovered_urls last ON last.crawl_job_id = :crawl AND last.normalized_url = l.target
LEFT JOIN report_sources s ON s.target = l.start
WHERE l.source <> 'redirect' OR s.n > 0
"""


def _missing(column: str) -> str:
    return f"""
SELECT key, url, 'missing' AS problem, CAST(NULL AS text) AS text, CAST(NULL AS bigint) AS value, {_NOBODY}
FROM report_pages WHERE known AND is_html AND {column} IS NULL
"""  # noqa: S608 - our own words


def _duplicate(column: str) -> str:
    """Pages that search engines are told not to look at, or to look for elsewhere, take nobody's place.

    By windows and not by a join of the pages with themselves: Postgres expects these conditions to leave few pages, and
    then it would go through all of them for each.
    """
    return f"""
WITH pages AS (
    SELECT r.key, r.url, r.{column} AS text FROM report_pages r
    LEFT JOIN report_keys k ON k.href = coalesce(r.canonical, r.header_canonical) COLLATE "C"
    WHERE r.known AND r.is_html AND r.{column} IS NOT NULL AND NOT r.noindex
      AND (coalesce(r.canonical, r.header_canonical) IS NULL OR k.key = r.key
           OR coalesce(r.canonical, r.header_canonical) = r.url)
),
ranked AS (SELECT *, row_number() OVER (PARTITION BY text ORDER BY key) AS place FROM pages),
grouped AS (
    SELECT key, url, text, count(*) OVER same AS n,
        jsonb_agg(jsonb_build_object('url', url, 'place', place)) FILTER (WHERE place <= 6) OVER same AS first
    FROM ranked WINDOW same AS (PARTITION BY text)
)
SELECT key, url, 'duplicate' AS problem, text, n AS value,
    (SELECT coalesce(jsonb_agg(other - 'place' ORDER BY CAST(other ->> 'place' AS integer)), '[]')
     FROM jsonb_array_elements(first) AS other WHERE other ->> 'url' <> url) AS related,
    n - 1 AS related_count
FROM grouped WHERE n > 1
"""  # noqa: S608 - our own words


# What is wrong with where it points; nothing is wrong with a page of this site that is its own canonical.
_CANONICAL = """
WITH pointing AS (
    SELECT r.key, r.url, r.canonical, coalesce(r.canonical, r.header_canonical) AS href, r.header_canonical
    FROM report_pages r WHERE r.canonical IS NOT NULL OR r.header_canonical IS NOT NULL
),
aims AS (
    SELECT p.*, CASE WHEN p.href = p.url THEN p.key ELSE k.key END AS target, h.key AS header_target
    FROM pointing p LEFT JOIN report_keys k ON k.href = p.href COLLATE "C"
    LEFT JOIN report_keys h ON h.href = p.header_canonical COLLATE "C"
),
several AS (
    SELECT r.key, jsonb_agg(jsonb_build_object('url', link ->> 'url')) AS hrefs
    FROM report_pages r JOIN page_versions v ON v.id = r.version_id
    CROSS JOIN LATERAL jsonb_array_elements(v.links) AS link
    WHERE v.links @> '[{"rel": "canonical"}]' AND link ->> 'rel' = 'canonical' GROUP BY r.key
),
judged AS (
    SELECT a.key, a.url, a.href, a.header_canonical, several.hrefs,
        CASE WHEN several.key IS NOT NULL
               OR (a.canonical IS NOT NULL AND a.header_canonical IS NOT NULL AND a.canonical <> a.header_canonical
                   AND a.target IS DISTINCT FROM a.header_target) THEN 'conflict'
             WHEN a.target = a.key THEN NULL
             WHEN t.reason = ANY(:broken) THEN 'broken'
             WHEN t.reason = ANY(:redirecting) THEN 'redirects'
             WHEN t.reason = 'robots' THEN 'robots'
             WHEN next.target = a.key THEN 'loop'
             WHEN next.target IS NOT NULL AND next.target <> a.target THEN 'chain'
             WHEN there.noindex THEN 'noindex'
             WHEN a.target IS NULL AND split_part(a.href, '/', 3) <> split_part(a.url, '/', 3) THEN 'other_host'
        END AS problem
    FROM aims a
    LEFT JOIN several ON several.key = a.key
    LEFT JOIN crawl_discovered_urls t ON t.crawl_job_id = :crawl AND t.normalized_url = a.target AND a.target <> a.key
    LEFT JOIN report_pages there ON there.key = a.target AND a.target <> a.key
    LEFT JOIN aims next ON next.key = a.target AND a.target <> a.key
)
SELECT key, url, problem, CAST(NULL AS text) AS text, CAST(NULL AS bigint) AS value, related,
    jsonb_array_length(related) AS related_count
FROM judged CROSS JOIN LATERAL (
    SELECT jsonb_build_array(jsonb_build_object('url', href))
        || CASE WHEN header_canonical <> href THEN jsonb_build_array(jsonb_build_object('url', header_canonical))
                ELSE '[]' END
        || coalesce(hrefs, '[]') AS related
) named
WHERE problem IS NOT NULL
"""

_HREFLANG = """
WITH said AS (
    SELECT t.key, t.url, t.tag, t.href, CASE WHEN t.href = t.url THEN t.key ELSE k.key END AS target
    FROM report_translations t LEFT JOIN report_keys k ON k.href = t.href
),
problems AS (
    SELECT key, url, 'invalid_code' AS problem, tag, href FROM said WHERE tag = ANY(:invalid_tags)
    UNION ALL
    SELECT s.key, s.url, CASE WHEN u.reason = ANY(:broken) THEN 'broken' ELSE 'redirects' END, s.tag, s.href
    FROM said s JOIN crawl_discovered_urls u ON u.crawl_job_id = :crawl AND u.normalized_url = s.target
    WHERE u.reason = ANY(:broken) OR u.reason = ANY(:redirecting)
    UNION ALL
    SELECT key, min(url), 'no_self', NULL, NULL FROM said
    GROUP BY key HAVING NOT bool_or(target IS NOT DISTINCT FROM key)
    UNION ALL
    SELECT s.key, s.url, 'no_return', s.tag, s.href
    FROM said s JOIN report_pages r ON r.key = s.target
    WHERE s.target <> s.key AND NOT EXISTS (SELECT 1 FROM said back WHERE back.key = s.target AND back.target = s.key)
)
SELECT key, min(url) AS url, problem, CAST(NULL AS text) AS text, CAST(NULL AS bigint) AS value,
    coalesce(jsonb_agg(jsonb_build_object('url', href, 'text', tag) ORDER BY tag, href)
             FILTER (WHERE href IS NOT NULL), '[]') AS related,
    count(href) AS related_count
FROM problems GROUP BY key, problem
"""

_NOINDEX = f"""
SELECT r.key, r.url, CASE WHEN v.headers ->> 'x-robots-tag' ~* 'noindex|none' THEN 'header' ELSE 'meta' END AS problem,
    CAST(NULL AS text) AS text, CAST(NULL AS bigint) AS value, {_NOBODY}
FROM report_pages r LEFT JOIN page_versions v ON v.id = r.version_id WHERE r.known AND r.noindex
"""  # noqa: S608 - our own words

# The log knows a page by the URL that was asked for: the ledger's, or where that led.
_SLOW = f"""
WITH asked AS (
    SELECT url COLLATE "C" AS url, max(elapsed_ms) AS ms FROM request_log
    WHERE crawl_id = :crawl AND kind = 'p' AND lane = 'http' AND elapsed_ms >= :slow_ms GROUP BY 1
),
pages AS (
    SELECT r.key, r.url, a.ms FROM asked a JOIN report_pages r ON r.found_as COLLATE "C" = a.url
    UNION ALL SELECT r.key, r.url, a.ms FROM asked a JOIN report_pages r ON r.url COLLATE "C" = a.url
)
SELECT key, min(url) AS url, 'slow' AS problem, CAST(NULL AS text) AS text, CAST(max(ms) AS bigint) AS value, {_NOBODY}
FROM pages GROUP BY key
"""  # noqa: S608 - our own words

_LARGE = f"""
SELECT key, url, 'large' AS problem, CAST(NULL AS text) AS text, CAST(bytes AS bigint) AS value, {_NOBODY}
FROM report_pages WHERE bytes >= :large_bytes
UNION ALL
SELECT normalized_url, url, 'not_kept', error_message, NULL, {_NOBODY} FROM crawl_discovered_urls
WHERE crawl_job_id = :crawl AND reason = 'too_large'
"""  # noqa: S608 - our own words

# Whatever was found by a link first is linked; so only those the sitemap named before any page did are looked at.
_ORPHANS = f"""
SELECT r.key, r.url, 'orphan' AS problem, CAST(NULL AS text) AS text, CAST(NULL AS bigint) AS value, {_NOBODY}
FROM crawl_discovered_urls u JOIN report_pages r ON r.key = u.normalized_url
WHERE u.crawl_job_id = :crawl AND u.source = 'sitemap'
  AND NOT EXISTS (SELECT 1 FROM report_keys k WHERE k.key = r.key AND k.linked)
"""  # noqa: S608 - our own words


def _by(*problems: str) -> str:
    """A sort key of SQL: problems in this order; what is not named comes last."""
    return f"array_position(ARRAY[{', '.join(map(repr, problems))}], CAST(problem AS text))"


QUERIES = {
    FindingKind.BROKEN_LINK: KindQuery(_BROKEN_LINKS, "related_count DESC, key"),
    FindingKind.REDIRECT: KindQuery(
        _REDIRECTS, f"{_by('loop', 'dead_end', 'chain', 'off_site')}, value DESC, related_count DESC, key"
    ),
    FindingKind.TITLE_MISSING: KindQuery(_missing("title"), "key"),
    FindingKind.TITLE_DUPLICATE: KindQuery(_duplicate("title"), "value DESC, text, key"),
    FindingKind.DESCRIPTION_MISSING: KindQuery(_missing("description"), "key"),
    FindingKind.DESCRIPTION_DUPLICATE: KindQuery(_duplicate("description"), "value DESC, text, key"),
    FindingKind.H1_MISSING: KindQuery(_missing("h1"), "key"),
    FindingKind.CANONICAL: KindQuery(
        _CANONICAL, f"{_by('broken', 'loop', 'conflict', 'redirects', 'chain', 'robots', 'noindex')}, key"
    ),
    FindingKind.HREFLANG: KindQuery(_HREFLANG, f"{_by('broken', 'invalid_code', 'no_return', 'redirects')}, key"),
    FindingKind.NOINDEX: KindQuery(_NOINDEX, "key"),
    FindingKind.SLOW: KindQuery(_SLOW, "value DESC, key"),
    FindingKind.LARGE: KindQuery(_LARGE, "value DESC NULLS FIRST, key"),
    FindingKind.ORPHAN: KindQuery(_ORPHANS, "key"),
}
