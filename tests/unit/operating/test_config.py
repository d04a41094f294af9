import re
from pathlib import Path

import pytest

from crawler.config import PREFIX, Settings, load_settings
from crawler.errors import SettingsError

SETTINGS_PAGE = Path(__file__).parents[3] / "docs" / "reference" / "settings.md"


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(PREFIX + name.upper(), raising=False)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("API_PORT", "99999", "CRAWLER_API_PORT is not valid"),
        ("API_PORT", "http", "CRAWLER_API_PORT is not valid"),
        ("DATABASE_URL", "mysql://x/y", "must look like postgresql://"),
        ("DATABASE_URL", "nonsense", "must look like postgresql://"),
        ("REDIS_URL", "http://x", "must look like redis://"),
        ("REDIS_URL", "redis://", "must look like redis://"),
        ("REDIS_URL", "redis://h:abc/0", "must look like redis://"),
        ("REDIS_URL", "redis://h/abc", "must look like redis://"),
        ("REDIS_URL", "redis://[::1", "must look like redis://"),
        ("FRONTIER_URLS", "redis://a,http://b", "must look like redis://"),
        ("FRONTIER_URLS", "redis://a/1,redis://b/1, redis://a/1", "it must name each server once"),
        ("DATABASE_URL", "postgresql://h:abc/x", "must look like postgresql://"),
        ("BROKER_URL", "http://x", "must look like redis://"),
        ("BROKER_URL", "amqp://a//;http://b", "must look like redis://"),
        ("BROKER_URL", "amqp://a//;redis://b/1", "must look like redis://"),
        ("BROKER_QUEUE_TYPE", "mirrored", "CRAWLER_BROKER_QUEUE_TYPE is not valid"),
        ("BROKER_QUEUE_TYPE", "quorum", "CRAWLER_BROKER_QUEUE_TYPE=quorum needs CRAWLER_BROKER_URL=amqp://"),
        ("EGRESS_ALLOW", "garbage", "CRAWLER_EGRESS_ALLOW is not valid"),
        ("PROXY_URL", "foo", "CRAWLER_PROXY_URL is not valid"),
        ("DATA_DIR", "~nosuchuser/x", "no such home directory"),
        ("HTTP_TIMEOUT_SECONDS", "-1", "CRAWLER_HTTP_TIMEOUT_SECONDS is not valid"),
        ("LEASE_SECONDS", "20", "CRAWLER_LEASE_SECONDS must be at least twice"),
        ("LOG_LEVEL", "loud", "CRAWLER_LOG_LEVEL is not valid"),
        ("USER_AGENT", "two\nlines", "CRAWLER_USER_AGENT is not valid"),
    ],
)
def test_an_invalid_setting_is_one_sentence_that_names_it(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    monkeypatch.setenv(PREFIX + name, value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert told in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == 2


def test_frontier_broker_and_beat_have_databases_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWLER_REDIS_URL", "redis://:secret@host:6380/4")
    settings = load_settings()
    assert settings.redis_database(0) == "redis://:secret@host:6380/4"
    assert settings.broker == "redis://:secret@host:6380/5"
    assert settings.redis_database(2) == "redis://:secret@host:6380/6"


def test_a_unix_socket_keeps_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWLER_REDIS_URL", "unix:///run/x.sock?db=1")
    assert load_settings().redis_database(0) == "unix:///run/x.sock?db=1"
    assert load_settings().broker == "redis+socket:///run/x.sock?virtual_host=2"


def test_a_broker_of_its_own_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWLER_BROKER_URL", "amqp://guest@host//")
    assert load_settings().broker == "amqp://guest@host//"


def test_secrets_may_be_files_and_variables_win(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "crawler_redis_url").write_text("redis://:of-the-file@h/0\n")
    (tmp_path / "crawler_flower_basic_auth").write_text("me:of-the-file")
    monkeypatch.setenv("CRAWLER_SECRETS_DIR", str(tmp_path))
    monkeypatch.setenv("CRAWLER_FLOWER_BASIC_AUTH", "me:of-the-variable")
    monkeypatch.setenv("CRAWLER_REDIS_URL", "")
    settings = load_settings()
    assert settings.redis_database(0) == "redis://:of-the-file@h/0"
    assert settings.flower_basic_auth is not None
    assert settings.flower_basic_auth.get_secret_value() == "me:of-the-variable"
    monkeypatch.setenv("CRAWLER_SECRETS_DIR", str(tmp_path / "nothing"))
    assert load_settings().redis_url is None


def test_secrets_do_not_show_in_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWLER_DATABASE_URL", "postgresql://me:hunter2@db/crawl")
    assert "hunter2" not in repr(load_settings())


def test_every_setting_is_documented() -> None:
    documented = set(re.findall(rf"`{PREFIX}([A-Z_]+)`", SETTINGS_PAGE.read_text()))
    assert documented >= {name.upper() for name in Settings.model_fields}
