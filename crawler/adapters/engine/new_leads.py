"""Addresses to which something leads in one crawl and nothing led in the crawl before, though it read the same pages.

A crawl that stopped at max_pages did not see all pages, but all that those lead to which it read: links of its pages,
and its sitemaps. What stands in neither is new, whether there was room for it or not.
"""

from collections.abc import Iterable, Sequence
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from crawler.adapters.postgres.database import transaction
from crawler.domain.reasons import Reason
from crawler.domain.urls.keys import KeyOf

MOST_WITHOUT_ROOM = 100_000
"""Addresses without room that are looked at one by one; of more of them the number is an estimate."""


class NewLeads:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def linked(self, crawl_id: UUID, before_id: UUID, urls: Sequence[str], key_of: KeyOf) -> set[str]:
        """Those of these addresses to which no page of the earlier crawl linked, and to which one leads that was a page
        then, too. `key_of`: as this crawl tells pages apart, because its address may have been shortened."""
        given = {"crawl": crawl_id, "before": before_id, "urls": list(urls)}
        with transaction(self._engine) as connection:
            found = list(connection.execute(text(_LINKED), given).scalars())
            if not found:
                return set()
            paths = sorted({_path(url) for url in found})
            links = connection.execute(text(_LINKS), {"before": before_id, "paths": paths}).scalars()
            known = {key_of(link) for link in links}
        return {url for url in found if key_of(url) not in known}

    def listed(self, crawl_id: UUID, before_id: UUID, urls: Sequence[str], key_of: KeyOf) -> set[str]:
        """Those of these addresses that only a sitemap names which the earlier crawl read whole, too, and that it did
        not meet. `key_of`: as the earlier crawl told pages apart."""
        with transaction(self._engine) as connection:
            given = {"crawl": crawl_id, "urls": list(urls), "sitemaps": _sitemaps(connection, before_id)}
            found = connection.execute(text(_LISTED), given).scalars()
            return set(_unmet(connection, before_id, list(found), key_of))

    def without_room(self, crawl_id: UUID, before_id: UUID, key_of: KeyOf) -> int:
        """How many addresses without room this crawl has that the earlier one did not meet, though it read what leads
        there. `key_of`: as the earlier crawl told pages apart."""
        with transaction(self._engine) as connection:
            given = {
                "crawl": crawl_id,
                "before": before_id,
                "reason": Reason.MAX_PAGES.value,
                "sitemaps": _sitemaps(connection, before_id),
                "most": MOST_WITHOUT_ROOM,
            }
            found = list(connection.execute(text(_WITHOUT_ROOM), given).scalars())
            return sum(1 for _ in _unmet(connection, before_id, found, key_of))


def _unmet(connection: Connection, before_id: UUID, urls: Sequence[str], key_of: KeyOf) -> Iterable[str]:
    keys = {url: key_of(url) for url in urls}
    given = {"before": before_id, "keys": sorted({key for key in keys.values() if key is not None})}
    met = set(connection.execute(text(_MET), given).scalars()) if given["keys"] else set()
    return (url for url in urls if keys[url] not in met)


def _sitemaps(connection: Connection, crawl_id: UUID) -> list[str]:
    return list(connection.execute(text(_SITEMAPS), {"before": crawl_id}).scalars())


def _path(url: str) -> str:
    return url.partition("?")[0]


_LINKED = """
SELECT n.url FROM crawl_discovered_urls n
JOIN crawl_discovered_urls p ON p.crawl_job_id = :before AND p.normalized_url = n.parent AND p.fetch_state = 'done'
WHERE n.crawl_job_id = :crawl AND n.url = ANY(:urls) AND n.source = 'link'
"""
_LINKS = """
SELECT DISTINCT link ->> 'url' FROM crawl_discovered_urls u
JOIN page_versions v ON v.id = u.version_id
CROSS JOIN LATERAL jsonb_array_elements(v.links) AS link
WHERE u.crawl_job_id = :before AND split_part(link ->> 'url', '?', 1) = ANY(:paths)
"""
# Sitemaps that the earlier crawl read, if all of them whole, and if it kept all that it found.
_SITEMAPS = """
SELECT s.parent FROM crawl_discovered_urls s JOIN crawl_jobs b ON b.id = s.crawl_job_id
WHERE b.id = :before AND s.source = 'sitemap' AND NOT b.scope ?| ARRAY['damaged_sitemaps', 'cut'] GROUP BY s.parent
"""
_LISTED = """
SELECT n.url FROM crawl_discovered_urls n
WHERE n.crawl_job_id = :crawl AND n.url = ANY(:urls) AND n.source = 'sitemap' AND n.parent = ANY(:sitemaps)
"""
_WITHOUT_ROOM = """
SELECT n.url FROM crawl_discovered_urls n
LEFT JOIN crawl_discovered_urls p ON p.crawl_job_id = :before AND p.normalized_url = n.parent
LEFT JOIN crawl_discovered_urls b ON b.crawl_job_id = :before AND b.normalized_url = n.normalized_url
WHERE n.crawl_job_id = :crawl AND n.fetch_state = 'skipped' AND n.reason = :reason AND b.normalized_url IS NULL
    AND NOT (SELECT scope ? 'cut' FROM crawl_jobs WHERE id = :before)
    AND (p.fetch_state = 'done' OR (n.source = 'sitemap' AND n.parent = ANY(:sitemaps)))
LIMIT :most
"""
_MET = """
SELECT normalized_url FROM crawl_discovered_urls WHERE crawl_job_id = :before AND normalized_url = ANY(:keys)
"""
