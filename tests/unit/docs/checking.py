"""What a text for people refers to, and whether that exists: links, anchors, commands, options, settings, targets."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from crawler.config import PREFIX, Settings
from scripts.reference.command_line import commands
from scripts.reference.http_paths import paths
from scripts.reference.metrics import metrics
from scripts.reference.tasks import tasks

ROOT = Path(__file__).parents[3]
CHROME = {"--help", "-h", "--version", "--install-completion", "--show-completion"}
"""Options that every command has, or the program itself."""
FOREIGN = {"--durations"}
"""Options of other programs that are named without them."""


class Page(NamedTuple):
    path: Path
    tokens: list[Token]

    @classmethod
    def read(cls, path: Path, text: str | None = None) -> "Page":
        markdown = MarkdownIt("commonmark").enable("table")
        return cls(path, markdown.parse(path.read_text() if text is None else text))

    def inline(self) -> Iterator[Token]:
        for token in self.tokens:
            yield from token.children or ()

    def code(self) -> Iterator[str]:
        """Inline code, and blocks line by line; outputs (```text) are what a program said, not what people type."""
        for token in self.tokens:
            if token.type == "fence" and token.info.strip() in ("", "python", "yaml"):
                yield from _joined(token.content)
        for token in self.inline():
            if token.type == "code_inline":
                yield token.content


def _joined(block: str) -> list[str]:
    return block.replace("\\\n", " ").splitlines()


def pages() -> list[Path]:
    folders = sorted((ROOT / "docs").rglob("*.md"))
    return [*sorted(ROOT.glob("*.md")), *(path for path in folders if "_build" not in path.parts)]


def problems(page: Page) -> list[str]:
    """A changelog may name what was dropped since."""
    return [*_dead_links(page), *(() if page.path.name == "CHANGELOG.md" else _unknown_words(page))]


# -- links ------------------------------------------------------------------------------------


def _dead_links(page: Page) -> Iterator[str]:
    for token in page.inline():
        target = str(token.attrs.get("href") or token.attrs.get("src") or "")
        if target and "://" not in target and not target.startswith("mailto:"):
            yield from _dead(page, target)


def _dead(page: Page, target: str) -> Iterator[str]:
    name, _, anchor = target.partition("#")
    path = (page.path.parent / name).resolve() if name else page.path
    if name and not path.exists():
        yield f"there is no {target}"
    elif not path.is_relative_to(ROOT):
        yield f"{target} leads out of the repository"
    elif anchor and anchor not in (_anchors(page) if path == page.path else _anchors(Page.read(path))):
        yield f"{target}: there is no such heading"


def _anchors(page: Page) -> set[str]:
    """As GitHub and MyST name them."""
    found: set[str] = set()
    seen: Counter[str] = Counter()
    for heading, words in zip(page.tokens, page.tokens[1:], strict=False):
        if heading.type == "heading_open":
            text = "".join(part.content for part in words.children or () if part.type in ("text", "code_inline"))
            name = re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")
            found.add(f"{name}-{seen[name]}" if seen[name] else name)
            seen[name] += 1
    return found


# -- words ------------------------------------------------------------------------------------


def _unknown_words(page: Page) -> Iterator[str]:
    for code in page.code():
        yield from _unknown_settings(code)
        yield from _unknown_targets(code)
        yield from _unknown_names(code)
        yield from _unknown_paths(code)
        yield from _unknown_option(code)
        for words in _calls(code):
            yield from _unknown_command(words)


def _unknown_settings(code: str) -> Iterator[str]:
    for name in re.findall(rf"\b{PREFIX}([A-Z_]+)\b", code):
        if name.lower() not in Settings.model_fields:
            yield f"there is no setting {PREFIX}{name}"


def _unknown_targets(code: str) -> Iterator[str]:
    for name in re.findall(r"(?:^|[\s(&;])make ([a-z][a-z-]*)", code):
        if name not in _targets():
            yield f"there is no target 'make {name}'"


@cache
def _targets() -> frozenset[str]:
    return frozenset(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def _unknown_names(code: str) -> Iterator[str]:
    """Of tasks and metrics that stand alone."""
    name = re.fullmatch(r"(crawler[._][a-z_]+)(?:\{.*\})?", code)
    if name and name[1] not in _names():
        yield f"there is no task or metric {name[1]}"


@cache
def _names() -> frozenset[str]:
    modules = {f"crawler.{path.stem}" for path in (ROOT / "crawler").iterdir()}
    return frozenset({task.name for task in tasks()} | {metric.name for metric in metrics()} | modules)


def _unknown_paths(code: str) -> Iterator[str]:
    """Of the HTTP service, where a method stands before them."""
    for path in re.findall(r"\b(?:GET|POST|PUT|PATCH|DELETE|WS) (/[^\s?\[`]*)", code):
        plain = re.sub(r"\{[^}]*\}", "{}", path.removeprefix("/api/v1"))
        if plain not in paths():
            yield f"there is no path {path}"


# -- commands ---------------------------------------------------------------------------------


def _calls(code: str) -> Iterator[list[str]]:
    """Each `crawler …` in a line, as words."""
    typed = re.sub(r"(?:^|\s)#\s.*", "", code)
    for part in re.split(r"&&|\|\||;|\s{3,}(?=crawler )", typed):
        call = re.match(r"\s*(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?crawler (?!\()(.+)", part)
        if call:
            yield _words(call[1])


def _unknown_option(code: str) -> Iterator[str]:
    """One that stands without its command."""
    option = re.match(r"(--[a-z][a-z-]*)(?![\w-])", code)
    if option and option[1] not in CHROME | FOREIGN | {name for command in commands() for name in command.options}:
        yield f"no command has an option {option[1]}"


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote that is never closed is not a command's
        return text.split()


def _unknown_command(words: list[str]) -> Iterator[str]:
    known = {command.path.removeprefix("crawler "): command.options for command in commands()}
    groups = {path.split()[0] for path in known if " " in path}
    if not words or not re.fullmatch(r"[a-z][a-z-]*", words[0]):
        yield from (f"'crawler' has no option {word}" for word in words[:1] if word[0] == "-" and word not in CHROME)
        return
    depth = 2 if words[0] in groups else 1
    names = words[1].split("|") if depth == 2 and len(words) > 1 else [""]
    for name in names:
        path = f"{words[0]} {name}".strip()
        if path in known:
            yield from _unknown_options(path, known[path], words[depth:])
        elif path not in groups:
            yield f"there is no command 'crawler {path}'"


def _unknown_options(path: str, known: set[str], words: list[str]) -> Iterator[str]:
    given = (word.partition("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word))
    if "--" in words:  # what stands behind it is no option
        given = (word for word in words[: words.index("--")] if word.startswith("-"))
    for option in given:
        if option not in known | CHROME:
            yield f"'crawler {path}' has no option {option}"
