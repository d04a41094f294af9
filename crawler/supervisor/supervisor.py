"""The supervisor: starts processes, restarts them with backoff, stops them in reverse order.

`start`, `poll` and `stop` leave the main thread to the caller; `run_forever` blocks it.
"""

import signal
import time
from collections.abc import Callable, Iterable, Sequence

from crawler.supervisor.alarm import Alarm
from crawler.supervisor.backoff import Backoff
from crawler.supervisor.child import MANY_QUICK_DEATHS, Child, ProcessSpec, ProcessState
from crawler.supervisor.guard import Guard
from crawler.supervisor.output import Output

NAME = "supervisor"
POLL_SECONDS = 0.1
REST_SECONDS = 1.0
"""Between two polls when all is well; a death, a call or a signal is noticed at once."""
LOOK_AFTER_SECONDS = 3.0
GRACE_SECONDS = 30.0
KILL_SECONDS = 5.0


class Supervisor:
    """Keeps processes running. They start in the given order and stop in the reverse order."""

    def __init__(self, specs: Iterable[ProcessSpec], output: Output, backoff: Backoff | None = None) -> None:
        self._children = [Child(spec, output) for spec in specs]
        self._output = output
        self._backoff = backoff or Backoff()
        self._guard = Guard()

    def start(self) -> None:
        for child in self._children:
            if child.spec.address is not None:
                child.listen()
            else:
                self._spawn(child)

    def poll(self) -> list[ProcessState]:
        """Restart processes that died, and return all states. Call it a few times a second."""
        self._guard.check()
        for child in self._children:
            if self._collect(child):
                self._after_death(child)
            if child.is_called or (child.restart_at is not None and time.monotonic() >= child.restart_at):
                self._spawn(child)
            child.check_ready()
        return [child.state for child in self._children]

    def stop(self, grace_seconds: float = GRACE_SECONDS, hurry: Callable[[], bool] = lambda: False) -> None:
        """Ask all processes to end.

        Those alive after the grace period, or as soon as `hurry` returns True, are killed.
        """
        for child in reversed(self._children):
            child.restart_at = None
            child.stop_listening()
            child.terminate()
        for child in self._await_ends(grace_seconds, hurry):
            self._output(NAME, f"{child.spec.name} did not end when asked and is killed")
            child.kill()
        self._await_ends(KILL_SECONDS, lambda: False)
        for child in self._children:
            child.finish_reading()
        self._guard.close()

    def run_forever(
        self,
        look_after: Callable[[], None] = lambda: None,
        watch: Callable[[Sequence[ProcessState]], None] = lambda _: None,
    ) -> int:
        """Run until a signal, and return the exit status. A second signal kills.

        A process that does not stay up is tried again after growing pauses, while the others go on.

        `look_after` is called every few seconds, for servers that the processes need; `watch` gets the states of each
        poll.
        """
        received: list[int] = []
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.signal(number, lambda got, _: received.append(got)) for number in numbers}
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
        try:
            with Alarm() as alarm:
                self.start()
                looked_at = time.monotonic()
                while not received:
                    states = self.poll()
                    watch(states)
                    if time.monotonic() - looked_at > LOOK_AFTER_SECONDS:
                        look_after()
                        looked_at = time.monotonic()
                    is_well = all(state.ready for state in states)
                    alarm.wait(REST_SECONDS if is_well else POLL_SECONDS, [child.call for child in self._children])
            again = "Ctrl-C" if received[0] == signal.SIGINT else "the same signal"
            self._output(NAME, f"stopping everything; {again} again kills it at once")
        finally:
            self.stop(hurry=lambda: len(received) > 1)
            for number, handler in before.items():
                signal.signal(number, handler)
        return 0

    def _spawn(self, child: Child) -> None:
        try:
            child.spawn()
        except OSError as exc:  # out of memory or process ids at this moment
            self._output(NAME, f"{child.spec.name} could not be started: {exc}")
            self._schedule(child)
        if child.group is not None:
            self._guard.add(child.group)

    def _collect(self, child: Child) -> bool:
        group = child.collect()
        if group is not None:
            self._guard.remove(group)
        return group is not None

    def _after_death(self, child: Child) -> None:
        if child.may_sleep:
            return
        self._schedule(child)
        self._output(NAME, f"{child.spec.name} ended ({child.exit_reason}); again in {child.delay_seconds:g} s")
        if child.quick_deaths == MANY_QUICK_DEATHS:
            self._output(NAME, child.state.trouble or "")

    def _schedule(self, child: Child) -> None:
        now = time.monotonic()
        lived = now - child.started_at
        child.quick_deaths = 1 if lived >= self._backoff.reset_after_seconds else child.quick_deaths + 1
        child.delay_seconds = self._backoff.after(child.delay_seconds, lived)
        child.restart_at = now + child.delay_seconds

    def _await_ends(self, seconds: float, hurry: Callable[[], bool]) -> list[Child]:
        """Wait for processes to end. Returns those still running, in the order in which they stop."""
        deadline = time.monotonic() + seconds
        while running := self._still_running():
            if hurry() or time.monotonic() > deadline:
                break
            try:
                time.sleep(POLL_SECONDS / 4)
            except KeyboardInterrupt:  # a second Ctrl-C, where the caller did not handle the signal
                break
        return running

    def _still_running(self) -> list[Child]:
        for child in self._children:
            self._collect(child)
        return [child for child in reversed(self._children) if child.group is not None]
