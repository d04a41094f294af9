"""Which workers are there, by queue: each says so every few seconds, and who has not for a while is gone."""

from collections.abc import Iterable

from crawler.adapters.frontier.calls import FrontierCalls, milliseconds
from crawler.domain.notices.notice import Notifiers

EVERY_SECONDS = 10.0
GONE_SECONDS = 35.0
NOTIFY = "notify"
MAIL = "notify_mail"
"""Where those of queue `notify` sign who have a mail server."""


class LiveWorkers(FrontierCalls):
    def note(self, worker: str, queues: Iterable[str], now: float) -> None:
        """It takes messages from these."""
        for queue in queues:
            key = self._key(queue)
            self._command("ZADD", key, milliseconds(now), worker)
            self._command("ZREMRANGEBYSCORE", key, "-inf", milliseconds(now - GONE_SECONDS))
            self._command("PEXPIRE", key, milliseconds(GONE_SECONDS))

    def leave(self, worker: str, queues: Iterable[str]) -> None:
        for queue in queues:
            self._command("ZREM", self._key(queue), worker)

    def present(self, queues: Iterable[str], now: float) -> dict[str, int]:
        least = milliseconds(now - GONE_SECONDS)
        return {queue: int(self._command("ZCOUNT", self._key(queue), least, "+inf")) for queue in queues}

    def names(self, queues: Iterable[str], now: float) -> dict[str, list[str]]:
        """Who is there, by name, for people."""
        least = milliseconds(now - GONE_SECONDS)
        found = {queue: self._command("ZRANGEBYSCORE", self._key(queue), least, "+inf") for queue in queues}
        return {queue: sorted(name.decode() for name in told) for queue, told in found.items()}

    def notifiers(self, now: float) -> Notifiers:
        there = self.present((NOTIFY, MAIL), now)
        return Notifiers(there[NOTIFY], there[MAIL])

    def _key(self, queue: str) -> bytes:
        return self._keys.named("workers", queue)
