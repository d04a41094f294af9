"""Sockets that libcurl dials for a fetcher, so that one can be cut in the middle of an answer.

A callback that refuses an answer ends its request, not its connection: over HTTP/2 libcurl goes on unpacking what has
arrived, field by field. 150 KB can be half a gigabyte of fields, and a connection carries a hundred answers.
"""

import os
import socket
from contextlib import suppress
from typing import NamedTuple


class Ends(NamedTuple):
    """A connection's addresses and ports; no two connections have the same."""

    address: str
    port: int
    local_address: str
    local_port: int


class Connections:
    def __init__(self) -> None:
        self._descriptors: set[int] = set()
        """What was opened. libcurl closes it unasked, and the number may be something else's now."""

    def opened(self, descriptor: int) -> None:
        self._descriptors.add(descriptor)

    def cut(self, ends: Ends) -> None:
        """Put a socket that leads nowhere in its place, so that what has arrived is never read; libcurl closes it."""
        for descriptor in list(self._descriptors):
            found = _ends_of(descriptor)
            if found is None:
                self._descriptors.discard(descriptor)
            elif found == ends:
                with socket.socket() as nowhere:
                    os.dup2(nowhere.fileno(), descriptor, inheritable=False)
                self._descriptors.discard(descriptor)
                return


def _ends_of(descriptor: int) -> Ends | None:
    """None for what is no connection over a network, such as a file, or one to a server of ours on this machine."""
    with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as copy:
        if copy.family in {socket.AF_INET, socket.AF_INET6}:
            return Ends(*copy.getpeername()[:2], *copy.getsockname()[:2])
    return None
