"""Markdown tables and sentences for the reference pages."""

import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def prose(words: str) -> str:
    """Escape characters that are plain on a terminal but markup in Markdown."""
    return " ".join(re.sub(r"(?<![`\w])<|(?<!`)\[(?=[^\]]*\]\()|\*", lambda sign: f"\\{sign[0]}", words).split())


def sentence(words: str) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(words.partition("\n\n")[0].split())


def doc(call: Callable[..., Any]) -> str:
    return sentence(inspect.getdoc(call) or "")
