"""How the site is built: `make docs`. The pages are plain Markdown; what only the site needs is made here.

- Index pages list their pages as links; the site's navigation is made of these links.
- Links to files outside docs lead to a page of the site that shows the file, so the site is whole without a network.
"""

import os
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.application import Sphinx

DOCS = Path(__file__).parent
ROOT = DOCS.parent

project = "Crawler"
author = copyright = "the Crawler authors"  # noqa: A001 - Sphinx's name for it
version = release = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1]  # type: ignore[index]
extensions = ["myst_parser"]
exclude_patterns = ["_build", "examples"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # … stands for what was left out, also in JSON
highlight_language = "text"
smartquotes = False  # --option stays --option
html_theme = "furo"
html_title = f"Crawler {version}"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_favicon = "../crawler/entrypoints/dashboard/static/mark.svg"

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s#]+)(#[^()\s]*)?\)")


def setup(app: Sphinx) -> None:
    app.connect("source-read", _read)
    app.connect("html-collect-pages", _shown_files)


def _read(_: Sphinx, docname: str, source: list[str]) -> None:
    here = (DOCS / docname).parent
    linked = [target for _, _, target, _ in _LINK.findall(source[0]) if target.endswith(".md")]
    source[0] = _LINK.sub(lambda link: _inside(docname, here, link), source[0])
    if Path(docname).name == "index":
        below = [name for name in linked if (here / name).resolve().is_relative_to(here)]
        source[0] += "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(dict.fromkeys(below)) + "\n```\n"


def _inside(docname: str, here: Path, link: re.Match[str]) -> str:
    """As it stands, or to the page that shows the file. A missing file stays as it is, and Sphinx complains."""
    image, words, target, anchor = link.groups()
    name = None if image else _outside(here, target)
    if name is None:
        return link[0]
    address = os.path.relpath(f"files/{name}.html", str(Path(docname).parent))
    return f'<a href="{address}{anchor or ""}">{words}</a>'


def _outside(here: Path, target: str) -> str | None:
    """The name in the repository of a file that is no page of the site."""
    path = (here / target).resolve()
    is_page = path.is_relative_to(DOCS) and not path.is_relative_to(DOCS / "examples")
    return None if "://" in target or is_page or not path.exists() else path.relative_to(ROOT).as_posix()


def _shown_files(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Of all pages, also those that Sphinx did not read again; and what the shown files link to."""
    wanted = [name for docname in app.env.found_docs for name in _linked(Path(app.env.doc2path(docname)))]
    done: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name not in done:
            done.add(name)
            path = ROOT / name
            wanted += _linked(path) if path.suffix == ".md" else []
            yield f"files/{name}", {"title": name, "body": _shown(path)}, "page.html"


def _linked(page: Path) -> list[str]:
    found = (_outside(page.parent, target) for image, _, target, _ in _LINK.findall(page.read_text()) if not image)
    return [name for name in found if name]


def _shown(path: Path) -> str:
    if path.suffix == ".md":
        return _rendered(path)
    body = _listing(path) if path.is_dir() else _colored(path)
    return f"<h1><code>{escape(path.relative_to(ROOT).as_posix())}</code></h1>{body}"


def _rendered(page: Path) -> str:
    """Markdown beside docs, such as CONTRIBUTING, with its links turned to the site's pages."""
    below = Path("files", page.relative_to(ROOT)).parent

    def turned(link: re.Match[str]) -> str:
        image, words, target, anchor = link.groups()
        name, path = _outside(page.parent, target), (page.parent / target).resolve()
        if image or "://" in target or not path.exists():
            return link[0]
        path = path / "index.md" if path.is_dir() and not name else path
        inside = f"files/{name}.html" if name else path.relative_to(DOCS).with_suffix(".html").as_posix()
        return f"[{words}]({os.path.relpath(inside, below)}{anchor or ''})"

    html = MarkdownIt("commonmark").enable("table").render(_LINK.sub(turned, page.read_text()))
    return str(html).replace("<table>", '<table class="docutils">').replace("<code>", '<code class="docutils literal">')


def _listing(folder: Path) -> str:
    shown = sorted(path for path in folder.iterdir() if path.name[0] not in "_.")
    names = [f"{path.name}/" if path.is_dir() else path.name for path in shown]
    return f"<ul>{''.join(f'<li><code>{escape(name)}</code></li>' for name in names)}</ul>"


def _colored(path: Path) -> str:
    try:
        lexer = get_lexer_for_filename(path.name)
    except ClassNotFound:
        lexer = TextLexer()
    return str(highlight(path.read_text(), lexer, HtmlFormatter(cssclass="highlight")))
