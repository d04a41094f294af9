"""The hosts a crawl waits for, as people see them: each host once, and no time left that is not a delay."""

from collections.abc import Iterable

from crawler.domain.crawls.frontier import HostWait, Lane, Wait

HOLD_SECONDS = 30.0
"""While a claimed request has not gone out, its host is held for so long. That is no delay, and is not shown as one."""
HELD = frozenset({Wait.BLOCKED, Wait.ROBOTS, Wait.PAUSED, Wait.RETRY})
"""Why nothing happens at a host."""


def by_host(waits: Iterable[HostWait]) -> list[HostWait]:
    """Each host once, with all its URLs, whichever way they are fetched. Held hosts come first, then the fullest."""
    found: dict[str, HostWait] = {}
    for wait in waits:
        known = found.get(wait.host)
        found[wait.host] = _joined(known, wait) if known else wait
    return sorted(found.values(), key=lambda wait: (wait.why not in HELD, -wait.queued))


def seconds_left(wait: HostWait, delay_seconds: float) -> float | None:
    """The seconds to show; None where there is nothing to wait for that a person would count."""
    due = wait.due_seconds
    if due is None or due < 1 or wait.why is Wait.READY:
        return None
    is_hold = wait.why in (Wait.GAP, Wait.HOST_CAP) and delay_seconds < due <= HOLD_SECONDS
    return None if is_hold else due


def _joined(one: HostWait, other: HostWait) -> HostWait:
    """Both of a host: what comes first is what it waits for."""
    first, second = sorted((one, other), key=lambda wait: (wait.due_seconds is None, wait.due_seconds or 0.0))
    lane = one.lane if one.lane is other.lane else Lane.HTTP
    return first._replace(queued=first.queued + second.queued, lane=lane)
