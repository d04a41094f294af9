"""Form fields of a request, parsed with the standard library, and the CSRF check for changes.

`Guarded` is a dependency of every route. A change must come from our own page, with its CSRF token and a key that may
write.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from crawler.domain.api_keys import Scope as KeyScope
from crawler.entrypoints.dashboard.serving.session_gate import LOGIN
from crawler.entrypoints.http.auth import READING
from crawler.entrypoints.http.cookie_session import CSRF_HEADER, is_csrf
from crawler.entrypoints.http.origins import is_own_page
from crawler.entrypoints.http.request_log import SIGNED
from crawler.errors import Forbidden, Invalid

CSRF_FIELD = "csrf"
MOST_FIELDS = 2000
FORM_TYPE = "application/x-www-form-urlencoded"


class Form:
    """Form fields by name; a field that was not sent is empty."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    def text(self, name: str) -> str:
        return self._values.get(name, [""])[-1].strip()

    def flag(self, name: str) -> bool:
        return bool(self.text(name))

    def all(self, name: str) -> list[str]:
        return self._values.get(name, [])

    def lines(self, name: str) -> tuple[str, ...]:
        """A text area's values, one per line."""
        return tuple(line.strip() for line in self.text(name).splitlines() if line.strip())

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def raw(self) -> Mapping[str, str]:
        return {name: values[-1] for name, values in self._values.items()}


async def _read(request: Request) -> Form:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
        return Form([])
    return await run_in_threadpool(_parsed, await request.body())


def _parsed(body: bytes) -> Form:
    """In a thread: megabytes of escapes take a second."""
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError as exc:
        raise Invalid("The form cannot be read; send it as UTF-8, with fewer fields.") from exc
    if any("\x00" in part for pair in pairs for part in pair):
        raise Invalid("Text must not hold the character NUL.")
    return Form(pairs)


Sent = Annotated[Form, Depends(_read)]


def _guard(request: Request, form: Sent) -> None:
    mishap: Exception | None = getattr(request.state, "mishap", None)
    if mishap is not None:
        raise mishap
    if request.method in READING:
        return
    if not is_own_page(request.headers):
        raise Forbidden("This was sent by a page of another site, so nothing was done.")
    if request.url.path == LOGIN or request.url.path.startswith(SIGNED):
        return  # without a session there is none that a token could belong to; a signed address is one itself
    session: Any = request.state.session
    given = request.headers.get(CSRF_HEADER) or form.text(CSRF_FIELD)
    if not session or not is_csrf(session, given):
        raise Forbidden("The page was too old, so nothing was done; reload it and try again.")
    if request.url.path != "/logout" and not request.state.key.scope.allows(KeyScope.WRITE):
        raise Forbidden("This API key may only read; changes need one of scope write.")


Guarded = Depends(_guard)
