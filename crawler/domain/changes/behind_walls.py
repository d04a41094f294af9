"""Pages behind a wall from one crawl to the next, each with its last version that was the page itself.

A wall that stands for several crawls must not become the page: neither when it stays as it is, which looks as if
nothing had changed, nor when it says something else each time.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from crawler.domain.changes.comparison import Changes
from crawler.domain.diffs.walls import Wall

Kept = TypeVar("Kept")


class BehindWall(NamedTuple):
    wall: Wall
    version: UUID
    """What the page was before."""


def behind_walls(summary: Mapping[str, Any] | None) -> dict[str, BehindWall]:
    """Pages that a crawl found behind a wall, by URL."""
    kept = (summary or {}).get("behind_walls", {})
    return {url: BehindWall(Wall(told["kind"]), UUID(told["version"])) for url, told in kept.items()}


def as_record(pages: Mapping[str, BehindWall]) -> dict[str, dict[str, str]]:
    return {url: {"kind": page.wall.value, "version": str(page.version)} for url, page in sorted(pages.items())}


def reopened(changes: Changes, known: Container[str]) -> Changes:
    """Pages that say what the wall said in the crawl before are looked at again: they are not unchanged."""
    again = [url for url in changes.unchanged if url in known]
    if not again:
        return changes
    return replace(
        changes,
        changed=tuple(sorted((*changes.changed, *again))),
        unchanged=tuple(url for url in changes.unchanged if url not in known),
    )


def carried_on(known: Mapping[str, Kept], changes: Changes) -> dict[str, Kept]:
    """Of those behind a wall before, or without a part, the pages that could not be looked at this time."""
    settled = {*_settled(changes)}
    return {url: page for url, page in known.items() if url not in settled}


def _settled(changes: Changes) -> Iterable[str]:
    yield from (*changes.changed, *changes.unchanged, *changes.removed, *(move.source for move in changes.moved))
