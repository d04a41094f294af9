"""SQL for comparing crawls: which earlier version of a page a crawl is compared with.

It is the baseline's version. Where the baseline did not get the page (it failed, or the crawl ended before), it is the
last version that any crawl stored.

Which crawl is the baseline: `choose_baseline` in `domain/changes/baseline.py`.
"""

# SQL that joins the earlier version as `o` to the ledger row `u` and its version `v`. OFFSET goes further back.
OLD_VERSION = """
LEFT JOIN crawl_discovered_urls b
    ON b.crawl_job_id = :before AND b.normalized_url = u.normalized_url AND b.fetch_state = 'done'
LEFT JOIN page_versions told ON told.id = b.version_id AND told.page_id = v.page_id
JOIN LATERAL (
    SELECT * FROM page_versions earlier
    WHERE earlier.page_id = v.page_id AND earlier.fetched_at < v.fetched_at
        AND earlier.fetched_at <= coalesce(told.fetched_at, v.fetched_at)
    ORDER BY earlier.fetched_at DESC OFFSET :further LIMIT 1
) o ON true
"""

LAST_SEEN = """
SELECT u.normalized_url, u.url, coalesce(o.content_hash, v.content_hash), coalesce(o.crawl_method, v.crawl_method)
FROM crawl_discovered_urls u
JOIN page_versions v ON v.id = u.version_id
LEFT JOIN LATERAL (
    SELECT content_hash, crawl_method FROM page_versions earlier
    WHERE earlier.page_id = v.page_id AND earlier.fetched_at < v.fetched_at
    ORDER BY earlier.fetched_at DESC LIMIT 1
) o ON v.crawl_id = u.crawl_job_id
WHERE u.crawl_job_id = :crawl AND u.fetch_state = 'done'
    AND (v.crawl_id <> u.crawl_job_id OR o.content_hash IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM crawl_discovered_urls b WHERE b.crawl_job_id = :before
        AND b.normalized_url = u.normalized_url AND b.fetch_state = 'done')
"""
"""Pages of a crawl that its baseline did not get, each with the last version stored before.

A version that an earlier crawl made means that nothing has changed since.
"""
