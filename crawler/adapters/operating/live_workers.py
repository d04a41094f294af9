"""Live workers by queue, in Redis, and whether each can do its work.

Each worker announces itself every few seconds (`workers/announce.py`). One that is silent for too long is gone.
"""

import json
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from crawler.adapters.frontier.calls import FrontierCalls, milliseconds
from crawler.adapters.operating.queues import LANE_QUEUE
from crawler.domain.crawls.frontier import Lane
from crawler.lazy_module import on_first_use

with on_first_use():  # few ask for it, and it takes longer to load than all else here
    from crawler.domain.notices.notice import Notifiers


EVERY_SECONDS = 5.0
GONE_SECONDS = 30.0
"""Timeout after which a silent worker counts as gone. A worker that starts has so long to announce itself."""
KEPT_SECONDS = 60.0
NOTIFY = "notify"
RENDER = "render"
_ABLE, _UNABLE = "able", "unable"


class WorkerState(NamedTuple):
    """What a worker last announced about itself."""

    lack: str = ""
    """Why the worker cannot do the work of its queue; empty if it can."""
    sends_mail: bool = False
    processes: int = 0
    memory_bytes: int = 0
    """Processes and memory of the worker's browsers."""


ABLE = WorkerState()


class LiveWorkers(FrontierCalls):
    def announce(
        self, worker: str, queues: Iterable[str], state: WorkerState = ABLE, egress: Sequence[str] | None = None
    ) -> None:
        """Announce a worker of these queues. One that cannot do the work says why, so that nothing waits for it.

        `egress`: addresses that are not public and that the worker may reach all the same, as its settings name them.
        It stands beside the state, which workers of the version before read, too.
        """
        told = f"{_UNABLE if state.lack else _ABLE} {json.dumps(state)}"
        for queue in queues:
            self._present(queue, worker, told)
            if egress is not None:
                self._command("HSET", self._key(queue), f"e:{worker}", json.dumps(egress))

    def leave(self, worker: str, queues: Iterable[str]) -> None:
        for queue in queues:
            self._command("HDEL", self._key(queue), f"w:{worker}", f"e:{worker}")

    def is_open(self, lane: Lane) -> bool:
        """Whether a worker can work in the lane. True while that is unknown: its workers may be starting."""
        return bool(self._present(LANE_QUEUE[lane]))

    def of(self, queue: str) -> dict[str, WorkerState]:
        """The workers of a queue, by name."""
        self._present(queue)  # also removes workers that are gone
        told = self._command("HGETALL", self._key(queue))
        return {name[2:].decode(): _state(value) for name, value in sorted(told.items()) if name[:2] == b"w:"}

    def counts(self, queues: Iterable[str]) -> dict[str, int]:
        return {queue: len(self.of(queue)) for queue in queues}

    def notifiers(self) -> Notifiers:
        there = self.of(NOTIFY).values()
        return Notifiers(len(there), sum(state.sends_mail for state in there))

    def egress(self, queue: str) -> frozenset[str] | None:
        """What workers of a queue may reach beside public addresses; None if none is there."""
        told = [self._command("HGET", self._key(queue), f"e:{worker}") for worker in self.of(queue)]
        said = [json.loads(entries) for entries in told if entries is not None]
        return frozenset(chain.from_iterable(said)) if said else None

    def _present(self, queue: str, *news: str) -> int:
        times = (milliseconds(GONE_SECONDS), milliseconds(KEPT_SECONDS))
        told: int = self._scripts.run("present", [self._key(queue)], [*times, *news])
        return told

    def _key(self, queue: str) -> bytes:
        return self._keys.named("present", queue)


def _state(told: bytes) -> WorkerState:
    """The state from a stored announcement, after the time and the word that the script reads."""
    # A newer worker may say more.
    return WorkerState(*json.loads(told.split(b" ", 2)[2])[: len(WorkerState._fields)])
