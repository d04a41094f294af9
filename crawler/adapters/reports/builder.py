"""Writes down what one crawl found wrong with its site: once, when it is over, in one transaction.

What counts as a finding: `queries.py`. Limits: `ReportLimits` in `domain/exports/reports.py`. Which crawl it is
compared with: `handlers/crawls/report_crawl.py`.
"""

import json
from typing import Any

from sqlalchemy import Connection, Engine, text

from crawler.adapters.postgres.database import transaction
from crawler.adapters.reports.facts import Facts, KeyOf, lay_out
from crawler.adapters.reports.queries import QUERIES
from crawler.domain.crawls.crawl import CrawlJob, EndReason
from crawler.domain.exports.reports import BROKEN_REASONS, REDIRECT_REASONS, FindingKind, ReportHead, ReportLimits
from crawler.domain.judging import OpenJudge
from crawler.errors import Conflict

# What a page's row says, and an older version of it no longer does when its snapshot is gone.
_OF_PAGES = (
    FindingKind.TITLE_MISSING,
    FindingKind.TITLE_DUPLICATE,
    FindingKind.DESCRIPTION_MISSING,
    FindingKind.DESCRIPTION_DUPLICATE,
    FindingKind.H1_MISSING,
    FindingKind.CANONICAL,
    FindingKind.NOINDEX,
    FindingKind.LARGE,
)
_NO_LOG = "The log of this crawl's requests is no longer kept, so nobody can tell which pages were slow."
_NOT_WHOLE = "The crawl did not see the whole site, so nobody can tell which pages are linked from nowhere."


class ReportBuilder:
    def __init__(self, engine: Engine, open_judge: OpenJudge, robot: str = "") -> None:
        self._engine = engine
        self._open_judge = open_judge
        self._robot = robot

    def __call__(self, crawl: CrawlJob, baseline: ReportHead | None, key_of: KeyOf, limits: ReportLimits) -> None:
        """Safe to repeat, and to do twice at once: a report that is there stays."""
        with transaction(self._engine) as db:
            db.execute(text(_LOCK), {"crawl": str(crawl.id)})
            if db.execute(text(_EXISTS), {"crawl": crawl.id}).scalar_one():
                return
            _refuse_pruned(db, crawl)
            db.execute(text("SET LOCAL work_mem = '64MB'"))
            db.execute(text("SET LOCAL statement_timeout = '10min'"))
            facts = lay_out(db, crawl.id, key_of, limits, self._robot, self._open_judge)
            _lay_out_baseline(db, baseline)
            notes = _notes(db, crawl, facts)
            for kind in FindingKind:
                if kind is not FindingKind.ORPHAN or kind not in notes:
                    _write(db, crawl, kind, baseline, facts, limits)
            _count(db, crawl, baseline, notes, limits)


def _lay_out_baseline(db: Connection, baseline: ReportHead | None) -> None:
    """Apart and counted: of a report just written nobody has counted how large it is, and a plan made in the dark
    looks through all of it for each finding.
    """
    db.execute(text(_BASELINE), {"baseline": baseline.crawl_id if baseline else None})
    db.execute(text("ANALYZE report_before"))


def _refuse_pruned(db: Connection, crawl: CrawlJob) -> None:
    if crawl.total_discovered and not db.execute(text(_HAS_LEDGER), {"crawl": crawl.id}).scalar_one():
        raise Conflict(f"The list of URLs of crawl {crawl.id} is no longer kept, so no report can be made of it.")


def _notes(db: Connection, crawl: CrawlJob, facts: Facts) -> dict[FindingKind, str]:
    notes: dict[FindingKind, str] = {}
    if facts.unknown:
        words = f"{facts.unknown} pages have changed since, and what they said then is no longer kept."
        notes.update(dict.fromkeys(_OF_PAGES, words))
    if facts.pages and not db.execute(text(_HAS_LOG), {"crawl": crawl.id}).scalar_one():
        notes[FindingKind.SLOW] = _NO_LOG
    if crawl.end_reason is not EndReason.EXHAUSTED:
        notes[FindingKind.ORPHAN] = _NOT_WHOLE
    return notes


