"""HTTP fetcher on libcurl's multi interface: many requests at once in one thread, without a browser.

1. `submit` takes a handle from the pool, points it at the URL and finds the name's addresses (cache, else a lookup in a
   thread; the request waits for it without holding up others).
2. libcurl gets these addresses and asks before each connect: the egress rule judges the address itself.
3. `poll` waits in epoll and drives libcurl only where something happened.
4. A finished handle gives its result, or, if the request wants redirects followed, goes on to the next hop as in 1.

With a proxy it is the proxy that connects, after a lookup of its own. So the target's name is looked up here first, and
*every* address it has must be allowed. If the proxy's own resolver finds other addresses, the proxy must judge them.

Create it after a fork, use it from one thread.

Which addresses are allowed: `domain/hosts/egress.py`. When a request may go out at all: `domain/hosts/politeness.py`.
Retries: `domain/retries.py`.
"""

import resource
import select
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic

import ada_url
import pycurl

from crawler.adapters.curl.connections import Connections
from crawler.adapters.curl.errors import REFUSED
from crawler.adapters.curl.handle import TransferOptions, trusted_certificates
from crawler.adapters.curl.name_lookup import LookupFunction, LookupResult, NameLookup, pinned_lookup, system_lookup
from crawler.adapters.curl.transfer import Meter, Transfer
from crawler.adapters.curl.turns import Turns
from crawler.domain.crawls.fetching import FetchRequest, FetchResult
from crawler.domain.hosts.egress import EgressRule, target_of
from crawler.domain.reasons import Reason
from crawler.errors import EgressRefused

CONNECT_SECONDS = 10.0
"""Timeout of a name lookup, and then of a connect."""
BUFFERED_BYTES = 256 * 1024 * 1024
"""Most bytes of unfinished bodies in memory. Beyond it, bodies over their share are paused."""

_SPARE_DESCRIPTORS = 256
_EVENTS = {
    pycurl.POLL_IN: select.EPOLLIN,
    pycurl.POLL_OUT: select.EPOLLOUT,
    pycurl.POLL_INOUT: select.EPOLLIN | select.EPOLLOUT,
}
_READY = {
    select.EPOLLIN: pycurl.CSELECT_IN,
    select.EPOLLOUT: pycurl.CSELECT_OUT,
    select.EPOLLIN | select.EPOLLOUT: pycurl.CSELECT_IN | pycurl.CSELECT_OUT,
}
_TROUBLE = pycurl.CSELECT_IN | pycurl.CSELECT_OUT | pycurl.CSELECT_ERR


