"""Modules that are imported on first use, so that help and usage errors do not wait for imports they do not need."""

import builtins
import gc
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType, SimpleNamespace
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


@contextmanager
def without(*names: str) -> Iterator[None]:
    """In this block these packages are not found. Libraries import them if they are installed, for what nobody uses."""
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]  # None: Python's own sign for "not found"
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


class LazyModule:
    """Stands for a module until something of it is used: `session = LazyModule("…session")`, `session.session()`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(load(self._name), attribute)


class LazyName:
    """Stands for a name of a module until it is called, or something of it is used."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    def _real(self) -> Any:
        return getattr(load(self._module), self._name)

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._real()(*args, **options)

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._real(), attribute)

    def __getitem__(self, key: Any) -> Any:
        return self._real()[key]

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self._real())

    def __or__(self, other: Any) -> Any:
        return Any  # in the type hint of a function that nobody inspects

    __ror__ = __or__


@contextmanager
def on_first_use() -> Iterator[None]:
    """What is imported in this block is only loaded when it is called, or something of it is used.

    For classes and functions, in modules that are imported to be looked at, such as those of commands. An exception to
    catch, a constant or the type of an option must be imported outside, because Python itself looks at these.
    """
    real = builtins.__import__

    def later(
        name: str,
        namespace: Mapping[str, object] | None = None,
        local_names: Mapping[str, object] | None = None,
        wanted: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if name in sys.modules or level:
            return real(name, namespace, local_names, wanted or (), level)
        if not wanted:
            return LazyModule(name)
        return SimpleNamespace(**{one: LazyName(name, one) for one in wanted})

    builtins.__import__ = later  # type: ignore[assignment]  # it answers with what stands for a module
    try:
        yield
    finally:
        builtins.__import__ = real
