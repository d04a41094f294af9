"""Both embedded servers of a data directory: started once, shared by processes, stopped by the last one."""

import atexit
import json
import os
import shutil
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from crawler.embedded.data_dir import prepare_data_dir, told_in_one_sentence
from crawler.embedded.identity import server_user
from crawler.embedded.locks import exclusive, try_exclusive, try_shared
from crawler.embedded.postgres import Postgres
from crawler.embedded.server import Place, Server
from crawler.embedded.sockets import socket_directory
from crawler.embedded.valkey import Valkey
from crawler.errors import CrawlerError

START_SECONDS = 30.0
STOP_SECONDS = 10.0
KILL_SECONDS = 5.0
# Longer than any process needs for a start, or for a stop that ends in a kill.
LOCK_SECONDS = 60.0
POLL_SECONDS = 0.005
CLEARING_SECONDS = 0.5


@dataclass(frozen=True)
class Servers:
    """URLs of the running servers."""

    database_url: str
    redis_url: str
    started_here: bool


class EmbeddedServers:
    """One process's use of the embedded servers of a data directory."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._use: int | None = None  # the open, locked file that counts this process as a user

    def ensure_running(self) -> Servers:
        """Start servers that do not run. It may be called again at any time, to restart one that has died."""
        self._data_dir = prepare_data_dir(self._data_dir)
        with told_in_one_sentence(self._data_dir), self._alone():
            if self._use is not None:
                return self._start()
            self._use = try_shared(self._file("users"))
            try:
                return self._start()
            except BaseException as exc:
                # A server that is slow, because it recovers much data, is left running: the next start finds it
                # further.
                slow = isinstance(exc, CrawlerError) and exc.details.get("still_starting")
                self._leave(stop=not slow)
                raise

    def revive(self) -> None:
        """Restart a server that has died. While all are alive this costs next to nothing, so it may be called often."""
        place = self._place()
        # Children of a killed server may outlive it, with its lock.
        if not all(server.main_process() and server.socket.exists() for server in (Valkey(place), Postgres(place))):
            self.ensure_running()

    def release(self) -> bool:
        """End this process's use. Returns whether the servers were stopped, because no other process uses them."""
        if self._use is None:
            return False
        with told_in_one_sentence(self._data_dir), self._alone():
            return self._leave()

    def __enter__(self) -> Servers:
        return self.ensure_running()

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None) -> None:
        self.release()

    def _start(self) -> Servers:
        place = self._place()
        if place.sockets != self._recorded_sockets():
            self._write_state(place, ())  # before any server listens there
        valkey, postgres = Valkey(place), Postgres(place)
        both = (valkey, postgres)
        try:
            for server in both:
                server.launch()
            _await_answers(both)
        finally:
            for server in both:
                server.settle()
        self._write_state(place, both)
        return Servers(postgres.url, valkey.url, started_here=any(server.launched for server in both))

    def _leave(self, *, stop: bool = True) -> bool:
        if self._use is not None:
            os.close(self._use)
            self._use = None
        alone = try_exclusive(self._file("users"))
        if alone is None:
            return False
        try:
            return stop and self._stop()
        finally:
            os.close(alone)

    def _stop(self) -> bool:
        place = self._place()
        stopped = _stop_all((Postgres(place), Valkey(place)))
        if stopped:
            self._write_state(place, ())
            if place.sockets.parent != self._data_dir:
                shutil.rmtree(place.sockets)
        return stopped

    def _place(self) -> Place:
        user = server_user(self._data_dir)
        return Place(self._data_dir, socket_directory(self._data_dir, self._recorded_sockets(), user.owner), user)

    def _recorded_sockets(self) -> Path | None:
        try:
            state = json.loads(self._file("state.json").read_text("utf-8"))
            # a copied data directory must not find the servers of the original
            return Path(state["sockets"]) if state["data_dir"] == str(self._data_dir) else None
        except (OSError, ValueError, KeyError):
            return None

    def _write_state(self, place: Place, servers: Sequence[Server]) -> None:
        """Write state.json for people and for the next start, atomically."""
        state = {"data_dir": str(self._data_dir), "sockets": str(place.sockets)}
        described = {server.name: _describe(server) for server in servers}
        written = self._file("state.json.new")
        written.write_text(json.dumps(state | described, indent=1), "utf-8")
        written.replace(self._file("state.json"))

    def _file(self, name: str) -> Path:
        return self._data_dir / "servers" / name

    def _alone(self) -> AbstractContextManager[None]:
        return exclusive(self._file("lock"), LOCK_SECONDS)


def ensure_running(data_dir: Path) -> Servers:
    """Start the servers for a process that uses them until it ends: it releases them at exit."""
    use = EmbeddedServers(data_dir)
    servers = use.ensure_running()
    atexit.register(use.release)
    return servers


def _await_answers(servers: Sequence[Server]) -> None:
    began, clearing_at = time.monotonic(), 0.0
    pending = list(servers)
    while pending := [server for server in pending if not server.answers()]:
        now = time.monotonic()
        if now - began > START_SECONDS:
            problem = f"does not answer after {START_SECONDS:g} s"
            raise pending[0].failure(problem, still_starting=True)
        for server in pending:
            _help_up(server, clearing=now >= clearing_at)
        if now >= clearing_at:
            clearing_at = now + CLEARING_SECONDS
        # Poll fast at first, and slowly during a long recovery.
        time.sleep(POLL_SECONDS if now - began < 1 else 10 * POLL_SECONDS)


def _help_up(server: Server, *, clearing: bool) -> None:
    if not server.alive:
        if server.launched:
            raise server.failure("did not start")
        server.launch()  # it was found alive and has died since
    elif clearing and not server.launched:
        server.clear_the_way()


def _stop_all(servers: Sequence[Server]) -> bool:
    """Stop all servers. Returns whether all have ended."""
    pending = [server for server in servers if server.alive]
    for attempt, seconds in enumerate((STOP_SECONDS, KILL_SECONDS, KILL_SECONDS)):
        pending = _await_ends(pending, attempt, seconds)
    for server in set(servers) - set(pending):
        server.bury()
    return not pending


def _await_ends(pending: Sequence[Server], attempt: int, seconds: float) -> list[Server]:
    """Signal the servers and wait. Returns those still alive. One that is just starting gets its signal when it can."""
    deadline = time.monotonic() + seconds
    asked: set[Server] = set()
    while pending and time.monotonic() < deadline:
        asked.update(server for server in pending if server not in asked and server.signal_stop(attempt))
        time.sleep(POLL_SECONDS)
        pending = [server for server in pending if server.alive]
    return list(pending)


def _describe(server: Server) -> dict[str, object]:
    main = server.main_process()
    started = datetime.fromtimestamp(main.create_time(), UTC).isoformat() if main else None
    return {"pid": main.pid if main else None, "started_at": started, "socket": str(server.socket)}
