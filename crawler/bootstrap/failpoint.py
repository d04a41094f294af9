"""Where a process ends itself, as `kill -9` would: for tests."""

import os
import time

from crawler.handlers.engine.write_batch import Failpoint


def failpoint(spec: str) -> Failpoint:
    """For tests: where the process ends, as `kill -9` would end it.

    `name` always, `name:0.1` once in ten times, `name=word` when what is at hand there holds the word.
    """
    named, _, word = spec.partition("=")
    name, _, chance = named.partition(":")

    def reach(point: str, at_hand: bytes = b"") -> None:
        if point != name or word.encode() not in at_hand:
            return
        if not chance or time.time_ns() % 1000 < float(chance) * 1000:
            os._exit(137)

    return reach
