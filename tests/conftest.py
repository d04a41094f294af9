"""Real servers for every test that asks for them, one pair per test process, and fresh databases on them."""

import gc
import json
import os
import shutil
import signal
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
import structlog
from hypothesis import settings

from crawler.embedded import EmbeddedServers, Servers, postgres
from crawler.supervisor.guard import Guard
from tests.compiled import FIRST, await_compiled, note_compiled
from tests.databases import Databases, MakeDatabase
from tests.scheduling import KeepTogether, is_left_out, long_ones_first, slow_cases, unasked_cases

# A shell ignores Ctrl-C for what it starts in the background. So would every process that a test wants to end by it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# As structlog has it by default, but for tracebacks in colour with every local variable, which take seconds to draw.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso"),
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ]
)

# Machines that run tests are busy: how long an example takes says nothing.
# The same examples every time: a check must not fail for whom it finds something new. `explore` looks for that.
settings.register_profile("tests", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("thorough", deadline=None, derandomize=True, max_examples=120)
settings.register_profile("long", deadline=None, derandomize=True, max_examples=600)
settings.register_profile("explore", deadline=None, max_examples=3000)
settings.load_profile("tests")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="a skipped test is a failure: nothing may be missing here")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    left_out = collection_path.is_file() and is_left_out(collection_path, config.option.markexpr)
    return left_out or None  # None: others may leave it out


@pytest.hookimpl(tryfirst=True)  # before some are deselected by their markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if unasked := unasked_cases(items, config.option.markexpr):
        config.hook.pytest_deselected(items=unasked)
        items[:] = [item for item in items if item not in unasked]
    for item in slow_cases(items):
        item.add_marker(pytest.mark.slow)
    items[:] = long_ones_first(items)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """In a new clone one process compiles the tests; the others wait, and read what it wrote."""
    process = getattr(session.config, "workerinput", {}).get("workerid", "")
    if process not in ("", FIRST):
        await_compiled()
    found = yield
    if process in ("", FIRST):
        note_compiled()
    return found


def pytest_collection_finish() -> None:
    """What is imported and collected stays until the end: no collector of garbage need look at it again and again."""
    gc.collect()
    gc.freeze()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> KeepTogether:
    return KeepTogether(config, log)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.getoption("--no-skips") and reporter and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(autouse=True)
def logs_for_the_next() -> Iterator[None]:
    """A command that a test runs in this process switches logs off; other tests look for them."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.fixture(scope="session")
def embedded_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """A real Postgres and a real Valkey, with their `database_url` and `redis_url`."""
    data_dir = tmp_path_factory.mktemp("servers")
    with ExitStack() as held:
        with pytest.MonkeyPatch.context() as patch:
            for name in ("fsync", "synchronous_commit", "full_page_writes"):  # no test cuts this machine's power
                patch.setitem(postgres.SETTINGS, name, "off")
            servers = held.enter_context(EmbeddedServers(data_dir))
        held.enter_context(_ending_with_the_tests(data_dir))
        yield servers
    shutil.rmtree(data_dir)


@contextmanager
def _ending_with_the_tests(data_dir: Path) -> Iterator[None]:
    """The servers are made to survive their owner's death; those of a killed test run should not."""
    state = json.loads((data_dir / "servers" / "state.json").read_text())
    groups = {os.getpgid(state[name]["pid"]) for name in ("postgres", "valkey")}
    guard = Guard()
    for group in groups:
        guard.add(group)
    try:
        yield
    finally:
        for group in groups:
            guard.remove(group)
        guard.close()


@pytest.fixture(scope="session")
def databases(embedded_servers: Servers) -> Databases:
    return Databases(embedded_servers.database_url)


@pytest.fixture
def make_database(databases: Databases) -> Iterator[MakeDatabase]:
    """Each call: the URL of a new empty database, dropped after the test."""
    with databases.batch(databases.make) as make:
        yield make


@pytest.fixture
def make_migrated_database(databases: Databases) -> Iterator[MakeDatabase]:
    """Each call: the URL of a new database with the product's schema, dropped after the test."""
    with databases.batch(databases.make_migrated) as make:
        yield make


@pytest.fixture(scope="module")
def make_module_database(databases: Databases) -> Iterator[MakeDatabase]:
    """As `make_migrated_database`, dropped after the module."""
    with databases.batch(databases.make_migrated) as make:
        yield make


@pytest.fixture
def redis_url(embedded_servers: Servers) -> str:
    """Database 0 of a Valkey with nothing in it."""
    with redis.Redis.from_url(embedded_servers.redis_url) as client:
        client.flushall()
    return embedded_servers.redis_url
