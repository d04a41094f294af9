"""Read all that a worker needs about a crawl at once, and store what the crawl learns about its scope and rendering.

What is learned is decided in `handlers/engine/process_response.py` (scope) and `render_where_needed.py` beside it.
"""

from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Engine, text

from crawler.adapters.engine.store import Store
from crawler.adapters.postgres.credential_store import CredentialStore
from crawler.adapters.postgres.database import transaction
from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.domain.engine.crawl_state import CrawlState
from crawler.domain.rendering.url_shapes import ShapeBook
from crawler.domain.urls.keys import keys_of
from crawler.domain.urls.url import QueryRule, Url, normalize, read


class CrawlStateReader:
    def __init__(self, engine: Engine, credentials: CredentialStore) -> None:
        self._engine = engine
        self._store = Store(engine)
        self._credentials = credentials

    def load(self, crawl_id: UUID) -> CrawlState | None:
        crawl = self._store.find_crawl(crawl_id)
        if crawl is None:
            return None
        with transaction(self._engine) as db:
            scope = db.execute(text("SELECT scope FROM crawl_jobs WHERE id = :id"), {"id": crawl_id}).scalar_one()
            history = db.execute(text(_HAS_HISTORY), {"project": crawl.project_id, "crawl": crawl_id}).scalar_one()
            before = {"project": crawl.project_id, "seed": crawl.seed_url, "crawl": crawl_id}
            baseline = db.execute(text(_BASELINE), before).scalar_one_or_none()
            walled = db.execute(text(_WALLED), {"baseline": baseline}).scalars() if crawl.config.ingest else ()
            behind = frozenset(key for url in walled if (key := keys_of(crawl.config)(url)))
            lied = db.execute(text(_LIED), before).scalar_one_or_none()
            watched = tuple(db.execute(text(_WATCHED), {"project": crawl.project_id}).scalars())
            learned = db.execute(text(_LEARNED), {"project": crawl.project_id}).scalar_one()
            given: tuple[str, ...] = ()
            if crawl.crawl_type is CrawlType.FETCH_ONLY:
                given = tuple(db.execute(text(_GIVEN), {"crawl": crawl_id}).scalars())
            start = read((scope.get("moves") or [crawl.seed_url])[-1])
            key = normalize(start, QueryRule.of(crawl.config)) if isinstance(start, Url) else ""
            homepage = db.execute(text(_HOMEPAGE), {"project": crawl.project_id, "key": key}).scalar_one_or_none()
        return CrawlState(
            crawl,
            moves=tuple(scope.get("moves", ())),
            shopify=bool(scope.get("shopify")),
            watched=watched,
            has_history=bool(history),
            distrusts_validators=bool(lied or scope.get("validators_lied")),
            given=given,
            credentials=self._credentials.headers(crawl.project_id),
            opened=tuple(scope["opened"]) if scope.get("opened") else None,
            homepage=homepage or "",
            behind_walls=behind,
            baseline_id=None if crawl.crawl_type is CrawlType.FETCH_ONLY else baseline,
            rendered_before=(learned.get("rendering") or {}).get("render"),
            shapes=ShapeBook.from_record(learned.get("shapes", {})),
        )

    def record_move(self, crawl_id: UUID, href: str) -> None:
        """The homepage redirected: move the crawl's scope there. Once per target, also when repeated."""
        with transaction(self._engine) as db:
            db.execute(text(_MOVE), {"id": crawl_id, "href": href})

    def record_rendering(self, crawl_id: UUID, record: dict[str, Any]) -> CrawlJob:
        """Store how the crawl's pages are fetched from now on; the project remembers what its homepage showed."""
        with transaction(self._engine) as db:
            values = {"id": crawl_id, "record": orjson.dumps(record).decode()}
            db.execute(text(_RENDERING), values)
            db.execute(text(_REMEMBER), values)
        return self._store.get_crawl(crawl_id)

    def record_shopify(self, crawl_id: UUID) -> None:
        with transaction(self._engine) as db:
            db.execute(text(_SHOPIFY), {"id": crawl_id})

    def record_lie(self, crawl_id: UUID) -> None:
        """A page changed while its validators stood still: this crawl and the next ask without conditions."""
        with transaction(self._engine) as db:
            db.execute(text(_LIE), {"id": crawl_id})

    def record_sitemap(self, crawl_id: UUID, damage: dict[str, Any]) -> None:
        """A sitemap could not be read whole. Each is told once, and not more than a few of them."""
        given = {"id": crawl_id, "url": damage["url"], "damage": orjson.dumps(damage).decode(), "most": MOST_SITEMAPS}
        with transaction(self._engine) as db:
            db.execute(text(_SITEMAP), given)


