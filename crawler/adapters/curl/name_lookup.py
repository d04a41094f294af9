"""DNS lookups: host names to addresses, on threads of our own, cached for a minute.

libcurl has a resolver, but it looks up at most 20 names at a time: twenty hung name servers would stop every other
host. Here a hung name holds one thread of many, and requests that wait for it time out by themselves. All requests for
a name share one lookup.

A site can name thousands of hosts whose name servers never answer. So each owner of requests, such as a project, has a
share of the threads: a quarter of those that are free, hence whoever comes next finds some. The rest of its names wait.
"""

import os
import socket
import threading
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from queue import Empty, SimpleQueue

LookupFunction = Callable[[str], Sequence[str]]

MAX_ADDRESSES = 8
MAX_NAMES = 10_000
KEEP_SECONDS = 60.0
KEEP_FAILURE_SECONDS = 5.0
MAX_THREADS = 512
"""They only wait, and are there only while so many names hang."""
MOST_OF_ONE = 64
KEPT_THREADS = 64
IDLE_SECONDS = 30.0
"""After which threads beyond those end."""


def system_lookup(host: str) -> list[str]:
    """Look up a name with this machine's resolver; blocks, and raises OSError when there is no such name."""
    # Bytes keep Python from applying its own (older) IDNA rules: URLs arrive in ASCII.
    rows = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    return [str(row[4][0]) for row in rows]


def pinned_lookup(names: Mapping[str, Sequence[str]], otherwise: LookupFunction) -> LookupFunction:
    """A lookup function that uses `names` first and `otherwise` for the rest."""
    return lambda host: names[host] if host in names else otherwise(host)


class LookupResult:
    """The addresses of one name; empty, with an error, when the lookup failed."""

    __slots__ = ("addresses", "error", "expires_at", "pinned_ports")

    def __init__(self, addresses: Sequence[str], error: str, expires_at: float) -> None:
        # Thousands of addresses are an attack on a client that tries them one by one.
        self.addresses = tuple(dict.fromkeys(addresses))[:MAX_ADDRESSES]
        self.error = error
        self.expires_at = expires_at
        self.pinned_ports: set[int] = set()
        """Ports for which libcurl was given these addresses."""


class NameLookup:
    """Looks up names in threads; `fileno` becomes readable when results can be collected. Used from one thread."""

    def __init__(self, lookup: LookupFunction = system_lookup, max_threads: int = MAX_THREADS) -> None:
        self._lookup = lookup
        self._max_threads = max_threads
        self._threads = 0
        self._waiting: dict[Hashable, dict[str, None]] = {}
        """Names nobody looks up yet, by owner; whose turn it is comes first."""
        self._begun: dict[str, Hashable] = {}
        """Names that are being looked up, and whose share of the threads they use."""
        self._held: Counter[Hashable] = Counter()
        self._known: dict[str, LookupResult] = {}
        self._questions: SimpleQueue[str | None] = SimpleQueue()
        self._found: deque[tuple[str, Sequence[str], str]] = deque()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._lock = threading.Lock()
        self._closed = False

    def fileno(self) -> int:
        return self._wake

    def find(self, host: str, now: float) -> LookupResult | None:
        """The cached result, if it is still fresh."""
        answer = self._known.get(host)
        return answer if answer is not None and now < answer.expires_at else None

    def ask(self, host: str, owner: Hashable = None) -> None:
        """Start a lookup in the owner's share; a name that is already being looked up is not looked up twice."""
        if host in self._begun:
            return
        self._waiting.setdefault(owner, {})[host] = None
        self._begin()

    def forget(self, host: str) -> None:
        """Nobody waits for this name any more. A lookup that has begun cannot be ended."""
        for owner in [owner for owner, hosts in self._waiting.items() if host in hosts]:
            del self._waiting[owner][host]
            if not self._waiting[owner]:
                del self._waiting[owner]

    def answers(self, now: float) -> Iterator[tuple[str, LookupResult]]:
        """Results since the last call; they are also cached for `find`."""
        try:
            os.eventfd_read(self._wake)
        except BlockingIOError:
            return
        while self._found:
            host, addresses, error = self._found.popleft()
            keep = KEEP_SECONDS if addresses else KEEP_FAILURE_SECONDS
            answer = LookupResult(addresses, error, now + keep)
            owner = self._begun.pop(host)
            self._held[owner] -= 1
            if not self._held[owner]:
                del self._held[owner]
            self._remember(host, answer)
            self._begin()
            yield host, answer

    def close(self) -> None:
        """Stop. Threads end when their lookup does; nothing waits for them."""
        with self._lock:
            self._closed = True
            os.close(self._wake)
            for _ in range(self._threads):
                self._questions.put(None)

    def _begin(self) -> None:
        """Look up what may be looked up now: of each owner a name, in turn."""
        while (owner := next(filter(self._has_room, self._waiting), self)) is not self:
            hosts = self._waiting.pop(owner)
            host = next(iter(hosts))
            self._waiting[owner] = hosts  # behind the others
            self.forget(host)
            self._begun[host] = owner
            self._held[owner] += 1
            with self._lock:
                self._questions.put(host)
                if len(self._begun) > self._threads:
                    self._threads += 1
                    threading.Thread(target=self._work, name="name-lookup", daemon=True).start()

    def _has_room(self, owner: Hashable) -> bool:
        free = self._max_threads - len(self._begun)
        return self._held[owner] < min(MOST_OF_ONE, -(-free // 4))

    def _remember(self, host: str, answer: LookupResult) -> None:
        self._known.pop(host, None)  # so that the first key is the oldest result
        self._known[host] = answer
        if len(self._known) > MAX_NAMES:
            del self._known[next(iter(self._known))]

    def _work(self) -> None:
        while (host := self._question()) is not None:
            addresses: Sequence[str] = ()
            error = "the name has no address"
            try:
                addresses = self._lookup(host)
            except OSError as exc:
                error = exc.strerror or type(exc).__name__
            except (LookupError, ValueError) as exc:
                error = str(exc)
            self._found.append((host, addresses, "" if addresses else error))
            with self._lock:
                if self._closed:  # the descriptor may already belong to something else
                    return
                os.eventfd_write(self._wake, 1)

    def _question(self) -> str | None:
        """The next name for this thread; None: it ends."""
        while True:
            try:
                return self._questions.get(timeout=IDLE_SECONDS)
            except Empty:
                with self._lock:
                    if self._threads > KEPT_THREADS and self._questions.empty():
                        self._threads -= 1
                        return None
