"""How much time went into each project lately, so that others have their turn before one that takes long."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

_FORGOTTEN_SECONDS = 0.1


class UsedLately:
    """What one process knows; others may know other times."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seconds: dict[UUID, float] = {}

    def by(self, project_id: UUID) -> float:
        return self._seconds.get(project_id, 0.0)

    @contextmanager
    def counted(self, project_id: UUID) -> Iterator[None]:
        """What is done in the block is done for this project."""
        began = self._clock()
        try:
            yield
        finally:
            self._seconds[project_id] = self.by(project_id) + self._clock() - began

    def forget_half(self) -> None:
        self._seconds = {project: used / 2 for project, used in self._seconds.items() if used > _FORGOTTEN_SECONDS}
