"""Processes forked from this one, which has already imported what they need: they start at once and share its memory.

A module does the same as if it were started anew as `PYTHON -m MODULE ARG…`, in a session and with an environment
of its own. Only what was imported is inherited: every open file but the output is closed, signals are as in a new
process, and nothing that is done at the end of this process is done by them.

Whoever forks must hold no locks that the module may want, and modules must not begin threads or connections when they
are imported.
"""

import atexit
import ctypes
import gc
import os
import random
import runpy
import signal
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
_ARG_START = 45
"""Place of `arg_start` in /proc/self/stat, after the program's name; its end and the environment's places follow."""


class WarmProcess:
    """Stands for a forked process as `subprocess.Popen` does for others: a number, an output, and its end."""

    def __init__(
        self, module: str, argv: Sequence[str], env: Mapping[str, str], kept: int | None, *, dies_with_us: bool
    ) -> None:
        """`argv`: what lists of processes show, `PYTHON -m PROGRAM ARG…`; the module gets the arguments.

        `kept`: the number of an open file that it needs.
        """
        reading, writing = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            _live(module, argv, env, (writing, kept), parent if dies_with_us else None)
        os.close(writing)
        self.stdout: IO[bytes] = os.fdopen(reading, "rb")

    def wait(self) -> int:
        """The exit status; of a process that a signal ended, the signal's number below zero."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _live(
    module: str, argv: Sequence[str], env: Mapping[str, str], files: tuple[int, int | None], parent: int | None
) -> None:
    """All of a child's life."""
    status = 1
    try:
        atexit._clear()
        _leave_home(*files, parent)
        os.environ.clear()
        os.environ.update(env)  # copied, also for C: the place where it stood is written over now
        _show(argv)
        status = _run(module, argv[2:])
        atexit._run_exitfuncs()
    except BaseException:  # noqa: BLE001 - the process ends here, so nobody else would tell
        traceback.print_exc()
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _leave_home(output: int, kept: int | None, parent: int | None) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.set_wakeup_fd(-1)
    os.setsid()  # a process group of its own: Ctrl-C reaches only our parent, its kill also our children
    if parent is not None:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before the line above
            os._exit(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for place, opened in enumerate((nothing, output, output)):
        os.dup2(opened, place)
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - numbers are wanted
        if int(name) > 2 and int(name) != kept:
            with suppress(OSError):
                os.dup2(nothing, int(name))  # not closed: what still knows its number must meet no file of ours there
    # Not those of before: another thread may have held their locks.
    for place, name in enumerate(("stdin", "stdout", "stderr")):
        stream = open(place, "w" if place else "r", 1, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.excepthook = sys.__excepthook__
    random.seed()
    gc.enable()


def _run(module: str, argv: Sequence[str]) -> int:
    sys.argv = list(argv)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
            return 1
        return int(end.code or 0)
    except KeyboardInterrupt:
        return 130
    return 0


def _show(argv: Sequence[str]) -> None:
    """Let lists of processes show the command line, in the place of our parent's and of its environment."""
    with suppress(OSError, ValueError, IndexError):
        stat = Path("/proc/self/stat").read_text("ascii", errors="replace").rpartition(")")[2].split()
        start, arg_end, env_start, env_end = map(int, stat[_ARG_START : _ARG_START + 4])
        end = env_end if env_start == arg_end else arg_end
        # At least as long as what stood there: the kernel takes that for one line that may go on behind it.
        line = " ".join(argv).encode().ljust(arg_end - start)[: end - start - 1]
        ctypes.memmove(start, line.ljust(end - start, b"\0"), end - start)
        name = argv[argv.index("-n") + 1].partition("-")[0] if "-n" in argv else argv[2].rpartition(".")[2]
        ctypes.CDLL(None).prctl(PR_SET_NAME, f"crawler {name}".encode(), 0, 0, 0)
