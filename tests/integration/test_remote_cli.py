"""The command line against a running service: it says what it says on the servers, and ends with the same status."""

import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple
from uuid import UUID, uuid4

import pytest

from crawler.domain.api_keys import ApiKey, Scope
from crawler.embedded import Servers
from crawler.entrypoints.cli.app import cli
from crawler.entrypoints.cli.ending import exit_status, quiet_logs
from tests.conftest import MakeDatabase
from tests.integration.engine import Engine, running_engine
from tests.integration.handmade import host_of, lay, page
from tests.integration.served import served
from tests.site.client import Site


class Place(NamedTuple):
    """Where somebody works: what they have set."""

    environment: dict[str, str]

    def but(self, **environment: str) -> "Place":
        return Place({**self.environment, **environment})


class Stage(NamedTuple):
    here: Place
    """On the servers themselves."""
    there: Place
    """Knows the service's address and a key, and nothing else."""
    engine: Engine
    site: Site
    names: dict[str, str]
    streams: pytest.CaptureFixture[str]

    def told(self, place: Place, *words: str, status: int = 0) -> str:
        """What the command prints; of a refusal, with what it says on stderr."""
        given = [self.names.get(word, word) for word in words]
        with pytest.MonkeyPatch.context() as patch:
            for name in [name for name in os.environ if name.startswith(("CRAWLER_", "COLUMNS"))]:
                patch.delenv(name)
            for name, value in place.environment.items():
                patch.setenv(name, value)
            self.streams.readouterr()
            ended = exit_status(partial(cli, given))
        out, err = self.streams.readouterr()
        assert ended == status, out + err
        return out if status == 0 else out + " ".join(err.split())

    def json(self, *words: str) -> dict[str, str]:
        found: dict[str, str] = json.loads(self.told(self.there, *words, "--json"))
        return found


@pytest.fixture
def stage(laid: Stage, capsys: pytest.CaptureFixture[str]) -> Stage:
    quiet_logs()
    return laid._replace(streams=capsys)


@pytest.fixture(scope="module")
def laid(
    tmp_path_factory: pytest.TempPathFactory, embedded_servers: Servers, make_module_database: MakeDatabase
) -> Iterator[Stage]:
    database, redis, folder = make_module_database(), embedded_servers.redis_url, tmp_path_factory.mktemp("remote")
    with Site(folder, hosts=1, pages=5) as site, running_engine(database, redis, data_dir=folder / "data") as engine:
        lay(site, {"/": ["/a", "/b", "/gone"], "/a": page(body="<p>Old words.</p>"), "/b": []})
        site.remove("/gone")
        first = engine.crawl(site.url(), use_sitemaps=False)
        lay(site, {"/": ["/a", "/c", "/gone"], "/a": page(body="<p>New words.</p>"), "/c": []})
        site.remove("/b")
        second = engine.again(first)
        key, secret = ApiKey.issue(name="admin", scope=Scope.ADMIN, now=engine.tools.clock())
        engine.tools.store.add_key(key)
        with served(engine.tools) as url:
            servers = {"CRAWLER_DATABASE_URL": database, "CRAWLER_REDIS_URL": redis}
            # As the service has it.
            here = Place({**servers, "CRAWLER_DATA_DIR": str(folder / "data"), "CRAWLER_MAX_PAGES_CEILING": "100000"})
            nothing = {"CRAWLER_DATA_DIR": str(folder / "nothing")}
            there = Place({**nothing, "CRAWLER_API_URL": url, "CRAWLER_API_KEY": secret})
            names = {
                "PROJECT": str(first.project_id), "FIRST": str(first.id), "CRAWL": str(second.id),
                "HOST": host_of(site), "KEY": str(key.id), "NOBODY": str(uuid4()),
            }  # fmt: skip
            yield Stage(here, there, engine, site, names, None)  # type: ignore[arg-type]
            assert not (folder / "nothing").exists(), "no server is started for what a service answers"


