"""What the embedded servers promise, tried on real processes."""

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import psycopg2
import pytest
import redis
from sqlalchemy import make_url

from crawler import launch
from crawler.embedded import EmbeddedServers, Servers, data_dir, postgres, servers
from crawler.embedded.identity import ServerUser
from crawler.embedded.server import Place
from crawler.errors import CrawlerError, DatabaseUnavailable, DataDirUnusable, Unavailable

pytestmark = pytest.mark.slow
NOBODY = 65534
AS_ROOT = os.geteuid() == 0
USER = """
import signal, sys, time
from pathlib import Path
signal.signal(signal.SIGINT, lambda *_: None)
from crawler.embedded import ensure_running
from crawler.embedded.identity import ServerUser
from crawler.embedded.server import Place
from crawler.errors import CrawlerError
try:
    print(ensure_running(Path(sys.argv[1])), flush=True)
except CrawlerError as exc:
    sys.exit(f"{type(exc).__name__}: {exc}")
time.sleep(float(sys.argv[2]))
"""


@pytest.fixture(scope="session")
def used_before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory whose servers have run and stopped."""
    path = tmp_path_factory.mktemp("embedded") / "data"
    with EmbeddedServers(path):
        pass
    return path


@pytest.fixture
def home(tmp_path: Path, used_before: Path) -> Iterator[Path]:
    """A copy of it, which is quicker than a new one; no server in it survives the test, whatever happens."""
    yield shutil.copytree(used_before, tmp_path / "data", ignore=shutil.ignore_patterns("*.log"))
    for pid in at_work(tmp_path / "data"):
        kill(pid)


@pytest.fixture
def open_path() -> Iterator[Path]:
    """A directory that other users may pass through, unlike pytest's."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def user(home: Path, seconds: float = 0, words: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Another process that uses the servers for so long; it prints where they are."""
    argv = [sys.executable, "-c", USER, str(home), str(seconds)]
    return subprocess.Popen(
        launch.command(words, argv) if words else argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
        start_new_session=True,
    )


def pids(home: Path) -> dict[str, int]:
    state = json.loads((home / "servers" / "state.json").read_text())
    return {name: state[name]["pid"] for name in ("postgres", "valkey") if name in state}


