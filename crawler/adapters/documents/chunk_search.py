"""Search in Postgres: words by its full-text index, meaning by pgvector.

A word that stands in very many chunks would have to be ranked in all of them. So some are chosen first: those that
have it in a title or heading, then others, up to a number; only these are ranked.

Only crawls with `ingest` make documents. Ranks by words and by meaning are joined by `fuse` in
`domain/documents/searching.py`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from psycopg2.errors import QueryCanceled
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from crawler.adapters.postgres.database import transaction
from crawler.domain.documents.searching import (
    BEGIN,
    END,
    Found,
    Query,
    SearchHit,
    excluded,
    in_headings,
    snippet,
    typed,
)
from crawler.errors import SearchTooSlow

LONGEST_SECONDS = 5.0
MOST_RANKED = 2000
MOST_RANKED_HEADINGS = 1000
CANDIDATES = 200
WHOLE_SNIPPET = 300
"""Characters that are shown as they are."""
_MARKED = f"StartSel={BEGIN}, StopSel={END}"
_LAST = "\U0010ffff"
"""Sorts behind every character a URL may have."""


class ChunkSearch:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @contextmanager
    def _limited(self) -> Iterator[Connection]:
        """A transaction for statements whose time depends on what stands in somebody's documents."""
        with transaction(self._engine) as db:
            db.execute(text(f"SET LOCAL statement_timeout = {round(LONGEST_SECONDS * 1000)}"))
            try:
                yield db
            except DBAPIError as exc:
                if isinstance(exc.orig, QueryCanceled):
                    raise SearchTooSlow from exc
                raise

    def read(self, project_id: UUID, words: str) -> Query:
        with transaction(self._engine) as db:
            rows = db.execute(text(_READ), {"project": project_id, "words": typed(words)}).all()
        return Query({row.config: row.query for row in rows if row.query})

    def by_words(self, project_id: UUID, query: Query, prefix: str | None) -> list[Found]:
        """Best first."""
        given: dict[str, Any] = {"own": f"'p:{project_id}'", "most": CANDIDATES}
        parts = []
        for number, (config, read) in enumerate(query.by_config.items()):
            given |= {f"config{number}": config, f"query{number}": read, f"heading{number}": in_headings(read)}
            parts += [_part(number, f":heading{number}", MOST_RANKED_HEADINGS, prefix)]
            parts += [_part(number, None, MOST_RANKED, prefix)]
        if not parts:
            return []
        statement = _RANKED.format(parts=" UNION ALL ".join(parts))
        with self._limited() as db:
            return [Found(row.id, row.document_id) for row in db.execute(text(statement), given | _range(prefix))]

    def by_vector(
        self, project_id: UUID, vector: Sequence[float], model: str, query: Query, prefix: str | None, kind: str
    ) -> list[Found]:
        """Nearest first, without what the query excludes. `kind` is pgvector's type for so many numbers."""
        unwanted = {config: words for config, read in query.by_config.items() if (words := excluded(read))}
        where = _prefixed(prefix) + (_WITHOUT if unwanted else "")
        statement = _NEAREST.format(kind=f"{kind}({len(vector)})", where=where)
        given: dict[str, Any] = {"project": project_id, "model": model, "near": str(list(vector)), "most": CANDIDATES}
        if unwanted:
            given |= {"configs": list(unwanted), "unwanted": list(unwanted.values())}
        with self._limited() as db:
            _scan_on(db)
            return [Found(row.id, row.document_id) for row in db.execute(text(statement), given | _range(prefix))]

    def show(self, found: Sequence[tuple[Found, float]], query: Query) -> list[SearchHit]:
        given = {
            "ids": [hit.chunk_id for hit, _ in found],
            "configs": list(query.by_config),
            "queries": list(query.by_config.values()),
            "whole": f"{_MARKED}, HighlightAll=true",
            "parts": f'{_MARKED}, MaxWords=40, MinWords=15, MaxFragments=2, FragmentDelimiter=" … "',
            "short": WHOLE_SNIPPET,
            "marks": BEGIN + END,
        }
        with self._limited() as db:
            rows = {row.chunk_id: row._asdict() for row in db.execute(text(_SHOWN), given)}
        hits = []
        for hit, score in found:  # one that is gone by now is left out
            if row := rows.get(hit.chunk_id):
                hits.append(SearchHit(**row | {"snippet": snippet(row.pop("marked")), "score": score}))
        return hits


