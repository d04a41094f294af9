"""The operator's commands as a person runs them: explain, host, audit, and lists in narrow terminals."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from uuid import UUID, uuid4

import pytest

from crawler.embedded import Servers
from tests.acceptance.cli import Cli
from tests.databases import MakeDatabase
from tests.integration.handmade import host_of, lay
from tests.integration.live_engine import Engine, running_engine
from tests.site.client import Site


class Stage(NamedTuple):
    cli: Cli
    engine: Engine
    site: Site
    crawl: UUID
    host: str

    def told(self, *arguments: str, status: int = 0, **environment: str) -> str:
        cli = Cli(self.cli.data_dir, **{**self.cli.environment, **environment})
        done = cli(*arguments)
        assert done.returncode == status, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout if status == 0 else done.stdout + " ".join(done.stderr.split())


@pytest.fixture(scope="module")
def stage(
    tmp_path_factory: pytest.TempPathFactory, embedded_servers: Servers, make_module_database: MakeDatabase
) -> Iterator[Stage]:
    """A site that was crawled by an engine on the servers the commands use."""
    database, redis, folder = make_module_database(), embedded_servers.redis_url, tmp_path_factory.mktemp("site")
    with Site(folder, hosts=1, pages=5) as site, running_engine(database, redis, data_dir=folder / "data") as engine:
        lay(site, {"/": ["/a", "/secret/x", "/gone", "http://other.example/[b]x[/b]"], "/a": ["/gone"]})
        site.set_robots("User-agent: *\nDisallow: /secret/\n")
        site.remove("/gone")
        crawl = engine.crawl(site.url(), delay_seconds=0.05, use_sitemaps=False)
        cli = Cli(folder / "data", CRAWLER_DATABASE_URL=database, CRAWLER_REDIS_URL=redis)
        yield Stage(cli, engine, site, crawl.id, host_of(site))


def test_explain_tells_the_whole_story_of_a_page(stage: Stage) -> None:
    said = stage.told("explain", str(stage.crawl), stage.site.url("/A/"))
    for words in (
        "It was fetched and stored.",
        f"linked from {stage.site.url('/')}",
        "in scope",
        "200",
        "content hash",
    ):
        assert words in said
    refused = stage.told("explain", str(stage.crawl), stage.site.url("/secret/x"))
    assert "It was not crawled (robots): robots.txt, line 2: Disallow: /secret/." in refused
    gone = stage.told("explain", str(stage.crawl), stage.site.url("/gone"))
    assert "not_found" in gone
    assert "also linked by" in gone


def test_explain_has_the_same_for_programs(stage: Stage) -> None:
    told = json.loads(stage.told("explain", str(stage.crawl), stage.site.url("/gone"), "--json"))
    assert (told["known"], told["reason"], told["http_status"]) == (True, "not_found", 404)
    assert [attempt["status"] for attempt in told["attempts"]] == [404]
    assert told["mention_count"] == 1
    unseen = json.loads(stage.told("explain", str(stage.crawl), "http://nowhere.example/", "--json"))
    assert (unseen["known"], unseen["reason"]) == (False, "off_domain")


def test_strangers_text_has_no_power_over_the_terminal(stage: Stage) -> None:
    assert "[b]x[/b]" in stage.told("explain", str(stage.crawl), "http://other.example/[b]x[/b]")


def test_a_pipe_gets_whole_lines_and_a_narrow_terminal_folded_ones(stage: Stage) -> None:
    arguments = ("explain", str(stage.crawl), stage.site.url("/gone"))
    piped = stage.told(*arguments)
    assert any(line.startswith("means") and line.rstrip().endswith("that lead to it.") for line in piped.splitlines())
    narrow = stage.told(*arguments, COLUMNS="40")
    url, *rest = narrow.splitlines()
    assert url == stage.site.url("/gone"), "what one copies stays whole"
    assert max(map(len, rest)) <= 40


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (("explain", str(uuid4()), "http://a.example/"), 4, "There is no crawl"),
        (("explain", "{crawl}", "nonsense"), 2, "must begin with http:// or https://"),
        (("explain", "{crawl}", "ftp://a.example/"), 2, "Only http and https"),
        (("explain", "no-id", "http://a.example/"), 4, "There is no crawl and no project 'no-id'; there is "),
        (("audit", str(uuid4())), 4, "There is no crawl"),
        (("host", "show", "nobody.example"), 4, "No crawl has met the host nobody.example"),
        (("host", "show", "not a host"), 2, "is not a host; write one like example.org"),
        (("host", "pause", "http://"), 2, "is not a host"),
        (("host", "delay", "a.example", "-5"), 2, "from 0 to 3600 seconds"),
        (("host", "delay", "a.example", "--", "-1"), 2, "from 0 to 3600 seconds"),
        (("host", "delay", "a.example", "nan"), 2, "from 0 to 3600 seconds"),
        (("host", "delay", "a.example", "soon"), 2, "SECONDS takes a number"),
    ],
)
def test_bad_input_is_one_sentence(stage: Stage, arguments: tuple[str, ...], status: int, told: str) -> None:
    given = [str(stage.crawl) if argument == "{crawl}" else argument for argument in arguments]
    assert told in stage.told(*given, status=status)


@pytest.mark.slow
def test_a_host_is_paused_shown_delayed_and_resumed(stage: Stage) -> None:
    assert f"{stage.host} is paused" in stage.told("host", "pause", stage.site.url("/any"))
    assert "at least 2.5 s apart" in stage.told("host", "delay", stage.host, "2.5")
    listed = json.loads(stage.told("host", "list", "--json"))
    (row,) = [host for host in listed["hosts"] if host["host"] == stage.host]
    assert (row["paused"], row["operator_seconds"], row["requests_24h"]) == (True, 2.5, 4)
    shown = stage.told("host", "show", stage.host)
    assert "paused" in shown
    assert "2.5 s (an operator)" in shown
    assert "read and obeyed" in shown
    assert "paused" in stage.told("host", "list")
    stage.told("host", "resume", stage.host)
    stage.told("host", "delay", stage.host, "0")
    after = json.loads(stage.told("host", "show", stage.host, "--json"))
    assert (after["paused"], after["operator_seconds"]) == (False, 0)


def test_the_audit_explains_its_columns_and_a_violation_is_an_exit_status(stage: Stage) -> None:
    polite = stage.told("audit", str(stage.crawl))
    assert "No violation." in polite
    for column in ("owed:", "at once:", "extra:", "again:"):
        assert column in polite
    stage.engine.rows(
        "INSERT INTO request_log (at, crawl_id, host, kind, lane) "
        "SELECT max(at) + interval '1 ms', crawl_id, host, 'p', 'http' FROM request_log "
        "WHERE crawl_id = :id GROUP BY crawl_id, host RETURNING 1",
        id=stage.crawl,
    )
    stage.engine.rows(
        "UPDATE crawl_jobs SET completed_at = completed_at + interval '1 s' WHERE id = :id RETURNING 1", id=stage.crawl
    )
    assert "1 violation." in stage.told("audit", str(stage.crawl), status=1)
    told = json.loads(stage.told("audit", str(stage.crawl), "--json", status=1))
    assert (told["violations"], told["hosts"][0]["host"]) == (1, stage.host)


@pytest.mark.slow
def test_a_crawl_and_its_project_are_shown_in_words(stage: Stage) -> None:
    crawl = stage.engine.tools.store.get_crawl(stage.crawl)
    for columns in (60, 80, 120):
        shown = stage.told("crawl", "status", str(stage.crawl), COLUMNS=str(columns))
        listed = stage.told("crawl", "list", str(crawl.project_id), COLUMNS=str(columns))
        project = stage.told("project", "show", str(crawl.project_id), COLUMNS=str(columns))
        for text in (shown, listed, project):
            assert max(map(len, text.splitlines())) <= columns
            assert not set("{}[]'\"") & set(text), text
        words = " ".join(shown.split())
        assert "status completed: every page that could be found was fetched" in words
        assert "pages 2 crawled, 0 failed, 2 skipped" in words
        assert "skipped 1 forbidden by robots.txt, 1 not found" in words
        assert "URLs 4 found, 0 queued" in words
        assert str(stage.crawl) in shown
        assert str(crawl.project_id) in shown
        assert stage.site.url() in project
    row = json.loads(stage.told("crawl", "status", str(stage.crawl), "--json"))
    assert (row["status"], row["pages_crawled"], row["queued"]) == ("completed", 2, 0)


def test_ids_stay_whole_in_a_narrow_terminal(stage: Stage) -> None:
    project = stage.engine.tools.store.get_crawl(stage.crawl).project_id
    assert str(project) in stage.told("project", "list", COLUMNS="50")
    assert str(stage.crawl) in stage.told("crawl", "list", str(project), COLUMNS="50")


@pytest.mark.slow
def test_the_doctor_says_a_remedy_once(stage: Stage, make_database: MakeDatabase, tmp_path: Path) -> None:
    empty = make_database()
    said = stage.told("doctor", CRAWLER_DATABASE_URL=empty, status=3)
    assert said.count("crawler doctor --fix") == 1
    told = json.loads(stage.told("doctor", "--json", CRAWLER_DATABASE_URL=empty, status=3))
    (schema,) = [check for check in told["checks"] if check["name"] == "schema"]
    assert schema["message"] == f"The database schema is missing, this program needs {schema['message'][-5:]}"
    assert schema["fix"].startswith("Run 'crawler doctor --fix'")
