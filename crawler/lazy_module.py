"""Modules that are imported on first use, so that help and usage errors do not wait for imports they do not need."""

import gc
import sys
from importlib import import_module
from types import ModuleType
from typing import Any


def load(name: str) -> ModuleType:
    """Import a module with garbage collection off: imports leave no garbage, and looking for it takes a second."""
    if name in sys.modules or not gc.isenabled():
        return import_module(name)
    gc.disable()
    try:
        return import_module(name)
    finally:
        gc.freeze()
        gc.enable()


class LazyModule:
    """Stands for a module until something of it is used: `session = LazyModule("…session")`, `session.session()`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(load(self._name), attribute)