@pytest.mark.parametrize(
    "words",
    [
        ("project", "list"),
        ("project", "show", "PROJECT"),
        ("crawl", "list", "PROJECT"),
        ("crawl", "status", "CRAWL"),
        ("changes", "CRAWL"),
        ("report", "CRAWL", "--kind", "broken_link"),
        ("host", "list"),
        ("host", "show", "HOST"),
        ("key", "list"),
    ],
)
def test_a_service_is_told_of_as_its_servers_are(stage: Stage, words: tuple[str, ...]) -> None:
    assert json.loads(stage.told(stage.there, *words, "--json")) == json.loads(stage.told(stage.here, *words, "--json"))
    shown = stage.told(stage.there, *words)
    assert shown == stage.told(stage.here, *words)
    assert shown


def test_changes_are_told_url_by_url_and_word_by_word(stage: Stage) -> None:
    shown = stage.told(stage.there, "changes", "CRAWL")
    url = stage.site.url
    assert f"1 new, 2 changed, 1 removed, 0 unchanged since crawl {stage.names['FIRST']}." in shown
    for line in (f"+ {url('/c')}", f"- {url('/b')}", f"~ {url('/a')}", "-Old words.", "+New words."):
        assert line in shown.splitlines()
    told = stage.json("changes", "CRAWL", "--diffs", "1")
    assert [row["url"] for row in told["diffs"]] == [url("/")]  # type: ignore[index]
    assert "There is nothing to compare it with." in stage.told(stage.there, "changes", "FIRST")


def test_exports_are_the_same_files(stage: Stage, tmp_path: Path) -> None:
    formats = ("--format", "jsonl", "--format", "csv")
    for name, place in (("here", stage.here), ("there", stage.there)):
        stage.told(place, "export", "CRAWL", *formats, "--output", str(tmp_path / name))
        stage.told(place, "report", "CRAWL", "--csv", str(tmp_path / name / "report.csv"))
    for file in ("pages.jsonl", "pages.csv", "report.csv"):
        assert (tmp_path / "here" / file).read_bytes() == (tmp_path / "there" / file).read_bytes() != b""
    stage.told(stage.there, "export", "CRAWL", "--format", "markdown", "--output", str(tmp_path / "text"))
    assert "New words." in (tmp_path / "text" / "site.md").read_text()
    assert stage.site.url("/gone") in stage.told(stage.there, "report", "CRAWL", "--csv", "-")


def test_a_project_is_made_changed_crawled_steered_and_deleted(stage: Stage) -> None:
    made = stage.json("project", "create", "Another", "http://another.example/")
    stage.names["ANOTHER"] = made["id"]
    changed = stage.json(
        "project", "set", "ANOTHER", "--name", "Renamed", "--max-pages", "7", "--exclude", "/a,b/", "--ignore-robots",
        "--setting", "use_sitemaps=false",
    )  # fmt: skip
    settings: dict[str, object] = changed["settings"]  # type: ignore[assignment]
    assert (changed["name"], settings["max_pages"], settings["exclude_patterns"]) == ("Renamed", 7, ["/a,b/"])
    assert (settings["respect_robots_txt"], settings["use_sitemaps"], settings["delay_seconds"]) == (False, False, 0.5)
    again = stage.json("project", "set", "ANOTHER", "--inactive")
    assert (again["is_active"], again["settings"]) == (False, settings)
    refused = stage.told(stage.there, "source", "crawl", "ANOTHER", "http://another.example/", status=5)
    assert "is not active" in refused
    stage.told(stage.there, "project", "set", "ANOTHER", "--active")

    url = "http://another.example/docs/"
    crawl = stage.json("source", "crawl", "ANOTHER", url, "--max-pages", "5", "--include", "/docs/")["crawl_id"]
    stage.names["STARTED"] = crawl
    started = stage.engine.tools.store.get_crawl(UUID(crawl))
    config = started.config
    assert (started.seed_url, config.max_depth, config.max_pages, config.include_patterns) == (url, 2, 5, ("/docs/",))
    assert (config.ingest, config.use_sitemaps) == (True, False)
    assert crawl in stage.told(stage.there, "source", "crawl", "ANOTHER", url, status=5), "names the one that runs"
    stage.told(stage.there, "crawl", "pause", "STARTED")
    assert "pending (paused)" in stage.told(stage.there, "crawl", "status", "STARTED")
    stage.told(stage.there, "crawl", "resume", "STARTED")
    assert "cancelled after 0 pages" in stage.told(stage.there, "crawl", "cancel", "STARTED")
    assert "Nothing failed" in stage.told(stage.there, "crawl", "retry-failed", "STARTED")

    assert "--yes" in stage.told(stage.there, "project", "delete", "ANOTHER", status=2)
    assert "is deleted" in stage.told(stage.there, "project", "delete", "ANOTHER", "--yes")
    assert "There is no project" in stage.told(stage.there, "project", "show", "ANOTHER", status=4)


