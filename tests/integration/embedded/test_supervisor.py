"""What the supervisor promises, tried on real processes."""

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from crawler.supervisor import Backoff, FileOutput, ProcessSpec, Supervisor, TerminalOutput

pytestmark = pytest.mark.slow
QUICK = Backoff(first_seconds=0.05, cap_seconds=0.2, reset_after_seconds=60)
STAY = "import time; print('up', flush=True); time.sleep(60)"
DEAF = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
# A process with a child of its own; both numbers go into the file named by its argument.
FAMILY = f"""
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {DEAF!r}], stdout=subprocess.PIPE)
child.stdout.readline()
open(sys.argv[1] + ".new", "w").write(f"{{os.getpid()}} {{child.pid}}")
os.rename(sys.argv[1] + ".new", sys.argv[1])
time.sleep(60)
"""
# A whole supervisor in a process of its own.
RUN = """
import sys
from crawler.supervisor import ProcessSpec, Supervisor, TerminalOutput
name, *argv = sys.argv[1:]
spec = ProcessSpec(name, (sys.executable, "-c", *argv))
print("exit", Supervisor([spec], TerminalOutput([name], sys.stdout)).run_forever())
"""


Supervise = Callable[..., tuple[Supervisor, "Lines"]]
Run = Callable[..., subprocess.Popen[str]]


