"""Everything moves to another Postgres, whole or not at all."""

from collections.abc import Iterator
from functools import partial

import pytest
from sqlalchemy import Engine as Database
from sqlalchemy import text

from crawler.adapters.postgres.database import connect, transaction
from crawler.adapters.postgres.move_database import move_database
from crawler.adapters.postgres.schema import migrate
from crawler.adapters.postgres.tables import metadata
from crawler.domain.hosts.credentials import CredentialKind
from crawler.entrypoints.cli.app import cli
from crawler.entrypoints.cli.error_exit import exit_status
from crawler.errors import Conflict, Unavailable
from tests.databases import Databases
from tests.integration.live_engine import Engine, running_engine
from tests.site.client import Site

ENTRY = "INSERT INTO crawl_queue (source_url, normalized_url, host) VALUES (:url, :url, 'a') RETURNING id"


@pytest.fixture(scope="module")
def engine_database(databases: Databases) -> Iterator[str]:
    """One of their own: what is moved must have no connections of other tests."""
    url = databases.make_migrated()
    yield url
    databases.drop(url)


@pytest.fixture
def target(databases: Databases) -> Iterator[Database]:
    made = connect(databases.make(), 1)
    yield made
    made.dispose()


def rows(database: Database) -> dict[str, list[str]]:
    with transaction(database) as db:
        return {name: sorted(db.execute(text(f"SELECT t::text FROM {name} t")).scalars()) for name in metadata.tables}


@pytest.mark.slow
def test_a_crawl_goes_on_where_everything_was_moved(
    crawler: Engine, site: Site, target: Database, redis_url: str, engine_settings: dict[str, object]
) -> None:
    crawl = crawler.crawl(site.url())
    crawler.tools.projects.credentials.set(crawl.project_id, site.url(), CredentialKind.HEADER, "X-Key", "hunter2")
    (first,) = crawler.rows(ENTRY, url="http://a/")
    before = rows(crawler.tools.database)
    moved = move_database(crawler.tools.database, target)
    assert moved == (len(metadata.tables), sum(map(len, before.values())))
    assert rows(target) == before
    options = {"data_dir": crawler.tools.settings.data_dir, **engine_settings}
    with running_engine(target.url.render_as_string(), redis_url, **options) as there:
        again = there.again(crawl)
        assert (again.change_summary or {})["summary"]["unchanged_pages"] == crawl.pages_crawled
        (added,) = there.rows(ENTRY, url="http://b/")
        assert added["id"] == first["id"] + 1


@pytest.mark.slow
def test_nothing_is_moved_while_something_runs(crawler: Engine, target: Database) -> None:
    with connect(crawler.tools.database.url.render_as_string()).connect() as other:
        other.execute(text("SELECT 1"))
        with pytest.raises(Conflict, match=r"1 connections\); stop 'crawler up'"):
            move_database(crawler.tools.database, target)
        other.invalidate()


@pytest.mark.slow
def test_a_database_in_use_is_not_overwritten(crawler: Engine, site: Site, target: Database) -> None:
    crawler.crawl(site.url(), max_pages=1)
    move_database(crawler.tools.database, target)
    with pytest.raises(Conflict, match="has projects or crawls of its own"):
        move_database(crawler.tools.database, target)


@pytest.mark.parametrize(
    "filled",
    [
        "INSERT INTO projects (id, name) VALUES (gen_random_uuid(), 'with schedules and credentials')",
        "INSERT INTO categories (name) VALUES ('hotel')",
    ],
)
def test_what_was_set_up_before_any_crawl_is_not_overwritten(crawler: Engine, target: Database, filled: str) -> None:
    migrate(target)
    with transaction(target) as db:
        db.execute(text(filled))
    before = rows(target)
    with pytest.raises(Conflict, match="has projects or crawls of its own"):
        move_database(crawler.tools.database, target)
    assert rows(target) == before


@pytest.mark.slow
def test_the_command_says_what_to_set_then(
    crawler: Engine, site: Site, databases: Databases, redis_url: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    crawler.crawl(site.url(), max_pages=1)
    data_dir = crawler.tools.settings.data_dir
    monkeypatch.setenv("CRAWLER_DATABASE_URL", crawler.tools.database.url.render_as_string())
    monkeypatch.setenv("CRAWLER_REDIS_URL", redis_url)
    monkeypatch.setenv("CRAWLER_DATA_DIR", str(data_dir))
    crawler.tools.database.dispose()
    to = ("--to-database", databases.make())
    crawler.tools.redis.set("something", "is here")
    assert exit_status(partial(cli, ["move", *to, "--to-redis", redis_url])) == Conflict.exit_code
    assert "The Redis to move to holds something already; name an empty one." in capsys.readouterr().err
    crawler.tools.redis.flushall()
    assert exit_status(partial(cli, ["move", *to, "--to-redis", redis_url])) == 0
    told = capsys.readouterr().out
    assert "rows of" in told
    assert f"CRAWLER_SECRET_KEY to the text in {data_dir / 'secret-key'}." in told
    assert (data_dir / "secret-key").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "url"), [("--to-database", "postgresql://127.0.0.1:1/x"), ("--to-redis", "redis://127.0.0.1:1/0")]
)
def test_a_server_to_move_to_that_is_wrong_is_told_by_its_option(
    option: str, url: str, crawler: Engine, databases: Databases, redis_url: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("CRAWLER_DATABASE_URL", crawler.tools.database.url.render_as_string())
    monkeypatch.setenv("CRAWLER_REDIS_URL", redis_url)
    monkeypatch.setenv("CRAWLER_DATA_DIR", str(crawler.tools.settings.data_dir))
    crawler.tools.database.dispose()
    aims = {"--to-database": databases.make(), "--to-redis": redis_url, option: url}
    words = [word for pair in aims.items() for word in pair]
    assert exit_status(partial(cli, ["move", *words])) == Unavailable.exit_code
    told = capsys.readouterr().err
    assert f"check that it runs and that {option} is right." in told
    assert "CRAWLER_" not in told
