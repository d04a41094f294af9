"""Generates the tables of docs/reference from the code.

Only the text between `<!-- made: NAME -->` and `<!-- end -->` is generated; the rest of a page is written by hand.
"""

import re
from collections.abc import Callable
from pathlib import Path

from scripts.reference.client import client_rooms
from scripts.reference.command_line import command_list
from scripts.reference.http_paths import http_paths
from scripts.reference.metrics import metric_table
from scripts.reference.reasons import error_codes, http_codes, reasons
from scripts.reference.settings import crawl_options, settings
from scripts.reference.tasks import task_table
from scripts.reference.text import ROOT

DOCS = ROOT / "docs"
_REGION = re.compile(r"(<!-- made: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

MAKERS: dict[str, Callable[[], str]] = {
    "settings": settings,
    "crawl-options": crawl_options,
    "commands": command_list,
    "http-paths": http_paths,
    "error-codes": error_codes,
    "http-codes": http_codes,
    "reasons": reasons,
    "tasks": task_table,
    "metrics": metric_table,
    "client": client_rooms,
}


def pages() -> list[Path]:
    return sorted(page for page in DOCS.glob("*/*.md") if "<!-- made: " in page.read_text())


def made_anew(text: str) -> str:
    return _REGION.sub(lambda region: f"{region[1]}\n{MAKERS[region[2]]()}\n{region[3]}", text)
