"""How many processes a worker's pool has: one at rest, more as soon as several tasks are there, one again later."""

from typing import Any

from celery.worker import state
from celery.worker.autoscale import Autoscaler

KEPT_SECONDS = 60.0
"""So long the pool keeps its size after it last grew."""


class PoolSize(Autoscaler):  # type: ignore[misc]
    """Celery's own, but for two things.

    Tasks that come all the time, one after the other, do not keep further processes alive. And no process is ended
    while a task is on its way to one, because it might be that one.
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **{**options, "keepalive": KEPT_SECONDS})

    def on_task_received(self, req: Any) -> None:
        pass

    def scale_down(self, n: int) -> Any:
        under_way = len(state.active_requests) == len(state.reserved_requests)
        return super().scale_down(n) if under_way else None
