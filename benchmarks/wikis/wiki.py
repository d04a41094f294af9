"""What the story needs of a wiki, whatever its software."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from benchmarks.wikis.content import Text
from benchmarks.wikis.judging import Truth

USER, PASSWORD = "admin", "correct horse battery staple"


class Wiki(Protocol):
    software: str
    url: str
    """Where a crawl begins."""
    options: Mapping[str, Any]
    """As a careful user sets them for such a site."""
    home: Path
    """All of its files."""

    def populate(self) -> None:
        """Pages, sidebar and picture, by forms or by its own import."""

    def sign_in(self) -> None:
        """Before each visit: sessions do not live for hours."""

    def save(self, name: str, text: Text) -> None:
        """Through its form."""

    def remove(self, name: str) -> None: ...

    def rename(self, old: str, new: str) -> Truth: ...

    def comment(self, name: str, words: str) -> Truth:
        """As people discuss a page there."""

    def set_sidebar(self, links: Sequence[str]) -> None: ...

    def edit_template(self) -> Truth | None:
        """A text that many pages include; None where there is no such thing."""

    def set_open(self, *, to_all: bool) -> None:
        """Whether visitors who are not signed in may read it."""

    def settle(self) -> None:
        """Whatever is still to be done after edits."""

    def name_of(self, url: str) -> str | None:
        """See `judging.NameOf`."""
