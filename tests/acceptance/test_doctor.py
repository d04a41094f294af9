"""Bad surroundings: one sentence that says what to do, a non-zero exit, no traceback."""

import json
import os
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest
import redis

from crawler.embedded import Servers
from tests.acceptance.cli import Cli
from tests.databases import MakeDatabase

T = TypeVar("T")
U = TypeVar("U")


@pytest.fixture
def configured(tmp_path: Path, embedded_servers: Servers) -> Cli:
    return Cli(
        tmp_path, CRAWLER_DATABASE_URL=embedded_servers.database_url, CRAWLER_REDIS_URL=embedded_servers.redis_url
    )


@pytest.fixture
def client(embedded_servers: Servers) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(embedded_servers.redis_url) as client:
        yield client


def complaint(cli: Cli, *arguments: str, status: int) -> str:
    return complained(cli(*arguments), status)


def complained(done: "subprocess.CompletedProcess[str]", status: int) -> str:
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


def at_once(work: Callable[[T], U], given: Sequence[T]) -> list[U]:
    """Whoever misses a Redis looks for it for seconds."""
    with ThreadPoolExecutor(len(given)) as pool:
        return list(pool.map(work, given))


@pytest.mark.slow
def test_doctor_lists_each_check_with_its_fix(cli: Cli) -> None:
    report = json.loads(cli("doctor", "--json").stdout)
    assert report["ok"]
    assert {check["name"] for check in report["checks"]} == {
        "postgres", "schema", "redis", "broker", "encryption", "browser", "user_agent",
    }  # fmt: skip
    (agent,) = [check for check in report["checks"] if check["name"] == "user_agent"]
    assert "CRAWLER_USER_AGENT" in agent["fix"]


def checks(cli: Cli, *options: str) -> dict[str, dict[str, str]]:
    done = cli("doctor", "--json", *options)
    assert done.returncode == 3, done.stdout + done.stderr
    assert done.stderr == ""
    return {check["name"]: check for check in json.loads(done.stdout)["checks"]}


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--fix",)])
def test_doctor_looks_at_the_rest_when_postgres_is_away(configured: Cli, options: tuple[str, ...]) -> None:
    configured.environment["CRAWLER_DATABASE_URL"] = "postgresql://u:secret@127.0.0.1:1/x"
    found = checks(configured, *options)
    assert [name for name, check in found.items() if check["ok"]][:2] == ["redis", "broker"]
    assert {"postgres", "schema", "browser", "user_agent"} <= set(found)
    assert "does not answer" in found["postgres"]["message"]
    assert found["schema"]["fix"] == "Mend Postgres first."
    assert "secret" not in json.dumps(found)


@pytest.mark.slow
def test_doctor_looks_at_the_rest_when_no_server_can_be_started(tmp_path: Path, embedded_servers: Servers) -> None:
    file = tmp_path / "file"
    file.write_text("not a directory")
    found = checks(Cli(file))
    assert str(file) in found["servers"]["message"]
    assert all(check["fix"] for check in found.values() if not check["ok"])
    assert {"postgres", "schema", "redis", "broker", "browser", "user_agent"} <= set(found)
    with_redis = checks(Cli(file, CRAWLER_REDIS_URL=embedded_servers.redis_url))
    assert with_redis["redis"]["ok"]
    assert not with_redis["postgres"]["ok"]


@pytest.mark.slow
def test_doctor_says_what_is_wrong_and_below_it_how_to_mend_it(configured: Cli) -> None:
    def lines_of(columns: int) -> list[str]:
        away = {"CRAWLER_REDIS_URL": "redis://127.0.0.1:1/0", "COLUMNS": str(columns)}
        return Cli(configured.data_dir, **{**configured.environment, **away})("doctor").stdout.splitlines()

    widths = (60, 80, 120)
    for columns, lines in zip(widths, at_once(lines_of, widths), strict=True):
        assert max(map(len, lines)) <= columns
        (at,) = [number for number, line in enumerate(lines) if line.startswith("wrong  redis")]
        assert "does not answer." in lines[at], columns
        assert "Check that it runs" in lines[at + 1], columns


@pytest.mark.slow
def test_a_server_whose_name_nobody_knows_is_one_sentence(configured: Cli) -> None:
    configured.environment["CRAWLER_DATABASE_URL"] = "postgresql://u:secret@host.invalid/x"
    said = complaint(configured, "project", "list", status=3)
    assert "cannot be found; correct the host" in said
    assert "secret" not in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("CRAWLER_DATABASE_URL", "postgresql://u:secret@127.0.0.1:1/x", "does not answer; check that it runs"),
        ("CRAWLER_REDIS_URL", "redis://:secret@127.0.0.1:1/0", "does not answer; check that it runs"),
    ],
)
def test_an_unreachable_server_is_one_sentence_in_every_command(
    configured: Cli, make_migrated_database: MakeDatabase, setting: str, value: str, told: str
) -> None:
    configured.environment |= {"CRAWLER_DATABASE_URL": make_migrated_database(), setting: value}
    commands = (("run", "http://127.0.0.1:9/"), ("project", "list"), ("key", "list"), ("up",))
    *refused, fixed, reported = at_once(
        lambda arguments: configured(*arguments), (*commands, ("doctor", "--fix"), ("doctor", "--json"))
    )
    for done in refused:
        said = complained(done, status=3)
        assert told in said
        assert "secret" not in said
    assert fixed.returncode == 3
    assert not json.loads(reported.stdout)["ok"]


@pytest.mark.slow
def test_a_missing_schema_is_told_and_mended(configured: Cli, make_database: MakeDatabase) -> None:
    configured.environment["CRAWLER_DATABASE_URL"] = make_database()
    assert "run 'crawler doctor --fix'" in complaint(configured, "project", "list", status=3)
    assert configured("doctor", "--fix").returncode == 0
    assert configured("project", "list").returncode == 0


@pytest.mark.slow
def test_a_redis_that_evicts_keys_is_refused(
    configured: Cli, client: redis.Redis, make_migrated_database: MakeDatabase
) -> None:
    configured.environment["CRAWLER_DATABASE_URL"] = make_migrated_database()
    client.config_set("maxmemory-policy", "allkeys-lru")
    try:
        assert "maxmemory-policy noeviction" in complaint(configured, "project", "list", status=3)
    finally:
        client.config_set("maxmemory-policy", "noeviction")


def test_an_invalid_setting_is_one_sentence(configured: Cli) -> None:
    configured.environment["CRAWLER_API_PORT"] = "eighty"
    told = complaint(configured, "project", "list", status=2)
    assert told == "CRAWLER_API_PORT is not valid: it must be a whole number."


@pytest.mark.slow
def test_a_taken_port_is_one_sentence(cli: Cli) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert "CRAWLER_API_PORT" in complaint(cli, "up", "--port", port, status=5)


def test_a_data_dir_that_cannot_be_used_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("not a directory")
    said = complaint(Cli(file), "project", "list", status=3)
    assert str(file) in said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's directory")
def test_a_foreign_directory_is_not_used(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "letters.txt").write_text("private")
    assert "CRAWLER_DATA_DIR" in complaint(Cli(foreign), "project", "list", status=3)
    assert [path.name for path in foreign.iterdir()] == ["letters.txt"]
