"""Dashboard sessions: a cookie in place of an API key, and a CSRF token that only our own pages know.

The browser sends the cookie whichever site's page makes the request. So every change also needs the token, which pages
of other sites cannot read. The token is derived from the cookie's value, so that it needs no storage.

How long a session lasts: `adapters/operating/session_store.py`. Which pages need one:
`entrypoints/dashboard/serving/session_gate.py`.

Forms are refused by `_guard` in `entrypoints/dashboard/forms/fields.py`, requests to the API by `auth.py`.
"""

import base64
import hashlib
import hmac
import secrets

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from crawler.bootstrap import App
from crawler.domain.api_keys import ApiKey

COOKIE = "crawler_session"
CSRF_HEADER = "X-CSRF-Token"
LONGEST_TOKEN = 200
_DIGEST_BYTES = 32


def token_of(headers: Headers) -> str | None:
    value = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
    return value if 0 < len(value) <= LONGEST_TOKEN and value.isascii() else None


def key_of(tools: App, token: str) -> ApiKey | None:
    """The API key that the session was opened with. Revoking the key ends the session."""
    key_id = tools.operating.sessions.find(token)
    key = tools.store.find_key_by_id(key_id) if key_id else None
    if key_id and key is None:
        tools.operating.sessions.close(token)
    return key


def csrf_token(token: str) -> str:
    """Written in another way each time: pages are compressed, and their length must tell nothing of it (BREACH)."""
    mask = secrets.token_bytes(_DIGEST_BYTES)
    return base64.urlsafe_b64encode(mask + _masked(_csrf_digest(token), mask)).decode().rstrip("=")


def is_csrf(token: str, given: str) -> bool:
    try:
        found = base64.b64decode(f"{given}{'=' * (-len(given) % 4)}", altchars=b"-_", validate=True)
    except ValueError:
        return False
    mask, hidden = found[:_DIGEST_BYTES], found[_DIGEST_BYTES:]
    return len(hidden) == _DIGEST_BYTES and hmac.compare_digest(_csrf_digest(token), _masked(hidden, mask))


def _csrf_digest(token: str) -> bytes:
    return hmac.new(token.encode(), b"csrf", hashlib.sha256).digest()


def _masked(value: bytes, mask: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(value, mask, strict=True))
