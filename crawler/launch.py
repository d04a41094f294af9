"""Starts a program as another user, as a daemon or tied to a parent: `python -I -S launch.py WORD… -- PROGRAM ARG…`.

Words:

- `daemon`: leave the program behind, with init as its parent
- `die-with=PID`: be killed when this parent is
- `nice=N`: get less of the processors
- `uid=N`: run as that user and group and in no other group
- `reach=PATH`: with `uid`, may read PATH (and run it, if it is a file) even if a parent directory forbids it
- `alias=N`: appear to oneself as user N. Postgres refuses to run as root, initdb as a user without a name

It is a process of its own because Python code between fork and exec can hang in a process that has threads. It imports
little, so it costs 20 ms.
"""

import ctypes
import errno
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_SECUREBITS = 28
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
CLONE_NEWUSER = 0x10000000
# The kernel's access(2), which Postgres asks about its own path, ignores capabilities without this bit.
# It also keeps them across the change of user.
SECBIT_NO_SETUID_FIXUP = 1 << 2
# Tried in this order: nothing; CAP_DAC_READ_SEARCH; CAP_DAC_OVERRIDE, which containers grant instead.
RIGHTS = (0, 1 << 2, 1 << 1)
CAPABILITY_VERSION = 0x20080522
NOT_PERMITTED = f"could not become another user: {os.strerror(errno.EPERM)}"


def command(words: Sequence[str], argv: Sequence[str]) -> list[str]:
    """The command line that runs `argv` with these words."""
    return [sys.executable, "-I", "-S", __file__, *words, "--", *argv]


def main(arguments: list[str]) -> None:
    split = arguments.index("--")
    words, argv = [word.partition("=")[::2] for word in arguments[:split]], arguments[split + 1 :]
    options = dict(words)
    if "daemon" in options:
        _leave_behind()
    if "alias" in options:
        _appear_as(int(options["alias"]))
    if "uid" in options:
        _become(int(options["uid"]), [path for word, path in words if word == "reach"])
    if "nice" in options:
        _be_nice(int(options["nice"]))
    if "die-with" in options:
        _die_with(int(options["die-with"]))
    os.execvp(argv[0], argv)  # noqa: S606 - no shell is wanted


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _leave_behind() -> None:
    if os.fork():
        os._exit(0)


def _appear_as(uid: int) -> None:
    real_uid, real_gid = os.geteuid(), os.getegid()
    _checked(_libc().unshare(CLONE_NEWUSER))
    # bytes: in the new namespace Python may no longer reach its own library to load a codec
    Path("/proc/self/setgroups").write_bytes(b"deny")
    Path("/proc/self/uid_map").write_bytes(b"%d %d 1" % (uid, real_uid))
    Path("/proc/self/gid_map").write_bytes(b"%d %d 1" % (uid, real_gid))


def _become(uid: int, paths: list[str]) -> None:
    libc = _libc()
    keeps_rights = libc.prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) == 0
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    if keeps_rights:
        _keep_only(libc, next((right for right in RIGHTS if _suffices(libc, right, paths)), 0))


def _suffices(libc: ctypes.CDLL, right: int, paths: list[str]) -> bool:
    """Whether every path can be read with this capability in effect."""
    held = (ctypes.c_uint32 * 6)()
    _checked(libc.capget(_capability_header(), held))
    held[0], held[3] = right, 0
    if libc.capset(_capability_header(), held) != 0:
        return False
    return all(os.access(path, os.R_OK | os.X_OK) for path in paths)


def _keep_only(libc: ctypes.CDLL, right: int) -> None:
    _checked(libc.capset(_capability_header(), (ctypes.c_uint32 * 6)(right, right, right)))
    if right:  # only ambient capabilities survive exec
        _checked(libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, right.bit_length() - 1, 0, 0))


def _capability_header() -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)


def _be_nice(by: int) -> None:
    os.nice(by)
    with suppress(OSError):  # where the kernel shares processors between sessions, the number above counts in ours only
        Path("/proc/self/autogroup").write_bytes(b"%d" % by)


def _die_with(parent: int) -> None:
    _checked(_libc().prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
    if os.getppid() != parent:  # the parent died before the line above
        os._exit(1)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as exc:
        program = sys.argv[sys.argv.index("--") + 1]
        told = NOT_PERMITTED if exc.errno == errno.EPERM else f"could not run {program}: {exc}"
        os.write(2, f"{told}\n".encode())
        os._exit(127)
