"""`crawler crawl watch`: a person or a program looks on while others crawl."""

import json
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from crawler.embedded import Servers
from tests.acceptance.cli import Cli
from tests.acceptance.running import eventually
from tests.databases import MakeDatabase
from tests.integration.live_engine import Engine, running_engine
from tests.site.client import Site

pytestmark = pytest.mark.slow


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path, hosts=1, pages=20) as site:
        yield site


@pytest.fixture
def engine(tmp_path: Path, embedded_servers: Servers, make_migrated_database: MakeDatabase) -> Iterator[Engine]:
    with running_engine(make_migrated_database(), embedded_servers.redis_url, data_dir=tmp_path / "data") as engine:
        yield engine


@pytest.fixture
def cli(engine: Engine) -> Iterator[Cli]:
    """On the engine's servers."""
    settings = engine.tools.settings
    assert settings.database_url
    assert settings.redis_url
    urls = {
        "CRAWLER_DATABASE_URL": settings.database_url.get_secret_value(),
        "CRAWLER_REDIS_URL": settings.redis_url.get_secret_value(),
    }
    command = Cli(settings.data_dir, **urls)
    yield command
    command.end_all()


def test_a_program_gets_each_event_as_a_line_until_the_crawl_is_over(engine: Engine, cli: Cli, site: Site) -> None:
    crawl = engine.start(engine.project(site.url(), delay_seconds=0.1))
    crawling = threading.Thread(target=engine.run, args=(crawl,), kwargs={"seconds": 60})
    crawling.start()
    done = cli("crawl", "watch", str(crawl.id), "--json")
    crawling.join()
    assert (done.returncode, done.stderr) == (0, "")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["seq"] for event in events] == [event.seq for event in engine.tools.events.read(crawl.id)]
    assert {event["crawl_id"] for event in events} == {str(crawl.id)}
    assert (events[0]["type"], events[-1]["type"]) == ("status", "completed")
    assert events[-1]["data"]["pages_crawled"] == engine.tools.store.get_crawl(crawl.id).pages_crawled


def test_a_person_sees_the_crawl_and_then_its_summary(engine: Engine, cli: Cli, site: Site) -> None:
    crawl = engine.start(engine.project(site.url(), delay_seconds=0))
    crawling = threading.Thread(target=engine.run, args=(crawl,), kwargs={"seconds": 60})
    crawling.start()
    done = cli("crawl", "watch", str(crawl.id))
    crawling.join()
    assert done.returncode == 0, done.stderr
    assert f"Watching the crawl of {site.url()}" in done.stderr
    pages = engine.tools.store.get_crawl(crawl.id).pages_crawled
    assert f"pages crawled {pages}" in " ".join(done.stdout.split())


@pytest.mark.parametrize("json_", [(), ("--json",)], ids=["a person", "a program"])
def test_a_crawl_that_is_over_is_told_at_once_and_its_end_is_the_exit_status(
    engine: Engine, cli: Cli, site: Site, json_: tuple[str, ...]
) -> None:
    done = engine.crawl(site.url())
    assert cli("crawl", "watch", str(done.id), *json_).returncode == 0
    cancelled = engine.start(engine.project(site.url()))
    engine.tools.crawls.control.cancel(cancelled.id)
    engine.tools.redis.flushdb()
    ended = cli("crawl", "watch", str(cancelled.id), *json_)
    assert (ended.returncode, ended.stderr.splitlines()[-1:]) == (1, ["The crawl was cancelled."])
    assert cli("crawl", "watch", str(uuid4()), *json_).returncode == 4


def test_whoever_stops_watching_does_not_stop_the_crawl(engine: Engine, cli: Cli, site: Site) -> None:
    crawl = engine.start(engine.project(site.url()))
    watching = cli.start("crawl", "watch", str(crawl.id), "--json")
    assert watching.stdout is not None
    assert json.loads(watching.stdout.readline())["type"] == "status"
    watching.send_signal(signal.SIGINT)
    eventually(lambda: watching.poll() is not None, 30, "it ends")
    assert watching.returncode == 130
    still = engine.tools.store.get_crawl(crawl.id)
    assert (still.status, still.paused) == ("in_progress", False)
