"""A project's recipients in Postgres. What they are: `domain/notices/recipients.py`."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Engine, Row, text

from crawler import telemetry
from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.secret_box import SecretBox
from crawler.adapters.postgres.secret_key_owner import claim_secret_key
from crawler.domain.notices.channels import masked
from crawler.domain.notices.notice import Channel
from crawler.domain.notices.recipients import Recipient, RecipientOrder
from crawler.errors import NotFound

log = telemetry.logger(__name__)


_SEALED = "sealed"
"""In a recipient's body: its Apprise URL, encrypted."""


class RecipientStore:
    """Apprise URLs are encrypted; whoever reads a recipient gets a mask, and only who sends asks for more."""

    def __init__(self, engine: Engine, box: Callable[[], SecretBox]) -> None:
        self._engine = engine
        self._box = box

    def of_project(self, project_id: UUID) -> list[Recipient]:
        """The oldest first. One that makes no sense here, for instance for its zone, must not stop all others."""
        with transaction(self._engine) as db:
            query = f"{_SELECT} WHERE project_id = :project ORDER BY created_at, id"
            rows = db.execute(text(query), {"project": project_id}).all()
        return [found for row in rows if (found := _readable(row))]

    def get(self, project_id: UUID, recipient_id: UUID) -> Recipient:
        with transaction(self._engine) as db:
            given = {"project": project_id, "id": recipient_id}
            row = db.execute(text(f"{_SELECT} WHERE project_id = :project AND id = :id"), given).one_or_none()
        if row is None:
            raise _missing(project_id, recipient_id)
        return _recipient(row)

    def save(self, recipient: Recipient) -> Recipient:
        """New, or in place of the one with its id. Its address is the one to be sent to."""
        body = recipient.model_dump(mode="json", include=set(RecipientOrder.model_fields))
        is_secret = recipient.channel is Channel.APPRISE
        if is_secret:
            body |= {"address": masked(recipient.address), _SEALED: self._box().seal_json(recipient.address)}
        given = {
            "id": recipient.id, "project": recipient.project_id, "at": recipient.created_at,
            "body": orjson.dumps(body).decode(),
        }  # fmt: skip
        with transaction(self._engine) as db:
            if is_secret:
                claim_secret_key(db, self._box())
            return _recipient(db.execute(text(_SAVE), given).one())

    def apprise_urls(self, project_id: UUID) -> tuple[str, ...]:
        """The Apprise URLs of a project's recipients as they were given, secrets and all."""
        with transaction(self._engine) as db:
            sealed = db.execute(text(_SECRETS), {"project": project_id}).scalars().all()
        return tuple(self._box().open_json(one, "A recipient's Apprise URL was") for one in sealed)

    def remove(self, project_id: UUID, recipient_id: UUID) -> None:
        with transaction(self._engine) as db:
            gone = db.execute(text(_REMOVE), {"project": project_id, "id": recipient_id}).rowcount
        if not gone:
            raise _missing(project_id, recipient_id)


def _recipient(row: Row[Any]) -> Recipient:
    found = row._asdict()
    body = {name: value for name, value in found.pop("body").items() if name != _SEALED}
    return Recipient.model_validate({**body, **found})


def _readable(row: Row[Any]) -> Recipient | None:
    try:
        return _recipient(row)
    except ValueError as exc:
        log.warning("recipient_unreadable", recipient_id=str(row.id), detail=str(exc)[:200])
        return None


def _missing(project_id: UUID, recipient_id: UUID) -> NotFound:
    return NotFound(f"There is no recipient {recipient_id} in project {project_id}.")


_SELECT = "SELECT id, project_id, body, created_at FROM recipients"
_SAVE = """
INSERT INTO recipients (id, project_id, body, created_at) VALUES (:id, :project, CAST(:body AS jsonb), :at)
ON CONFLICT (id) DO UPDATE SET body = excluded.body
RETURNING id, project_id, body, created_at
"""
_SECRETS = "SELECT body ->> 'sealed' FROM recipients WHERE project_id = :project AND body ? 'sealed'"
_REMOVE = "DELETE FROM recipients WHERE id = :id AND project_id = :project"
