"""One Chromium process: started in a process group and profile of its own, measured, and reliably stopped.

When a worker is killed, the kernel kills its browser with it where it can; for the rest see `chromium_records.py`.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import psutil

from crawler import launch
from crawler.adapters.browser.chromium_flags import ChromiumOptions, flags_for
from crawler.adapters.browser.chromium_records import PROFILE_PREFIX, Record, is_browser
from crawler.errors import Unavailable

START_SECONDS = 20.0
STOP_SECONDS = 3.0
DEBIAN_PROGRAMS = Path("/usr/lib/chromium")
NOWHERE = "http://127.0.0.1:9"
"""A proxy address that lets nothing out."""
SHORT_TMP = "/tmp"  # noqa: S108 - the directory made inside is private
RANDOM_CHARS = 8
"""That `mkdtemp` adds."""
LONGEST_PROFILE = 107 - len("/org.chromium.Chromium.XXXXXX/SingletonSocket")
"""Bytes of its path: that of a unix socket is at most 107 long."""
_POLL_SECONDS = 0.02


class BrowserUnavailable(Unavailable):
    """The browser could not be started."""

    code = "browser_unavailable"


class Usage(NamedTuple):
    """Processes and memory that a browser uses now."""

    processes: int = 0
    memory_bytes: int = 0
    """Memory private to its processes, without what they share."""
    largest_tab: tuple[int, int] = (0, 0)
    """Process id and bytes of memory."""
    tabs: tuple[int, ...] = ()
    """Process ids."""


class ChromiumProcess:
    """A Chromium. Start and use it from one thread, which must live as long as the browser is needed."""

    def __init__(self, options: ChromiumOptions, records: Path) -> None:
        self._options = options
        self._records = records
        self._profile = _new_profile()
        self._record = records / f"{self._profile.name}.json"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Process id, which is also its process group."""
        return self._process.pid if self._process else 0

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    async def start(self) -> str:
        """Start the browser. Returns the address at which it can be driven."""
        try:
            self._spawn()
            return await self._endpoint()
        except OSError as exc:
            await self.stop(polite_seconds=0)
            raise BrowserUnavailable(f"The browser could not be started: {exc.strerror or exc}.") from exc
        except (BrowserUnavailable, asyncio.CancelledError):
            await self.stop(polite_seconds=0)
            raise

    def _spawn(self) -> None:
        self._records.mkdir(parents=True, exist_ok=True)
        argv = [str(_real_program(self._options.program)), *flags_for(self._options, self._profile)]
        words = [f"die-with={os.getpid()}", *([f"nice={self._options.nice}"] if self._options.nice else [])]
        with (self._profile / "stderr").open("wb") as said:
            self._process = subprocess.Popen(  # noqa: S603 - our own command line
                launch.command(words, argv),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said,
                env=_environment(self._profile),
                start_new_session=True,
            )
        Record.of(self._process.pid, self._profile).write(self._record)

    async def _endpoint(self) -> str:
        told = self._profile / "DevToolsActivePort"
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if not self.alive:
                raise BrowserUnavailable(f"The browser ended at once: {self._last_words()}")
            with suppress(FileNotFoundError):
                lines = told.read_text().split("\n")
                if len(lines) >= 2 and lines[1]:
                    return f"ws://127.0.0.1:{int(lines[0])}{lines[1]}"
            await asyncio.sleep(_POLL_SECONDS)
        raise BrowserUnavailable(f"The browser did not come up within {START_SECONDS:g} s.")

    def _last_words(self) -> str:
        said = (self._profile / "stderr").read_text(errors="replace").strip().splitlines()
        # What follows the fatal line is of its crash handler.
        fatal = [line for line in said if ":FATAL:" in line]
        return (fatal or said)[-1][:300] if said else "it said nothing."

    async def stop(self, polite_seconds: float = STOP_SECONDS) -> None:
        """Ask the browser to end; after so long, kill what is left of its process group."""
        if self._process is not None:
            if polite_seconds > 0 and self.alive:
                self._process.terminate()
                await self._wait(polite_seconds)
            self.kill()
            await self._wait(STOP_SECONDS)
        await self._remove_profile()
        self._record.unlink(missing_ok=True)

    async def _remove_profile(self) -> None:
        """The last of its processes may still write there while they end."""
        deadline = time.monotonic() + STOP_SECONDS
        while self._profile.exists() and time.monotonic() < deadline:
            await asyncio.to_thread(shutil.rmtree, self._profile, ignore_errors=True)
            await asyncio.sleep(_POLL_SECONDS)

    def kill(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self.alive and time.monotonic() < deadline:
            await asyncio.sleep(_POLL_SECONDS)

    def usage(self) -> Usage:
        processes, total, largest, tabs = 0, 0, (0, 0), list[int]()
        for process in _family(self.pid) if self.alive else ():
            with suppress(psutil.Error):
                if process.status() == psutil.STATUS_ZOMBIE:
                    continue
                memory = process.memory_info()
                private = max(0, memory.rss - memory.shared)
                processes, total = processes + 1, total + private
                if "--type=renderer" in process.cmdline():
                    tabs.append(process.pid)
                    largest = max(largest, (process.pid, private), key=itemgetter(1))
        return Usage(processes, total, largest, tuple(tabs))


def browser_use() -> tuple[int, int]:
    """Processes and memory of all browsers below this process. It does not ask the pool, which may be busy."""
    sizes = [size for pid in _below(os.getpid()) if (size := _size_of_browser(pid)) is not None]
    return len(sizes), sum(sizes)


def _below(pid: int) -> Iterator[int]:
    """All processes below one. The kernel knows them; to look through all processes would cost a busy machine dear."""
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text("ascii").split()):
                yield child
                yield from _below(child)


def _size_of_browser(pid: int) -> int | None:
    with suppress(psutil.Error):
        if is_browser(process := psutil.Process(pid)):
            memory = process.memory_info()
            return max(0, int(memory.rss - memory.shared))
    return None


def _family(pid: int) -> list[psutil.Process]:
    try:
        leader = psutil.Process(pid)
        return [leader, *leader.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _real_program(program: Path) -> Path:
    """The program behind a script. Debian's commands are scripts; one would stay in between and be killed instead."""
    real = DEBIAN_PROGRAMS / program.name
    return real if program.parent == Path("/usr/bin") and os.access(real, os.X_OK) else program


def _new_profile() -> Path:
    """In the directory for temporary files, or in /tmp if its path is too long: the browser makes a socket in there."""
    usual = Path(tempfile.gettempdir())
    length = len(os.fsencode(usual / PROFILE_PREFIX)) + RANDOM_CHARS
    return Path(tempfile.mkdtemp(prefix=PROFILE_PREFIX, dir=usual if length <= LONGEST_PROFILE else SHORT_TMP))


def _environment(profile: Path) -> dict[str, str]:
    """As few environment variables as possible: pages run in there, and the worker's environment holds secrets."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ") if name in os.environ}
    own = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TMPDIR")  # whoever removes the profile removes all of it
    return {**kept, **dict.fromkeys(own, str(profile))}
