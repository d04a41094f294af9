"""What a search finds: chunks of documents, in the order of how well they answer, with the matching words marked.

Ranks are merged by `fuse`; the queries are in `adapters/documents/chunk_search.py`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict

MOST_PER_DOCUMENT = 3
"""One long page is not the whole answer."""
BEGIN, END = "\ue000", "\ue001"
"""Stand around matching words in what Postgres answers; no character of any script."""
_LEXEME = r"'((?:[^'\\]|''|\\.)*)'"
_WORD = r"'(?:[^'\\]|''|\\.)*'(?::\*?[A-D]*)?"
# A whole word first: what is quoted may have any sign in it. Of what a person types a negation has at most one level.
_EXCLUDED = re.compile(rf"!({_WORD}|\((?:{_WORD}|[^'()])*\))|{_WORD}")
MOST_WORDS = 20
"""Of a query, that are looked for. Vectors are made of all of it."""
_PARTS = re.compile(r'-?"[^"]*"?|\S+').findall
_WORDS = re.compile(r"\w+").finditer
_OR = "or"
_FUSION = 60
"""The constant of reciprocal rank fusion: how little the first places differ."""


class Found(NamedTuple):
    """A chunk that one way of searching came up with."""

    chunk_id: UUID
    document_id: UUID


class Query(NamedTuple):
    """What was typed, as each language of the project reads it. Languages in which it has no words are left out."""

    by_config: Mapping[str, str]


class SnippetPart(BaseModel):
    model_config = ConfigDict(frozen=True)

    text: str
    match: bool


class SearchHit(BaseModel):
    model_config = ConfigDict(frozen=True)

    chunk_id: UUID
    document_id: UUID
    url: str
    title: str | None
    language: str | None
    position: int
    headings: tuple[str, ...]
    content: str
    snippet: tuple[SnippetPart, ...]
    """Plain text in parts: whoever shows it decides how a match looks, and escapes it as all text."""
    score: float


class SearchAnswer(NamedTuple):
    hits: Sequence[SearchHit]
    mode: str
    """text, or hybrid."""
    note: str | None
    """Why there are no vectors in it, if there should be."""


def typed(words: str) -> str:
    """A query as Postgres can take it: of many dashes in a row it makes an error instead of a query.

    Ranking takes a time that grows with the words, so what is repeated is left out, and what comes after so many.
    """
    kept: list[str] = []
    seen: set[str] = set()
    left = MOST_WORDS
    for part in _PARTS(re.sub(r"-(?![\w\"])|(?<=\S)-(?=\")", " ", words)):
        key = part.casefold()
        if key in seen:
            continue
        if key != _OR:
            seen.add(key)
        ends = [word.end() for word in _WORDS(part)]
        kept.append(part[: ends[left - 1]] if len(ends) > left else part)
        left -= 0 if key == _OR else len(ends)
        if left <= 0:
            break
    return " ".join(kept)


def fuse(ways: Iterable[Sequence[Found]], limit: int) -> list[tuple[Found, float]]:
    """Reciprocal rank fusion: what several ways find early comes first. A few of each document at most."""
    scores: dict[Found, float] = {}
    for way in ways:
        for rank, found in enumerate(way, 1):
            scores[found] = scores.get(found, 0.0) + 1 / (_FUSION + rank)
    best: list[tuple[Found, float]] = []
    of_document: Counter[UUID] = Counter()
    for found, score in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])):
        of_document[found.document_id] += 1
        if of_document[found.document_id] <= MOST_PER_DOCUMENT:
            best.append((found, score))
        if len(best) == limit:
            break
    return best


def snippet(marked: str) -> tuple[SnippetPart, ...]:
    """The parts of a text in which matches stand between `BEGIN` and `END`."""
    parts = []
    for piece in re.split(f"({BEGIN}[^{BEGIN}{END}]*{END})", marked):
        text = piece.replace(BEGIN, "").replace(END, "")
        if text:
            parts.append(SnippetPart(text=text, match=piece.startswith(BEGIN) and piece.endswith(END)))
    return tuple(parts)


def excluded(query: str) -> str:
    """What must not be there, as a tsquery of its own; empty if nothing is excluded."""
    return " | ".join(found[1] for found in _EXCLUDED.finditer(query) if found[1])


def in_headings(query: str) -> str:
    """A tsquery for the words of titles and headings, which chunks hold once more with a mark."""
    return re.sub(_LEXEME, r"'h:\1'", query)