def _write(
    db: Connection, crawl: CrawlJob, kind: FindingKind, baseline: ReportHead | None, facts: Facts, limits: ReportLimits
) -> None:
    """A kind that the baseline could not tell is compared with nothing."""
    query = QUERIES[kind]
    compared = baseline.crawl_id if baseline is not None and kind not in baseline.notes else None
    given: dict[str, Any] = {
        "crawl": crawl.id,
        "kind": kind.value,
        "baseline": compared,
        "most": limits.findings,
        "broken": sorted(BROKEN_REASONS),
        "redirecting": sorted(REDIRECT_REASONS),
        "invalid_tags": facts.invalid_tags,
        "slow_ms": int(limits.slow_seconds * 1000),
        "large_bytes": limits.large_bytes,
    }
    statement = _INSERT.format(query=query.sql, order=query.order)
    db.execute(text(statement), {name: value for name, value in given.items() if f":{name}" in statement})


def _count(
    db: Connection,
    crawl: CrawlJob,
    baseline: ReportHead | None,
    notes: dict[FindingKind, str],
    limits: ReportLimits,
) -> None:
    counted = {row.kind: row for row in db.execute(text(_COUNTS), {"crawl": crawl.id})}
    counts = {}
    for kind in FindingKind:
        row = counted.get(kind.value)
        compared = baseline is not None and kind not in baseline.notes
        counts[kind.value] = {"found": row.found if row else 0, "new": (row.new if row else 0) if compared else None}
        if row and row.found >= limits.findings:
            notes[kind] = f"Only the first {limits.findings} are kept."
    given = {
        "crawl": crawl.id,
        "compared_to": baseline.crawl_id if baseline else None,
        "limits": limits.model_dump_json(),
        "counts": json.dumps(counts),
        "notes": json.dumps(notes),
    }
    db.execute(text(_SAVE), given)


_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('report ' || :crawl, 0))"
_EXISTS = "SELECT EXISTS (SELECT 1 FROM crawl_reports WHERE crawl_id = :crawl)"
_HAS_LEDGER = "SELECT EXISTS (SELECT 1 FROM crawl_discovered_urls WHERE crawl_job_id = :crawl)"
_HAS_LOG = "SELECT EXISTS (SELECT 1 FROM request_log WHERE crawl_id = :crawl AND kind = 'p')"
_BASELINE = """
CREATE TEMPORARY TABLE report_before ON COMMIT DROP AS
SELECT kind, normalized_url, problem FROM crawl_findings WHERE crawl_id = :baseline
"""
_INSERT = """
INSERT INTO crawl_findings (crawl_id, kind, position, normalized_url, url, problem, text, value, related,
    related_count, is_new)
SELECT :crawl, :kind, row_number() OVER (ORDER BY {order}), key, url, problem, text, value, related, related_count,
    CASE WHEN CAST(:baseline AS uuid) IS NOT NULL THEN b.normalized_url IS NULL END
FROM ({query}) AS f(key, url, problem, text, value, related, related_count)
LEFT JOIN (
    SELECT normalized_url, problem AS known_problem FROM report_before
    WHERE CAST(:baseline AS uuid) IS NOT NULL AND kind = :kind
) b ON b.normalized_url = f.key AND b.known_problem = f.problem
ORDER BY {order} LIMIT :most
"""
_COUNTS = """
SELECT kind, count(*) AS found, count(*) FILTER (WHERE is_new) AS new FROM crawl_findings WHERE crawl_id = :crawl
GROUP BY kind
"""
_SAVE = """
INSERT INTO crawl_reports (crawl_id, compared_to, limits, counts, notes)
VALUES (:crawl, :compared_to, CAST(:limits AS jsonb), CAST(:counts AS jsonb), CAST(:notes AS jsonb))
"""
