"""Apprise in a process of its own: what it dials is judged as it is dialled, what it starts or hangs in ends here.

A request in JSON comes on stdin, an answer in JSON goes to stdout. Addresses with secrets go neither into logs nor
onto command lines.

Which addresses may be dialled: `domain/hosts/egress.py`.
"""

import json
import logging
import os
import re
import resource
import signal
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from crawler.domain.hosts.egress import EgressRule

MISSING = "Apprise is not installed here; install it with pip install 'crawl-watcher[notify]'"
LONGEST_WORDS = 500
MEMORY_BYTES = 384 * 1024 * 1024
"""Address space, of which Python and Apprise take 210 MB. Apprise keeps all that a receiver says, unpacked."""
LONGEST_SECONDS = 60
"""Then it ends by itself: its parent, which waits for less, must be gone."""
TOO_MUCH = "the channel answers more than is read"
_PROGRAMS = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork"})
_DIALS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_READABLE = tuple({
    *(f"{Path(root).resolve()}/" for root in (sys.prefix, sys.base_prefix, *sys.path) if root and Path(root).is_dir()),
    "/usr/", "/etc/ssl/", "/etc/pki/", "/etc/mime.types", "/dev/null", "/dev/urandom",
})  # fmt: skip
_PIECE = re.compile(r"[A-Za-z0-9_.~-]{5,}")


class Gate:
    """Python tells it of each connect before it happens; what it raises keeps it from happening."""

    def __init__(self, rule: EgressRule | None, host: str) -> None:
        """Without a rule nothing may be dialled at all."""
        self._rule = rule
        self._host = host
        self.refused = False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _PROGRAMS:
            raise PermissionError("no program may be started")
        if event == "open" and not _is_of_python(arguments[0]):
            raise PermissionError("no file may be read")  # a URL can name one, for instance with a key
        if event in _DIALS and not self._allows(arguments[-1]):
            self.refused = True
            raise PermissionError("its address may not be reached from here")

    def _allows(self, address: object) -> bool:
        """A path instead of host and port is a socket of this machine."""
        match address:
            case (str(host), int(port), *_) if self._rule is not None:
                return self._rule.allows(host, port, self._host)
        return False


def _is_of_python(path: object) -> bool:
    """Modules, certificates and the like; numbers are files that are open already."""
    if not isinstance(path, str | bytes):
        return True
    return os.path.realpath(os.fsdecode(path)).startswith(_READABLE)


class Complaints(logging.Handler):
    """What Apprise says went wrong, without any piece of the address."""

    def __init__(self, url: str) -> None:
        super().__init__(logging.WARNING)
        self._secrets = sorted(set(_PIECE.findall(url.partition("://")[2])), key=len, reverse=True)
        self.words = ""

    def emit(self, record: logging.LogRecord) -> None:
        is_full = isinstance(sys.exception(), MemoryError)  # which Apprise catches, and does not name
        line = TOO_MUCH if is_full else " ".join(record.getMessage().split())
        for piece in self._secrets:
            line = line.replace(piece, "…")
        self.words = f"{self.words} {line}".strip()[:LONGEST_WORDS]


def check(urls: list[str]) -> list[str | None]:
    """Nothing is sent: what Apprise cannot read is told by its kind alone."""
    from apprise import Apprise  # noqa: PLC0415 - an extra, and most of a second

    logging.disable(logging.CRITICAL)
    sys.addaudithook(Gate(None, ""))
    return [None if Apprise.instantiate(url) else _unreadable(url) for url in urls]


def send(url: str, title: str, body: str, allow: list[str]) -> dict[str, Any]:
    from apprise import Apprise  # noqa: PLC0415 - as above

    complaints = Complaints(url)
    log = logging.getLogger("apprise")
    log.addHandler(complaints)
    log.propagate = False
    channel = Apprise()
    if not channel.add(url):
        return {"delivered": False, "words": _unreadable(url), "refused": False}
    gate = Gate(EgressRule.parse(allow), _host(url))
    sys.addaudithook(gate)
    delivered = bool(channel.notify(body=body, title=title, body_format="text"))
    return {"delivered": delivered, "words": complaints.words, "refused": gate.refused}


def _unreadable(url: str) -> str:
    return f"Apprise knows no such channel, or it lacks something: {url.partition('://')[0][:31]}://…"


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(LONGEST_SECONDS)
    asked = json.loads(sys.stdin.read())
    try:
        answer = check(asked["urls"]) if asked["do"] == "check" else send(**asked["message"])
    except ImportError:
        answer = [MISSING] * len(asked["urls"]) if asked["do"] == "check" else {"missing": MISSING}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
