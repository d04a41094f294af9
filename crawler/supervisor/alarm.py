"""A sleep that ends as soon as a signal arrives or somebody connects, so that nothing has to be looked at often."""

import os
import select
import signal
from collections.abc import Iterable
from contextlib import suppress
from socket import socket
from types import TracebackType
from typing import Self


class Alarm:
    """For the main thread. Only signals that have a handler wake it."""

    def __enter__(self) -> Self:
        self._woken, waking = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._waking = waking
        self._before = signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        return self

    def wait(self, seconds: float, calls: Iterable[socket | None]) -> None:
        waited_for: list[int | socket] = [self._woken, *filter(None, calls)]
        select.select(waited_for, [], [], seconds)
        with suppress(BlockingIOError):
            os.read(self._woken, 4096)

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None) -> None:
        signal.set_wakeup_fd(self._before)
        os.close(self._woken)
        os.close(self._waking)
