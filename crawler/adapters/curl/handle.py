"""Create libcurl handles with all options that are the same for all requests of a fetcher (TLS, proxy, limits).

Timeouts and sizes come from `config.py`; the limits that hold while bytes arrive are in `transfer.py`.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import certifi
import pycurl

from crawler.domain.hosts.egress import EgressRule

LOW_SPEED_BYTES = 10
LOW_SPEED_SECONDS = 10
"""A transfer slower than this for so long is aborted, whatever is left of its deadline."""
DNS_CACHE_SECONDS = 600
"""How long libcurl caches a name: longer than our own lookups are kept, so that it never looks up a name itself."""

_RECEIVE_BYTES = 128 * 1024
_DIRECT_MS = 15_000
_DIRECT_BYTES = 2000
# The wheel's libcurl looks for certificates only where one distribution has them.
_SYSTEM_CERTIFICATES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)
_UNSENDABLE = re.compile(r"[\r\n\0]")


@dataclass(frozen=True, slots=True)
class TransferOptions:
    user_agent: str
    rule: EgressRule
    timeout_ms: int
    connect_timeout_ms: int
    max_body_bytes: int
    proxy: str
    certificates: str


def trusted_certificates(ca_bundle: Path | None) -> str:
    """Path of the CA bundle: the operator's, else the system's, else certifi's."""
    if ca_bundle is not None:
        return str(ca_bundle)
    return next((path for path in _SYSTEM_CERTIFICATES if Path(path).is_file()), certifi.where())


def direct_options(user_agent: str, rule: EgressRule, ca_bundle: Path | None) -> TransferOptions:
    """For services and receivers of people's own: without the proxy of page fetches, and little is read of an answer.

    Each caller sets its own time, and its own length where more is to be read.
    """
    return TransferOptions(user_agent, rule, _DIRECT_MS, _DIRECT_MS, _DIRECT_BYTES, "", trusted_certificates(ca_bundle))


def accepted_encodings() -> str:
    """Content encodings that this build can decompress piece by piece, so that the output can be limited."""
    features = pycurl.version_info()[4]
    return "gzip, br" if features & pycurl.VERSION_BROTLI else "gzip"


def new_handle(options: TransferOptions) -> pycurl.Curl:
    curl = pycurl.Curl()
    web_only = pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS
    for option, value in (
        (pycurl.PROTOCOLS, web_only),
        (pycurl.REDIR_PROTOCOLS, web_only),
        (pycurl.FOLLOWLOCATION, 0),  # redirects come back to us: each hop is looked up and checked
        (pycurl.PROXY, options.proxy),  # set even when empty: it disables proxies of the environment
        (pycurl.NOPROXY, ""),
        (pycurl.NETRC, pycurl.NETRC_IGNORED),
        (pycurl.NOSIGNAL, 1),
        (pycurl.HTTP09_ALLOWED, 0),
        (pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS),
        (pycurl.SSL_VERIFYPEER, 1),
        (pycurl.SSL_VERIFYHOST, 2),
        (pycurl.SSLVERSION, pycurl.SSLVERSION_TLSv1_2),
        (pycurl.CAINFO, options.certificates),
        (pycurl.PROXY_CAINFO, options.certificates),
        (pycurl.USERAGENT, options.user_agent),
        (pycurl.ACCEPT_ENCODING, accepted_encodings()),
        (pycurl.CONNECTTIMEOUT_MS, options.connect_timeout_ms),
        (pycurl.LOW_SPEED_LIMIT, LOW_SPEED_BYTES),
        (pycurl.LOW_SPEED_TIME, LOW_SPEED_SECONDS),
        (pycurl.DNS_CACHE_TIMEOUT, DNS_CACHE_SECONDS),
        (pycurl.BUFFERSIZE, _RECEIVE_BYTES),
    ):
        curl.setopt(option, value)
    return curl


def header_lines(
    headers: tuple[tuple[str, str], ...],
    etag: str | None,
    accept_types: tuple[str, ...],
) -> list[bytes]:
    """The request's own header lines. Values that could start another line are left out."""
    fields = list(headers)
    if not any(name.lower() == "accept" for name, _ in headers):
        fields.append(("Accept", ", ".join((*accept_types, "*/*;q=0.1")) if accept_types else "*/*"))
    if etag:
        fields.append(("If-None-Match", etag))
    return [_line(name, value) for name, value in fields if not _UNSENDABLE.search(name + value)]


def _line(name: str, value: str) -> bytes:
    # libcurl reads "Name:" as "do not send this header"; "Name;" sends it empty.
    return (f"{name}: {value}" if value.strip() else f"{name};").encode()
