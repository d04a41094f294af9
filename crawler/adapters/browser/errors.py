"""Map Chromium's network errors to our reasons: the only place where that happens."""

import re

from crawler.domain.reasons import Reason

NO_BODY = "ERR_HTTP_RESPONSE_CODE_FAILURE"
"""The site refused by its status, without a body, in whose place the browser shows a page of its own."""
_NAME = re.compile(r"net::(ERR_[A-Z0-9_]+)")
_REASONS: dict[str, Reason] = {
    "ERR_TIMED_OUT": Reason.TIMEOUT,
    "ERR_CONNECTION_TIMED_OUT": Reason.TIMEOUT,
    "ERR_NAME_NOT_RESOLVED": Reason.DNS,
    "ERR_NAME_RESOLUTION_FAILED": Reason.DNS,
    "ERR_TOO_MANY_REDIRECTS": Reason.REDIRECT_LOOP,
    "ERR_UNSAFE_PORT": Reason.CONNECT,
    "ERR_BLOCKED_BY_CLIENT": Reason.EGRESS,
    "ERR_EMPTY_RESPONSE": Reason.CONNECT,
    "ERR_ABORTED": Reason.CONNECT,
    "ERR_FAILED": Reason.CONNECT,
    "ERR_NETWORK_CHANGED": Reason.CONNECT,
    "ERR_SOCKET_NOT_CONNECTED": Reason.CONNECT,
}
_FAMILIES: tuple[tuple[str, Reason], ...] = (
    ("ERR_CERT_", Reason.TLS),
    ("ERR_SSL_", Reason.TLS),
    ("ERR_BAD_SSL_", Reason.TLS),
    ("ERR_CONNECTION_", Reason.CONNECT),
    ("ERR_ADDRESS_", Reason.CONNECT),
    ("ERR_INTERNET_", Reason.CONNECT),
    ("ERR_PROXY_", Reason.CONNECT),
    ("ERR_TUNNEL_", Reason.CONNECT),
)


def error_name(message: str) -> str:
    """The `ERR_…` name in the message, else an empty string."""
    match = _NAME.search(message)
    return match[1] if match else ""


def reason_of(name: str) -> Reason:
    """The reason for an error name. One that is not listed means that the response violates HTTP."""
    if name in _REASONS:
        return _REASONS[name]
    return next((reason for start, reason in _FAMILIES if name.startswith(start)), Reason.PROTOCOL)
