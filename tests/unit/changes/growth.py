"""`python -m tests.unit.changes.growth [NAME…]`: CPU time of each judge on hostile pages of growing size.

Prints, for each that takes long, microseconds for each byte of both versions at sizes 1, 4 and 8.
"""

import sys
import time

from tests.unit.changes.hostile_pages import HOSTILE
from tests.unit.changes.judges import JUDGES, judged

SIZES = (1, 4, 8)
_TOLD_FROM = 2.0
"""Microseconds a byte."""
_GIVE_UP_SECONDS = 20.0


def main(names: list[str]) -> None:
    for hostile in HOSTILE:
        if names and hostile.name not in names:
            continue
        for judge in JUDGES:
            rates: list[float] = []
            for size in SIZES:
                old, new = hostile.build(size)
                began = time.process_time()
                judged(judge, old, new)
                used = time.process_time() - began
                rates.append(1e6 * used / (len(old) + len(new)))
                if used > _GIVE_UP_SECONDS:
                    break
            if max(rates) >= _TOLD_FROM or rates[-1] > 2.5 * rates[0] + 0.2:
                print(f"{hostile.name:22} {judge:16} {'  '.join(f'{rate:8.2f}' for rate in rates)} µs/byte", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
