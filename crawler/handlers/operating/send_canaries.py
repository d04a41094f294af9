"""Send a canary task through each queue whose last one has run, or is lost. Rules: `domain/canaries.py`."""

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
            canaries.record_sent(queue, now, again=canary.is_out)  # before sending: it may run at once
            if not (canary.is_out and sender.length(queue)):
                sender.canary(queue)
