"""Does something once in a process of its own: what it needs of memory and connections is gone with it."""

import os
import sys
import traceback
from collections.abc import Callable


def apart(work: Callable[[], None]) -> None:
    """Fork, work there, and wait for it. If the work ends its process with a reason, this one ends, too.

    Only for a process without threads.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        _work(work)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0:
        raise SystemExit(1)


def _work(work: Callable[[], None]) -> None:
    status = 1
    try:
        work()
        status = 0
    except SystemExit as end:
        sys.stderr.write(f"{end.code}\n")
    except BaseException:  # noqa: BLE001 - the process ends here, so nobody else would tell
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
