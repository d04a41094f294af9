"""Python reads this when it starts, if PYTHONPATH names this folder: our modules come with marks then."""

import builtins
import json
import marshal
import mmap
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType


class MarkedModule(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = marshal.loads((FOLDER / fullname).read_bytes())
        return code


class MarkedModules:
    """Before all other finders."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in MODULES:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin != MODULES[name]:  # such as that of an installed wheel
            return None
        spec.loader = MarkedModule(name, spec.origin)
        return spec


if folder := os.environ.get("COVERED_LINES"):
    FOLDER = Path(folder)
    MODULES: dict[str, str] = json.loads((FOLDER / "modules.json").read_text())
    with (FOLDER / "lines").open("r+b") as lines:
        # For all processes, and kept by the system when one is killed.
        setattr(builtins, "__lines__", mmap.mmap(lines.fileno(), 0))  # noqa: B010
    sys.meta_path.insert(0, MarkedModules)
