"""Dashboard sessions (sign-in) in Redis. Tokens are stored only as hashes, as API keys are.

::

    cr:session:{sha256 of the token}    the API key's id and when the session began; gone after so long unused
    cr:ticket:{sha256 of the ticket}    the API key's id; for one sign-in, from a link a person was given

The cookie and the CSRF token: `entrypoints/http/cookie_session.py`. Who may sign in:
`entrypoints/dashboard/pages/login.py`.
"""

import hashlib
import secrets
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from redis import Redis
from redis.exceptions import RedisError

from crawler.adapters.frontier.redis_connection import redis_unavailable

IDLE_SECONDS = 24 * 3600
LONGEST_SECONDS = 14 * 24 * 3600
TICKET_SECONDS = 3600
TICKET_PREFIX = "crt_"


class SessionStore:
    def __init__(self, redis: Redis, clock: Callable[[], float] = time.time, prefix: str = "cr") -> None:
        self._redis = redis
        self._clock = clock
        self._prefix = prefix

    def open(self, key_id: UUID) -> str:
        """Open a session. Returns its token."""
        token = secrets.token_urlsafe(32)
        with self._redis_errors():
            self._redis.set(self._name("session", token), f"{key_id} {int(self._clock())}", ex=IDLE_SECONDS)
        return token

    def find(self, token: str) -> UUID | None:
        """The API key's id of a session. Reading it extends the session, up to a maximum age."""
        with self._redis_errors():
            found: Any = self._redis.getex(self._name("session", token), ex=IDLE_SECONDS)
        if found is None:
            return None
        key_id, _, began = found.decode().partition(" ")
        if self._clock() - int(began) > LONGEST_SECONDS:
            self.close(token)
            return None
        return UUID(key_id)

    def open_ones(self, tokens: Collection[str]) -> set[str]:
        """Which of these sessions are still open. Checking extends none of them."""
        if not tokens:
            return set()
        with self._redis_errors():
            kept: Any = self._redis.mget([self._name("session", token) for token in tokens])
        begun = {token: int(one.decode().partition(" ")[2]) for token, one in zip(tokens, kept, strict=True) if one}
        return {token for token, began in begun.items() if self._clock() - began <= LONGEST_SECONDS}

    def close(self, token: str) -> None:
        with self._redis_errors():
            self._redis.delete(self._name("session", token))

    def ticket(self, key_id: UUID) -> str:
        """A ticket for one sign-in, by whoever has it."""
        ticket = TICKET_PREFIX + secrets.token_urlsafe(24)
        with self._redis_errors():
            self._redis.set(self._name("ticket", ticket), str(key_id), ex=TICKET_SECONDS)
        return ticket

    def redeem(self, ticket: str) -> UUID | None:
        with self._redis_errors():
            found: Any = self._redis.getdel(self._name("ticket", ticket))
        return UUID(found.decode()) if found else None

    def _name(self, kind: str, secret: str) -> str:
        return f"{self._prefix}:{kind}:{hashlib.sha256(secret.encode()).hexdigest()}"

    @contextmanager
    def _redis_errors(self) -> Iterator[None]:
        try:
            yield
        except RedisError as exc:
            raise redis_unavailable(self._redis, exc) from exc
