"""Operators' runtime settings in Postgres."""

from sqlalchemy import Connection, Engine, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.tables import settings
from crawler.domain.runtime_settings import RuntimeSettings

NAMES = tuple(RuntimeSettings.model_fields)


class RuntimeSettingsStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def read(self) -> RuntimeSettings:
        with transaction(self._engine) as db:
            return read_runtime_settings(db)

    def replace(self, new: RuntimeSettings) -> RuntimeSettings:
        """Store exactly these settings; all others are unset."""
        rows = [{"name": name, "value": value} for name, value in new.model_dump(exclude_none=True).items()]
        with transaction(self._engine) as db:
            gone = [name for name in NAMES if getattr(new, name) is None]
            db.execute(delete(settings).where(settings.c.name.in_(gone)))
            for row in rows:
                update = {**row, "updated_at": func.now()}
                db.execute(insert(settings).values(update).on_conflict_do_update(index_elements=["name"], set_=update))
        return new


def read_runtime_settings(db: Connection) -> RuntimeSettings:
    rows = db.execute(select(settings.c.name, settings.c.value).where(settings.c.name.in_(NAMES)))
    return RuntimeSettings.model_validate({row.name: row.value for row in rows})
