"""Whether a server takes connections, and speaks TLS. Nothing is asked of it: robots.txt comes first."""

import socket
import ssl
import threading

PATIENCE_SECONDS = 4.0
MOST_LOOKUPS = 8
"""Lookups that wait at once for name servers: they cannot be broken off."""
_places = threading.BoundedSemaphore(MOST_LOOKUPS)


def takes_connections(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), PATIENCE_SECONDS):
            return True
    except (OSError, UnicodeError):
        return False


def is_unknown(host: str) -> bool:
    """Whether the name servers say that there is no such host; not if they do not answer."""
    try:
        socket.getaddrinfo(host.strip("[]"), None)
    except socket.gaierror as exc:
        return exc.errno == socket.EAI_NONAME
    except (OSError, UnicodeError):
        return False
    return False


def is_unknown_soon(host: str, seconds: float = PATIENCE_SECONDS) -> bool:
    """As `is_unknown`; not if that takes long, or many wait for it already."""
    if not _places.acquire(blocking=False):
        return False
    found: list[bool] = []

    def look() -> None:
        try:
            found.append(is_unknown(host))
        finally:
            _places.release()

    asking = threading.Thread(target=look, daemon=True, name="looks-up-a-host")
    asking.start()
    asking.join(seconds)
    return bool(found) and found[0]


def addresses_of(host: str) -> list[str]:
    """The addresses of a host; none where the name servers say so, or do not answer."""
    try:
        found = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [str(one[4][0]) for one in found]


def speaks_tls(host: str, port: int) -> bool:
    """Whether there is a TLS server, whatever its certificate says: a wrong one is for the crawl to refuse."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), PATIENCE_SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=host),
        ):
            return True
    except ssl.SSLError as exc:
        return isinstance(exc, ssl.SSLCertVerificationError) or "ALERT" in (exc.reason or "")
    except (OSError, UnicodeError, ValueError):
        return False
