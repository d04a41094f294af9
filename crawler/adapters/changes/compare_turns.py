"""Who compares what, who waits, and how often it was tried, in Redis. The rules: `domain/changes/compare_turns.py`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from uuid import UUID

from redis import Redis

from crawler.adapters.frontier.calls import FrontierCalls, milliseconds
from crawler.domain.changes.compare_turns import Start, Turn
from crawler.errors import RedisUnavailable

HELD_SECONDS = 60.0
"""A comparison that was silent for so long has lost its process."""
RENEW_SECONDS = 15.0
WAITING_SECONDS = 20.0
"""One that waits and was silent for so long has lost its message."""
KEPT_SECONDS = 86_400


class CompareTurns(FrontierCalls):
    def __init__(self, client: Redis, seconds: Callable[[], float]) -> None:
        super().__init__(client)
        self._seconds = seconds

    def begin(self, project_id: UUID, crawl_id: UUID, asked_by: str = "") -> Turn:
        """`asked_by`: the message that asks for it. While one waits, others for the same crawl are dropped."""
        name, now = crawl_id.hex, milliseconds(self._seconds())
        known = self._command("HGETALL", self._crawl(crawl_id))
        is_waiting = int(known.get(b"seen", 0)) >= now - milliseconds(WAITING_SECONDS)
        if is_waiting and known.get(b"asked_by", b"").decode() != asked_by:
            return Turn(Start.ELSEWHERE)
        self._command("HSET", self._crawl(crawl_id), "asked_by", asked_by)
        self._command("EXPIRE", self._crawl(crawl_id), KEPT_SECONDS)
        if self._command("SET", self._project(project_id), name, "NX", "PX", milliseconds(HELD_SECONDS)) is None:
            if self._command("GET", self._project(project_id)) == name.encode():
                return Turn(Start.ELSEWHERE)
            self._command("HSET", self._crawl(crawl_id), "seen", now)
            return Turn(Start.LATER)
        yields, is_long = int(known.get(b"yields", 0)), b"long" in known
        if is_long and not self.take_long(crawl_id):
            self._wait(crawl_id, yields)
            self._command("DEL", self._project(project_id))
            return Turn(Start.LATER, is_long=True, yields=yields)
        self._command("HDEL", self._crawl(crawl_id), "seen")
        attempts = int(self._command("HINCRBY", self._crawl(crawl_id), "attempts", 1))
        return Turn(Start.NOW, attempts, is_long, yields)

    def go_on(self, project_id: UUID, crawl_id: UUID) -> None:
        """Say that it is still being made."""
        held = milliseconds(HELD_SECONDS)
        self._command("SET", self._project(project_id), crawl_id.hex, "PX", held)
        if self._has_long(crawl_id):
            self._command("PEXPIRE", self._long, held)

    @contextmanager
    def held(self, project_id: UUID, crawl_id: UUID) -> Iterator[None]:
        """Go on saying so meanwhile: what is done between two looks at the clock may take long on a busy machine."""
        over = Event()

        def renew() -> None:
            while not over.wait(RENEW_SECONDS):
                with suppress(RedisUnavailable):
                    self.go_on(project_id, crawl_id)

        renewing = Thread(target=renew, name="compare-turn", daemon=True)
        renewing.start()
        try:
            yield
        finally:
            over.set()
            renewing.join()  # what is given up now must not be taken again

    def take_long(self, crawl_id: UUID) -> bool:
        """Whether the long turn is its own now. Those that have waited longest, or yielded least, go first."""
        if not self._has_long(crawl_id):
            first = next(iter(self._waiting()), crawl_id.hex)
            held = milliseconds(HELD_SECONDS)
            if first != crawl_id.hex or self._command("SET", self._long, crawl_id.hex, "NX", "PX", held) is None:
                return False
        self._command("ZREM", self._queue, crawl_id.hex)
        self._command("HSET", self._crawl(crawl_id), "long", 1)
        return True

    def others_wait(self, crawl_id: UUID) -> bool:
        return any(name != crawl_id.hex for name in self._waiting())

    def put_off(self, project_id: UUID, crawl_id: UUID, *, was_long: bool) -> None:
        """It ended in order to let others go first: that was no failure."""
        key = self._crawl(crawl_id)
        self._command("HSET", key, "long", 1)
        self._command("HINCRBY", key, "attempts", -1)
        self._wait(crawl_id, int(self._command("HINCRBY", key, "yields", int(was_long))))
        self.leave(project_id, crawl_id, is_over=False)

    def leave(self, project_id: UUID, crawl_id: UUID, *, is_over: bool) -> None:
        if self._has_long(crawl_id):
            self._command("DEL", self._long)
        self._command("DEL", self._project(project_id))
        if is_over:
            self._command("ZREM", self._queue, crawl_id.hex)
            self._command("DEL", self._crawl(crawl_id))

    def _wait(self, crawl_id: UUID, yields: int) -> None:
        now = self._seconds()
        self._command("ZADD", self._queue, "NX", yields * 10**13 + milliseconds(now), crawl_id.hex)
        self._command("HSET", self._crawl(crawl_id), "seen", milliseconds(now))

    def _waiting(self) -> list[str]:
        """Crawls that wait for the long turn, the next one first; without those whose message was lost."""
        since = milliseconds(self._seconds() - WAITING_SECONDS)
        found = []
        for name in self._command("ZRANGE", self._queue, 0, -1):
            crawl = name.decode()
            if int(self._command("HGET", self._keys.named("compare", "crawl", crawl), "seen") or 0) >= since:
                found.append(crawl)
            else:
                self._command("ZREM", self._queue, crawl)
        return found

    def _has_long(self, crawl_id: UUID) -> bool:
        return bool(self._command("GET", self._long) == crawl_id.hex.encode())

    @property
    def _long(self) -> bytes:
        return self._keys.named("compare", "long")

    @property
    def _queue(self) -> bytes:
        return self._keys.named("compare", "waiting")

    def _project(self, project_id: UUID) -> bytes:
        return self._keys.named("compare", "project", project_id.hex)

    def _crawl(self, crawl_id: UUID) -> bytes:
        return self._keys.named("compare", "crawl", crawl_id.hex)
