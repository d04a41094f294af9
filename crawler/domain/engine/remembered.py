"""Crawls, or hosts, of which a process remembers something for a while, such as that their pages take long."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)

REMEMBERED_SECONDS = 300.0
MOST_REMEMBERED = 1000


@dataclass(slots=True)
class Remembered(Generic[Key]):
    monotonic: Callable[[], float]
    _until: dict[Key, float] = field(default_factory=dict)

    def add(self, key: Key) -> None:
        self._until.pop(key, None)
        self._until[key] = self.monotonic() + REMEMBERED_SECONDS
        if len(self._until) > MOST_REMEMBERED:
            del self._until[next(iter(self._until))]

    def forget(self, key: Key) -> None:
        self._until.pop(key, None)

    def has(self, key: Key) -> bool:
        return self._until.get(key, 0.0) > self.monotonic()

    def now(self) -> set[Key]:
        now = self.monotonic()
        return {key for key, until in self._until.items() if until > now}
