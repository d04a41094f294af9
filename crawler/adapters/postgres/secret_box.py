"""Encryption of secrets in the database (credentials, notification URLs), with a key that is not in the database."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet, InvalidToken

from crawler.domain.hosts.credentials import Credentials
from crawler.errors import SettingsError

KEY_FILE = "secret-key"


class SecretBox:
    def __init__(self, key: str) -> None:
        self._fingerprint = sha256(f"crawler secret key {key}".encode()).hexdigest()[:12]
        try:
            self._fernet = Fernet(key.encode())
        except ValueError as exc:
            raise SettingsError(
                "CRAWLER_SECRET_KEY is not valid; make one with "
                "python -c 'from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())'."
            ) from exc

    @classmethod
    def in_directory(cls, data_dir: Path) -> "SecretBox":
        """A box with the key of this data directory, which is made when first needed."""
        return cls(_key_of(data_dir / KEY_FILE))

    @property
    def fingerprint(self) -> str:
        """Tells keys apart without telling anything about them."""
        return self._fingerprint

    def seal(self, credentials: Credentials) -> bytes:
        return self._fernet.encrypt(json.dumps(credentials.revealed()).encode())

    def open(self, sealed: bytes) -> Credentials:
        return Credentials.model_validate_json(self._opened(sealed, "A project's credentials were"))

    def seal_urls(self, urls: Sequence[str]) -> bytes | None:
        """Encrypt URLs that contain secrets; None for none."""
        return self._fernet.encrypt(json.dumps(list(urls)).encode()) if urls else None

    def open_urls(self, sealed: bytes | None) -> tuple[str, ...]:
        return tuple(json.loads(self._opened(sealed, "A schedule's notification_urls were"))) if sealed else ()

    def seal_json(self, value: Any) -> str:
        return self._fernet.encrypt(json.dumps(value).encode()).decode()

    def open_json(self, sealed: str, what: str) -> Any:
        return json.loads(self._opened(sealed.encode(), what))

    def open_token(self, token: str, seconds: int) -> Any:
        """What a token of ours says; None if it is none, or older than this."""
        try:
            return json.loads(self._fernet.decrypt(token.encode(), ttl=seconds))
        except (InvalidToken, ValueError):
            return None

    def _opened(self, sealed: bytes, what: str) -> bytes:
        try:
            return self._fernet.decrypt(sealed)
        except InvalidToken as exc:
            raise SettingsError(
                f"{what} encrypted with another key; set CRAWLER_SECRET_KEY to that one, "
                "or remove them and set them anew."
            ) from exc


def _key_of(path: Path) -> str:
    """The key in this file. It is made once, by whichever process is first: the file appears whole or not at all."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        draft = path.with_suffix(f".{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(Fernet.generate_key().decode())
        with suppress(FileExistsError):
            path.hardlink_to(draft)
        draft.unlink()
        return path.read_text().strip()
