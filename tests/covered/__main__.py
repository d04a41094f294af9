"""`begin` writes the modules with marks into a folder; `report` prints which lines have none."""

import json
import marshal
import shutil
import sys
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from coverage import Coverage

from tests.covered.marking import marked

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".coverage-lines"
PACKAGES = ("crawler", "workers")


class Module(NamedTuple):
    name: str
    path: Path
    source: str


def modules() -> Iterator[Module]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            words = path.relative_to(ROOT).with_suffix("").parts
            yield Module(".".join(words).removesuffix(".__init__"), path, path.read_text(encoding="utf-8"))


def begin(folder: Path = FOLDER) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    ours = list(modules())
    for module, first in zip(ours, _firsts(ours), strict=False):
        code = compile(marked(module.source, first), module.path, "exec", dont_inherit=True)
        (folder / module.name).write_bytes(marshal.dumps(code))
    (folder / "modules.json").write_text(json.dumps({module.name: str(module.path) for module in ours}))
    (folder / "lines").write_bytes(bytes(_firsts(ours)[-1]))


def report(folder: Path = FOLDER) -> None:
    coverage = Coverage(data_file=str(folder / "coverage"))
    coverage.get_data().add_lines({str(module.path): lines for module, lines in found(folder)})
    coverage.save()
    coverage.report()


def found(folder: Path) -> list[tuple[Module, list[int]]]:
    """The lines that were done, of each module."""
    marks = (folder / "lines").read_bytes()
    ours = list(modules())
    firsts = _firsts(ours)
    if len(marks) != firsts[-1]:
        sys.exit("The code is another one than that which was tested: begin again.")
    return [
        (module, [line for line in range(_lines(module)) if marks[first + line]])
        for module, first in zip(ours, firsts, strict=False)
    ]


def _firsts(ours: list[Module]) -> list[int]:
    """Where the bytes of each module begin, and where the last one's end."""
    return list(accumulate(map(_lines, ours), initial=0))


def _lines(module: Module) -> int:
    return module.source.count("\n") + 2  # lines count from 1


if __name__ == "__main__":
    {"begin": begin, "report": report}[sys.argv[1]]()
