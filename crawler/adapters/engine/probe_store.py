"""Probes in Postgres: requests beyond a crawl's pages, planned in one transaction before the first is queued.

Which are planned: `handlers/crawls/plan_probes.py`. What the responses mean: `domain/changes/removals.py`.
"""

from collections.abc import Collection, Container, Iterator, Sequence
from uuid import UUID

from psycopg2.extras import execute_values
from sqlalchemy import Engine, text

from crawler.adapters.postgres.database import Cursor, cursor, transaction
from crawler.domain.changes.comparison import Probed, SeenPage, Standing, standing
from crawler.domain.changes.probes import MOST_ROUNDS, ROUNDS, Probe, ProbeState, ProbeTask, Purpose, UnmetPage
from crawler.domain.changes.removals import ASKED_AGAIN, UNSETTLED, Removal, kind_by_reason
from crawler.domain.engine.ledger import ProbeEnd, UrlKey, version_id
from crawler.domain.reasons import Reason

_PAGE_SIZE = 5000


class ProbeStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def state(self, crawl_id: UUID) -> ProbeState:
        with transaction(self._engine) as db:
            return ProbeState(*db.execute(text(_STATE), {"crawl": crawl_id}).one())

    def plan(self, crawl_id: UUID, probes: Sequence[Probe]) -> None:
        """Store planned probes, all or none, and only while the crawl runs; probes that exist stay as they are.

        But for trials that were answered: what they said is judged by now, and their page may be missing, or need a
        second look.
        """
        with transaction(self._engine) as connection:
            if connection.execute(text(_STILL_OPEN), {"crawl": crawl_id}).one_or_none() is None:
                return
            with cursor(connection) as db:
                plan_probes(db, probes)

    def queued(self, crawl_id: UUID) -> list[Probe]:
        with transaction(self._engine) as db:
            rows = db.execute(text(_QUEUED), {"crawl": crawl_id}).all()
        return [
            Probe(UrlKey(crawl_id, key), url, host, Purpose(purpose), position)
            for key, url, host, purpose, position in rows
        ]

    def tasks(self, crawl_id: UUID, urls: Sequence[str]) -> dict[str, ProbeTask]:
        """Probes of these URLs, or keys, that still wait for a response, with what they are for."""
        with transaction(self._engine) as db:
            rows = db.execute(text(_TASKS), {"crawl": crawl_id, "urls": list(urls)}).all()
        found = [(url, ProbeTask(key, Purpose(purpose), *rest)) for url, key, purpose, *rest in rows]
        return {task.normalized_url: task for _, task in found} | dict(found)

    def close_rest(self, crawl_id: UUID) -> None:
        """Close probes that still wait: the crawl is over, so they are not sent any more."""
        with transaction(self._engine) as db:
            db.execute(text(_CLOSE), {"crawl": crawl_id})

    def close_second_looks(self, crawl_id: UUID) -> None:
        """Close second looks that still wait. They are not needed."""
        with transaction(self._engine) as db:
            db.execute(text(_CLOSE_SECOND_LOOKS), {"crawl": crawl_id})

    def missing_pages(
        self, crawl_id: UUID, baseline_id: UUID, unsettled: Container[str] = (), *, was_blind: bool = False
    ) -> list[UnmetPage]:
        """Pages of the baseline that this crawl has not found, and pages the baseline checked without a result.

        The nearest come first. Those that responded come last: they must not keep others from being checked. Of
        redirected pages only `unsettled` ones, by URL: their redirect was temporary. Where the baseline could tell of
        hardly any page (`was_blind`), that is no reason to give up one of them.
        """
        given = _open_question(crawl_id, baseline_id, ASKED_AGAIN | {Removal.MOVED}, was_blind=was_blind)
        with transaction(self._engine) as db:
            return [
                UnmetPage(key, url, depth, _bytes(digest), rounds, is_linked)
                for key, url, depth, digest, rounds, outcome, _, is_linked in db.execute(text(_MISSING), given)
                if outcome != Removal.MOVED or url in unsettled
            ]

    def given_up(self, crawl_id: UUID, baseline_id: UUID, *, was_blind: bool) -> list[str]:
        """Addresses that nothing leads to and that crawls asked for in vain, so often that this one did not."""
        given = _open_question(crawl_id, baseline_id, ASKED_AGAIN, was_blind=was_blind)
        with transaction(self._engine) as db:
            return list(db.execute(text(_GIVEN_UP), given).scalars())

    def unsure_pages(self, crawl_id: UUID, baseline_id: UUID) -> list[UnmetPage]:
        """Pages of the baseline, and those it could not settle, that failed in this crawl."""
        given = {"crawl": crawl_id, "baseline": baseline_id, "settled": _names({Removal.GONE, Removal.MOVED})}
        with transaction(self._engine) as db:
            return [
                UnmetPage(key, url, depth, _bytes(digest), rounds)
                for key, url, depth, digest, rounds, state, reason, status in db.execute(text(_UNSURE), given)
                if standing(state, reason, status) is Standing.UNKNOWN
                and (kind_by_reason(reason) in UNSETTLED or reason == Reason.CONTENT_TYPE)
            ]

    def files_of(self, crawl_id: UUID, types: Collection[str]) -> set[str]:
        """Keys of the crawl's pages that came as one of these types."""
        if not types:
            return set()
        with transaction(self._engine) as db:
            return set(db.execute(text(_FILES_OF), {"crawl": crawl_id, "types": sorted(types)}).scalars())

    def fresh_pages(self, crawl_id: UUID, *, rendered: bool) -> list[tuple[str, str]]:
        """Key and URL of pages whose content this crawl was the first to see; with or without `rendered` ones.

        A page that was the same in the crawl before says nothing new about what differs by itself.
        """
        with transaction(self._engine) as db:
            return [(key, url) for key, url in db.execute(text(_FRESH), {"crawl": crawl_id, "rendered": rendered})]

    def looked_at(self, crawl_id: UUID) -> dict[str, int]:
        """How often the project's last crawls before this one fetched each page a second time."""
        with transaction(self._engine) as db:
            return {row.normalized_url: row.looks for row in db.execute(text(_LOOKED_AT), {"crawl": crawl_id})}

    def keys_of(self, crawl_id: UUID, urls: Sequence[str]) -> set[str]:
        """The keys of these pages of a crawl."""
        with transaction(self._engine) as db:
            return set(db.execute(text(_KEYS), {"crawl": crawl_id, "urls": list(urls)}).scalars())

    def probed(self, crawl_id: UUID) -> Iterator[Probed]:
        """What the crawl's probes found out about missing pages."""
        with transaction(self._engine) as db:
            rows = db.execution_options(yield_per=_PAGE_SIZE).execute(text(_PROBED), {"crawl": crawl_id})
            for key, url, outcome, digest, target, status, reason in rows:
                yield Probed(key, url, Removal(outcome or Removal.NOT_REACHED), _bytes(digest), target, status, reason)

    def remembered(self, crawl_id: UUID) -> Iterator[SeenPage]:
        """Pages that the crawl did not find, and could not say are gone."""
        given = {"crawl": crawl_id, "settled": _names({Removal.GONE, Removal.MOVED})}
        with transaction(self._engine) as db:
            rows = db.execution_options(yield_per=_PAGE_SIZE).execute(text(_REMEMBERED), given)
            for key, url, digest in rows:
                yield SeenPage(key, url, _bytes(digest), Standing.PAGE)

    def tried(self, crawl_id: UUID) -> set[str]:
        """Addresses that the crawl fetched to find out whether a query parameter tells pages apart."""
        with transaction(self._engine) as db:
            return set(db.execute(text(_TRIED), {"crawl": crawl_id}).scalars())

    def adopt_looks(self, crawl_id: UUID, baseline_id: UUID, urls: Sequence[str]) -> dict[str, bool]:
        """Keep what the baseline saw at these addresses as earlier versions of the pages that this crawl has there.

        It took each for another page: it only looked at it, or kept it under the key of that page. Whether each page
        still says the same, as far as that is known without reading it; none of a page that was fetched in another way
        then. Writing it twice writes the same rows.
        """
        given = {"crawl": crawl_id, "before": baseline_id, "urls": list(urls)}
        with transaction(self._engine) as connection:
            looks = connection.execute(text(_LOOKS_BEFORE), given).all()
            rows = [
                {**look._mapping, "id": version_id(look.page_id, look.crawl_id, bytes(look.content_hash))}
                for look in looks
            ]
            if rows:
                connection.execute(text(_ADOPT), rows)
        return {look.url: bytes(look.content_hash) == _bytes(look.now) for look in looks if look.same_way}

    def second_looks(self, crawl_id: UUID) -> Iterator[tuple[str, UUID]]:
        """Normalized URL and snapshot of the second fetch, for each page that was fetched twice.

        The first fetch is the page's version of this crawl.
        """
        with transaction(self._engine) as db:
            looks = [(key, snapshot) for key, snapshot in db.execute(text(_SECOND_LOOKS), {"crawl": crawl_id})]
        return iter(looks)


