"""When canary tasks were sent and run, in Redis. The rules are in `domain/canaries.py`."""

from collections.abc import Iterable

from crawler.adapters.frontier.calls import FrontierCalls, milliseconds
from crawler.domain.canaries import Canary

_FIELDS = ("sent", "tried", "run")


class CanaryBook(FrontierCalls):
    def record_sent(self, queue: str, now: float, *, again: bool) -> None:
        """Record that a canary was sent. `again`: the queue has owed a run since the first one."""
        names = ("tried",) if again else ("sent", "tried")
        self._command("HSET", self._key, *(part for name in names for part in (f"{name}:{queue}", milliseconds(now))))

    def record_run(self, queue: str, now: float) -> None:
        self._command("HSET", self._key, f"run:{queue}", milliseconds(now))

    def read(self, queues: Iterable[str]) -> dict[str, Canary]:
        names = list(queues)
        if not names:
            return {}
        found = self._command("HMGET", self._key, *(f"{field}:{queue}" for queue in names for field in _FIELDS))
        times = [None if value is None else int(value) / 1000 for value in found]
        return {queue: Canary(*times[3 * n : 3 * n + 3]) for n, queue in enumerate(names)}

    @property
    def _key(self) -> bytes:
        return self._keys.named("canaries")
