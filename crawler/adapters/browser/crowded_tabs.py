"""Tabs with many busy threads get less of the processors.

The kernel shares the processors by thread, and a page may start hundreds of workers: pages of others in the same
browser would hardly run. So all threads of such a tab together get about as much as a few of a usual tab.
"""

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

USUAL_THREADS = 4
"""That are busy at the same moment while an ordinary page is shown."""
_STEP = 1.25
"""Each step of niceness gives so much less."""
_MOST = 19


def niceness(busy: int) -> int:
    """With which so many threads get what the usual ones would."""
    return min(_MOST, math.ceil(math.log(busy / USUAL_THREADS, _STEP))) if busy > USUAL_THREADS else 0


def rein_in(pid: int) -> None:
    """Give a tab less, if it has too many busy threads now. Threads that it starts later inherit that."""
    threads = dict(_threads(pid))
    nice = niceness(sum(is_busy for is_busy in threads.values()))
    for thread in threads if nice else ():
        with suppress(OSError):  # it ended just now
            if os.getpriority(os.PRIO_PROCESS, thread) < nice:
                os.setpriority(os.PRIO_PROCESS, thread, nice)


def _threads(pid: int) -> Iterator[tuple[int, bool]]:
    """Each thread of a process, and whether it runs or wants to."""
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                state = (task / "stat").read_text("ascii", "replace").rpartition(")")[2].split()[0]
                yield int(task.name), state == "R"
