"""Failpoints for tests: places where a process kills itself, as `kill -9` would."""

import os
import time

from crawler.handlers.engine.write_batch import Failpoint


def failpoint(spec: str) -> Failpoint:
    """A failpoint for tests: the process ends there as with `kill -9`.

    `name` ends it always, `name:0.1` once in ten times, `name=word` if the data at that point contains the word.
    """
    named, _, word = spec.partition("=")
    name, _, chance = named.partition(":")

    def reach(point: str, at_hand: bytes = b"") -> None:
        if point != name or word.encode() not in at_hand:
            return
        if not chance or time.time_ns() % 1000 < float(chance) * 1000:
            os._exit(137)

    return reach