def plan_probes(db: Cursor, probes: Sequence[Probe]) -> int:
    """Write planned probes. Returns how many were written: one that exists may stay as it is."""
    first = {probe.key: probe for probe in sorted(probes, reverse=True)}
    rows = [
        (
            *p.key,
            p.url,
            p.host,
            p.purpose.value,
            p.position,
            "queued" if p.outcome is None else "done",
            p.outcome,
            p.content_hash,
            p.rounds,
            p.depth,
        )
        for p in sorted(first.values())
    ]
    return len(execute_values(db, _PLAN, rows, page_size=_PAGE_SIZE, fetch=True))


def end_probes(db: Cursor, ends: Sequence[ProbeEnd]) -> set[UUID]:
    """Write the results of probes inside the engine's commit. Returns the snapshots that are needed for them.

    Rows are locked in the order of their keys, also those of hosts that do not respond: two batches never deadlock.
    """
    if not ends:
        return set()
    crawls, urls = [end.key.crawl_id for end in ends], [end.key.normalized_url for end in ends]
    db.execute(_LOCK, (crawls, crawls, urls, [end.silenced_host for end in ends]))
    waiting = {UrlKey(*row) for row in db}
    turned = [end for end in ends if end.key in waiting]
    if turned:
        rows = [{**end.key._asdict(), **end._asdict()} for end in {end.key: end for end in turned}.values()]
        execute_values(db, _END, rows, template=_END_ROW, page_size=len(rows))
    if silenced := {(end.key.crawl_id, end.silenced_host, end.reason, end.at) for end in ends if end.silenced_host}:
        execute_values(db, _SILENCE, list(silenced), template="(%s::uuid, %s, %s, %s::timestamptz)")
    return {end.snapshot_id for end in turned if end.snapshot_id}