def at_work(home: Path) -> list[int]:
    """All processes of the servers of this data directory."""
    place = Place(home, home, ServerUser(0, (), 0, ()))
    marks = (postgres.Postgres(place).mark, str(home))
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            line = " ".join(process.cmdline())
            if process.name() in {"postgres", "valkey-server"} and any(mark in line for mark in marks):
                found.append(process.pid)
    return found


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def gone(numbers: Iterable[int]) -> bool:
    """A process that has closed its files may take a moment more to disappear."""
    deadline = time.monotonic() + 2
    while any(map(runs, numbers)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    assert gone([pid])


def kill_servers(home: Path) -> None:
    for pid in pids(home).values():
        kill(pid)


def sql(found: Servers, statement: str) -> list[tuple[object, ...]]:
    url = make_url(found.database_url).set(drivername="postgresql").render_as_string()
    connection = psycopg2.connect(url)
    try:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []
    finally:
        connection.close()


def valkey(found: Servers, *command: str) -> object:
    with redis.Redis.from_url(found.redis_url, decode_responses=True) as client:
        return client.execute_command(*command)


def write(found: Servers) -> None:
    sql(found, "CREATE TABLE kept (n int); INSERT INTO kept SELECT generate_series(1, 1000)")
    valkey(found, "SET", "kept", "1000")


def assert_kept(found: Servers) -> None:
    assert sql(found, "SELECT count(*), sum(n) FROM kept") == [(1000, 500500)]
    assert valkey(found, "GET", "kept") == "1000"


# --- what they are


def test_they_are_a_durable_postgres_18_and_a_valkey_that_never_forgets(home: Path) -> None:
    with EmbeddedServers(home) as servers:
        shown = {
            name: sql(servers, f"SHOW {name}")[0][0]
            for name in ("fsync", "synchronous_commit", "server_encoding", "timezone", "jit", "autovacuum")
        }
        assert shown == {
            "fsync": "on",
            "synchronous_commit": "on",
            "server_encoding": "UTF8",
            "timezone": "UTC",
            "jit": "off",
            "autovacuum": "on",
        }
        assert str(sql(servers, "SHOW server_version")[0][0]).startswith("18.")
        assert sql(servers, "SELECT lower('ÄÖ') = 'äö', 'a' < 'B'") == [(True, False)]
        for name, value in (("appendonly", "yes"), ("appendfsync", "everysec"), ("maxmemory-policy", "noeviction")):
            assert valkey(servers, "CONFIG", "GET", name) == {name: value}
        assert valkey(servers, "CONFIG", "GET", "databases") == {"databases": "16"}


def test_the_products_role_may_make_databases_but_not_touch_the_machine(embedded_servers: Servers) -> None:
    assert sql(embedded_servers, "SELECT rolsuper, rolcreatedb FROM pg_roles WHERE rolname = current_user") == [
        (False, True)
    ]
    with pytest.raises(psycopg2.errors.InsufficientPrivilege):
        sql(embedded_servers, "SELECT pg_read_file('/etc/passwd')")


def test_postgres_logs_that_a_statement_failed_but_nothing_of_what_it_holds(home: Path) -> None:
    """Statements hold addresses with their queries, pages and more; a failed batch of a crawl is megabytes."""
    with EmbeddedServers(home) as found:
        write = "CREATE TABLE one (url text UNIQUE); INSERT INTO one VALUES ('http://h/?key=SECRET')"
        with pytest.raises(psycopg2.errors.UniqueViolation):
            sql(found, f"{write}; INSERT INTO one SELECT url FROM one")
    log = (home / "logs" / "postgres.log").read_text()
    assert "duplicate key value" in log
    assert "SECRET" not in log


def test_nothing_listens_outside_a_private_unix_socket(home: Path) -> None:
    with EmbeddedServers(home) as found:
        assert len(at_work(home)) > 4
        assert listening(home) <= {str(home / "run" / name) for name in (".s.PGSQL.5432", "valkey.sock")}
        assert sql(found, "SHOW listen_addresses") == [("",)]
        assert valkey(found, "CONFIG", "GET", "port") == {"port": "0"}
        assert stat.S_IMODE((home / "run").stat().st_mode) == 0o700


def listening(home: Path) -> set[str]:
    """As far as one may look: root of a container may not see what files another user's process has open."""
    seen: set[str] = set()
    for process in map(psutil.Process, at_work(home)):
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            assert process.net_connections("inet") == []
            seen.update(str(found.laddr) for found in process.net_connections("unix") if found.laddr)
    return seen


# --- shared


def test_processes_that_start_at_once_share_one_pair(home: Path) -> None:
    users = [user(home, seconds=1) for _ in range(4)]
    told = [process.communicate(timeout=60) for process in users]
    assert [process.returncode for process in users] == [0] * 4, told
    assert sum("started_here=True" in out for out, _ in told) == 1
    assert len({out.split(", started_here")[0] for out, _ in told}) == 1
    assert (home / "logs" / "postgres.log").read_text().count("starting PostgreSQL") == 1
    assert (home / "logs" / "valkey.log").read_text().count("Valkey is starting") == 1
    assert gone(at_work(home))


def test_the_last_user_stops_them_and_no_one_before(home: Path) -> None:
    first, second = EmbeddedServers(home), EmbeddedServers(home)
    assert first.ensure_running().started_here
    assert not second.ensure_running().started_here
    before = pids(home)
    assert first.release() is False
    assert all(map(runs, before.values()))
    assert second.release() is True
    assert gone(before.values())
    assert list((home / "run").iterdir()) == []


def test_two_data_directories_have_servers_of_their_own(tmp_path: Path, home: Path) -> None:
    with EmbeddedServers(home) as one, EmbeddedServers(tmp_path / "other") as two:
        write(one)
        assert valkey(two, "GET", "kept") is None
        assert sql(two, "SELECT count(*) FROM pg_tables WHERE tablename = 'kept'") == [(0,)]
        assert_kept(one)


def test_ctrl_c_in_the_terminal_does_not_reach_the_servers(home: Path) -> None:
    owner = user(home, seconds=60)
    assert owner.stdout is not None
    owner.stdout.readline()
    before = pids(home)
    os.killpg(owner.pid, signal.SIGINT)
    time.sleep(0.2)
    assert all(map(runs, before.values()))
    assert "shutdown request" not in (home / "logs" / "postgres.log").read_text()
    owner.kill()
    owner.communicate()


# --- killed


def test_servers_of_a_killed_owner_are_taken_over_with_their_data(home: Path) -> None:
    owner = user(home, seconds=60)
    assert owner.stdout is not None
    assert "started_here=True" in owner.stdout.readline()
    before = pids(home)
    owner.kill()
    owner.communicate()
    with EmbeddedServers(home) as found:
        assert not found.started_here
        assert pids(home) == before
        write(found)
    with EmbeddedServers(home) as found:
        assert_kept(found)


def test_data_survives_the_kill_of_owner_and_servers(home: Path) -> None:
    owner = user(home, seconds=60)
    assert owner.stdout is not None
    owner.stdout.readline()
    with EmbeddedServers(home) as found:
        write(found)
        owner.kill()
        owner.communicate()
        before = pids(home)
        kill_servers(home)
        assert (home / "run" / "valkey.sock").exists()
    # What a reboot leaves: a stale number that is someone else's now, stale sockets, a torn last write.
    postmaster = home / "postgres" / "postmaster.pid"
    postmaster.write_text(postmaster.read_text().replace(str(before["postgres"]), str(os.getppid()), 1))
    log = next((home / "valkey" / "appendonlydir").glob("*.incr.aof"))
    with log.open("ab") as file:
        file.write(b"*3\r\n$3\r\nSET\r\n$4\r\nto")
    with EmbeddedServers(home) as found:
        assert found.started_here
        assert_kept(found)


def test_calling_again_mends_a_server_that_died(home: Path) -> None:
    used = EmbeddedServers(home)
    write(used.ensure_running())
    before = pids(home)
    kill(before["postgres"])
    found = used.ensure_running()
    assert_kept(found)
    assert pids(home)["valkey"] == before["valkey"]
    assert used.release() is True


def test_looking_after_servers_mends_one_that_died_and_leaves_those_alone_that_live(home: Path) -> None:
    used = EmbeddedServers(home)
    write(used.ensure_running())
    before = pids(home)
    os.kill(before["postgres"], signal.SIGSTOP)  # a look that asked it something would wait
    began = time.monotonic()
    used.revive()
    assert time.monotonic() - began < 5
    os.kill(before["postgres"], signal.SIGCONT)
    assert pids(home) == before
    kill(before["valkey"])
    used.revive()
    assert pids(home)["valkey"] != before["valkey"]
    assert_kept(used.ensure_running())
    used.release()


def test_a_busy_child_of_a_killed_postgres_does_not_delay_the_next_start(home: Path) -> None:
    used = EmbeddedServers(home)
    found = used.ensure_running()
    url = make_url(found.database_url).set(drivername="postgresql").render_as_string()
    busy = psycopg2.connect(url, async_=1)
    busy_wait(busy)
    busy.cursor().execute("DO $$ BEGIN LOOP END LOOP; END $$")
    busy_pid = busy.info.backend_pid
    kill(pids(home)["postgres"])
    assert runs(busy_pid)
    began = time.monotonic()
    assert sql(used.ensure_running(), "SELECT 1") == [(1,)]
    assert time.monotonic() - began < 10
    assert gone([busy_pid])
    busy.close()
    used.release()


def busy_wait(connection: psycopg2.extensions.connection) -> None:
    while connection.poll() != psycopg2.extensions.POLL_OK:
        time.sleep(0.005)


def test_a_first_start_killed_half_way_is_begun_again(tmp_path: Path) -> None:
    home = data_dir.prepare_data_dir(tmp_path / "data")
    partial = home / "postgres.partial"
    partial.mkdir()
    (partial / "PG_VERSION").write_text("18\n")
    with EmbeddedServers(home) as found:
        assert sql(found, "SELECT 1") == [(1,)]
    assert not partial.exists()


def test_servers_whose_sockets_were_tidied_away_are_restarted(home: Path) -> None:
    used = EmbeddedServers(home)
    write(used.ensure_running())
    for path in (home / "run").iterdir():
        path.unlink()
    assert_kept(used.ensure_running())
    used.release()


def test_a_server_that_does_not_stop_is_killed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "STOP_SECONDS", 0.3)
    monkeypatch.setattr(servers, "KILL_SECONDS", 0.3)
    used = EmbeddedServers(home)
    used.ensure_running()
    before = pids(home)
    for pid in before.values():
        os.kill(pid, signal.SIGSTOP)
    assert used.release() is True
    assert gone(before.values())


