"""Who is who among the processes of our workers, told by the shape of their tree."""

from collections.abc import Mapping, Sequence

import psutil

Children = Mapping[int, Sequence[int]]
RENDERING_WORKERS = 3
"""Coordinator, fetchers, and the one that renders."""


def named(root: int, name: str, children: Children) -> dict[str, int]:
    """Celery's pool is the one whose children have none themselves; those are the slots in which work is done."""
    pool = _pool(root, children)
    found = {name: root}
    if pool is None:
        return found
    if pool != root:
        others = [pid for pid in children[root] if pid != pool]
        found |= dict(zip(["control"], others, strict=False)) | {"fetch": pool}
    return found | {f"fetch {number}": pid for number, pid in enumerate(sorted(children[pool]), start=1)}


def renderer(root: int) -> psutil.Process | None:
    """The process that renders, in the worker that is started last; None while it is not there."""
    workers = sorted(psutil.Process(root).children(), key=psutil.Process.create_time)
    slots = workers[-1].children() if len(workers) == RENDERING_WORKERS else []
    return slots[0] if slots else None


def children_of(root: int) -> dict[int, list[int]]:
    """Everyone below `root`, by parent."""
    found: dict[int, list[int]] = {}
    for process in psutil.Process(root).children(recursive=True):
        found.setdefault(process.ppid(), []).append(process.pid)
    return found


def _pool(pid: int, children: Children) -> int | None:
    below = children.get(pid, ())
    if below and not any(children.get(child) for child in below):
        return pid
    return next((found for child in below if (found := _pool(child, children)) is not None), None)
