"""Reasons why a URL was skipped or failed: one vocabulary for ledger, API, terminal and dashboard.

The texts for people are in `reason_words.py`.
"""

from enum import StrEnum


class Reason(StrEnum):
    # skipped
    ROBOTS = "robots"
    ROBOTS_UNREACHABLE = "robots_unreachable"
    EXCLUDED = "excluded"
    NOT_INCLUDED = "not_included"
    OFF_DOMAIN = "off_domain"
    MAX_DEPTH = "max_depth"
    MAX_PAGES = "max_pages"
    SCHEME = "scheme"
    TOO_LONG = "too_long"
    EGRESS = "egress"
    TRAP = "trap"
    HASH_ROUTE = "hash_route"
    QUERY_OPEN = "query_open"
    NOT_FOUND = "not_found"
    FORBIDDEN = "forbidden"
    CONTENT_TYPE = "content_type"
    REDIRECTED = "redirected"
    HOST_BLOCKED = "host_blocked"
    EXISTS = "exists"
    CANCELLED = "cancelled"
    # failed
    TIMEOUT = "timeout"
    CONNECT = "connect"
    DNS = "dns"
    TLS = "tls"
    PROTOCOL = "protocol"
    TOO_LARGE = "too_large"
    REDIRECT_LOOP = "redirect_loop"
    HTTP_5XX = "http_5xx"
    RATE_LIMITED = "rate_limited"
    POISON = "poison"
    PARSE = "parse"
    LOGIN = "login"
    # notes on stored pages
    RENDER_UNAVAILABLE = "render_unavailable"
    RENDER_FAILED = "render_failed"
    RENDER_OFF = "render_off"
    UNCHANGED = "unchanged"


FAILED: frozenset[Reason] = frozenset(
    {
        Reason.TIMEOUT,
        Reason.CONNECT,
        Reason.DNS,
        Reason.TLS,
        Reason.PROTOCOL,
        Reason.TOO_LARGE,
        Reason.REDIRECT_LOOP,
        Reason.HTTP_5XX,
        Reason.RATE_LIMITED,
        Reason.POISON,
        Reason.PARSE,
        Reason.LOGIN,
    }
)
NOTES: frozenset[Reason] = frozenset(
    {Reason.RENDER_UNAVAILABLE, Reason.RENDER_FAILED, Reason.RENDER_OFF, Reason.UNCHANGED}
)
SKIPPED: frozenset[Reason] = frozenset(Reason) - FAILED - NOTES