def test_a_server_too_slow_to_answer_is_reported_and_left_to_go_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = EmbeddedServers(home), EmbeddedServers(home)
    write(first.ensure_running())
    monkeypatch.setattr(servers, "START_SECONDS", 0.3)
    os.kill(pids(home)["postgres"], signal.SIGSTOP)
    with pytest.raises(DatabaseUnavailable, match=r"^Postgres does not answer after 0\.3 s; its log is"):
        second.ensure_running()
    os.kill(pids(home)["postgres"], signal.SIGCONT)
    assert_kept(second.ensure_running())
    second.release()
    assert first.release() is True


# --- where and as whom


def test_a_data_directory_too_deep_for_sockets_has_them_in_a_private_place(tmp_path: Path, used_before: Path) -> None:
    deep = tmp_path / ("d" * 90)
    shutil.copytree(used_before, deep)
    used = EmbeddedServers(deep)
    found = used.ensure_running()
    elsewhere = Path(found.redis_url.removeprefix("unix://").split("?")[0]).parent
    assert elsewhere.parent != deep
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o700
    write(found)
    with EmbeddedServers(deep) as shared:
        assert shared.redis_url == found.redis_url
    kill(pids(deep)["valkey"])
    assert used.ensure_running().redis_url == found.redis_url
    kill_servers(deep)
    assert used.release() is True
    assert not elsewhere.exists()


