"""URLs of servers: one or several, as people write them and as our libraries read them."""

import pytest
from sqlalchemy import make_url

from crawler.config import load_settings
from crawler.errors import SettingsError
from crawler.server_urls import SentinelUrl, celery_url, postgres_url, redis_database, several_urls

SENTINELS = "sentinel://:a%2Fb@one:26380,two,three:26379/main/3?sentinel_password=s"


def test_a_postgres_of_one_host_is_left_as_it_is() -> None:
    url = postgres_url("postgres://u:p%40@h:5433/name?sslmode=require")
    assert url == "postgresql+psycopg2://u:p%40@h:5433/name?sslmode=require"


def test_of_several_hosts_the_one_that_may_be_written_to_is_used() -> None:
    url = make_url(postgres_url("postgresql://u:p%40@one:5433,two/name?sslmode=require"))
    assert (url.username, url.password, url.database) == ("u", "p@", "name")
    assert dict(url.query) == {
        "host": ("one:5433", "two:5432"),
        "sslmode": "require",
        "target_session_attrs": "read-write",
    }


def test_whoever_asks_for_another_kind_of_server_gets_it() -> None:
    url = make_url(postgres_url("postgresql://one,two/name?target_session_attrs=any"))
    assert url.query["target_session_attrs"] == "any"


def test_sentinels_are_read() -> None:
    assert SentinelUrl.read(SENTINELS) == SentinelUrl(
        hosts=(("one", 26380), ("two", 26379), ("three", 26379)),
        service="main",
        database=3,
        username=None,
        password="a/b",
        sentinel_password="s",
    )
    assert SentinelUrl.read("redis://h/0") is None
    bare = SentinelUrl.read("sentinel://one/main")
    assert bare is not None
    assert (bare.database, bare.password, bare.sentinel_options) == (0, None, {})


def test_celery_gets_one_url_for_each_sentinel() -> None:
    assert celery_url(redis_database(SENTINELS, 1)) == (
        "sentinel://:a%2Fb@one:26380/4;sentinel://:a%2Fb@two:26379/4;sentinel://:a%2Fb@three:26379/4"
    )


@pytest.mark.parametrize(
    ("url", "offset", "expected"),
    [
        ("redis://h:1/2", 1, "redis://h:1/3"),
        ("rediss://:p@h", 2, "rediss://:p@h/2"),
        ("unix:///a/b.sock?db=1", 2, "unix:///a/b.sock?db=3"),
        ("sentinel://h/main", 2, "sentinel://h/main/2"),
        ("sentinel://h/main/5?sentinel_password=s", 1, "sentinel://h/main/6?sentinel_password=s"),
    ],
)
def test_the_next_databases_have_the_next_numbers(url: str, offset: int, expected: str) -> None:
    assert redis_database(url, offset) == expected


@pytest.mark.parametrize(
    "given",
    [
        {"redis_url": "sentinel://one,two"},
        {"redis_url": "sentinel:///main"},
        {"redis_url": "sentinel://one:many/main"},
        {"redis_url": "sentinel://one,/main"},
        {"redis_url": "sentinel://one/main/last"},
        {"database_url": "postgresql://one,/name"},
        {"database_url": "postgresql://one:a,two:b/name"},
        {"database_url": "mysql://one/name"},
    ],
)
def test_what_is_missing_is_told_with_an_example(given: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="is not valid: must look like"):
        load_settings(**given)


def test_one_service_is_told_to_everything_that_uses_redis() -> None:
    settings = load_settings(redis_url=SENTINELS, database_url="postgresql://h/name")
    assert settings.broker == settings.results
    assert settings.broker.startswith("sentinel://:a%2Fb@one:26380/4;")
    assert settings.sentinels is not None
    assert settings.sentinels.service == "main"


def test_several_servers_are_separated_by_commas_and_each_may_have_several_hosts() -> None:
    urls = several_urls(f"redis://a:6379/0, {SENTINELS},rediss://:p@b/2,")
    assert urls == ("redis://a:6379/0", SENTINELS, "rediss://:p@b/2")
    assert load_settings(frontier_urls="redis://a").frontier_servers == ("redis://a",)
    assert load_settings().frontier_servers == ()
