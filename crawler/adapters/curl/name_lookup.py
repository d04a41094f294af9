"""DNS lookups: host names to addresses, on threads of our own, cached for a minute.

libcurl has a resolver, but it looks up at most 20 names at a time: twenty hung name servers would stop every other
host. Here a hung name holds one thread of many, and requests that wait for it time out by themselves. All requests for
a name share one lookup.
"""

import os
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from queue import SimpleQueue

LookupFunction = Callable[[str], Sequence[str]]

MAX_ADDRESSES = 8
MAX_NAMES = 10_000
KEEP_SECONDS = 60.0
KEEP_FAILURE_SECONDS = 5.0


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

    def __init__(self, lookup: LookupFunction = system_lookup, max_threads: int = 64) -> None:
        self._lookup = lookup
        self._max_threads = max_threads
        self._threads = 0
        self._asked: set[str] = set()
        self._known: dict[str, LookupResult] = {}
        self._questions: SimpleQueue[str | None] = SimpleQueue()
        self._found: deque[tuple[str, Sequence[str], str]] = deque()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._closing = threading.Lock()
        self._closed = False

    def fileno(self) -> int:
        return self._wake

    def find(self, host: str, now: float) -> LookupResult | None:
        """The cached result, if it is still fresh."""
        answer = self._known.get(host)
        return answer if answer is not None and now < answer.expires_at else None

    def ask(self, host: str) -> None:
        """Start a lookup; a name that is already being looked up is not looked up twice."""
        if host in self._asked:
            return
        self._asked.add(host)
        self._questions.put(host)
        if len(self._asked) > self._threads and self._threads < self._max_threads:
            self._threads += 1
            threading.Thread(target=self._work, name="name-lookup", daemon=True).start()

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
            self._asked.discard(host)
            self._remember(host, answer)
            yield host, answer

    def close(self) -> None:
        """Stop. Threads end when their lookup does; nothing waits for them."""
        with self._closing:
            self._closed = True
            os.close(self._wake)
        for _ in range(self._threads):
            self._questions.put(None)

    def _remember(self, host: str, answer: LookupResult) -> None:
        self._known.pop(host, None)  # so that the first key is the oldest result
        self._known[host] = answer
        if len(self._known) > MAX_NAMES:
            del self._known[next(iter(self._known))]

    def _work(self) -> None:
        while (host := self._questions.get()) is not None:
            addresses: Sequence[str] = ()
            error = "the name has no address"
            try:
                addresses = self._lookup(host)
            except OSError as exc:
                error = exc.strerror or type(exc).__name__
            except (LookupError, ValueError) as exc:
                error = str(exc)
            self._found.append((host, addresses, "" if addresses else error))
            with self._closing:
                if self._closed:  # the descriptor may already belong to something else
                    return
                os.eventfd_write(self._wake, 1)