def test_a_copy_of_a_running_data_directory_does_not_meet_its_servers(tmp_path: Path, used_before: Path) -> None:
    deep, copy = tmp_path / ("d" * 90), tmp_path / ("e" * 90)
    shutil.copytree(used_before, deep)
    with EmbeddedServers(deep) as found:
        shutil.copytree(used_before, copy)
        shutil.copy(deep / "servers" / "state.json", copy / "servers")
        with EmbeddedServers(copy) as other:
            assert other.redis_url != found.redis_url
            assert other.database_url != found.database_url


def test_odd_characters_in_the_path_do_no_harm(tmp_path: Path) -> None:
    with EmbeddedServers(tmp_path / "Ä b,c?d#e%f\"g'h") as found:
        write(found)
        assert_kept(found)


def test_the_servers_do_not_run_as_root_and_closed_parents_stay_closed(tmp_path: Path, used_before: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    shutil.copytree(used_before, closed / "data")
    with EmbeddedServers(closed / "data"):
        for pid in pids(closed / "data").values():
            assert psutil.Process(pid).uids().effective == (61150 if AS_ROOT else os.geteuid())
        assert stat.S_IMODE(closed.stat().st_mode) == 0o700
        assert closed.stat().st_uid == os.geteuid()


def as_user(uid: int, *paths: Path) -> tuple[str, ...]:
    """Words that make a process of that user which can read our interpreter, wherever it lies."""
    readable = (Path(sys.executable), Path(data_dir.__file__).parent, *paths)
    return (f"uid={uid}", *(f"reach={path}" for path in readable))


def test_an_ordinary_user_has_servers_of_their_own(open_path: Path) -> None:
    own = open_path / "own"
    own.mkdir()
    words: tuple[str, ...] = ()
    if AS_ROOT:
        os.chown(own, NOBODY, NOBODY)
        words = as_user(NOBODY, own)
    process = user(own, words=words)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "started_here=True" in out
    assert (own / "postgres").stat().st_uid == (NOBODY if AS_ROOT else os.geteuid())


def can_run(words: tuple[str, ...], *argv: str) -> bool:
    return subprocess.run(launch.command(words, argv), check=False, capture_output=True).returncode == 0


def test_a_user_without_a_name_has_servers_too(open_path: Path) -> None:
    """As in a container that is run with a bare user number."""
    nameless = 54321
    initdb = str(postgres.programs() / "initdb")
    if not AS_ROOT or not can_run(as_user(nameless), *launch.command((f"alias={NOBODY}",), [initdb, "--version"])):
        pytest.skip("no other user, or no user namespace, or Postgres is installed where no other user may read")
    own = open_path / "own"
    own.mkdir()
    os.chown(own, nameless, nameless)
    process = user(own, words=as_user(nameless, own))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "started_here=True" in out


def test_root_of_a_container_that_knows_no_other_user_has_servers_too(tmp_path: Path) -> None:
    if not can_run(("alias=0",), sys.executable, "-c", ""):
        pytest.skip("this machine lets no one make user namespaces, or hides its interpreter in them")
    process = user(tmp_path / "data", words=("alias=0",))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "started_here=True" in out
    assert (tmp_path / "data" / "postgres").stat().st_uid == os.geteuid()


# --- bad input


def refusal(path: Path) -> CrawlerError:
    with pytest.raises(Unavailable) as raised:
        EmbeddedServers(path).ensure_running()
    assert raised.value.message.endswith(".")
    assert "\n" not in raised.value.message
    return raised.value


def test_a_directory_with_other_things_in_it_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    assert "already holds other things (thesis.txt)" in refusal(tmp_path).message
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_two_that_begin_with_a_new_directory_at_the_same_moment_share_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = Path.iterdir

    def prepared_by_another(folder: Path) -> Iterator[Path]:
        monkeypatch.setattr(Path, "iterdir", listed)
        data_dir.prepare_data_dir(tmp_path / "new")
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", prepared_by_another)
    assert data_dir.prepare_data_dir(tmp_path / "new") == tmp_path / "new"


def test_a_file_is_refused_as_data_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "is not a directory" in refusal(tmp_path / "file").message
    assert "is not a directory" in refusal(tmp_path / "file" / "below").message


def test_a_cluster_of_another_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    data_dir.prepare_data_dir(tmp_path / "data")
    cluster = tmp_path / "data" / "postgres"
    cluster.mkdir()
    (cluster / "PG_VERSION").write_text("16\n")
    refused = refusal(tmp_path / "data")
    assert isinstance(refused, DataDirUnusable)
    assert "was made by Postgres 16 and this is Postgres 18" in refused.message
    assert [path.name for path in cluster.iterdir()] == ["PG_VERSION"]
    assert gone(at_work(tmp_path / "data")), "the other server must not stay behind"


def test_a_disk_with_little_space_is_named_before_anything_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_dir, "MIN_FREE_BYTES", 2**62)
    assert "MB are needed; free some space" in refusal(tmp_path / "data").message
    assert not (tmp_path / "data" / "servers").exists()


