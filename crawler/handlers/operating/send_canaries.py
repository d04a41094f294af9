"""Send a canary through each queue whose last one was run, or is lost."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from crawler.domain.canaries import Canary


class Canaries(Protocol):
    def record_sent(self, queue: str, now: float, *, again: bool) -> None: ...
    def read(self, queues: Iterable[str]) -> Mapping[str, Canary]: ...


class Sender(Protocol):
    def canary(self, queue: str) -> None: ...
    def length(self, queue: str) -> int: ...


def send_canaries(canaries: Canaries, sender: Sender, queues: Iterable[str], now: float) -> None:
    for queue, canary in canaries.read(queues).items():
        if canary.is_due(now):
            canaries.record_sent(queue, now, again=canary.is_out)  # before: it may be run at once
            if not (canary.is_out and sender.length(queue)):
                sender.canary(queue)
