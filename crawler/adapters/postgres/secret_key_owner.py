"""Which secret key this database's secrets are encrypted with: all machines need the same one.

Postgres has only a fingerprint of it. A machine with another key could read no credentials, and would encrypt new ones
that nobody else can read.
"""

import json

from sqlalchemy import Connection, text

from crawler.adapters.postgres.secret_box import SecretBox
from crawler.errors import ForeignSecretKey

NAME = "secret_key_fingerprint"


def claim_secret_key(db: Connection, box: SecretBox, *, anew: bool = False) -> None:
    """Note this machine's key as the database's, if nothing is encrypted with another one yet, or if told so (`anew`).

    Raises ForeignSecretKey if something is.
    """
    db.execute(text(_NOTE), _given(box))  # whoever is first; others wait until that is done
    noted = db.execute(text(f"{_READ} FOR UPDATE"), _given(box)).scalar_one()
    if not anew:
        _refuse_other(db, box, noted)
    if noted != box.fingerprint:
        db.execute(text(_REPLACE), _given(box))


def check_secret_key(db: Connection, box: SecretBox) -> None:
    """Raises ForeignSecretKey if something is encrypted with another key than this machine's. Changes nothing."""
    _refuse_other(db, box, db.execute(text(_READ), _given(box)).scalar_one_or_none())


def _refuse_other(db: Connection, box: SecretBox, noted: str | None) -> None:
    if noted in (None, box.fingerprint) or not db.execute(text(_IS_USED)).scalar_one():
        return
    raise ForeignSecretKey(
        f"This machine's secret key ({box.fingerprint}) is not the one that encrypts this database's secrets "
        f"({noted}); set CRAWLER_SECRET_KEY to the key of the other machines. If it is lost, "
        "'crawler doctor --new-secret-key' takes this one, and credentials and notification addresses have to be "
        "set anew."
    )


def _given(box: SecretBox) -> dict[str, str]:
    return {"name": NAME, "value": json.dumps(box.fingerprint)}


_NOTE = """
INSERT INTO settings (name, value, updated_at) VALUES (:name, CAST(:value AS jsonb), now())
ON CONFLICT (name) DO NOTHING
"""
_READ = "SELECT value FROM settings WHERE name = :name"
_REPLACE = "UPDATE settings SET value = CAST(:value AS jsonb), updated_at = now() WHERE name = :name"
_IS_USED = """
SELECT EXISTS (SELECT 1 FROM project_credentials)
    OR EXISTS (SELECT 1 FROM project_logins)
    OR EXISTS (SELECT 1 FROM crawl_schedules WHERE notification_secrets IS NOT NULL)
    OR EXISTS (SELECT 1 FROM recipients WHERE body ? 'sealed')
"""
