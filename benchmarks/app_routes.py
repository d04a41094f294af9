"""What the pages of the single-page apps say, read from their sources; and whether a crawl stored just that."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Routes = Mapping[str, Sequence[str]]
"""Path → what its reader sees there."""

_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_MARKS = re.compile(r"^(#+|-|\d+\.) |\*\*")
_RULE = re.compile(r"[|:\- ]+")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Found:
    """Stored pages beside the routes there are."""

    routes: int
    missing: tuple[str, ...] = ()
    """Routes that are not stored."""
    wrong: tuple[str, ...] = ()
    """Routes stored without their own text."""
    unknown: tuple[str, ...] = ()
    """Stored pages that are no routes."""

    @property
    def is_exact(self) -> bool:
        return not (self.missing or self.wrong or self.unknown)

    def __str__(self) -> str:
        if self.is_exact:
            return f"all {self.routes} routes were found, each with its own text, and nothing else."
        kinds = (("not found", self.missing), ("without their own text", self.wrong), ("no routes", self.unknown))
        told = [f"{len(paths)} {words} (such as {paths[0]})" for words, paths in kinds if paths]
        return f"of {self.routes} routes {', '.join(told)}."


def compare(routes: Routes, stored: Mapping[str, str]) -> Found:
    """`stored` are the texts by path."""
    texts = {path: _bare(text) for path, text in stored.items()}
    wrong = (path for path in routes if path in texts and any(_bare(line) not in texts[path] for line in routes[path]))
    return Found(
        len(routes),
        tuple(sorted(routes.keys() - texts.keys())),
        tuple(sorted(wrong)),
        tuple(sorted(texts.keys() - routes.keys())),
    )


def book_routes(folder: Path) -> dict[str, list[str]]:
    """Of a docsify site: a file is a route, a README is its folder's."""
    found = {}
    for file in folder.rglob("*.md"):
        path = f"/{file.relative_to(folder).with_suffix('')}"
        if not file.name.startswith("_"):
            found[path.removesuffix("README")] = list(_lines(file.read_text(encoding="utf-8")))
    return found


def garden_routes(folder: Path, plants: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Of the React site: some pages are in its bundle, some in files it fetches."""
    pages = _read(folder / "src" / "pages.json")
    stories = _read(folder / "public" / "data" / "news.json")
    found = {page["path"]: _article(page) for page in [*pages, _read(folder / "src" / "rules.json")]}
    found |= {f"/news/{story['slug']}": _article(story) for story in stories}
    found |= {f"/plants/{plant['id']}": _article(plant) for plant in plants}
    return found | {"/news": _titles(stories), "/plants": _titles(plants)}


def make_plants(count: int) -> list[dict[str, Any]]:
    """Enough of them that rendering them takes a while."""
    kinds, places = ("Rose", "Sage", "Fern", "Iris", "Thyme"), ("by the gate", "on the wall", "under the limes")
    return [
        {
            "id": number,
            "title": f"{kinds[number % len(kinds)]} no. {number}",
            "paragraphs": [f"Stands {places[number % len(places)]} since the spring of {1900 + number}."],
        }
        for number in range(1, count + 1)
    ]


def _lines(markdown: str) -> Iterator[str]:
    """What is left of each line when it is shown; a table's cells one by one."""
    for line in markdown.splitlines():
        if line and not _RULE.fullmatch(line):
            shown = _LINK.sub(r"\1", _MARKS.sub("", line))
            yield from filter(None, map(str.strip, shown.split("|")))


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _article(page: Mapping[str, Any]) -> list[str]:
    return [page["title"], *page["paragraphs"], *(label for _, label in page.get("links", ()))]


def _titles(pages: Sequence[Mapping[str, Any]]) -> list[str]:
    return [page["title"] for page in pages]


def _bare(text: str) -> str:
    """Where lines and words are parted is not what is compared."""
    return _SPACE.sub("", text)
