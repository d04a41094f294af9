import json

import pytest
from cryptography.fernet import Fernet
from pydantic import ValidationError

from crawler.adapters.postgres.secret_box import SecretBox
from crawler.domain.hosts.credentials import FORBIDDEN, Credentials
from crawler.errors import SettingsError

ALL = Credentials.model_validate(
    {"headers": {"X-Team": "blue"}, "cookies": {"sid": "42", "lang": "de"}, "basic_auth": "me:s3cret"}
)


def test_credentials_become_headers() -> None:
    assert ALL.as_headers() == (
        ("X-Team", "blue"),
        ("Cookie", "sid=42; lang=de"),
        ("Authorization", "Basic bWU6czNjcmV0"),
    )


def test_secrets_do_not_show_in_text() -> None:
    shown = repr(ALL) + str(ALL) + ALL.model_dump_json()
    for secret in ("blue", "42", "s3cret"):
        assert secret not in shown


@pytest.mark.parametrize(
    "bad",
    [
        {"headers": {"X-A": "one\r\nX-B: two"}},
        {"headers": {"X A": "1"}},
        {"headers": {"X-A": "x" * 4001}},
        {"cookies": {"a": "1; b=2"}},
        {"cookies": {"a\n": "1"}},
        {"basic_auth": "nocolon"},
        {"unknown": 1},
        *({"headers": {name.title(): "x"}} for name in FORBIDDEN),
    ],
)
def test_what_could_smuggle_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Credentials.model_validate(bad)


def test_what_was_sealed_is_unreadable_and_opens_again() -> None:
    box = SecretBox(Fernet.generate_key().decode())
    sealed = box.seal(ALL)
    assert b"s3cret" not in sealed
    assert box.open(sealed) == ALL


def test_another_key_is_told_in_a_sentence() -> None:
    sealed = SecretBox(Fernet.generate_key().decode()).seal(ALL)
    with pytest.raises(SettingsError, match="CRAWLER_SECRET_KEY"):
        SecretBox(Fernet.generate_key().decode()).open(sealed)
    with pytest.raises(SettingsError, match="CRAWLER_SECRET_KEY is not valid"):
        SecretBox("short")


def test_a_directory_keeps_one_key_for_its_owner_alone(tmp_path) -> None:  # type: ignore[no-untyped-def]
    sealed = SecretBox.in_directory(tmp_path).seal(ALL)
    assert SecretBox.in_directory(tmp_path).open(sealed) == ALL
    (key,) = tmp_path.iterdir()
    assert key.stat().st_mode & 0o777 == 0o600
    assert json.dumps("s3cret") not in key.read_text()
