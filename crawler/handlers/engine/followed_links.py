"""Followed links: which links one process has followed, and at which depth, so that it does not follow them again.

Pages of a site repeat the same links, and each that is known here costs no question to the frontier. Strangers choose
the links and how long they are, so only their hashes are kept: about 90 bytes each, whatever the link. That two of a
crawl's links have the same hash of 64 bits, which would lose one, happens once in a billion crawls; it has a key of its
own in each process, so nobody can choose links for it.
"""

from threading import Lock
from weakref import WeakSet

MOST_OF_CRAWL = 200_000
MOST_OF_ALL = 500_000
"""Of all crawls of a process together: 45 MB."""


class FollowedLinks:
    """Of one crawl. What is forgotten only costs time: the frontier is asked whether it knows the URL."""

    __slots__ = ("__weakref__", "_depths", "room")

    def __init__(self, room: "FollowedRoom | None" = None) -> None:
        self._depths: dict[int, int] = {}
        self.room = room or FollowedRoom()
        self.room.enter(self)

    def __len__(self) -> int:
        return len(self._depths)

    def __contains__(self, href: str) -> bool:
        return hash(href) in self._depths

    def mark(self, href: str, depth: int) -> bool:
        """Remember that a link is followed at this depth. False if it was already, at this depth or a smaller one."""
        key, depths = hash(href), self._depths
        known = depths.get(key)
        if known is None:
            if len(depths) >= MOST_OF_CRAWL:
                self.forget()
            self.room.take()
        elif known <= depth:
            return False
        self._depths[key] = depth
        return True

    def forget(self) -> None:
        self._depths = {}


class FollowedRoom:
    """What all crawls of a process may remember together. Of too much, the crawl that remembers most forgets."""

    def __init__(self, most: int = MOST_OF_ALL) -> None:
        self._most = most
        self._crawls = WeakSet[FollowedLinks]()
        self._lock = Lock()
        self._taken = 0
        """At least what is remembered: what was forgotten is taken off when it seems to be too much."""

    def enter(self, links: FollowedLinks) -> None:
        with self._lock:
            self._crawls.add(links)

    def take(self) -> None:
        self._taken += 1
        if self._taken > self._most:
            self._make_room()

    def _make_room(self) -> None:
        with self._lock:
            crawls = sorted(self._crawls, key=len)
            self._taken = 1 + sum(map(len, crawls))
            while self._taken > self._most and crawls:
                most = crawls.pop()
                self._taken -= len(most)
                most.forget()
