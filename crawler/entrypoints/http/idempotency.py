"""`Idempotency-Key`: a repeated request starts a crawl only once, and gets the first response again.

Repeats are recognised, and another body refused, by `handlers/operating/answer_once.py`.
"""

import hashlib
import json
from collections.abc import Callable, Set
from typing import Annotated, Any

from fastapi import Depends, Header, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from crawler.domain.idempotent_answers import Answer
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import Caller

OnceKey = Annotated[str | None, Field(min_length=1, max_length=200, pattern=r"^[\x21-\x7e]+$")]
KeyHeader = Annotated[
    OnceKey,
    Header(
        alias="Idempotency-Key",
        description="The same key with the same body within a day gets the same answer, and nothing is done twice",
    ),
]


class Once:
    """Runs an action once for each combination of caller, path and idempotency key."""

    def __init__(self, request: Request, caller: Caller, tools: Tools, key: KeyHeader = None) -> None:
        self._tools = tools
        self._given = key
        parts = "\n".join((str(caller.id), request.method, request.url.path, key or ""))
        self._digest = hashlib.sha256(parts.encode()).digest()

    @property
    def crawl_key(self) -> str | None:
        """The idempotency key for the crawl's own row, so that a repeat after a crash finds the same crawl."""
        return f"http:{self._digest.hex()}" if self._given else None

    def __call__(self, body: BaseModel, do: Callable[[], BaseModel], status: int) -> JSONResponse:
        def answer() -> Answer:
            shown: dict[str, Any] = do().model_dump(mode="json", by_alias=True)
            return Answer(status, shown)

        done = (
            answer()
            if self._given is None
            else self._tools.operating.answer_once(self._digest, _fingerprint(body), answer)
        )
        return JSONResponse(done.body, done.status)


def _fingerprint(body: BaseModel) -> bytes:
    """A hash of the body that depends on its values alone. Sets are sorted: their order differs between processes."""
    given = body.model_dump(exclude_unset=True)
    text = json.dumps(given, sort_keys=True, default=lambda v: sorted(map(str, v)) if isinstance(v, Set) else str(v))
    return hashlib.sha256(text.encode()).digest()


DoOnce = Annotated[Once, Depends()]
