"""Read all that a worker needs about a crawl at once, and store what the crawl learns about its scope and rendering.

What is learned is decided in `handlers/engine/process_response.py` (scope) and `render_where_needed.py` beside it.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Connection, Engine, text

from crawler.adapters.engine.crawl_store import CrawlStore, crawl_in
from crawler.adapters.postgres.credential_store import CredentialStore, Headers
from crawler.adapters.postgres.database import transaction
from crawler.domain.crawls.crawl import CrawlJob, CrawlType, RenderMode
from crawler.domain.engine.crawl_state import CrawlState
from crawler.domain.rendering.url_shapes import ShapeBook
from crawler.domain.urls.keys import keys_of
from crawler.domain.urls.url import QueryRule, Url, normalize, parse, read

HEADERS = "headers"
"""Key in a crawl's scope: headers of this crawl alone, encrypted."""


class CrawlStateReader:
    def __init__(self, engine: Engine, credentials: CredentialStore) -> None:
        self._engine = engine
        self._crawls = CrawlStore(engine)
        self._credentials = credentials

    def load(self, crawl_id: UUID) -> CrawlState | None:
        with transaction(self._engine) as db:
            crawl = crawl_in(db, crawl_id)
            return self._load(db, crawl) if crawl else None

    def _load(self, db: Connection, crawl: CrawlJob) -> CrawlState | None:
        # A worker asks before each request until the homepage is stored: few statements make small crawls quick.
        facts = db.execute(text(_FACTS), {"crawl": crawl.id}).one_or_none()
        if facts is None:  # deleted in this moment
            return None
        scope: dict[str, Any] = facts.scope
        walled = db.execute(text(_WALLED), {"baseline": facts.baseline}).scalars() if crawl.config.ingest else ()
        behind = frozenset(key for url in walled if (key := keys_of(crawl.config)(url)))
        is_list = crawl.crawl_type is CrawlType.FETCH_ONLY
        given = tuple(db.execute(text(_GIVEN), {"crawl": crawl.id}).scalars()) if is_list else ()
        start = read((scope.get("moves") or [crawl.seed_url])[-1])
        key = normalize(start, QueryRule.of(crawl.config)) if isinstance(start, Url) else ""
        # On a light site it may be rendered alone: that shows what frames the other pages, too.
        is_light = (crawl.rendering or {}).get("render") is False
        asked = {"project": crawl.project_id, "key": key, "alone": is_light}
        homepage = db.execute(text(_HOMEPAGE), asked).scalar_one_or_none()
        return CrawlState(
            crawl,
            moves=tuple(scope.get("moves", ())),
            shopify=bool(scope.get("shopify")),
            watched=tuple(facts.watched),
            has_history=bool(facts.has_history),
            distrusts_validators=bool(facts.lied or scope.get("validators_lied") or _looks_first(crawl, facts.looked)),
            given=given,
            credentials=self._sent_with(db, crawl, scope.get(HEADERS), has_own=facts.has_credentials),
            logins=frozenset(facts.logins),
            opened=tuple(scope["opened"]) if scope.get("opened") else None,
            homepage=homepage or "",
            behind_walls=behind,
            baseline_id=None if is_list else facts.baseline,
            rendered_before=(facts.learned.get("rendering") or {}).get("render"),
            shapes=ShapeBook.from_record(facts.learned.get("shapes", {})),
        )

    def _sent_with(
        self, db: Connection, crawl: CrawlJob, sealed: str | None, *, has_own: bool
    ) -> Mapping[str, Headers]:
        """The project's credentials; for the seed's origin also the headers that were given with this crawl alone."""
        known = self._credentials.headers_in(db, crawl.project_id) if has_own else {}
        if sealed is None:
            return known
        given, origin = self._credentials.opened(sealed), parse(crawl.seed_url).origin
        names = {name.lower() for name, _ in given}
        kept = tuple(one for one in known.get(origin, ()) if one[0].lower() not in names)
        return {**known, origin: (*kept, *given)}

    def record_move(self, crawl_id: UUID, href: str) -> None:
        """The homepage redirected: move the crawl's scope there. Once per target, also when repeated."""
        with transaction(self._engine) as db:
            db.execute(text(_MOVE), {"id": crawl_id, "href": href})

    def record_rendering(self, crawl_id: UUID, record: dict[str, Any]) -> CrawlJob | None:
        """Store how the crawl's pages are fetched from now on; the project remembers what its homepage showed.

        None if the crawl was deleted meanwhile.
        """
        with transaction(self._engine) as db:
            values = {"id": crawl_id, "record": orjson.dumps(record).decode()}
            db.execute(text(_RENDERING), values)
            db.execute(text(_REMEMBER), values)
        return self._crawls.find_crawl(crawl_id)

    def record_shopify(self, crawl_id: UUID) -> None:
        with transaction(self._engine) as db:
            db.execute(text(_SHOPIFY), {"id": crawl_id})

    def record_lie(self, crawl_id: UUID) -> None:
        """A page changed while its validators stood still: this crawl and the next ask without conditions."""
        with transaction(self._engine) as db:
            db.execute(text(_LIE), {"id": crawl_id})

    def record_cut(self, crawl_id: UUID) -> None:
        """More URLs were found than the crawl keeps."""
        with transaction(self._engine) as db:
            db.execute(text(_CUT), {"id": crawl_id})

    def record_sitemap(self, crawl_id: UUID, damage: dict[str, Any]) -> None:
        """A sitemap could not be read whole. Each is told once, and not more than a few of them."""
        given = {"id": crawl_id, "url": damage["url"], "damage": orjson.dumps(damage).decode(), "most": MOST_SITEMAPS}
        with transaction(self._engine) as db:
            db.execute(text(_SITEMAP), given)


