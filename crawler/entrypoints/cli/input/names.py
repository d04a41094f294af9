"""Projects and crawls as people name them: by name, by the beginning of a name or an id, or `latest`.

What is meant is looked up by `entrypoints/cli/backend/naming.py`.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Annotated, Protocol, TypeVar
from uuid import UUID

import typer

LATEST = "latest"
SHOWN = 5
"""Candidates that a message names."""

ProjectName = Annotated[
    str, typer.Argument(metavar="PROJECT", help="Its name, the beginning of its name or id, or 'latest'.")
]
CrawlName = Annotated[
    str, typer.Argument(metavar="CRAWL", help="A project for its newest crawl, the beginning of an id, or 'latest'.")
]

_SCHEME = re.compile(r"^https?://", re.IGNORECASE)


class Named(Protocol):
    @property
    def id(self) -> UUID: ...
    @property
    def name(self) -> str: ...
    @property
    def website_url(self) -> str | None: ...


Project = TypeVar("Project", bound=Named)


def whole_id(typed: str) -> UUID | None:
    try:
        return UUID(typed)
    except ValueError:
        return None


def meant(typed: str, projects: Iterable[Project]) -> list[Project]:
    """The projects that are meant: the one so called, else those with that address, else all that begin so.

    A project is often called by its address, which people type without its scheme.
    """
    known = list(projects)
    plain = _plain(typed)
    so_called = [one for one in known if one.name == typed]
    at_home = [one for one in known if plain in _names(one)]
    begin_so = [one for one in known if any(name.startswith(plain) for name in _names(one)) or _begins(one, typed)]
    return so_called or at_home or (begin_so if plain else [])


def similar(typed: str, projects: Iterable[Project]) -> list[Project]:
    """Projects that somebody may have meant who mistyped a name, the most similar first."""
    by_name = {name: one for one in projects for name in _names(one)}
    plain = _plain(typed)
    close = [name for name in by_name if plain in name] + get_close_matches(plain, by_name, SHOWN, 0.5)
    return list({by_name[name].id: by_name[name] for name in close}.values())


def listed(words: Sequence[str], joined_by: str = "and") -> str:
    """Some of these in a sentence, and how many more there are."""
    shown = list(words[:SHOWN])
    rest = len(words) - len(shown)
    if rest:
        shown.append(f"{rest} more")
    *others, last = shown
    return f"{', '.join(others)} {'and' if rest else joined_by} {last}" if others else last


def _begins(one: Named, typed: str) -> bool:
    return bool(typed) and str(one.id).startswith(typed.lower())


def _names(one: Named) -> list[str]:
    return [_plain(name) for name in (one.name, one.website_url) if name]


def _plain(name: str) -> str:
    return _SCHEME.sub("", name.strip()).rstrip("/").casefold()
