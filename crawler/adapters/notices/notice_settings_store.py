"""How notices are sent, in Postgres: one encrypted row beside the other settings of operators."""

from collections.abc import Callable

from sqlalchemy import Engine, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.secret_box import SecretBox
from crawler.adapters.postgres.tables import settings
from crawler.domain.notices.notice_settings import NoticeSettings

NAME = "notices"


class NoticeSettingsStore:
    def __init__(self, engine: Engine, box: Callable[[], SecretBox]) -> None:
        self._engine = engine
        self._box = box

    def read(self) -> NoticeSettings:
        """Raises SettingsError when they were encrypted with another key."""
        with transaction(self._engine) as db:
            sealed = db.execute(select(settings.c.value).where(settings.c.name == NAME)).scalar_one_or_none()
        return NoticeSettings(*self._box().open_json(sealed, "The mail settings were")) if sealed else NoticeSettings()

    def replace(self, new: NoticeSettings) -> None:
        with transaction(self._engine) as db:
            if new == NoticeSettings():
                db.execute(delete(settings).where(settings.c.name == NAME))
                return
            row = {"name": NAME, "value": self._box().seal_json(list(new)), "updated_at": func.now()}
            db.execute(insert(settings).values(row).on_conflict_do_update(index_elements=["name"], set_=row))
