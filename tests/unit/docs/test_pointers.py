"""Files that docstrings and comments name exist: a pointer that leads nowhere is worse than none."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
SOURCES = ("crawler/**/*.py", "crawler/**/*.lua", "workers/**/*.py")
NAMED = re.compile(r"`((?:[\w.]+/)*\w+\.(?:py|lua|md))`")
EXAMPLES = frozenset({"NNNN_what.py"})


@cache
def known() -> frozenset[str]:
    """Every path of the project, without what is installed in its folder."""
    visible = [path for path in ROOT.iterdir() if not path.name.startswith(".")]
    files = [*visible, *(path for top in visible if top.is_dir() for path in top.rglob("*.*"))]
    return frozenset(f"/{path.relative_to(ROOT)}" for path in files if path.suffix in (".py", ".lua", ".md"))


def leads_nowhere(source: str) -> list[str]:
    """Paths may begin at the repository, at `crawler/` or anywhere below it."""
    return [
        name
        for name in NAMED.findall(source)
        if name not in EXAMPLES and not any(path.endswith(f"/{name}") for path in known())
    ]


def test_every_file_that_is_named_exists() -> None:
    sources = [path for kind in SOURCES for path in ROOT.glob(kind)]
    assert len(sources) > 500
    assert {str(path): found for path in sources if (found := leads_nowhere(path.read_text()))} == {}


def test_a_file_that_is_not_there_is_found() -> None:
    assert leads_nowhere("See `domain/hosts/no_such_file.py` and `domain/hosts/politeness.py`.") == [
        "domain/hosts/no_such_file.py"
    ]
