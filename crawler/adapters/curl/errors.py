"""Map libcurl's error numbers to our reasons: the only place where that happens.

Which reasons are retried: `domain/engine/judging.py`.
"""

import re

import pycurl

from crawler.domain.reasons import Reason

REFUSED = "This address may not be reached from here."

_REASONS: dict[int, Reason] = {
    pycurl.E_OPERATION_TIMEDOUT: Reason.TIMEOUT,
    pycurl.E_COULDNT_RESOLVE_HOST: Reason.DNS,
    pycurl.E_COULDNT_RESOLVE_PROXY: Reason.DNS,
    pycurl.E_COULDNT_CONNECT: Reason.CONNECT,
    pycurl.E_GOT_NOTHING: Reason.CONNECT,
    pycurl.E_SEND_ERROR: Reason.CONNECT,
    pycurl.E_RECV_ERROR: Reason.CONNECT,
    pycurl.E_PARTIAL_FILE: Reason.CONNECT,
    pycurl.E_SSL_CONNECT_ERROR: Reason.TLS,
    pycurl.E_PEER_FAILED_VERIFICATION: Reason.TLS,
    pycurl.E_SSL_CERTPROBLEM: Reason.TLS,
    pycurl.E_SSL_CIPHER: Reason.TLS,
    pycurl.E_SSL_CACERT_BADFILE: Reason.TLS,
    pycurl.E_SSL_ISSUER_ERROR: Reason.TLS,
    pycurl.E_SSL_INVALIDCERTSTATUS: Reason.TLS,
    pycurl.E_SSL_SHUTDOWN_FAILED: Reason.TLS,
    pycurl.E_FILESIZE_EXCEEDED: Reason.TOO_LARGE,
}

_USERINFO = re.compile(r"//[^/\s@]*@")
_SECRET = re.compile(r"(?i)\b((?:[a-z_-]*(?:token|key|sig|signature|password|secret|auth))=)[^&\s]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_MAX_LENGTH = 300


def reason_of(number: int, message: str) -> Reason:
    """The reason for a libcurl error. A number that is not listed means that the response violates HTTP."""
    if number == pycurl.E_RECV_ERROR and "chunk" in message:
        return Reason.PROTOCOL  # the number is also used for chunks that cannot be read
    return _REASONS.get(number, Reason.PROTOCOL)


def one_line(message: str) -> str:
    """A message for logs and `error_message`: no line breaks, no credentials, not long."""
    text = _CONTROL.sub(" ", message).strip()
    text = _SECRET.sub(r"\1…", _USERINFO.sub("//", text))
    return text[:_MAX_LENGTH]
