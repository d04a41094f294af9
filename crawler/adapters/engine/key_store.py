"""API keys in Postgres: of a secret only its hash is kept."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from sqlalchemy import Engine, func, insert, select, update

from crawler.adapters.postgres import tables as t
from crawler.adapters.postgres.database import transaction
from crawler.domain.api_keys import ApiKey, hash_key
from crawler.errors import NotFound

_COLUMNS = [t.api_keys.c[name] for name in ApiKey.model_fields]


class KeyStore:
    """Each method is one transaction."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def add_key(self, key: ApiKey) -> ApiKey:
        with transaction(self.engine) as db:
            db.execute(insert(t.api_keys).values(key.model_dump()))
        return key

    def find_key(self, secret: str) -> ApiKey | None:
        """The key with this secret, unless it was revoked."""
        with transaction(self.engine) as db:
            query = select(*_COLUMNS).where(t.api_keys.c.key_hash == hash_key(secret))
            row = db.execute(query).one_or_none()
        key = ApiKey.model_validate(row._asdict()) if row else None
        return key if key and key.matches(secret) else None

    def find_key_by_id(self, key_id: UUID) -> ApiKey | None:
        """The key with this id, unless it was revoked."""
        with transaction(self.engine) as db:
            row = db.execute(select(*_COLUMNS).where(t.api_keys.c.id == key_id)).one_or_none()
        key = ApiKey.model_validate(row._asdict()) if row else None
        return key if key and key.revoked_at is None else None

    def list_keys(self) -> list[ApiKey]:
        with transaction(self.engine) as db:
            rows = db.execute(select(*_COLUMNS).order_by(t.api_keys.c.id))
            return [ApiKey.model_validate(row._asdict()) for row in rows]

    def unrevoked_keys(self, among: Collection[UUID]) -> set[UUID]:
        c = t.api_keys.c
        with transaction(self.engine) as db:
            return set(db.execute(select(c.id).where(c.id.in_(among), c.revoked_at.is_(None))).scalars())

    def revoke_key(self, key_id: UUID, now: datetime) -> None:
        with transaction(self.engine) as db:
            done = db.execute(
                update(t.api_keys)
                .where(t.api_keys.c.id == key_id)
                .values(revoked_at=func.coalesce(t.api_keys.c.revoked_at, now))
            )
        if not done.rowcount:
            raise NotFound(f"There is no API key {key_id}.")
