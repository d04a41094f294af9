import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from crawler.adapters.postgres import schema
from crawler.adapters.postgres.database import connect
from crawler.adapters.postgres.schema import check_schema, downgrade, drift, migrate, needed_revision, present_revision
from crawler.bootstrap.fitness import refuse_unfit_machine
from crawler.config import load_settings
from crawler.errors import DatabaseUnavailable, SchemaOutdated

ROOT = Path(__file__).parents[3]


@pytest.fixture
def empty(make_database) -> Iterator[Engine]:  # type: ignore[no-untyped-def]
    engine = connect(make_database())
    yield engine
    engine.dispose()


@pytest.fixture
def migrated_before(empty: Engine) -> Engine:
    """As the release before left it: the last migration adds a column to `crawl_schedules`."""
    migrate(empty)
    downgrade(empty, "0030")
    return empty


def test_migrations_and_tables_do_not_drift_apart(empty: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    migrate(empty)
    drift(empty)
    assert present_revision(empty) == needed_revision()


@pytest.mark.slow
def test_alembic_by_hand_in_the_clone(empty: Engine) -> None:
    url = empty.url.render_as_string(hide_password=False)
    command = [sys.executable, "-m", "alembic", "upgrade", "head"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "CRAWLER_DATABASE_URL": url}, capture_output=True, text=True,
        timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    check_schema(empty)


@pytest.mark.slow
def test_upgrade_downgrade_upgrade_works_on_data(empty: Engine) -> None:
    migrate(empty)
    with empty.begin() as db:
        db.execute(text("INSERT INTO projects (id, name) VALUES (gen_random_uuid(), 'kept until the downgrade')"))
    downgrade(empty)
    assert present_revision(empty) is None
    with empty.begin() as db:
        left = db.execute(text("SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'"))
        assert left.scalar_one() == 1, "only Alembic's own table stays"
    migrate(empty)
    check_schema(empty)


@pytest.mark.slow
def test_credentials_move_to_the_origin_of_the_projects_address_as_it_is(empty: Engine) -> None:
    migrate(empty)
    downgrade(empty, "0014")
    addresses = {
        "site": "https://shop.example/a/b",
        "port": "http://shop.example:8080/",
        "six": "http://[::1]:81/",
        "dot": "http://shop.example./",
        "seed": None,
        "nowhere": None,
        "bare": "https://bare.example/",
    }
    with empty.begin() as db:
        for name, url in addresses.items():
            given = {"name": name, "url": url, "sealed": None if name == "bare" else name.encode()}
            db.execute(text(_OLD), given)
        db.execute(text(_CRAWL))
    migrate(empty)
    with empty.begin() as db:
        rows = db.execute(text(_KEPT)).all()
    assert {row.name: (row.origin, bytes(row.sealed)) for row in rows} == {
        "site": ("https://shop.example", b"site"),
        "port": ("http://shop.example:8080", b"port"),
        "six": ("http://[::1]:81", b"six"),
        "dot": ("http://shop.example", b"dot"),
        "seed": ("https://seed.example", b"seed"),
    }
    downgrade(empty, "0014")
    with empty.begin() as db:
        kept = db.execute(text("SELECT name, secrets FROM projects WHERE secrets IS NOT NULL")).all()
    assert {row.name: bytes(row.secrets) for row in kept} == {
        name: name.encode() for name in ("site", "port", "six", "dot")
    }
    migrate(empty)


_OLD = "INSERT INTO projects (id, name, website_url, secrets) VALUES (gen_random_uuid(), :name, :url, :sealed)"
_CRAWL = """
INSERT INTO crawl_jobs (id, project_id, seed_url, domain, crawl_type)
SELECT gen_random_uuid(), id, 'https://seed.example/x', 'seed.example', 'manual' FROM projects WHERE name = 'seed'
"""
_KEPT = "SELECT name, origin, sealed FROM project_credentials c JOIN projects p ON p.id = c.project_id"


@pytest.mark.slow
def test_processes_that_start_together_migrate_once(empty: Engine) -> None:
    migrate(empty)
    migrate(empty)
    check_schema(empty)


def test_a_migration_that_waits_for_a_table_holds_up_nobody_who_uses_it(
    migrated_before: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An export that is read slowly is a transaction of minutes."""
    monkeypatch.setattr(schema, "LOCK_SECONDS", 0.2)
    count = text("SELECT count(*) FROM crawl_schedules")
    with migrated_before.connect() as export, ThreadPoolExecutor(1) as pool:
        export.execute(count)
        migrating = pool.submit(migrate, migrated_before)
        for _ in range(10):
            with migrated_before.begin() as db:
                db.execute(text("SET LOCAL statement_timeout = 2000"))
                db.execute(count)
            time.sleep(0.1)
        assert not migrating.done(), "the export has the table still"
        export.rollback()
        migrating.result(60)
    check_schema(migrated_before)


def test_a_migration_that_gets_no_table_says_who_has_it(
    migrated_before: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "LOCK_SECONDS", 0.1)
    monkeypatch.setattr(schema, "PATIENCE_SECONDS", 0.3)
    with migrated_before.connect() as export:
        (pid,) = export.execute(text("SELECT pg_backend_pid() FROM (SELECT count(*) FROM crawl_schedules) AS n")).one()
        with pytest.raises(SchemaOutdated, match=f"transactions keep a table.* process {pid} "):
            migrate(migrated_before)


def test_a_missing_schema_is_told_with_its_remedy(empty: Engine) -> None:
    with pytest.raises(SchemaOutdated, match="crawler doctor --fix"):
        check_schema(empty)


@pytest.mark.slow
def test_a_newer_schema_that_serves_this_program_will_do(empty: Engine) -> None:
    """Machines are upgraded one after the other."""
    migrate(empty)
    with empty.begin() as db:
        db.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for attempt in (check_schema, migrate):
        attempt(empty)
    assert present_revision(empty) == "9999", "and is left alone"


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("noted", ["serves programs from 9998", "something else", None])
def test_a_newer_schema_is_not_touched(empty: Engine, noted: str | None) -> None:
    migrate(empty)
    with empty.begin() as db:
        db.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        comment = f"'{noted}'" if noted else "NULL"
        db.execute(text(f"COMMENT ON TABLE alembic_version IS {comment}"))
    for attempt in (check_schema, migrate):
        with pytest.raises(SchemaOutdated, match="newer program"):
            attempt(empty)
    assert present_revision(empty) == "9999"


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("version", ["0001", "9999", None])
def test_a_process_ends_with_a_sentence_before_it_works_on_another_schema(empty: Engine, version: str | None) -> None:
    if version:
        migrate(empty)
        with empty.begin() as db:
            db.execute(text("UPDATE alembic_version SET version_num = :version"), {"version": version})
            db.execute(text("COMMENT ON TABLE alembic_version IS NULL"))
    settings = load_settings(database_url=empty.url.render_as_string(hide_password=False), redis_url="redis://h/0")
    with pytest.raises(SystemExit, match="The database schema"):
        refuse_unfit_machine(settings)


def test_a_database_that_is_away_ends_no_process() -> None:
    refuse_unfit_machine(load_settings(database_url="postgresql://u:p@127.0.0.1:1/x", redis_url="redis://h/0"))


@pytest.mark.slow
def test_a_version_that_was_never_one_of_ours_is_not_called_newer(empty: Engine) -> None:
    migrate(empty)
    for version in ("0000", "f00d"):
        with empty.begin() as db:
            db.execute(text("UPDATE alembic_version SET version_num = :version"), {"version": version})
        for attempt in (check_schema, migrate):
            with pytest.raises(SchemaOutdated, match=f"does not know .{version}.; restore a backup"):
                attempt(empty)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgresql+psycopg2://u:secret@127.0.0.1:1/x", "does not answer"),
        ("postgresql+psycopg2://u:secret@name.invalid/x", "cannot be found"),
    ],
)
def test_an_unreachable_database_is_one_sentence_without_the_password(url: str, told: str) -> None:
    with pytest.raises(DatabaseUnavailable) as caught:
        present_revision(connect(url))
    assert told in caught.value.message
    assert "secret" not in caught.value.message


def test_a_database_that_is_not_there_is_told(embedded_servers) -> None:  # type: ignore[no-untyped-def]
    url = embedded_servers.database_url.replace("/crawler?", "/nowhere?")
    assert url != embedded_servers.database_url
    with pytest.raises(DatabaseUnavailable, match="no such database"):
        present_revision(connect(url))
