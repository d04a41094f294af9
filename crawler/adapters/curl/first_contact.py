"""Whether a server takes connections, and speaks TLS. Nothing is asked of it: robots.txt comes first."""

import socket
import ssl

PATIENCE_SECONDS = 4.0


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
