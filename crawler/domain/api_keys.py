"""API keys and their scopes. A key is shown once and stored only as a hash.

Keys are checked in `entrypoints/http/auth.py`.
"""

import hashlib
import hmac
import secrets
from datetime import datetime
from typing import Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from crawler.domain.ids import new_id
from crawler.domain.key_scopes import LONGEST_NAME, Scope

_PREFIX = "crk_"


class ApiKey(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: UUID
    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    key_hash: str
    hint: str
    """The first characters of the key, so that people can tell keys apart."""
    scope: Scope = Scope.ADMIN
    project_ids: tuple[UUID, ...] | None = None
    created_at: datetime
    revoked_at: datetime | None = None

    @classmethod
    def issue(
        cls, *, name: str, scope: Scope, now: datetime, project_ids: tuple[UUID, ...] | None = None
    ) -> tuple[Self, str]:
        """Create a key: its record, and its secret, which is not stored."""
        secret = _PREFIX + secrets.token_urlsafe(32)
        record = cls(
            id=new_id(int(now.timestamp() * 1000)),
            name=name,
            key_hash=hash_key(secret),
            hint=secret[: len(_PREFIX) + 6],
            scope=scope,
            project_ids=project_ids,
            created_at=now,
        )
        return record, secret

    def matches(self, secret: str) -> bool:
        return self.revoked_at is None and hmac.compare_digest(self.key_hash, hash_key(secret))

    def sees(self, project_id: UUID) -> bool:
        return self.project_ids is None or project_id in self.project_ids


def hash_key(secret: str) -> str:
    """The key's hash. Keys have 256 random bits, so one fast hash is enough: there is nothing to guess."""
    return hashlib.sha256(secret.encode()).hexdigest()
