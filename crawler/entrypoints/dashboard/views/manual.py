"""The documentation that comes with the program, as HTML. Links among its pages lead to `/help/…`."""

import re
import sysconfig
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

PARTS = (("", "Start"), ("how-to", "How to"), ("reference", "Reference"), ("explanation", "Explanation"))
_CLONE = Path(__file__).parents[4] / "docs"
_INSTALLED = Path(sysconfig.get_path("data")) / "share" / "crawler" / "docs"
_NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_SCROLLS = re.compile(r"<(pre|table)>")
"""May be wider than the page: who has no mouse scrolls them by keys."""
_WORDS = frozenset({"text", "code_inline"})
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


class Chapter(NamedTuple):
    path: str
    """Below `/help/`, without `.md`."""
    title: str


class ManualPage(NamedTuple):
    title: str
    body: Markup


@cache
def folder() -> Path | None:
    """Where the documentation is, if it was installed: beside the sources, or with the program."""
    return next((path for path in (_CLONE, _INSTALLED) if (path / "tutorial.md").is_file()), None)


@cache
def contents() -> list[tuple[str, list[Chapter]]]:
    """All chapters, by part."""
    docs = folder()
    if docs is None:
        return []
    return [(said, [_chapter(docs, file) for file in sorted((docs / part).glob("*.md"))]) for part, said in PARTS]


def _chapter(docs: Path, file: Path) -> Chapter:
    heading = file.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
    return Chapter(str(file.relative_to(docs).with_suffix("")), _LINK.sub(r"\1", heading))


def manual_page(path: str) -> ManualPage | None:
    """A chapter by its path; None if there is none."""
    docs, known = folder(), {chapter.path: chapter for _, chapters in contents() for chapter in chapters}
    return rendered(docs, known[path]) if docs and path in known else None


@cache
def rendered(docs: Path, chapter: Chapter) -> ManualPage:
    """Kept: there are as many as there are chapters, whatever is asked for."""
    known, path = {one.path: one for _, chapters in contents() for one in chapters}, chapter.path
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(_COMMENT.sub("", (docs / f"{path}.md").read_text(encoding="utf-8")))
    _name_headings(tokens)
    for token in tokens:
        for child in token.children or ():
            _lead_home(child, PurePosixPath(path).parent, known)
    html = _SCROLLS.sub(r'<\1 tabindex="0">', reader.renderer.render(tokens, reader.options, {}))
    # Markup: the text is the program's own, and the reader lets no HTML of it through.
    return ManualPage(chapter.title, Markup(html))  # noqa: S704


def image(name: str) -> Path | None:
    docs = folder()
    found = docs / "images" / name if docs and PurePosixPath(name).name == name else None
    return found if found and found.suffix == ".png" and found.is_file() else None


def _name_headings(tokens: list[Token]) -> None:
    """Headings get the anchors that links on the pages use: small letters, words joined by hyphens."""
    taken: Counter[str] = Counter()
    for token, content in pairwise(tokens):
        if token.type == "heading_open":
            plain = "".join(child.content for child in content.children or () if child.type in _WORDS)
            name = _NOT_IN_ANCHORS.sub("", plain.lower()).strip().replace(" ", "-")
            token.attrSet("id", f"{name}-{taken[name]}" if taken[name] else name)
            taken[name] += 1


def _lead_home(token: Token, here: PurePosixPath, known: dict[str, Chapter]) -> None:
    """Point links and images of the documentation into this service. Links to sources lead nowhere here."""
    if token.type == "image":
        token.attrSet("src", f"/help/images/{PurePosixPath(str(token.attrGet('src'))).name}")
    if token.type != "link_open":
        return
    target = urlsplit(str(token.attrGet("href")))
    if target.scheme or (not target.path and target.fragment):
        return
    path = _joined(here, target.path).removesuffix(".md")
    if path in known:
        token.attrSet("href", f"/help/{path}{f'#{target.fragment}' if target.fragment else ''}")
    else:
        token.attrs.pop("href")


def _joined(here: PurePosixPath, target: str) -> str:
    parts: list[str] = []
    for part in (here / target).parts:
        if part == "..":
            parts = parts[:-1] if parts else ["outside"]
        else:
            parts.append(part)
    return "/".join(parts)
