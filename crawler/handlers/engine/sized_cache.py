"""Values by host, of which those that nobody asked for longest are forgotten: bounded by number and by bytes."""

from collections import OrderedDict
from typing import Generic, TypeVar

MAX_VALUES = 5000
MAX_BYTES = 128 * 1024 * 1024
"""Of one process. A robots.txt takes some KB; one that was made to be large takes about a megabyte."""

V = TypeVar("V")


class SizedCache(Generic[V]):
    def __init__(self, max_values: int = MAX_VALUES, max_bytes: int = MAX_BYTES) -> None:
        self._max_values = max_values
        self._max_bytes = max_bytes
        self._kept: OrderedDict[str, tuple[V, int]] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def bytes(self) -> int:
        return self._bytes

    def find(self, key: str) -> V | None:
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def keep(self, key: str, value: V, size: int) -> None:
        """Remember a value; the last one is kept however large it is, because it is about to be used."""
        self.drop(key)
        self._kept[key] = (value, size)
        self._bytes += size
        while len(self._kept) > 1 and (len(self._kept) > self._max_values or self._bytes > self._max_bytes):
            self.drop(next(iter(self._kept)))

    def drop(self, key: str) -> None:
        dropped = self._kept.pop(key, None)
        self._bytes -= dropped[1] if dropped else 0