class CurlFetcher:
    def __init__(
        self,
        *,
        user_agent: str,
        egress: EgressRule,
        timeout_seconds: float = 15,
        connect_seconds: float = CONNECT_SECONDS,
        max_body_bytes: int = 5 * 1024 * 1024,
        proxy: str | None = None,
        ca_bundle: Path | None = None,
        max_host_connections: int = 0,
        max_idle_connections: int = 2000,
        buffered_bytes: int = BUFFERED_BYTES,
        resolve: Mapping[str, Sequence[str]] | None = None,
        lookup: LookupFunction = system_lookup,
    ) -> None:
        """`resolve` gives addresses for hosts without asking DNS; `lookup` is used for all others."""
        self._connect_seconds = min(connect_seconds, timeout_seconds)
        self._options = TransferOptions(
            user_agent=user_agent,
            rule=egress,
            timeout_ms=round(timeout_seconds * 1000),
            connect_timeout_ms=round(self._connect_seconds * 1000),
            max_body_bytes=max_body_bytes,
            proxy=proxy or "",
            certificates=trusted_certificates(ca_bundle),
        )
        self._meter = Meter(buffered_bytes)
        self._lookup = NameLookup(pinned_lookup(resolve, lookup) if resolve is not None else lookup)
        self._free: list[Transfer] = []
        self._running: dict[pycurl.Curl, Transfer] = {}
        self._waiting: dict[Transfer, float] = {}
        """Transfers that wait for a name lookup, in the order of their deadlines."""
        self._waiting_for: dict[str, list[Transfer]] = {}
        self._finished: list[FetchResult] = []
        self._sent: list[tuple[FetchRequest, float]] = []
        self._turns: Turns[int | Transfer] = Turns()
        self._paused: list[Transfer] = []
        """Those that gave way to others, and wait for their turn from the next round on."""
        self._connections = Connections()
        self._timer_at: float | None = None
        self._epoll = select.epoll()
        self._epoll.register(self._lookup.fileno(), select.EPOLLIN)
        self._watched: set[int] = set()
        self._multi = self._new_multi(max_host_connections, max_idle_connections)

    def _new_multi(self, max_host_connections: int, max_idle_connections: int) -> pycurl.CurlMulti:
        multi = pycurl.CurlMulti()
        multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch_socket)
        multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_MULTIPLEX)
        multi.setopt(pycurl.M_MAX_HOST_CONNECTIONS, max_host_connections)
        # Idle connections beyond the process's limit of open files would make new ones fail.
        descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if descriptors != resource.RLIM_INFINITY:
            max_idle_connections = min(max_idle_connections, max(1, (descriptors - _SPARE_DESCRIPTORS) // 2))
        multi.setopt(pycurl.M_MAXCONNECTS, max_idle_connections)
        return multi

    def set_user_agent(self, user_agent: str) -> None:
        """Use another user agent from the next request on. A handle keeps its user agent, so new handles are made."""
        self._options = replace(self._options, user_agent=user_agent)
        self._free.clear()

    # the port

    @property
    def active(self) -> int:
        """Number of requests whose results were not handed out yet."""
        return self._meter.active

    def submit(self, request: FetchRequest) -> None:
        transfer = self._free.pop() if self._free else self._new_transfer()
        self._meter.active += 1
        now = monotonic()
        transfer.begin(request, now)
        self._start(transfer, now)

    def _new_transfer(self) -> Transfer:
        return Transfer(self._options, self._meter, self._sent.append, self._turns.own, self._connections, self._pause)

    def _pause(self, transfer: Transfer) -> None:
        self._turns.own(transfer, transfer.request.owner)
        self._paused.append(transfer)

    def poll(self, timeout_seconds: float) -> list[FetchResult]:
        until = monotonic() + timeout_seconds
        while True:
            self._drive(until)
            if self._finished or monotonic() >= until:
                break
        finished, self._finished = self._finished, []
        self._meter.active -= len(finished)
        return finished

    def sent(self) -> list[tuple[FetchRequest, float]]:
        moments = self._sent.copy()
        self._sent.clear()  # the same list: handles hold its append
        return moments

    def drop(self, wanted: Callable[[FetchRequest], bool]) -> int:
        dropped = [curl for curl, transfer in self._running.items() if wanted(transfer.request)]
        for curl in dropped:
            self._multi.remove_handle(curl)
            transfer = self._running.pop(curl)
            transfer.forget_answer()
            if transfer.options is self._options:
                self._free.append(transfer)
        self._meter.active -= len(dropped)
        return len(dropped)

    def abandon(self) -> None:
        for curl in self._running:
            self._multi.remove_handle(curl)  # also closes the connection it was using
        unfinished = (*self._running.values(), *self._waiting)
        for transfer in unfinished:
            transfer.forget_answer()
        self._free += (transfer for transfer in unfinished if transfer.options is self._options)
        self._running.clear()
        self._waiting.clear()
        for host in self._waiting_for:
            self._lookup.forget(host)
        self._waiting_for.clear()
        self._finished.clear()
        self._sent.clear()
        self._meter.active = 0

    def close(self) -> None:
        for curl in self._running:
            self._multi.remove_handle(curl)
        for transfer in (*self._running.values(), *self._waiting, *self._free):
            transfer.curl.close()
        self._running.clear()
        self._waiting.clear()
        self._free.clear()
        self._multi.close()
        self._epoll.close()
        self._lookup.close()

    # starting

    def _start(self, transfer: Transfer, now: float) -> None:
        """Set the transfer's URL and launch it, at once or when its name is looked up."""
        try:
            transfer.aim(now)
        except EgressRefused:
            self._finish(transfer, now, Reason.EGRESS, REFUSED)
            return
        except (pycurl.error, ValueError):
            self._finish(transfer, now, Reason.PROTOCOL, "The URL or a header cannot be sent.")
            return
        host = transfer.target.host
        if transfer.target.address is not None:
            self._launch(transfer, (transfer.target.address,), now)
        elif (answer := self._lookup.find(host, now)) is not None:
            self._resolved(transfer, answer, now)
        else:
            self._waiting[transfer] = now + self._connect_seconds
            self._waiting_for.setdefault(host, []).append(transfer)
            self._lookup.ask(host, transfer.request.owner)

    def _resolved(self, transfer: Transfer, answer: LookupResult, now: float) -> None:
        if not answer.addresses:
            self._finish(transfer, now, Reason.DNS, answer.error)
            return
        if transfer.target.port not in answer.pinned_ports:
            answer.pinned_ports.add(transfer.target.port)
            transfer.pin(answer.addresses)
        self._launch(transfer, answer.addresses, now)

    def _launch(self, transfer: Transfer, addresses: Sequence[str], now: float) -> None:
        _, host, port, _ = transfer.target
        if self._options.proxy and not all(transfer.rule.allows(a, port, host) for a in addresses):
            self._finish(transfer, now, Reason.EGRESS, REFUSED)
            return
        self._running[transfer.curl] = transfer
        self._multi.add_handle(transfer.curl)

    # driving

    def _drive(self, until: float) -> None:
        """One round: wait for ready sockets, let libcurl work on them, collect what is done."""
        events = self._epoll.poll(self._seconds_to_wait(monotonic(), until))
        now = monotonic()
        if any(descriptor == self._lookup.fileno() for descriptor, _ in events):
            self._collect_lookups(now)
        ready: list[tuple[int | Transfer, int]] = [event for event in events if event[0] in self._watched]
        ready += ((transfer, 0) for transfer in self._paused)
        self._paused.clear()
        self._turns.serve(ready, self._serve)
        now = monotonic()
        if self._timer_at is not None and self._timer_at <= now:
            self._timer_at = None
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        if self._waiting:
            self._give_up_lookups(now)
        self._collect_finished()

    def _serve(self, served: int | Transfer, event: int) -> None:
        if isinstance(served, int):
            self._multi.socket_action(served, _READY.get(event, _TROUBLE))
            return
        self._turns.disown(served)
        if not served.is_paused:
            return  # it has ended meanwhile
        try:
            served.go_on()
        except pycurl.error as exc:
            self._answered(self._take(served.curl), monotonic(), *served.judge(*exc.args))
        else:
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)  # reads on: that is part of its turn

    def _seconds_to_wait(self, now: float, until: float) -> float:
        if self._finished or self._turns or self._paused:
            return 0
        wake_at = until
        if self._timer_at is not None and self._timer_at < wake_at:
            wake_at = self._timer_at
        if self._waiting:
            wake_at = min(wake_at, next(iter(self._waiting.values())))
        return max(0.0, wake_at - now)

    def _watch_socket(self, what: int, descriptor: int, _multi: object, _data: object) -> None:
        if what == pycurl.POLL_REMOVE:
            self._watched.discard(descriptor)
            self._turns.forget(descriptor)
            with suppress(OSError):  # already closed: the kernel has removed it by itself
                self._epoll.unregister(descriptor)
        elif descriptor in self._watched:
            try:
                self._epoll.modify(descriptor, _EVENTS[what])
            except FileNotFoundError:  # the connection was cut: another socket has its number
                self._epoll.register(descriptor, _EVENTS[what])
        else:
            self._watched.add(descriptor)
            self._epoll.register(descriptor, _EVENTS[what])

    def _set_timer(self, timeout_ms: int) -> None:
        self._timer_at = None if timeout_ms < 0 else monotonic() + timeout_ms / 1000

    def _collect_lookups(self, now: float) -> None:
        for host, answer in self._lookup.answers(now):
            for transfer in self._waiting_for.pop(host, ()):
                if self._waiting.pop(transfer, None) is not None:
                    transfer.set_timeout(now)
                    self._resolved(transfer, answer, now)

    def _give_up_lookups(self, now: float) -> None:
        while self._waiting:
            transfer, deadline = next(iter(self._waiting.items()))
            if deadline > now:
                return
            del self._waiting[transfer]
            waiting = self._waiting_for[transfer.target.host]
            waiting.remove(transfer)
            if not waiting:
                del self._waiting_for[transfer.target.host]
                self._lookup.forget(transfer.target.host)
            self._finish(transfer, now, Reason.DNS, "The name lookup took too long.")

    # finishing

    def _collect_finished(self) -> None:
        _, done, failed = self._multi.info_read()
        if not done and not failed:
            return
        now = monotonic()
        for curl in done:
            transfer = self._take(curl)
            self._answered(transfer, now, *transfer.missing_answer())
        for curl, number, message in failed:
            transfer = self._take(curl)
            self._answered(transfer, now, *transfer.judge(number, message))

    def _take(self, curl: pycurl.Curl) -> Transfer:
        self._multi.remove_handle(curl)
        return self._running.pop(curl)

    def _answered(self, transfer: Transfer, now: float, failure: Reason | None, error: str) -> None:
        if failure is None and transfer.wants_hop:
            self._hop(transfer, now)
        else:
            self._finish(transfer, now, failure, error)

    def _hop(self, transfer: Transfer, now: float) -> None:
        try:
            url = ada_url.join_url(transfer.url, transfer.location).partition("#")[0]
            target_of(url)
        except ValueError:
            self._finish(transfer, now, Reason.PROTOCOL, "The redirect's target is not a URL.")
            return
        except EgressRefused:
            self._finish(transfer, now, Reason.EGRESS, REFUSED)
            return
        looped = url == transfer.url or url in transfer.visited
        if looped or len(transfer.visited) >= transfer.request.max_redirects:
            error = "The redirects go in a circle." if looped else "There are too many redirects."
            self._finish(transfer, now, Reason.REDIRECT_LOOP, error)
            return
        transfer.hop(url)
        self._start(transfer, now)

    def _finish(self, transfer: Transfer, now: float, failure: Reason | None, error: str) -> None:
        self._finished.append(transfer.result(now, failure, error))
        if transfer.options is self._options:
            self._free.append(transfer)