def test_hosts_and_keys_are_steered(stage: Stage) -> None:
    assert "is paused" in stage.told(stage.there, "host", "pause", "http://other.example/any")
    assert "2.5 s apart" in stage.told(stage.there, "host", "delay", "other.example", "2.5")
    assert "2.5 s (an operator)" in stage.told(stage.here, "host", "show", "other.example")
    stage.told(stage.there, "host", "resume", "other.example")
    made = stage.json("key", "create", "reader", "--scope", "read")
    reader = stage.there.but(CRAWLER_API_KEY=made["key"])
    stage.told(reader, "project", "list")
    assert "may only read" in stage.told(reader, "project", "create", "Mine", "http://mine.example/", status=1)
    stage.told(stage.there, "key", "revoke", made["id"])
    assert "CRAWLER_API_KEY" in stage.told(reader, "project", "list", status=1)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("crawl", "status", "NOBODY"), 4),
        (("crawl", "list", "NOBODY"), 4),
        (("changes", "NOBODY"), 4),
        (("export", "NOBODY", "--output", "OUT"), 4),
        (("key", "revoke", "NOBODY"), 4),
        (("host", "show", "nobody.example"), 4),
        (("crawl", "cancel", "CRAWL"), 5),
        (("crawl", "pause", "CRAWL"), 5),
        (("project", "set", "PROJECT", "--max-pages", "1000000"), 2),
        (("project", "set", "PROJECT", "--include", "("), 2),
        (("project", "set", "PROJECT", "--setting", "nonsense=1"), 2),
        (("project", "set", "PROJECT"), 2),
        (("source", "crawl", "PROJECT", "nonsense"), 2),
        (("source", "crawl", "NOBODY", "http://a.example/"), 4),
        (("source", "crawl", "PROJECT", "http://a.example/", "--exclude", "["), 2),
        (("host", "delay", "a.example", "-5"), 2),
        (("key", "create", ""), 2),
    ],
)
def test_a_refusal_has_the_same_sentence_and_status(
    stage: Stage, words: tuple[str, ...], status: int, tmp_path: Path
) -> None:
    stage.names["OUT"] = str(tmp_path)
    assert stage.told(stage.there, *words, status=status) == stage.told(stage.here, *words, status=status) != ""


@pytest.mark.parametrize(
    ("environment", "status", "sentence"),
    [
        ({"CRAWLER_API_URL": "http://127.0.0.1:9"}, 3, "cannot be reached. Is CRAWLER_API_URL right"),
        ({"CRAWLER_API_URL": "localhost:8800"}, 2, "looks like https://crawler.example.org"),
        ({"CRAWLER_API_URL": "http://service.example/", "CRAWLER_API_KEY": ""}, 2, "set CRAWLER_API_KEY"),
        ({"CRAWLER_API_KEY": "crk_wrong"}, 1, "does not know this key"),
        ({"CRAWLER_API_KEY": ""}, 1, "does not know this key"),
    ],
)
def test_a_service_that_cannot_be_used_is_one_sentence(
    stage: Stage, environment: dict[str, str], status: int, sentence: str
) -> None:
    assert sentence in stage.told(stage.there.but(**environment), "project", "list", status=status)


@pytest.mark.parametrize(
    "words", [("audit", "CRAWL"), ("explain", "CRAWL", "http://a.example/"), ("prune",), ("rebuild-frontier", "CRAWL")]
)
def test_what_no_service_answers_says_so(stage: Stage, words: tuple[str, ...]) -> None:
    assert "not through CRAWLER_API_URL" in stage.told(stage.there, *words, status=2)


def test_the_key_kept_on_this_machine_opens_its_own_service(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "api-key").write_text(stage.there.environment["CRAWLER_API_KEY"] + "\n")
    place = stage.there.but(CRAWLER_API_KEY="", CRAWLER_DATA_DIR=str(tmp_path))
    assert stage.names["PROJECT"] in stage.told(place, "project", "list")
