"""Kills process groups that a killed supervisor leaves behind: `python -I -S reaper.py`, with the supervisor at its
input.

Lines are `+PGID` and `-PGID`. When the input ends, every process group still on the list is killed. The kernel ends the
input however the supervisor dies, so this also reaches the children's children, which a parent-death signal does not.
"""

import os
import signal
import sys


def main() -> None:
    groups: set[int] = set()
    for line in sys.stdin:
        change = groups.add if line.startswith("+") else groups.discard
        change(int(line[1:]))
    for group in groups:
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            continue


if __name__ == "__main__":
    main()