def _looks_first(crawl: CrawlJob, looked: bool | None) -> bool:
    """Whether the crawl that this one is compared with did not look for parts that are still to come: it is of an older
    version, or was to render nothing. None of its pages may be answered "not modified" then."""
    return looked is False and crawl.config.render is RenderMode.AUTO


MOST_SITEMAPS = 20
# The baseline: as `choose_baseline` in `domain/changes/baseline.py` does it.
_FACTS = """
SELECT c.scope, p.learned,
  EXISTS (SELECT 1 FROM crawled_pages WHERE project_id = c.project_id AND crawl_id <> c.id) AS has_history,
  EXISTS (SELECT 1 FROM project_credentials WHERE project_id = c.project_id) AS has_credentials,
  ARRAY(SELECT origin FROM project_logins WHERE project_id = c.project_id) AS logins,
  ARRAY(SELECT DISTINCT pattern FROM watch_rules
        WHERE project_id = c.project_id AND enabled ORDER BY pattern) AS watched,
  b.id AS baseline, l.scope -> 'validators_lied' = 'true' AS lied, coalesce(b.scope, l.scope) ? 'looked' AS looked
FROM crawl_jobs c JOIN projects p ON p.id = c.project_id
LEFT JOIN LATERAL (
  SELECT b.id, b.scope FROM crawl_jobs b
  WHERE b.project_id = c.project_id AND b.seed_url = c.seed_url AND b.id < c.id AND b.status = 'completed'
    AND b.crawl_type <> 'fetch_only' AND NOT b.from_queue AND b.end_reason IN ('exhausted', 'max_pages')
    AND NOT coalesce(b.stats -> 'by_reason' ? 'exists', false)
  ORDER BY b.completed_at DESC LIMIT 1) b ON true
LEFT JOIN LATERAL (
  SELECT l.scope FROM crawl_jobs l
  WHERE l.project_id = c.project_id AND l.seed_url = c.seed_url AND l.id < c.id
    AND l.crawl_type <> 'fetch_only' AND l.pages_crawled > 0
  ORDER BY l.id DESC LIMIT 1) l ON true
WHERE c.id = :crawl
"""
_LIE = "UPDATE crawl_jobs SET scope = scope || '{\"validators_lied\": true}' WHERE id = :id"
_CUT = "UPDATE crawl_jobs SET scope = scope || '{\"cut\": true}' WHERE id = :id AND NOT scope ? 'cut'"
_WALLED = """
SELECT jsonb_object_keys(coalesce(change_summary -> 'behind_walls', '{}')
    || coalesce(change_summary -> 'failed_parts', '{}')) FROM crawl_jobs WHERE id = :baseline
"""
_HOMEPAGE = """
SELECT left(content_text, 100000) FROM crawled_pages
WHERE project_id = :project AND normalized_url = :key AND status = 'success'
    AND (crawl_method = 'lightweight' OR :alone)
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
_RENDERING = """
UPDATE crawl_jobs SET rendering = CAST(:record AS jsonb), scope = scope || '{"looked": true}' WHERE id = :id
"""
_REMEMBER = """
UPDATE projects SET learned = learned || jsonb_build_object('rendering', CAST(:record AS jsonb))
WHERE id = (SELECT project_id FROM crawl_jobs WHERE id = :id AND crawl_type <> 'fetch_only' AND NOT from_queue)
"""
