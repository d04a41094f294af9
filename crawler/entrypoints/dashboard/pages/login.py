"""`/login`, `/logout`: sign in with an API key, or with the link that `crawler up` prints.

Keys are looked up by `entrypoints/http/auth.py`, wrong ones counted by `failed_logins.py` there. How long a session
lasts: `adapters/operating/session_store.py`.
"""

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Query, Request, Response

from crawler.adapters.operating.session_store import LONGEST_SECONDS, TICKET_PREFIX
from crawler.bootstrap import App
from crawler.domain.api_keys import ApiKey
from crawler.entrypoints.dashboard.forms.fields import Sent
from crawler.entrypoints.dashboard.serving.render import go, page
from crawler.entrypoints.dashboard.serving.session_gate import cookie
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import LONGEST_SECRET, TooManyFailures, address_of, look_up
from crawler.entrypoints.http.failed_logins import FailedAttempts
from crawler.errors import Unauthorized

router = APIRouter()

LONGEST_NEXT = 2000
UNKNOWN = "No key like that is known here, or it was revoked."
USED = "This link was used already, or is too old: it signs in once. Start again for another one, or type an API key."
Next = Annotated[str, Query(alias="next", max_length=LONGEST_NEXT)]


@router.get("/login")
def ask(request: Request, following: Next = "/") -> Response:
    if request.state.key is not None:
        return go(local(following))
    return page(request, "login.html", following=local(following), wrong=None)


@router.post("/login")
def sign_in(request: Request, form: Sent, tools: Tools) -> Response:
    following = local(form.text("next"))
    try:
        key = _key(tools, request.app.state.attempts, form.text("key"), address_of(request.scope))
    except (Unauthorized, TooManyFailures) as exc:
        unknown = USED if form.text("key").startswith(TICKET_PREFIX) else UNKNOWN
        wrong = exc.message if isinstance(exc, TooManyFailures) else unknown
        return page(request, "login.html", exc.http_status, following=following, wrong=wrong)
    if request.state.session:
        tools.operating.sessions.close(
            request.state.session
        )  # a new session for each sign-in, whatever cookie the request had
    answer = go(following)
    made = cookie(tools.operating.sessions.open(key.id), secure=request.url.scheme == "https", seconds=LONGEST_SECONDS)
    answer.headers.append("set-cookie", made)
    return answer


@router.post("/logout")
def sign_out(request: Request, tools: Tools) -> Response:
    tools.operating.sessions.close(request.state.session)
    answer = go("/login", "signed-out")
    answer.headers.append("set-cookie", cookie("", secure=request.url.scheme == "https", seconds=0))
    return answer


def _key(tools: App, attempts: FailedAttempts, given: str, address: str) -> ApiKey:
    """The API key for a key or a sign-in ticket. Wrong tickets count towards the same rate limit as wrong keys."""
    usable = given if given.isascii() and 0 < len(given) <= LONGEST_SECRET else None
    key_id = tools.operating.sessions.redeem(usable) if usable and usable.startswith(TICKET_PREFIX) else None
    key = tools.store.find_key_by_id(key_id) if key_id else None
    return key or look_up(tools, attempts, usable, address)


def local(path: str) -> str:
    """The path to open after the sign-in, only if it is a page of ours: no open redirect to other sites."""
    try:
        parts = urlsplit(path if path.isascii() and path.isprintable() and "\\" not in path else "/")
    except ValueError:
        return "/"
    if not parts.path.startswith("/") or parts.path.startswith(("//", "/login", "/api/")):
        return "/"
    return parts.path + (f"?{parts.query}" if parts.query else "")
