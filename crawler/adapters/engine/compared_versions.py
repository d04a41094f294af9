"""SQL for comparing crawls: which version of a page a crawl has, and with which earlier one it is compared.

What a browser shows is only ever compared with what a browser showed, and what a server sent with what it sent. So the
earlier version is the last one that was fetched in the same way: the baseline's, if that fetched the page so. Else it
is the last that any crawl stored before: what happened since is told now. A page that was fetched both ways
(`domain/engine/both_ways.py`) is compared in the way in which the baseline has it, unless that was to be
rendered and was not.

Which crawl is the baseline: `choose_baseline` in `domain/changes/baseline.py`.
"""

# An earlier version `e` of the version {n}. A version that an earlier crawl made means that nothing has changed since.
_EARLIER = """
    SELECT e.* FROM page_versions e
    WHERE e.page_id = {n}.page_id AND e.crawl_id <> u.crawl_job_id AND e.fetched_at <= {n}.fetched_at
        AND e.fetched_at <= coalesce(greatest(told.fetched_at, told_light.fetched_at), e.fetched_at)
        AND ((e.crawl_method = {n}.way) IS NOT FALSE OR ({n}.way = 'lightweight' AND e.id = told_light.id))
    ORDER BY e.fetched_at DESC
"""

EARLIER = _EARLIER.format(n="v")
"""Beside `COMPARED`: the versions before `v` that were fetched in the same way, newest first."""

COMPARED = f"""
LEFT JOIN crawl_discovered_urls b
    ON b.crawl_job_id = :before AND b.normalized_url = u.normalized_url AND b.fetch_state = 'done'
LEFT JOIN page_versions told ON told.id = b.version_id
LEFT JOIN page_versions told_light ON told_light.id = (b.rendering ->> 'light_copy')::uuid
JOIN LATERAL (
    SELECT n.* FROM (
        SELECT stored.*, stored.crawl_method AS way FROM page_versions stored WHERE stored.id = u.version_id
        UNION ALL
        SELECT copy.*, 'lightweight' FROM page_versions copy WHERE copy.id = (u.rendering ->> 'light_copy')::uuid
    ) n
    LEFT JOIN LATERAL ({_EARLIER.format(n="n")} LIMIT 1) last ON true
    CROSS JOIN LATERAL (SELECT coalesce(last.id IN (told.id, told_light.id), false) AS of_baseline,
        coalesce(b.reason IN ('render_unavailable', 'render_failed', 'render_off'), false) AS is_owed) is_
    ORDER BY last.id IS NULL, is_.is_owed AND n.way = 'lightweight', NOT is_.of_baseline,
        CASE WHEN NOT is_.of_baseline THEN last.fetched_at END DESC, n.id <> u.version_id
    LIMIT 1
) v ON true
LEFT JOIN LATERAL ({EARLIER} OFFSET :further LIMIT 1) o ON true
"""  # noqa: S608 - our own words
"""Joins the version `v` of a crawl to its ledger row `u`, and the earlier version `o` it is compared with, if any.

OFFSET goes further back.
"""

TOLD_OTHERWISE = """
LEFT JOIN LATERAL (
    SELECT e.* FROM page_versions e
    WHERE e.page_id = v.page_id AND e.crawl_method <> v.way AND e.crawl_id <> u.crawl_job_id
        AND e.fetched_at > o.fetched_at AND e.fetched_at < v.fetched_at
        AND o.id IS DISTINCT FROM told.id AND o.id IS DISTINCT FROM told_light.id
    ORDER BY e.fetched_at DESC LIMIT 1
) told_last ON true
LEFT JOIN LATERAL (
    SELECT e.* FROM page_versions e
    WHERE e.page_id = v.page_id AND e.crawl_method = told_last.crawl_method AND e.fetched_at < told_last.fetched_at
    ORDER BY e.fetched_at <= o.fetched_at DESC, abs(extract(epoch FROM e.fetched_at - o.fetched_at)) LIMIT 1
) told_first ON true
"""
"""Joins what crawls since `o` told of the page by versions fetched in the other way: from `told_first` to `told_last`.

The first is the last before `o`, which the next one was compared with; if there is none, the one after it.
"""

LAST_SEEN = f"""
SELECT u.normalized_url, u.url, o.content_hash, o.crawl_method
FROM crawl_discovered_urls u
{COMPARED}
WHERE u.crawl_job_id = :crawl AND u.fetch_state = 'done' AND b.normalized_url IS NULL
    AND (o.id IS NOT NULL OR EXISTS (
        SELECT 1 FROM page_versions e WHERE e.page_id = v.page_id AND e.crawl_id <> u.crawl_job_id
            AND e.fetched_at < v.fetched_at))
"""  # noqa: S608 - both parts are constants
"""Pages of a crawl that its baseline did not get, each with the last version stored before.

Without a hash where nothing before was fetched in the same way.
"""

CROSSED = f"""
SELECT u.normalized_url, o.content_hash, v.content_hash, told_first.content_hash <> told_last.content_hash
FROM crawl_discovered_urls u
JOIN page_versions main ON main.id = u.version_id
{COMPARED}
{TOLD_OTHERWISE}
WHERE u.crawl_job_id = :crawl AND u.fetch_state = 'done' AND o.id IS NOT NULL
    AND (b.normalized_url IS NULL OR told.crawl_method IS DISTINCT FROM main.crawl_method)
"""  # noqa: S608 - both parts are constants
"""Pages that the baseline fetched in another way, or not at all, by the content of the two versions to compare.

Last whether something of it was told meanwhile: it may have been undone since, so both are looked at in any case.
"""
