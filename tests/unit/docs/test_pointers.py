"""Files that docstrings and comments name exist: a pointer that leads nowhere is worse than none."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCES = [
    path for folder in ("crawler", "workers") for kind in ("py", "lua") for path in (ROOT / folder).rglob(f"*.{kind}")
]
NAMED = re.compile(r"`((?:[\w.]+/)*\w+\.(?:py|lua|md))`")
EXAMPLES = frozenset({"NNNN_what.py"})
KNOWN = {
    str(path.relative_to(ROOT))
    for path in ROOT.rglob("*")
    if path.suffix in (".py", ".lua", ".md") and ".venv" not in path.parts
}


def leads_nowhere(source: str) -> list[str]:
    """Paths may begin at the repository, at `crawler/` or anywhere below it."""
    return [
        name
        for name in NAMED.findall(source)
        if name not in EXAMPLES and not any(f"/{known}".endswith(f"/{name}") for known in KNOWN)
    ]


@pytest.mark.parametrize("folder", sorted({str(path.parent.relative_to(ROOT)) for path in SOURCES}))
def test_every_file_that_is_named_exists(folder: str) -> None:
    wrong = {
        str(path): found
        for path in SOURCES
        if str(path.parent.relative_to(ROOT)) == folder and (found := leads_nowhere(path.read_text()))
    }
    assert wrong == {}


def test_a_file_that_is_not_there_is_found() -> None:
    assert leads_nowhere("See `domain/hosts/no_such_file.py` and `domain/hosts/politeness.py`.") == [
        "domain/hosts/no_such_file.py"
    ]