class Lines:
    """Takes output and remembers it."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, str]] = []

    def __call__(self, name: str, line: str) -> None:
        self.taken.append((name, line))

    def of(self, name: str) -> list[str]:
        return [line for of_name, line in self.taken if of_name == name]


def python(name: str, code: str, *arguments: str, **options: object) -> ProcessSpec:
    return ProcessSpec(name, (sys.executable, "-c", code, *arguments), **options)  # type: ignore[arg-type]


def until(condition: Callable[[], object], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def next_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def cmdline(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:  # it ends this very moment
        return []


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def supervised() -> Iterator[Supervise]:
    """Makes and starts a supervisor that is stopped after the test, and leaves nothing behind."""
    made: list[Supervisor] = []
    before = psutil.Process().children()

    def make(*specs: ProcessSpec) -> tuple[Supervisor, Lines]:
        lines = Lines()
        made.append(Supervisor(specs, lines, QUICK))
        made[-1].start()
        return made[-1], lines

    yield make
    for supervisor in made:
        supervisor.stop(grace_seconds=0)
    assert psutil.Process().children() == before, "neither zombie nor survivor"


@pytest.fixture
def running() -> Iterator[Run]:
    made: list[subprocess.Popen[str]] = []

    def make(name: str, code: str, *arguments: str) -> subprocess.Popen[str]:
        argv = [sys.executable, "-c", RUN, name, code, *arguments]
        made.append(subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        return made[-1]

    yield make
    for process in made:
        process.kill()
        process.communicate()


# --- restarts


def test_the_wait_doubles_to_its_cap_and_is_forgotten_after_a_good_life() -> None:
    backoff, waits = Backoff(), [0.0]
    for _ in range(8):
        waits.append(backoff.after(waits[-1], lived_seconds=1))
    assert waits[1:] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert backoff.after(30, lived_seconds=60) == 0.5


def test_what_dies_is_restarted_after_a_growing_wait(supervised: Supervise, tmp_path: Path) -> None:
    code = "import sys, time; open(sys.argv[1], 'a').write(f'{time.monotonic()}\\n'); sys.exit(3)"
    supervisor, lines = supervised(python("brief", code, str(tmp_path / "births")))
    until(lambda: supervisor.poll()[0].deaths >= 4)
    births = [float(line) for line in (tmp_path / "births").read_text().split()]
    for earlier, later, wait in zip(births, births[1:], (0.05, 0.1, 0.2), strict=False):
        assert later - earlier >= wait
    assert lines.of("supervisor")[:3] == [
        f"brief ended (exit status 3); again in {wait} s" for wait in (0.05, 0.1, 0.2)
    ]
    assert supervisor.poll()[0].trouble == "brief does not stay up (exit status 3): it said nothing"


def test_a_killed_process_is_replaced_and_the_others_are_left_alone(supervised: Supervise) -> None:
    supervisor, lines = supervised(python("one", STAY), python("two", STAY))
    until(lambda: len(lines.taken) == 2)
    one, two = (state.pid for state in supervisor.poll())
    assert one is not None
    os.kill(one, signal.SIGKILL)
    until(lambda: supervisor.poll()[0].pid not in {None, one})
    assert supervisor.poll()[1].pid == two
    assert "one ended (Killed); again in 0.05 s" in lines.of("supervisor")


def test_a_program_that_does_not_exist_is_a_death_like_any_other(supervised: Supervise) -> None:
    supervisor, lines = supervised(ProcessSpec("absent", ("/no/such/program",)))
    until(lambda: supervisor.poll()[0].deaths >= 2)
    assert "could not run /no/such/program: [Errno 2] No such file or directory" in lines.of("absent")


def test_a_process_that_cannot_stay_up_is_told_and_tried_again_while_the_others_go_on(
    supervised: Supervise, tmp_path: Path
) -> None:
    mended = tmp_path / "mended"
    code = f"import os, sys, time; os.path.exists(sys.argv[1]) or sys.exit('port 8800 is taken'); {STAY}"
    supervisor, lines = supervised(python("api", code, str(mended)), python("other", STAY))
    until(lambda: supervisor.poll()[0].deaths >= 4)
    words = "api does not stay up (exit status 1): port 8800 is taken"
    assert supervisor.poll()[0].trouble == words
    assert lines.of("supervisor").count(words) == 1
    assert supervisor.poll()[1].deaths == 0
    mended.touch()
    until(lambda: supervisor.poll() and lines.of("api")[-1] == "up")


def test_ready_is_asked_until_it_says_yes(supervised: Supervise, tmp_path: Path) -> None:
    sign = tmp_path / "sign"
    code = "import sys, time; time.sleep(0.3); open(sys.argv[1], 'w').close(); time.sleep(60)"
    supervisor, _ = supervised(python("slow", code, str(sign), ready=sign.exists), python("other", STAY))
    until(lambda: all(state.ready for state in supervisor.poll()))
    assert sign.exists()


# --- stops


def test_stop_ends_all_politely_and_at_once(supervised: Supervise) -> None:
    code = "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(print('bye'))); print('up', flush=True)"
    supervisor, lines = supervised(*(python(name, f"{code}; time.sleep(60)") for name in ("a", "b", "c")))
    until(lambda: len(lines.taken) == 3)
    began = time.monotonic()
    supervisor.stop()
    assert time.monotonic() - began < 5
    assert {name: lines.of(name) for name in "abc"} == {name: ["up", "bye"] for name in "abc"}
    assert [state.last_exit for state in supervisor.poll()] == [0, 0, 0]


def test_stop_kills_what_ignores_it_and_all_its_children(supervised: Supervise, tmp_path: Path) -> None:
    numbers = tmp_path / "numbers"
    supervisor, lines = supervised(python("deaf", DEAF), python("family", FAMILY, str(numbers)))
    until(lambda: numbers.exists() and lines.of("deaf"))
    family = [int(number) for number in numbers.read_text().split()]
    began = time.monotonic()
    supervisor.stop(grace_seconds=0.5)
    assert 0.5 <= time.monotonic() - began < 3
    until(lambda: not any(map(runs, family)), 2)
    assert lines.of("supervisor") == ["deaf did not end when asked and is killed"]


def test_stop_does_not_wait_for_a_restart_that_is_due_later(supervised: Supervise) -> None:
    supervisor, _ = supervised(python("brief", "pass"))
    until(lambda: supervisor.poll()[0].deaths == 1)
    supervisor.stop()
    time.sleep(0.1)
    assert supervisor.poll()[0].pid is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_stack_cleanly(running: Run, number: signal.Signals) -> None:
    process = running("worker", STAY)
    assert next_line(process) == "worker | up\n"
    process.send_signal(number)
    out, _ = process.communicate(timeout=10)
    assert out.endswith("exit 0\n")


def test_ctrl_c_twice_kills_at_once(running: Run) -> None:
    process = running("worker", DEAF)
    assert next_line(process) == "worker | up\n"
    process.send_signal(signal.SIGINT)
    assert "again kills it at once" in next_line(process)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=10)
    assert time.monotonic() - began < 3
    assert "worker did not end when asked and is killed" in out


# --- is killed itself


def test_no_process_survives_the_kill_of_its_supervisor(running: Run, tmp_path: Path) -> None:
    numbers = tmp_path / "numbers"
    process = running("family", FAMILY, str(numbers))
    until(numbers.exists)
    family = [int(number) for number in numbers.read_text().split()]
    assert all(map(runs, family))
    process.kill()
    until(lambda: not any(map(runs, family)), 5)


def test_a_child_dies_with_its_supervisor_even_if_the_reaper_was_killed_first(running: Run) -> None:
    process = running("worker", STAY)
    next_line(process)
    reaper, worker = sorted(
        psutil.Process(process.pid).children(), key=lambda c: "reaper.py" not in " ".join(c.cmdline())
    )
    os.kill(process.pid, signal.SIGSTOP)  # so that it cannot replace it
    reaper.kill()
    process.kill()
    until(lambda: not runs(worker.pid), 5)


def test_a_killed_reaper_is_replaced(supervised: Supervise) -> None:
    before = psutil.Process().children()
    supervisor, lines = supervised(python("worker", STAY))
    until(lambda: lines.taken)

    def reapers() -> list[psutil.Process]:
        made = [child for child in psutil.Process().children() if child not in before and runs(child.pid)]
        return [child for child in made if "reaper.py" in " ".join(cmdline(child))]

    (reaper,) = reapers()
    reaper.kill()
    until(lambda: supervisor.poll() and reapers() not in ([], [reaper]))
    assert len(reapers()) == 1


# --- says


def test_lines_carry_their_process_and_nothing_that_steers_a_terminal(running: Run) -> None:
    process = running("worker", "import time; print('a\\x1b[2Jb\\tc', flush=True); time.sleep(60)")
    assert next_line(process) == "worker | a�[2Jb\tc\n"


def test_names_are_coloured_on_a_terminal_only(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        TerminalOutput(["api", "beat"], terminal)("api", "hello")
        assert os.read(ours, 100) == b"\x1b[36mapi  |\x1b[0m hello\r\n"
    os.close(ours)
    with (tmp_path / "file").open("w+") as file:
        TerminalOutput(["api", "beat"], file)("api", "hello")
        file.seek(0)
        assert file.read() == "api  | hello\n"


def test_log_files_are_bounded(tmp_path: Path) -> None:
    output = FileOutput(tmp_path / "logs", max_bytes=10_000)
    talk = "for n in range(5000): print(n)\nprint(end='', flush=True)\nimport time; time.sleep(60)"
    supervisor = Supervisor([python("chatty", talk)], output)
    supervisor.start()
    until(lambda: (tmp_path / "logs" / "chatty.log").exists() and "4999" in (tmp_path / "logs/chatty.log").read_text())
    supervisor.stop()
    sizes = [path.stat().st_size for path in (tmp_path / "logs").iterdir()]
    assert len(sizes) == 2
    assert max(sizes) <= 10_010


def test_a_flood_of_output_without_line_ends_is_cut_not_kept(supervised: Supervise) -> None:
    code = "import sys, time; sys.stdout.write('x' * 1_000_000); sys.stdout.flush(); time.sleep(60)"
    _, lines = supervised(python("flood", code))
    until(lambda: sum(map(len, lines.of("flood"))) >= 990_000)
    assert max(map(len, lines.of("flood"))) == 16_384


def test_a_process_that_dies_just_before_it_is_stopped_does_not_disturb_the_stop(supervised: Supervise) -> None:
    supervisor, lines = supervised(python("a", STAY), python("b", STAY))
    until(lambda: lines.of("a") and lines.of("b"))
    pids = [state.pid for state in supervisor.poll()]
    assert pids[0] is not None
    os.kill(pids[0], signal.SIGKILL)
    os.waitid(os.P_PID, pids[0], os.WEXITED | os.WNOWAIT)
    supervisor.stop()
    assert [state.pid for state in supervisor.poll()] == [None, None]
