"""Shifts at work, and locks for what only one process should do at a time (hints, reconcile, wake-ups)."""

from uuid import UUID

from crawler.adapters.frontier.calls import FrontierCalls, milliseconds
from crawler.adapters.frontier.keys import LANE_LETTER
from crawler.domain.crawls.frontier import Lane

TURNS_KEPT_SECONDS = 86_400


class ShiftBook(FrontierCalls):
    def enter_shift(self, lane: Lane, shift_id: str, ttl_seconds: float) -> int:
        count: int = self._scripts.run(
            "shift", [self._shifts(lane), self._hint(lane)], [shift_id, milliseconds(ttl_seconds)]
        )
        return count

    def leave_shift(self, lane: Lane, shift_id: str) -> None:
        self._command("ZREM", self._shifts(lane), shift_id)

    def acquire_hint(self, lane: Lane, milliseconds: int) -> bool:
        return self._first(self._hint(lane), milliseconds)

    def acquire_reconcile(self, seconds: float) -> bool:
        return self._first(self._keys.named("reconcile"), milliseconds(seconds))

    def release_reconcile(self) -> None:
        self._command("DEL", self._keys.named("reconcile"))

    def reconcile_place(self) -> UUID | None:
        kept: bytes | None = self._command("GET", self._keys.named("reconcile_place"))
        return UUID(kept.decode()) if kept else None

    def keep_reconcile_place(self, crawl_id: UUID | None) -> None:
        key = self._keys.named("reconcile_place")
        if crawl_id is None:
            self._command("DEL", key)
        else:
            self._command("SET", key, crawl_id.hex)

    def acquire_task(self, task: str, seconds: float) -> bool:
        """Whether to send a message for this task: not while one waits that no worker has taken."""
        return self._first(self._keys.named("hint", task), milliseconds(seconds))

    def task_begins(self, task: str) -> None:
        self._command("DEL", self._keys.named("hint", task))

    def acquire_wake(self, lane: Lane, seconds: float) -> bool:
        key = self._keys.named("wake", LANE_LETTER[lane])
        return bool(self._scripts.run("wake", [key], [milliseconds(seconds)]))

    def count_turn(self, crawl_id: UUID, done: str) -> int:
        key = self._keys.named("turns", crawl_id.hex)
        turns = int(self._command("HINCRBY", key, done, 1))
        self._command("EXPIRE", key, TURNS_KEPT_SECONDS)
        return turns

    def _hint(self, lane: Lane) -> bytes:
        return self._keys.named("hint", LANE_LETTER[lane])

    def _shifts(self, lane: Lane) -> bytes:
        return self._keys.named("shifts", LANE_LETTER[lane])

    def _first(self, key: bytes, ms: int) -> bool:
        return bool(self._command("SET", key, 1, "NX", "PX", max(1, ms)))