def _part(number: int, heading: str | None, most: int, prefix: str | None) -> str:
    query = f"CAST(:query{number} AS tsquery)"
    wanted = f"{query} && CAST(:own AS tsquery)" + (f" && CAST({heading} AS tsquery)" if heading else "")
    return _CHOSEN.format(number=number, query=query, wanted=wanted, most=most, where=_prefixed(prefix))


def _prefixed(prefix: str | None) -> str:
    return _PREFIXED if prefix else ""


def _range(prefix: str | None) -> dict[str, str]:
    """`…/docs/` is what is below it and the page itself, whose key has no slash at its end."""
    return {"first": prefix, "last": prefix + _LAST, "itself": prefix.removesuffix("/")} if prefix else {}


def _scan_on(db: Connection) -> None:
    """Search on in an index over all projects until enough chunks of this one are found."""
    db.execute(text(_SCAN_ON))


# The cast loads the library, without which the setting is not there; before pgvector 0.8 there is none.
_SCAN_ON = """
SELECT set_config(name, 'relaxed_order', true) FROM pg_settings
WHERE name = 'hnsw.iterative_scan' AND CAST('[1]' AS vector) IS NOT NULL
"""
_READ = """
SELECT c AS config, CAST(websearch_to_tsquery(CAST(c AS regconfig), :words) AS text) AS query
FROM document_feeds f, unnest(f.configs) AS c WHERE f.project_id = :project ORDER BY 1
"""
_PREFIXED = """
AND EXISTS (SELECT 1 FROM documents d WHERE d.id = c.document_id
            AND (d.normalized_url >= :first AND d.normalized_url < :last OR d.normalized_url = :itself))
"""
_WITHOUT = """
AND NOT EXISTS (SELECT 1 FROM unnest(CAST(:configs AS text[]), CAST(:unwanted AS text[])) AS u(config, query)
                WHERE u.config = c.config AND c.words @@ CAST(u.query AS tsquery))
"""
_CHOSEN = """
(SELECT id, document_id, ts_rank_cd('{{0.1, 0.2, 0.4, 1}}', words, {query}, 1) AS rank FROM (
    SELECT id, document_id, words FROM document_chunks c
    WHERE c.words @@ ({wanted}) AND c.config = :config{number} {where} LIMIT {most}) AS few)
"""
_RANKED = """
SELECT id, document_id, max(rank) AS rank FROM ({parts}) AS chosen
GROUP BY id, document_id ORDER BY rank DESC, id LIMIT :most
"""
_NEAREST = """
SELECT c.id, c.document_id FROM document_chunks c
WHERE c.project_id = :project AND c.embedded_with = :model {where}
ORDER BY CAST(c.embedding AS {kind}) <=> CAST(:near AS {kind}) LIMIT :most
"""
_SHOWN = """
SELECT c.id AS chunk_id, c.document_id, d.url, d.title, d.language, c.position, c.headings, c.content,
    ts_headline(CAST(c.config AS regconfig), translate(c.content, :marks, ''),
        coalesce(CAST(q.query AS tsquery), ''::tsquery),
        CASE WHEN length(c.content) <= :short THEN :whole ELSE :parts END) AS marked
FROM document_chunks c JOIN documents d ON d.id = c.document_id
LEFT JOIN unnest(CAST(:configs AS text[]), CAST(:queries AS text[])) AS q(config, query) ON q.config = c.config
WHERE c.id = ANY(:ids)
"""