def test_a_server_that_dies_for_want_of_space_is_reported_as_a_full_disk(home: Path) -> None:
    with (home / "postgres" / "postgresql.conf").open("a") as conf:
        conf.write("include 'No space left on device'\n")  # Postgres repeats it in its last words
    refused = refusal(home)
    assert isinstance(refused, DataDirUnusable)
    assert refused.message.startswith(f"The disk of {home} is full; free some space")


@contextmanager
def being_nobody() -> Iterator[None]:
    """As far as files are concerned; who is not root already is somebody ordinary."""
    if AS_ROOT:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if AS_ROOT:
            os.seteuid(0)


def test_a_data_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    with being_nobody():
        message = refusal(Path("/usr/crawler-data")).message
        assert message == "/usr belongs to the user root; run as that user or " + data_dir.OTHER + "."
    if AS_ROOT:
        taken = data_dir.prepare_data_dir(tmp_path / "data")
        os.chown(taken / data_dir.MARKER, NOBODY, NOBODY)
        assert f"{taken} belongs to the user nobody; run as that user" in refusal(taken).message


def test_a_directory_without_write_permission_is_refused(open_path: Path) -> None:
    closed = open_path / "data"
    closed.mkdir(mode=0o555)
    if AS_ROOT:
        os.chown(closed, NOBODY, NOBODY)
    with being_nobody():
        message = refusal(closed).message
    assert message == (
        f"{closed} cannot be written (permission denied); "
        "make it writable or set CRAWLER_DATA_DIR to another directory."
    )


def test_a_server_that_refuses_to_start_is_reported_with_its_log(home: Path) -> None:
    with (home / "postgres" / "postgresql.conf").open("a") as conf:
        conf.write("no_such_setting = 1\n")
    refused = refusal(home)
    assert refused.message == f"Postgres did not start; its log is {home}/logs/postgres.log."
    assert "no_such_setting" in str(refused.details["log"])
    assert gone(at_work(home)), "the other server must not stay behind"


def test_a_socket_left_by_another_user_is_never_trusted(tmp_path: Path, used_before: Path) -> None:
    """The recorded directory must be ours and closed, or another is made."""
    deep = shutil.copytree(used_before, tmp_path / ("d" * 90))
    planted = tmp_path / "planted"
    planted.mkdir(mode=0o755)
    planted.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as trap:
        trap.bind(str(planted / "valkey.sock"))
        state = {"data_dir": str(deep), "sockets": str(planted)}
        (deep / "servers" / "state.json").write_text(json.dumps(state))
        with EmbeddedServers(deep) as found:
            assert str(planted) not in found.redis_url
