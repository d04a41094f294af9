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
    app.add_config_value("shown_files", set(), "")


def _read(app: Sphinx, docname: str, source: list[str]) -> None:
    here = (DOCS / docname).parent
    linked = [target for _, _, target, _ in _LINK.findall(source[0]) if target.endswith(".md")]
    source[0] = _LINK.sub(lambda link: _inside(app, docname, here, link), source[0])
    if docname.endswith("index"):
        below = [name for name in linked if (here / name).resolve().is_relative_to(here)]
        source[0] += "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(dict.fromkeys(below)) + "\n```\n"


def _inside(app: Sphinx, docname: str, here: Path, link: re.Match[str]) -> str:
    """As it stands, or to the page that shows the file. A missing file stays as it is, and Sphinx complains."""
    image, words, target, anchor = link.groups()
    path = (here / target).resolve()
    example = path.is_relative_to(DOCS / "examples")
    if image or "://" in target or (path.is_relative_to(DOCS) and not example) or not path.exists():
        return link[0]
    name = path.relative_to(ROOT).as_posix()
    app.config.shown_files.add(name)
    address = os.path.relpath(f"files/{name}.html", str(Path(docname).parent))
    return f'<a href="{address}{anchor or ""}">{words}</a>'


def _shown_files(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    for name in sorted(app.config.shown_files):
        path = ROOT / name
        body = _listing(path) if path.is_dir() else _colored(path)
        yield f"files/{name}", {"title": name, "body": f"<h1><code>{escape(name)}</code></h1>{body}"}, "page.html"


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