def _open_question(
    crawl_id: UUID, baseline_id: UUID, again: frozenset[Removal], *, was_blind: bool
) -> dict[str, object]:
    blocked = 0 if was_blind else ROUNDS[Removal.BLOCKED]
    return {
        "crawl": crawl_id, "baseline": baseline_id, "again": _names(again),
        "most": MOST_ROUNDS, "alive": ROUNDS[Removal.ALIVE], "blocked": blocked,
    }  # fmt: skip


def _names(kinds: frozenset[Removal] | set[Removal]) -> list[str]:
    return sorted(kind.value for kind in kinds)


def _bytes(value: object) -> bytes | None:
    return bytes(value) if value is not None else None  # type: ignore[call-overload]


_STATE = """
SELECT count(*), count(*) FILTER (WHERE state = 'queued') FROM crawl_probes
WHERE crawl_id = :crawl AND purpose <> 'trial'
"""
_STILL_OPEN = "SELECT id FROM crawl_jobs WHERE id = :crawl AND status = 'in_progress' FOR SHARE"
_PLAN = """
INSERT INTO crawl_probes
    (crawl_id, normalized_url, url, host, purpose, position, state, outcome, content_hash, rounds, depth)
VALUES %s ON CONFLICT (crawl_id, normalized_url) DO UPDATE
SET url = excluded.url, purpose = excluded.purpose, position = excluded.position, state = excluded.state,
    outcome = excluded.outcome, content_hash = excluded.content_hash, rounds = excluded.rounds, depth = excluded.depth,
    reason = NULL, http_status = NULL, final_url = NULL, snapshot_id = NULL, at = NULL
WHERE crawl_probes.purpose = 'trial' AND crawl_probes.state = 'done' AND excluded.purpose <> 'trial'
RETURNING 1
"""
_QUEUED = """
SELECT normalized_url, url, host, purpose, position FROM crawl_probes
WHERE crawl_id = :crawl AND state = 'queued' ORDER BY position
"""
_TASKS = """
SELECT p.url, p.normalized_url, p.purpose, p.depth,
    p.purpose = 'again' AND coalesce(v.crawl_method = 'crawl4ai', false)
FROM crawl_probes p
LEFT JOIN crawl_discovered_urls u ON u.crawl_job_id = p.crawl_id AND u.normalized_url = p.normalized_url
LEFT JOIN page_versions v ON v.id = u.version_id
WHERE p.crawl_id = :crawl AND (p.url = ANY(:urls) OR p.normalized_url = ANY(:urls)) AND p.state = 'queued'
"""
_CLOSE = """
UPDATE crawl_probes SET state = 'done', outcome = 'not_reached' WHERE crawl_id = :crawl AND state = 'queued'
"""
_CLOSE_SECOND_LOOKS = """
UPDATE crawl_probes SET state = 'done', outcome = 'not_reached'
WHERE crawl_id = :crawl AND state = 'queued' AND purpose = 'again'
"""
# What the crawl before asked for in vain, and this one has not met. One that answered and had no room is asked for as
# long as that is so.
_LEFT_OPEN = """
FROM crawl_probes p
LEFT JOIN crawl_discovered_urls u ON u.crawl_job_id = :crawl AND u.normalized_url = p.normalized_url
LEFT JOIN crawl_discovered_urls w
    ON w.crawl_job_id = :baseline AND w.normalized_url = p.normalized_url AND w.reason = 'max_pages'
CROSS JOIN LATERAL (
    SELECT p.rounds + CASE WHEN p.outcome = 'not_reached' OR w.normalized_url IS NOT NULL THEN 0
                           WHEN p.outcome = 'alive' THEN :alive ELSE :blocked END AS rounds) c
WHERE p.crawl_id = :baseline AND p.purpose = 'missing' AND p.outcome = ANY(:again)
  AND coalesce(u.fetch_state, 'queued') = 'queued'
  AND NOT EXISTS (SELECT 1 FROM crawl_discovered_urls b
                  WHERE b.crawl_job_id = :baseline AND b.normalized_url = p.normalized_url
                    AND (b.fetch_state = 'done' OR b.reason IN ('not_found', 'redirected', 'off_domain')))
"""
_GIVEN_UP = f"SELECT p.url {_LEFT_OPEN} AND c.rounds >= :most ORDER BY p.url"
# A page that this crawl refused on discovery was found: the ledger says why. A URL still queued at the end was not.
_MISSING = f"""
SELECT b.normalized_url, b.url, b.depth, b.content_hash, 0 AS rounds, NULL, false AS answers,
    u.normalized_url IS NOT NULL AS is_linked
FROM crawl_discovered_urls b
LEFT JOIN crawl_discovered_urls u ON u.crawl_job_id = :crawl AND u.normalized_url = b.normalized_url
WHERE b.crawl_job_id = :baseline AND b.fetch_state = 'done' AND coalesce(u.fetch_state, 'queued') = 'queued'
UNION ALL
SELECT p.normalized_url, p.url, p.depth, p.content_hash, c.rounds, p.outcome, p.outcome = 'alive',
    u.normalized_url IS NOT NULL
{_LEFT_OPEN}  AND c.rounds < :most
ORDER BY answers, depth, normalized_url
"""  # noqa: S608 - no value from outside
_UNSURE = """
SELECT u.normalized_url, u.url, u.depth, coalesce(b.content_hash, p.content_hash), coalesce(p.rounds, 0),
    u.fetch_state, u.reason, u.http_status
FROM crawl_discovered_urls u
LEFT JOIN crawl_discovered_urls b
    ON b.crawl_job_id = :baseline AND b.normalized_url = u.normalized_url AND b.fetch_state = 'done'
LEFT JOIN crawl_probes p
    ON p.crawl_id = :baseline AND p.normalized_url = u.normalized_url AND p.purpose = 'missing'
    AND p.outcome <> ALL(:settled)
WHERE u.crawl_job_id = :crawl AND u.fetch_state IN ('failed', 'skipped')
    AND (b.normalized_url IS NOT NULL OR p.normalized_url IS NOT NULL)
"""
_FILES_OF = """
SELECT u.normalized_url
FROM crawl_discovered_urls u
JOIN page_versions v ON v.id = u.version_id
LEFT JOIN snapshots s ON s.id = v.snapshot_id
WHERE u.crawl_job_id = :crawl AND u.fetch_state = 'done'
  AND lower(trim(split_part(coalesce(v.headers ->> 'content-type', s.content_type), ';', 1))) = ANY(:types)
"""
_FRESH = """
SELECT u.normalized_url, p.url
FROM crawl_discovered_urls u
JOIN page_versions v ON v.id = u.version_id AND v.crawl_id = u.crawl_job_id
    AND (:rendered OR v.crawl_method = 'lightweight')
JOIN crawled_pages p ON p.id = v.page_id
WHERE u.crawl_job_id = :crawl AND u.fetch_state = 'done' AND v.snapshot_id IS NOT NULL
  AND u.reason IS NULL
"""
_KEYS = "SELECT normalized_url FROM crawl_discovered_urls WHERE crawl_job_id = :crawl AND url = ANY(:urls)"
_LOOKED_AT = """
SELECT normalized_url, count(*) AS looks FROM crawl_probes
WHERE purpose = 'again' AND outcome = 'seen' AND crawl_id IN (
    SELECT e.id FROM crawl_jobs e JOIN crawl_jobs c ON c.project_id = e.project_id AND c.id = :crawl
    WHERE e.id <> c.id ORDER BY e.created_at DESC LIMIT 50)
GROUP BY normalized_url
"""
_PROBED = """
SELECT normalized_url, url, outcome, content_hash, final_url, http_status, reason FROM crawl_probes
WHERE crawl_id = :crawl AND purpose = 'missing'
"""
_TRIED = "SELECT url FROM crawl_probes WHERE crawl_id = :crawl AND purpose = 'trial' AND snapshot_id IS NOT NULL"
# The hash of a mere look is that of its bytes: whether the page changed is found out by its text. It was fetched as the
# homepage was.
_LOOKS_BEFORE = """
WITH looks AS (
    SELECT p.url, '' AS normalized_url, p.crawl_id, p.snapshot_id, s.content_hash, NULL AS title, p.url AS final_url,
        coalesce((SELECT v.crawl_method FROM crawl_discovered_urls h JOIN page_versions v ON v.id = h.version_id
                  WHERE h.crawl_job_id = :before AND h.depth = 0 AND h.fetch_state = 'done' LIMIT 1),
                 'lightweight') AS crawl_method, p.at AS fetched_at
    FROM crawl_probes p JOIN snapshots s ON s.id = p.snapshot_id
    WHERE p.crawl_id = :before AND p.url = ANY(:urls) AND p.purpose = 'trial'
    UNION ALL
    SELECT b.url, b.normalized_url, b.crawl_job_id, o.snapshot_id, o.content_hash, o.title, o.final_url,
        o.crawl_method, b.fetched_at
    FROM crawl_discovered_urls b JOIN page_versions o ON o.id = b.version_id
    WHERE b.crawl_job_id = :before AND b.url = ANY(:urls) AND b.fetch_state = 'done'
)
SELECT DISTINCT ON (u.url) u.content_hash AS now, v.page_id, looks.*,
    looks.crawl_method IN (v.crawl_method, CASE WHEN u.rendering ? 'light_copy' THEN 'lightweight' END) AS same_way
FROM crawl_discovered_urls u
JOIN page_versions v ON v.id = u.version_id
JOIN looks ON looks.url = u.url AND looks.normalized_url <> u.normalized_url
WHERE u.crawl_job_id = :crawl AND u.url = ANY(:urls) AND u.fetch_state = 'done'
ORDER BY u.url, looks.fetched_at DESC
"""
_ADOPT = """
INSERT INTO page_versions (id, page_id, crawl_id, snapshot_id, content_hash, title, final_url, crawl_method, fetched_at)
VALUES (:id, :page_id, :crawl_id, :snapshot_id, :content_hash, :title, :final_url, :crawl_method, :fetched_at)
ON CONFLICT (id) DO NOTHING
"""
_REMEMBERED = """
SELECT normalized_url, url, content_hash FROM crawl_probes
WHERE crawl_id = :crawl AND purpose = 'missing' AND outcome <> ALL(:settled)
"""
_SECOND_LOOKS = """
SELECT normalized_url, snapshot_id FROM crawl_probes
WHERE crawl_id = :crawl AND purpose = 'again' AND snapshot_id IS NOT NULL ORDER BY position
"""
_LOCK = """
SELECT p.crawl_id, p.normalized_url FROM crawl_probes p
WHERE p.crawl_id = ANY(%s::uuid[]) AND p.state = 'queued' AND EXISTS (
    SELECT 1 FROM unnest(%s::uuid[], %s::text[], %s::text[]) AS v(crawl_id, normalized_url, host)
    WHERE v.crawl_id = p.crawl_id AND (v.normalized_url = p.normalized_url OR v.host = p.host))
ORDER BY p.crawl_id, p.normalized_url FOR UPDATE
"""
_END = """
UPDATE crawl_probes p
SET state = 'done', outcome = v.outcome, reason = v.reason, http_status = v.http_status, final_url = v.final_url,
    snapshot_id = v.snapshot_id, at = v.at
FROM (VALUES %s) AS v(crawl_id, normalized_url, outcome, reason, http_status, final_url, snapshot_id, at)
WHERE p.crawl_id = v.crawl_id AND p.normalized_url = v.normalized_url AND p.state = 'queued'
"""
_END_ROW = """(%(crawl_id)s::uuid, %(normalized_url)s, %(outcome)s, %(reason)s::text, %(http_status)s::smallint,
    %(final_url)s::text, %(snapshot_id)s::uuid, %(at)s::timestamptz)"""
_SILENCE = """
UPDATE crawl_probes p SET state = 'done', outcome = 'not_reached', reason = v.reason, at = v.at
FROM (VALUES %s) AS v(crawl_id, host, reason, at)
WHERE p.crawl_id = v.crawl_id AND p.host = v.host AND p.state = 'queued'
"""