MOST_SITEMAPS = 20
_HAS_HISTORY = """
SELECT EXISTS (SELECT 1 FROM crawled_pages WHERE project_id = :project AND crawl_id <> :crawl)
"""
_LIED = """
SELECT scope -> 'validators_lied' = 'true' FROM crawl_jobs
WHERE project_id = :project AND seed_url = :seed AND id < :crawl AND crawl_type <> 'fetch_only' AND pages_crawled > 0
ORDER BY id DESC LIMIT 1
"""
_LIE = "UPDATE crawl_jobs SET scope = scope || '{\"validators_lied\": true}' WHERE id = :id"
# As `choose_baseline` in `domain/changes/baseline.py` does it.
_BASELINE = """
SELECT id FROM crawl_jobs
WHERE project_id = :project AND seed_url = :seed AND id < :crawl AND status = 'completed' AND crawl_type <> 'fetch_only'
  AND end_reason IN ('exhausted', 'max_pages') AND NOT coalesce(stats -> 'by_reason' ? 'exists', false)
ORDER BY completed_at DESC LIMIT 1
"""
_WATCHED = "SELECT DISTINCT pattern FROM watch_rules WHERE project_id = :project AND enabled ORDER BY pattern"
_LEARNED = "SELECT learned FROM projects WHERE id = :project"
_WALLED = (
    "SELECT jsonb_object_keys(coalesce(change_summary -> 'behind_walls', '{}')) FROM crawl_jobs WHERE id = :baseline"
)
_HOMEPAGE = """
SELECT left(content_text, 100000) FROM crawled_pages
WHERE project_id = :project AND normalized_url = :key AND status = 'success' AND crawl_method = 'lightweight'
"""
_GIVEN = "SELECT url FROM crawl_discovered_urls WHERE crawl_job_id = :crawl AND source = 'list'"
_MOVE = """
UPDATE crawl_jobs
SET scope = jsonb_set(scope, '{moves}', coalesce(scope -> 'moves', '[]') || to_jsonb(CAST(:href AS text)))
WHERE id = :id AND NOT coalesce(scope -> 'moves', '[]') ? :href
"""
_SHOPIFY = "UPDATE crawl_jobs SET scope = scope || '{\"shopify\": true}' WHERE id = :id"
_SITEMAP = """
UPDATE crawl_jobs
SET scope = jsonb_set(scope, '{damaged_sitemaps}', known.damage || CAST(:damage AS jsonb))
FROM (SELECT coalesce(scope -> 'damaged_sitemaps', '[]') AS damage FROM crawl_jobs WHERE id = :id FOR UPDATE) known
WHERE id = :id AND jsonb_array_length(known.damage) < :most
    AND NOT known.damage @> jsonb_build_array(jsonb_build_object('url', CAST(:url AS text)))
"""
_RENDERING = "UPDATE crawl_jobs SET rendering = CAST(:record AS jsonb) WHERE id = :id"
_REMEMBER = """
UPDATE projects SET learned = learned || jsonb_build_object('rendering', CAST(:record AS jsonb))
WHERE id = (SELECT project_id FROM crawl_jobs WHERE id = :id AND crawl_type <> 'fetch_only')
"""
