"""The command line against a running service: it says what it says on the servers, and ends with the same status."""

import io
import json
import os
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import pytest

from crawler.domain.api_keys import ApiKey, Scope
from crawler.domain.notices.mutes import Mute
from crawler.domain.notices.notice import Channel, NoticeKind, Target
from crawler.domain.notices.schedule import SlotOutcome
from crawler.embedded import Servers
from crawler.entrypoints.cli.app import cli
from crawler.entrypoints.cli.error_exit import exit_status, quiet_logs
from crawler.entrypoints.cli.input import typed_site
from tests.databases import MakeDatabase
from tests.integration.handmade import host_of, lay, page
from tests.integration.live_engine import Engine, running_engine
from tests.integration.served import served
from tests.site.client import Site

BEFORE = "<p>Old words stand here.</p><p>1,204 views</p>"
AFTER = "<p>New words stand here.</p><p>1,310 views</p><p>More of it.</p>"
NOTIFICATION = UUID("01890a5d-ac96-774b-bcce-b302099a8057")


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

    def json(self, *words: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.told(self.there, *words, "--json"))
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
        lay(site, {"/": ["/a", "/b", "/old", "/alone", "/gone"], "/a": page(body=BEFORE), "/b": []})
        lay(site, {"/old": [], "/alone": []})
        site.remove("/gone")
        first = engine.crawl(site.url(), use_sitemaps=False)
        lay(site, {"/": ["/a", "/c", "/place", "/gone"], "/a": page(body=AFTER), "/c": [], "/place": []})
        site.remove("/b")
        site.set_fault("/old", redirect="/place")
        second = engine.again(first)
        key, secret = ApiKey.issue(name="admin", scope=Scope.ADMIN, now=engine.tools.clock())
        engine.tools.store.add_key(key)
        schedule(engine, first.project_id, second.id)
        with served(engine.tools) as url:
            servers = {"CRAWLER_DATABASE_URL": database, "CRAWLER_REDIS_URL": redis}
            # As the service has it.
            here = Place(
                {
                    **servers,
                    "CRAWLER_DATA_DIR": str(folder / "data"),
                    "CRAWLER_MAX_PAGES_CEILING": "100000",
                    "CRAWLER_EGRESS_ALLOW": "127.0.0.0/8",
                }
            )
            nothing = {"CRAWLER_DATA_DIR": str(folder / "nothing")}
            there = Place({**nothing, "CRAWLER_API_URL": url, "CRAWLER_API_KEY": secret})
            names = {
                "PROJECT": str(first.project_id), "FIRST": str(first.id), "CRAWL": str(second.id),
                "HOST": host_of(site), "URL": site.url("/gone"), "KEY": str(key.id), "NOBODY": str(uuid4()),
            }  # fmt: skip
            yield Stage(here, there, engine, site, names, None)  # type: ignore[arg-type]
            assert not (folder / "nothing").exists(), "no server is started for what a service answers"


def schedule(engine: Engine, project_id: UUID, crawl_id: UUID) -> None:
    """One that ran once, and somebody was told."""
    weekly = {"frequency": "weekly", "day_of_week": 2, "time": "06:15", "timezone": "Europe/Berlin"}
    hook = {"notification_webhook": "http://127.0.0.1:9/hook", "jitter_minutes": 30}
    tools = engine.tools
    made = tools.notices.set_schedule(project_id, {"enabled": True, **weekly, **hook})
    slot = tools.clock() - timedelta(days=7)
    tools.notices.schedules.take_slot(made.id, slot)
    tools.notices.schedules.end_slot(made.id, slot, SlotOutcome.STARTED, crawl_id)
    target = Target(Channel.WEBHOOK, "http://127.0.0.1:9/hook")
    tools.notices.notifications.claim(
        NOTIFICATION, project_id, crawl_id, NoticeKind.CHANGES, target, {"event": "crawl_completed"}
    )


@pytest.mark.slow
@pytest.mark.quick(4)
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
        ("noise", "list", "PROJECT"),
        ("watch-rule", "list", "PROJECT"),
        ("credential", "list", "PROJECT"),
        ("schedule", "backtest", "PROJECT", "--ignore-regex", "words", "--changed-share", "0.9"),
        ("schedule", "show", "PROJECT"),
        ("notification", "list"),
        ("notification", "list", "PROJECT"),
        ("notification", "list", "--project", "PROJECT"),
        ("queue", "list"),
        ("category", "list"),
    ],
)
def test_a_service_is_told_of_as_its_servers_are(stage: Stage, words: tuple[str, ...]) -> None:
    assert json.loads(stage.told(stage.there, *words, "--json")) == json.loads(stage.told(stage.here, *words, "--json"))
    shown = stage.told(stage.there, *words)
    assert shown == stage.told(stage.here, *words)
    assert shown


@pytest.mark.slow
def test_changes_are_told_url_by_url_and_word_by_word(stage: Stage) -> None:
    shown = stage.told(stage.there, "changes", "CRAWL")
    url = stage.site.url
    assert shown.startswith("1 new, 2 changed, 1 removed, 1 unchanged, 1 moved since 20")
    assert f" (crawl {stage.names['FIRST']}).\n" in shown
    assert f"> {url('/old')} → {url('/place')}" in shown.splitlines()
    for line in (f"+ {url('/c')}", f"- {url('/b')}", f"~ {url('/a')}"):
        assert line in shown.splitlines()
    lines = shown.splitlines()
    assert lines[lines.index(url("/a")) + 1 :][:3] == [
        "- Old words stand here.",
        "+ New words stand here.",
        "+ More of it.",
    ]
    assert "views" not in shown, "what is judged to be noise is no change here either"
    told = stage.json("changes", "CRAWL", "--diffs", "1")
    assert [row["url"] for row in told["diffs"]] == [url("/")]
    assert [row["url"] for row in told["texts"]] == [url("/")]
    (_, text) = stage.json("changes", "CRAWL", "--diffs", "300")["texts"]
    assert text["lines"] == [
        {"removed": "Old words stand here.", "added": "New words stand here."},
        {"removed": None, "added": "More of it."},
    ]
    assert told["moved"] == [
        {"from": url("/old"), "to": url("/place"), "edits": [{"removed": "/old", "added": "/place"}]}
    ]
    assert {row["url"]: row["class"] for row in told["removals"]} == {url("/b"): "gone"}
    assert "There is nothing to compare it with." in stage.told(stage.there, "changes", "FIRST")


@pytest.mark.slow
def test_exports_are_the_same_files(stage: Stage, tmp_path: Path) -> None:
    formats = ("--format", "jsonl", "--format", "csv")
    for name, place in (("here", stage.here), ("there", stage.there)):
        stage.told(place, "export", "CRAWL", *formats, "--output", str(tmp_path / name))
        stage.told(place, "report", "CRAWL", "--csv", str(tmp_path / name / "report.csv"))
    for file in ("pages.jsonl", "pages.csv", "report.csv"):
        assert (tmp_path / "here" / file).read_bytes() == (tmp_path / "there" / file).read_bytes() != b""
    for name, place in (("here", stage.here), ("there", stage.there)):
        stage.told(place, "export", "CRAWL", "--format", "markdown", "--output", str(tmp_path / f"text-{name}"))
    texts = [_files(tmp_path / "text-here"), _files(tmp_path / "text-there")]
    assert texts[0] == texts[1]
    assert b"New words stand" in texts[0]["site.md"]
    assert len(texts[0]) > 3, "a file for each page"
    assert stage.site.url("/gone") in stage.told(stage.there, "report", "CRAWL", "--csv", "-")


def _files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("place", ["here", "there"])
def test_the_queue_is_filled_read_and_changed(stage: Stage, tmp_path: Path, place: str) -> None:
    at: Place = getattr(stage, place)
    listed = tmp_path / "list.csv"
    listed.write_bytes(f"URL;Category;Priority\nhttp://{place}.example/;hotel;1\nnonsense;;\n".encode("utf-16"))
    added = json.loads(stage.told(at, "queue", "import", str(listed), "--json"))
    assert (added["added"], added["bad"], added["problems"][0]["line"]) == (1, 1, 3)
    assert "0 entries added; 1 there already; 1 bad." in stage.told(at, "queue", "import", str(listed))
    assert "2 entries added." in stage.told(
        at, "queue", "add", f"http://{place}.example/a", f"http://{place}.example/b", "--category", place
    )
    told = json.loads(stage.told(at, "queue", "list", "--host", f"{place}.example", "--json"))
    ids = [str(entry["id"]) for entry in told["entries"]]
    assert [entry["category"] for entry in told["entries"]] == ["hotel", place, place]
    assert "1 entry changed." in stage.told(at, "queue", "deactivate", ids[0])
    assert "No entry changed." in stage.told(at, "queue", "retry", "--category", place)
    assert "pending, inactive" in stage.told(at, "queue", "list", "--inactive")
    assert "1 entry changed." in stage.told(at, "queue", "reactivate", "--host", f"{place}.example")
    stage.told(at, "queue", "export", str(tmp_path / "out.csv"), "--category", place)
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 3
    assert "3 entries changed." in stage.told(at, "queue", "delete", "--prefix", f"https://{place}.exam")
    for wrong in (("delete",), ("delete", ids[0], "--all"), ("add", "ftp://a.example/"), ("import", "/no/such/file")):
        assert stage.told(at, "queue", *wrong, status=2)


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("place", ["here", "there"])
def test_a_category_is_set_tried_and_used_to_read_an_entry(stage: Stage, tmp_path: Path, place: str) -> None:
    at: Place = getattr(stage, place)
    tools = stage.engine.tools
    url = stage.site.url(f"/house-{place}")
    lay(stage.site, {f"/house-{place}": page(body="<main><h1>House</h1><p>Quiet rooms.</p><i>a</i><i>b</i></main>")})
    file = tmp_path / "hotel.yaml"
    file.write_text("include: [main]\nfields:\n  name: h1\n  missing: {selector: //u, kind: xpath}\n")
    assert "xpath //u" in stage.told(at, "category", "set", place, str(file), "--field", "all[]=i", "--exclude", "p")
    stage.told(at, "queue", "add", url, "--category", place)
    run = tools.acquisition.run_queue()
    for crawl_id in run.crawl_ids:
        stage.engine.run(tools.crawls.seed(crawl_id))
    (entry,) = json.loads(stage.told(at, "queue", "list", "--category", place, "--json"))["entries"]
    assert entry["status"] == "fetched"
    for which in (url, entry["page_id"], str(entry["id"])):
        tried = json.loads(stage.told(at, "category", "try", place, which, "--json"))
        assert tried["fields"] == {"name": "House", "missing": None, "all": ["a", "b"]}
    shown = stage.told(at, "category", "try", place, url, "--field", "other=p")
    assert "Quiet rooms." in shown
    tools.acquisition.extract_entries()
    shown = stage.told(at, "queue", "show", str(entry["id"]))
    assert "done" in shown
    assert "a | b" in shown
    assert "100%" in stage.told(at, "category", "show", place)
    stage.told(at, "queue", "export", str(tmp_path / "out.csv"), "--extractions", "--category", place)
    assert (tmp_path / "out.csv").read_text().splitlines()[0].endswith("all,missing,name")
    stage.told(at, "queue", "delete", str(entry["id"]))
    assert "Deleted." in stage.told(at, "category", "delete", place)
    for wrong, status in (
        (("set", place), 2),
        (("set", place, "--field", "a=h1["), 2),
        (("set", place, "--field", "h1"), 2),
        (("set", place, "/no/such/file"), 2),
        (("show", place), 4),
        (("try", place, "http://never.example/"), 4),
        (("delete", place), 4),
    ):
        assert stage.told(at, "category", *wrong, status=status)


def test_projects_and_crawls_are_named_as_people_name_them(stage: Stage) -> None:
    tools = stage.engine.tools
    for name, url in (("Lamp log", "http://harbour.example/"), ("http://lamps.example/", "")):
        made = tools.projects.manage.create(name=name, website_url=url or name)
        crawl = tools.crawls.start(made.id)
        tools.crawls.control.cancel(crawl.id)
    first, lamps = (tools.store.find_project(name) for name in ("Lamp log", "http://lamps.example/"))
    assert first
    assert lamps
    (newest,) = tools.store.list_crawls(lamps.id)
    for place in (stage.here, stage.there):
        whole = stage.told(place, "project", "show", str(first.id))
        for name in ("Lamp log", "lamp l", "harbour.example", str(first.id)[:30]):
            assert stage.told(place, "project", "show", name) == whole
        last = stage.told(place, "crawl", "status", str(newest.id))
        for named in ((), ("latest",), ("lamps.example",), ("lamps",), (str(newest.id)[:30],)):
            assert stage.told(place, "crawl", "status", *named) == last
        assert "http://lamps.example/" in stage.told(place, "project", "show", "latest")
        assert stage.told(place, "changes") == stage.told(place, "changes", str(newest.id))
        assert json.loads(stage.told(place, "crawl", "list", "lamps", "--json"))[0]["id"] == str(newest.id)
        everywhere = json.loads(stage.told(place, "crawl", "list", "--json"))
        assert everywhere[0]["id"] == str(newest.id)
        assert len({crawl["project_id"] for crawl in everywhere}) > 2
        assert "http://harbour.example/" in stage.told(place, "crawl", "list")
        assert stage.told(place, "notification", "list", "--project", "lamps") == "No notification was sent yet.\n"
        assert "'lam' may be Lamp log (" in stage.told(place, "schedule", "show", "lam", status=2)
        assert "did you mean Lamp log" in stage.told(place, "noise", "list", "Lampp log", status=4)
        assert "There is no crawl and no project" in stage.told(place, "report", "zzz", status=4)
    assert "write its whole name or id" in stage.told(stage.here, "project", "delete", "latest", "--yes", status=2)
    for project in (first, lamps):
        assert "is deleted" in stage.told(stage.there, "project", "delete", project.name, "--yes")


def test_a_limited_key_names_only_what_is_its_own(stage: Stage) -> None:
    made = stage.json("project", "create", "Only mine", "http://mine.example/")
    key = stage.json("key", "create", "limited", "--scope", "read", "--project", "Only mine")["key"]
    mine = stage.there.but(CRAWLER_API_KEY=key)
    assert "Only mine" in stage.told(mine, "project", "show", "latest")
    assert "There is no crawl yet" in stage.told(mine, "crawl", "status", status=4)
    assert "'Only mine' has not been crawled yet" in stage.told(mine, "crawl", "status", "only", status=4)
    crawl = stage.names["CRAWL"]
    assert "there is Only mine." in stage.told(mine, "crawl", "status", crawl[:30], status=4)
    stage.told(stage.there, "project", "delete", made["id"], "--yes")


def test_what_is_built_in_is_only_listed_when_it_is_asked_for(stage: Stage) -> None:
    stage.told(stage.there, "queue", "add", "http://queued.example/")
    for place in (stage.here, stage.there):
        assert "acquisition" not in stage.told(place, "project", "list")
        assert "acquisition" in stage.told(place, "project", "list", "--all")
        assert "acquisition" in stage.told(place, "project", "show", "acquisition")


def test_a_queue_is_rebuilt_from_a_terminal_elsewhere(stage: Stage) -> None:
    engine = stage.engine
    crawl = engine.start(engine.project(stage.site.url(), delay_seconds=0))
    stage.names["WAITING"] = str(crawl.id)
    engine.tools.redis.flushdb()
    assert engine.tools.frontier.stats(crawl.id) is None
    assert "1 URLs wait" in stage.told(stage.there, "rebuild-frontier", "WAITING")
    engine.run(crawl)
    assert "is completed" in stage.told(stage.there, "rebuild-frontier", "WAITING", status=5)


@pytest.mark.slow
def test_a_crawl_is_watched_from_a_terminal_elsewhere(stage: Stage) -> None:
    engine = stage.engine
    crawl = engine.start(engine.project(stage.site.url(), delay_seconds=0.1))
    stage.names["WATCHED"] = str(crawl.id)
    crawling = threading.Thread(target=engine.run, args=(crawl,))
    crawling.start()
    lines = [json.loads(line) for line in stage.told(stage.there, "crawl", "watch", "WATCHED", "--json").splitlines()]
    crawling.join()
    assert [event["seq"] for event in lines] == [event.seq for event in engine.tools.events.read(crawl.id)]
    assert (lines[0]["type"], lines[-1]["type"]) == ("status", "completed")
    assert stage.told(stage.here, "crawl", "watch", "WATCHED", "--json").splitlines()[-1] == json.dumps(lines[-1])

    again = engine.start(engine.tools.store.get_project(crawl.project_id))
    stage.names["AGAIN"] = str(again.id)
    crawling = threading.Thread(target=engine.run, args=(again,))
    crawling.start()
    shown = stage.told(stage.there, "crawl", "watch", "AGAIN")
    crawling.join()
    assert shown == stage.told(stage.here, "crawl", "watch", "AGAIN"), "the summary, as on the servers"
    assert f"pages crawled {engine.tools.store.get_crawl(again.id).pages_crawled}" in " ".join(shown.split())
    assert "There is no crawl" in stage.told(stage.there, "crawl", "watch", "NOBODY", status=4)


@pytest.mark.slow
def test_a_project_is_made_changed_crawled_steered_and_deleted(stage: Stage) -> None:
    made = stage.json("project", "create", "Another", "http://another.example/")
    stage.names["ANOTHER"] = made["id"]
    changed = stage.json(
        "project", "set", "ANOTHER", "--name", "Renamed", "--max-pages", "7", "--exclude", "/a,b/", "--ignore-robots",
        "--setting", "use_sitemaps=false", "--setting", "content_types=text/html,application/pdf",
    )  # fmt: skip
    settings: dict[str, object] = changed["settings"]
    assert (changed["name"], settings["max_pages"], settings["exclude_patterns"]) == ("Renamed", 7, ["/a,b/"])
    assert (settings["respect_robots_txt"], settings["use_sitemaps"], settings["delay_seconds"]) == (False, False, 0.5)
    assert settings["content_types"] == ["text/html", "application/pdf"]
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


@pytest.mark.slow
def test_a_schedule_is_set_changed_run_and_disabled(stage: Stage) -> None:
    stage.names["SCHEDULED"] = stage.json("project", "create", "Scheduled", "http://scheduled.example/")["id"]
    assert "has no schedule" in stage.told(stage.there, "schedule", "show", "SCHEDULED", status=4)
    shown = stage.told(
        stage.there, "schedule", "set", "SCHEDULED", "--frequency", "daily", "--time", "06:30", "--timezone",
        "America/New_York", "--email", "ops@example.org", "--failures", "2", "--notify-on", "any",
    )  # fmt: skip
    for words in (
        "every day at 06:30 (America/New_York)",
        "ops@example.org",
        "of any change",
        "of 2 failed runs in a row",
    ):
        assert words in shown
    assert len([line for line in shown.splitlines() if "06:30 E" in line]) == 6, (
        "the next run and five, in its own zone"
    )
    assert [line.split() for line in shown.splitlines()][1] == ["zone", "America/New_York"]
    changed = stage.json("schedule", "set", "SCHEDULED", "--time", "07:00")
    assert (changed["time"], changed["notification_email"]) == ("07:00", "ops@example.org"), "the rest stays"
    assert "'crawler schedule resume Scheduled' enables them" in stage.told(
        stage.there, "schedule", "disable", "SCHEDULED"
    )
    assert "every day at 07:00" in stage.told(stage.there, "schedule", "resume", "SCHEDULED")
    assert stage.json("schedule", "set", "SCHEDULED", "--every", "daily")["enabled"]
    stage.told(stage.there, "schedule", "pause", "SCHEDULED")
    off = stage.json("schedule", "show", "SCHEDULED")
    assert (off["enabled"], off["next_run_at"], off["time"]) == (False, None, "07:00")
    started = stage.told(stage.there, "schedule", "run-now", "SCHEDULED")
    (crawl,) = stage.engine.tools.store.list_crawls(UUID(stage.names["SCHEDULED"]))
    assert started == (f"Crawl {crawl.id} waits: no worker is running; 'crawler up' starts them.\n")
    assert crawl.crawl_type == "scheduled"
    assert "still pending" in stage.told(stage.there, "schedule", "run-now", "SCHEDULED", status=5)


def test_a_notification_is_sent_again_and_its_end_is_the_exit_status(stage: Stage) -> None:
    stage.names["TOLD"] = str(NOTIFICATION)
    assert "Not delivered" in stage.told(stage.there, "notification", "resend", "TOLD", status=1)
    (kept,) = json.loads(stage.told(stage.there, "notification", "list", "--json"))
    assert (kept["id"], kept["status"], kept["sends"]) == (str(NOTIFICATION), "failed", 1)


def test_hosts_and_keys_are_steered(stage: Stage) -> None:
    assert "is paused" in stage.told(stage.there, "host", "pause", "http://other.example/any")
    assert "2.5 s apart" in stage.told(stage.there, "host", "delay", "other.example", "2.5")
    assert "2.5 s (an operator)" in stage.told(stage.here, "host", "show", "other.example")
    stage.told(stage.there, "host", "resume", "other.example")
    made = stage.json("key", "create", "reader", "--scope", "read")
    reader = stage.there.but(CRAWLER_API_KEY=made["key"])
    stage.told(reader, "project", "list")
    assert "may only read" in stage.told(reader, "project", "create", "Mine", "http://mine.example/", status=1)
    stage.told(stage.there, "key", "revoke", "reader")
    assert "There is no key 'reader'" in stage.told(stage.there, "key", "revoke", "reader", status=4)
    assert "CRAWLER_API_KEY" in stage.told(reader, "project", "list", status=1)


@pytest.mark.slow
@pytest.mark.quick(8)
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
        (("schedule", "show", "NOBODY"), 4),
        (("schedule", "set", "NOBODY", "--frequency", "daily"), 4),
        (("schedule", "set", "PROJECT", "--time", "25:00"), 2),
        (("schedule", "set", "PROJECT", "--timezone", "Mars/Base"), 2),
        (("schedule", "set", "PROJECT", "--window", "noon"), 2),
        (("schedule", "set", "PROJECT", "--frequency", "cron", "--cron", "often"), 2),
        (("notification", "list", "--project", "NOBODY"), 4),
        (("schedule", "set", "PROJECT", "--webhook", "http://10.0.0.1/"), 2),
        (("schedule", "set", "PROJECT", "--notify", "json://example.org/"), 2),
        (("schedule", "disable", "NOBODY"), 4),
        (("schedule", "run-now", "NOBODY"), 4),
        (("notification", "resend", "NOBODY"), 4),
        (("notification", "acknowledge", "NOBODY"), 4),
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


def test_what_no_service_answers_says_so(stage: Stage) -> None:
    assert "not through CRAWLER_API_URL" in stage.told(stage.there, "prune", status=2)


def test_the_key_kept_on_this_machine_opens_its_own_service(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "api-key").write_text(stage.there.environment["CRAWLER_API_KEY"] + "\n")
    place = stage.there.but(CRAWLER_API_KEY="", CRAWLER_DATA_DIR=str(tmp_path))
    assert stage.names["PROJECT"] in stage.told(place, "project", "list")


def mutes_of(stage: Stage) -> list[Mute]:
    tools = stage.engine.tools
    return tools.notices.mutes.of_project(UUID(stage.names["PROJECT"]), tools.clock())


@pytest.mark.slow
def test_watch_rules_are_written_and_tried_from_both_places(stage: Stage) -> None:
    rule = ("--pattern", "/", "--field", "words=text p", "--tell", "words changed")
    for place in (stage.here, stage.there):
        assert "No rules yet" in stage.told(place, "watch-rule", "list", "PROJECT")
        assert "words: " in stage.told(place, "watch-rule", "preview", "PROJECT", *rule[:4])
        assert "Would have told" in stage.told(place, "watch-rule", "backtest", "PROJECT", *rule)
        added = stage.told(place, "watch-rule", "add", "PROJECT", *rule, "--name", "Words", "--priority", "2").split()[
            0
        ]
        assert "Words: words (text of p) on /; told if words changed" in stage.told(
            place, "watch-rule", "list", "PROJECT"
        )
        assert stage.told(place, "watch-rule", "disable", "PROJECT", added[:-2]).startswith("Off: ")
        assert "There is no watch rule 'x'" in stage.told(place, "watch-rule", "disable", "PROJECT", "x", status=4)
        assert "There is no watch rule ''" in stage.told(place, "watch-rule", "disable", "PROJECT", "", status=4)
        muted = ("schedule", "mute", "PROJECT", "--rule", added[:-2])
        assert stage.told(place, *muted).startswith("Nobody is told of ")
        assert f"watch rule {added} until 20" in stage.told(place, "schedule", "show", "PROJECT")
        (mute,) = mutes_of(stage)
        assert str(mute.rule) == added
        assert stage.told(place, "schedule", "unmute", *muted[2:]).endswith("are told again.\n")
        assert mutes_of(stage) == []
        assert stage.told(place, "watch-rule", "enable", "PROJECT", added).startswith("On: ")
        assert stage.told(place, "watch-rule", "remove", "PROJECT", "Words") == "Removed.\n"
        assert "CSS selector" in stage.told(place, "watch-rule", "add", "PROJECT", "--only", "a..b", status=2)
        assert "NAME=WHAT" in stage.told(place, "watch-rule", "add", "PROJECT", "--field", "price", status=2)
        assert "a condition reads like" in stage.told(place, "watch-rule", "add", "PROJECT", "--tell", "ever", status=2)


@pytest.mark.slow
def test_recipients_are_added_and_muted_from_both_places(stage: Stage) -> None:
    for place in (stage.here, stage.there):
        assert "Nobody else" in stage.told(place, "recipient", "list", "PROJECT")
        given = ("--email", "ops@example.org", "--form", "daily", "--quiet", "22:00-07:00", "--tell", "contains sale")
        said = stage.told(place, "recipient", "add", "PROJECT", *given)
        added = said.split()[0]
        assert "No mail will be sent: " in said
        assert "No mail will be sent: " in stage.told(place, "recipient", "list", "PROJECT")
        refused = stage.told(place, "recipient", "add", "PROJECT", "--webhook", "http://10.1.2.3/x", status=2)
        assert refused.startswith("--webhook: 10.1.2.3:80 may not be reached")
        assert "if it contains “sale”" in stage.told(place, "recipient", "list", "PROJECT")
        assert "muted until" in stage.told(place, "recipient", "mute", "PROJECT", added[:-2], "--hours", "2")
        assert "muted" not in stage.told(place, "recipient", "mute", "PROJECT", added, "--hours", "0")
        stage.told(place, "recipient", "change", "PROJECT", added, "--email", "desk@example.org", "--quiet", "")
        (changed,) = json.loads(stage.told(place, "recipient", "list", "PROJECT", "--json"))["recipients"]
        assert (changed["id"], changed["address"], changed["quiet_hours"]) == (added, "desk@example.org", None)
        assert (changed["form"], "sale" in str(changed["conditions"])) == ("daily", True), "the rest stays"
        assert "Say what" in stage.told(place, "recipient", "change", "PROJECT", added, status=2)
        stage.told(place, "recipient", "change", "PROJECT", added, "--email", "ops@example.org", "--tell", "")
        assert "contains" not in stage.told(place, "recipient", "list", "PROJECT")
        assert "There is no recipient 'x'" in stage.told(place, "recipient", "mute", "PROJECT", "x", status=4)
        assert stage.told(place, "recipient", "remove", "PROJECT", "ops@example.org") == "Removed.\n"
        assert "--email, --webhook or --notify" in stage.told(place, "recipient", "add", "PROJECT", status=2)
        own = ("--email", "ops@example.org", "--subject", "Now {{ changed_pages }}", "--body", "{{ 1 + 1 }} things")
        assert stage.told(place, "recipient", "add", "PROJECT", *own, "--preview") == "Now 2\n2 things\n"
        hook = ("--webhook", "https://hooks.example.org/x", "--body", '{"n": {{ changed_pages }}}', "--preview")
        assert json.loads(stage.told(place, "recipient", "add", "PROJECT", *hook)) == {"n": 2}
        assert "Nobody else" in stage.told(place, "recipient", "list", "PROJECT"), "a preview adds nobody"
        chat = ("--notify", "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#general", "--tell", "new page")
        added = stage.told(place, "recipient", "add", "PROJECT", *chat, "--on", "/news/", "--notify-on", "conditions")
        assert added.split()[1].startswith("slack://…")
        assert "told if the page is new, on /news/" in added
        assert stage.told(place, "recipient", "remove", "PROJECT", added.split()[0]) == "Removed.\n"
        tried = ("--tell", "contains nowhere", "--notify-on", "conditions")
        assert "Told by these rules: 0 of" in stage.told(place, "schedule", "backtest", "PROJECT", *tried)
        assert "write some with --tell" in stage.told(place, "schedule", "backtest", "PROJECT", "--all", status=2)
        assert "'crawler schedule unmute " in stage.told(place, "schedule", "mute", "PROJECT", "--hours", "2")
        for words in (("schedule", "show", "PROJECT"), ("project", "show", "PROJECT"), ("project", "list")):
            assert " until 20" in stage.told(place, *words), "a mute is seen wherever the project is"
        project = stage.engine.tools.store.get_project(UUID(stage.names["PROJECT"]))
        assert project.is_muted(stage.engine.tools.clock() + timedelta(hours=1))
        assert stage.told(place, "schedule", "unmute", "PROJECT").endswith("are told again.\n")
        assert "until 20" not in stage.told(place, "schedule", "show", "PROJECT")
        assert stage.engine.tools.store.get_project(project.id).muted_until is None


def test_addresses_of_feeds_are_made_and_revoked_from_both_places(stage: Stage) -> None:
    for place in (stage.here, stage.there):
        address = stage.told(place, "feed", "create", "--tag", "Shops").strip()
        assert (address[:7], address[-5:]) == ("http://", ".atom"), "one that a reader can be given"
        assert "/feeds/crf_" in stage.told(place, "feed", "create", "--project", "PROJECT")
        assert "/feeds/crf_" in stage.told(place, "feed", "create", "--project", stage.names["PROJECT"][:18])
        assert stage.told(place, "feed", "revoke", "--tag", "shops") == "Revoked.\n"
        assert "not both" in stage.told(place, "feed", "create", "--tag", "x", "--project", "PROJECT", status=2)


def test_a_wish_is_set_and_taken_back_from_both_places(stage: Stage) -> None:
    for place in (stage.here, stage.there):
        given = ("--frequency", "daily", "--email", "ops@example.org", "--advise", "Refunds, please.")
        said = stage.told(place, "schedule", "set", "PROJECT", *given, "--advice-silences")
        assert "matters to “Refunds, please.”, which may silence the others" in " ".join(said.split())
        assert "Refunds" not in stage.told(place, "schedule", "set", "PROJECT", "--advise", "")


def test_a_selector_is_picked_from_both_places(stage: Stage) -> None:
    for place in (stage.here, stage.there):
        said = stage.told(place, "watch-rule", "pick", "PROJECT", stage.site.url("/"), "--selector", "body")
        assert said.startswith("body\n")
        assert "1 element: " in said
        assert "no page at this address" in stage.told(
            place, "watch-rule", "pick", "PROJECT", stage.site.url("/none"), "--text", "x", status=4
        )


@pytest.mark.slow
def test_logins_are_stored_tried_and_removed_from_both_places(stage: Stage) -> None:
    origin = stage.site.url("").rstrip("/")
    steps = (f"open {origin}/in", "fill #user from user", "click button")
    given = [part for step in steps for part in ("--step", step)]
    for place in (stage.here.but(SITE_USER="hunter2"), stage.there.but(SITE_USER="hunter2")):
        stage.told(place, "project", "set", "PROJECT", "--render", "auto")
        assert "None yet" in stage.told(place, "login", "list", "PROJECT")
        said = stage.told(place, "login", "set", "PROJECT", *given, "--secret-env", "user=SITE_USER")
        assert said == f"Stored for {origin}. Its pages are read in a browser from now on.\n"
        shown = stage.told(place, "login", "list", "PROJECT")
        assert "untried" in shown
        assert "hunter2" not in shown + stage.told(place, "login", "list", "PROJECT", "--json")
        assert "No worker with a browser" in stage.told(place, "login", "try", "PROJECT", status=5)
        assert "is no step" in stage.told(place, "login", "set", "PROJECT", "--step", "press", status=2)
        assert stage.told(place, "login", "remove", "PROJECT") == "Removed.\n"


@pytest.mark.slow
def test_noise_rules_are_written_and_tried_from_both_places(stage: Stage) -> None:
    for place in (stage.here, stage.there):
        assert "No rules yet" in stage.told(place, "noise", "list", "PROJECT")
        added = stage.told(place, "noise", "add", "PROJECT", "--selector", ".ad", "--numbers")
        first = added.split()[0]
        assert ".ad" in stage.told(place, "noise", "list", "PROJECT")
        assert stage.told(place, "noise", "disable", "PROJECT", first[:-2]) == "Off: selector .ad\n"
        assert stage.told(place, "noise", "enable", "PROJECT", first) == "On: selector .ad\n"
        for line in added.splitlines():
            stage.told(place, "noise", "remove", "PROJECT", line.split()[0])
        assert "CSS selector" in stage.told(place, "noise", "add", "PROJECT", "--selector", "a..b", status=2)
        costly = stage.told(place, "noise", "add", "PROJECT", "--selector", "div:has(p b)", status=2)
        assert "would take long" in costly
        assert "Say what" in stage.told(place, "noise", "add", "PROJECT", status=2)
        tried = stage.told(place, "schedule", "backtest", "PROJECT", "--new-pages", "1")
        assert "Told by these rules: 1 of 1 crawl; told then: " in tried
        assert "regular expression" in stage.told(
            place, "schedule", "backtest", "PROJECT", "--ignore-regex", "(", status=2
        )


def test_credentials_come_from_the_environment_a_file_or_a_pipe_and_are_never_shown(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "login").write_text("me:hunter2\n")
    origin = stage.site.url("").rstrip("/")
    for place in (stage.here.but(SITE_KEY="hunter2"), stage.there.but(SITE_KEY="hunter2")):
        assert "None yet" in stage.told(place, "credential", "list", "PROJECT")
        said = stage.told(place, "credential", "set", "PROJECT", "--header", "X-Key", "--from-env", "SITE_KEY")
        assert said == f"Stored for {origin}. It is sent nowhere else.\n"
        login = ("--basic-auth", "--from-file", str(tmp_path / "login"), "--origin", "https://other.example/x")
        assert "https://other.example" in stage.told(place, "credential", "set", "PROJECT", *login)
        monkeypatch.setattr("sys.stdin", io.StringIO("hunter2\n"))
        stage.told(place, "credential", "set", "PROJECT", "--cookie", "sid")
        assert stage.engine.tools.credentials.headers(UUID(stage.names["PROJECT"])) == {
            origin: (("X-Key", "hunter2"), ("Cookie", "sid=hunter2")),
            "https://other.example": (("Authorization", "Basic bWU6aHVudGVyMg=="),),
        }
        shown = stage.told(place, "credential", "list", "PROJECT") + stage.told(place, "project", "show", "PROJECT")
        assert "X-Key" in shown
        assert "hunter2" not in shown + stage.told(place, "credential", "list", "PROJECT", "--json")
        stage.told(place, "credential", "remove", "PROJECT", "--header", "x-key")
        assert "no header" in stage.told(place, "credential", "remove", "PROJECT", "--header", "X-Key", status=4)
        stage.told(place, "credential", "remove", "PROJECT", "--all")
        stage.told(place, "credential", "remove", "PROJECT", "--all", "--origin", "https://other.example")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("set", "PROJECT"), "Say what to store"),
        (("set", "PROJECT", "--header", "X-A", "--cookie", "b"), "One credential at a time"),
        (("set", "PROJECT", "--header", "X-A", "--from-env", "NO_SUCH_VARIABLE"), "NO_SUCH_VARIABLE is not set"),
        (("set", "PROJECT", "--header", "X-A", "--from-file", "/no/such/file"), "cannot be read"),
        (("set", "PROJECT", "--header", "X-A", "--from-env", "A", "--from-file", "b"), "not both"),
        (("set", "PROJECT", "--header", "Host", "--from-env", "SITE_KEY"), "set by the crawler itself"),
        (("set", "PROJECT", "--header", "X-A", "--from-env", "SITE_KEY", "--origin", "x.example"), "must begin"),
        (("remove", "PROJECT"), "Say what to remove"),
        (("remove", "PROJECT", "--all", "--basic-auth"), "Say what to remove"),
    ],
)
def test_a_credential_that_is_not_clear_is_refused_without_its_value(
    stage: Stage, words: tuple[str, ...], told: str
) -> None:
    for place in (stage.here.but(SITE_KEY="hunter2"), stage.there.but(SITE_KEY="hunter2")):
        said = stage.told(place, "credential", *words, status=2)
        assert told in said
        assert "hunter2" not in said


def test_channels_with_secrets_come_from_files(stage: Stage, tmp_path: Path) -> None:
    file = tmp_path / "hook"
    file.write_text("http://127.0.0.1:9/other?key=hunter2\n")
    words = ("schedule", "set", "PROJECT", "--webhook")
    here = stage.here.but(CRAWLER_EGRESS_ALLOW="127.0.0.0/8")
    stage.told(here, *words, f"@{file}", "--json")
    kept = stage.engine.tools.notices.set_schedule.get(UUID(stage.names["PROJECT"]))
    assert kept.config.notification_webhook == "http://127.0.0.1:9/other?key=hunter2"
    stage.told(here, *words, "http://127.0.0.1:9/hook", "--json")


@pytest.mark.slow
def test_a_run_says_that_workers_have_it_when_there_are_workers(stage: Stage) -> None:
    book, queues = stage.engine.tools.operating.live_workers, ["coordinator", "fetch"]
    for place in (stage.here, stage.there):
        stage.names["BUSY"] = stage.json("project", "create", str(uuid4()), "http://busy.example/")["id"]
        stage.told(stage.there, "schedule", "set", "BUSY", "--frequency", "daily")
        book.announce("worker@host", queues)
        for queue in queues:
            stage.engine.tools.operating.canaries.record_sent(queue, time.time(), again=False)
            stage.engine.tools.operating.canaries.record_run(queue, time.time())
        started = stage.told(place, "schedule", "run-now", "BUSY")
        book.leave("worker@host", queues)
        assert started.endswith(" begins now.\n")
    stage.engine.tools.redis.delete(stage.engine.tools.operating.canaries._key)  # for other tests nobody works here


@pytest.mark.slow
def test_a_mail_without_a_mail_server_is_warned_of_on_both_doors(stage: Stage) -> None:
    words = "No mail will be sent: CRAWLER_SMTP_URL and CRAWLER_MAIL_FROM are not set; name a mail server in the "
    for place in (stage.here, stage.there):
        stage.names["MAILS"] = stage.json("project", "create", str(uuid4()), "http://mails.example/")["id"]
        given = ("--frequency", "daily", "--email", "ops@example.org")
        assert words in stage.told(place, "schedule", "set", "MAILS", *given)
        assert words in stage.told(place, "schedule", "show", "MAILS")
        assert stage.json("schedule", "show", "MAILS")["warnings"][0].startswith(words)


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    "words",
    [
        ("noise", "add", "PROJECT", "--selector", "a..b"),
        ("noise", "add", "PROJECT", "--regex", "("),
        ("schedule", "backtest", "PROJECT", "--ignore-selector", "a..b"),
        ("schedule", "backtest", "PROJECT", "--ignore-regex", "("),
        ("schedule", "set", "PROJECT", "--frequency", "cron", "--cron", "*/0 * * * *"),
        ("schedule", "set", "PROJECT", "--frequency", "monthly", "--day-of-month", "31"),
        ("schedule", "set", "PROJECT", "--timezone", "localtime"),
        ("schedule", "set", "PROJECT", "--email", "nobody"),
        ("schedule", "set", "PROJECT", "--webhook", "gopher://x/"),
        ("schedule", "set", "PROJECT", "--webhook", "http://user:secret@example.org/"),
        ("schedule", "set", "PROJECT", "--notify", "json://example.org/"),
    ],
)
def test_a_refused_rule_or_schedule_is_one_sentence_with_one_full_stop(stage: Stage, words: tuple[str, ...]) -> None:
    for place in (stage.here, stage.there):
        told = stage.told(place, *words, status=2)
        assert told.endswith(".")
        assert ".." not in told.replace("a..b", ""), told
        assert "The options" not in told


@pytest.mark.slow
def test_a_webhook_that_may_not_be_reached_is_refused_with_how_to_allow_it(stage: Stage) -> None:
    closed = stage.here.but(CRAWLER_EGRESS_ALLOW="")
    for address, opened in (
        ("http://127.0.0.1:8080/hook", "127.0.0.1:8080"),
        ("http://localhost:8080/hook", "localhost:8080"),
        ("http://[::1]:8080/hook", "[::1]:8080"),
    ):
        told = stage.told(closed, "schedule", "set", "PROJECT", "--webhook", address, status=2)
        assert told.startswith(f"--webhook: {opened} may not be reached from here")
        assert told.endswith(
            f"start the service ('crawler up'; stop it first if it runs) with CRAWLER_EGRESS_ALLOW={opened}."
        )
        open_ = stage.here.but(CRAWLER_EGRESS_ALLOW=opened)
        assert address in stage.told(open_, "schedule", "set", "PROJECT", "--webhook", address)
    stage.told(stage.there, "schedule", "set", "PROJECT", "--webhook", "http://127.0.0.1:9/hook")


def test_a_report_of_a_cancelled_crawl_says_why_it_is_compared_with_none(stage: Stage) -> None:
    engine = stage.engine
    crawl = engine.start(engine.tools.store.get_project(UUID(stage.names["PROJECT"])))
    engine.tools.crawls.control.cancel(crawl.id)
    for place in (stage.here, stage.there):
        told = stage.told(place, "report", str(crawl.id))
        assert "The crawl was cancelled: this is what it saw until then, compared with no other crawl." in told
        assert "no earlier crawl" not in told


def test_changes_without_text_name_the_pages_alone(stage: Stage) -> None:
    shown = stage.told(stage.there, "changes", "CRAWL", "--no-text")
    assert f"~ {stage.site.url('/a')}" in shown.splitlines()
    assert "New words" not in shown


@pytest.mark.slow
def test_documents_are_listed_and_searched_from_both_places(stage: Stage) -> None:
    lay(stage.site, {"/shop": page(title="Our \x1b[31mshop", body="<h1>Shop</h1><p>Sourdough every \x1b[2Jday.</p>")})
    crawl = stage.engine.crawl(stage.site.url("/shop"), ingest=True, use_sitemaps=False)
    stage.engine.tools.documents.ingest()
    stage.names["SHOP"] = str(crawl.project_id)
    for words in (("documents", "SHOP"), ("search", "SHOP", "sourdough"), ("search", "SHOP", "cake")):
        here, there = (stage.told(place, *words) for place in (stage.here, stage.there))
        assert here == there
        assert "\x1b" not in there
        told = [json.loads(stage.told(place, *words, "--json")) for place in (stage.here, stage.there)]
        assert told[0] == told[1]
    assert "Sourdough every" in stage.told(stage.there, "search", "SHOP", "sourdough", "--prefix", "/shop")
    assert stage.told(stage.there, "search", "SHOP", "sourdough", "--prefix", "/nowhere") == "Nothing was found.\n"
    for place in (stage.here, stage.there):  # a project that was never asked for documents
        for words in (("documents", "PROJECT"), ("search", "PROJECT", "sourdough")):
            assert "--setting ingest=true" in stage.told(place, *words)
    assert "1 document, 1 chunk" in stage.told(stage.there, "documents", "SHOP")
    assert "There is no project" in stage.told(stage.there, "search", "NOBODY", "x", status=4)
    assert "1 ingested of 1 page" in stage.told(stage.there, "crawl", "status", str(crawl.id))
    assert "at most 500" in stage.told(stage.there, "search", "SHOP", "x" * 501, status=2)


@pytest.mark.slow
def test_a_page_is_watched_in_one_line_from_both_places(stage: Stage) -> None:
    for place, path in ((stage.here, "/a"), (stage.there, "/c")):
        url = stage.site.url(path)
        told = " ".join(stage.told(place, "watch", url, "--every", "weekly", "--email", "ops@example.org").split())
        assert f"Watching {url} (weekly); changes are to be sent to ops@example.org. No mail will be sent: " in told
        (project,) = [one for one in stage.engine.tools.store.list_projects(limit=100) if one.website_url == url]
        assert (project.settings.max_pages, project.settings.max_depth) == (1, 0)
        schedule = stage.engine.tools.notices.schedules.find(project.id)
        assert schedule is not None
        assert (schedule.config.enabled, schedule.config.notification_email) == (True, "ops@example.org")
        assert schedule.config.notify_on == "any"
        (crawl,) = stage.engine.tools.store.list_crawls(project.id)
        assert crawl.crawl_type == "scheduled"
        again = stage.told(place, "watch", url, "--every", "hourly", status=5)
        assert f"'crawler schedule set {project.name}' changes how" in again
        assert f"'crawler schedule run-now {project.name}' checks it now" in again
    site = stage.told(stage.there, "watch", stage.site.url("/b"), "--site")
    assert "nobody is told yet" in " ".join(site.split())
    hook = ("--webhook", "https://hooks.example.org/x", "--name", "Hooked")
    shown = stage.json("watch", stage.site.url("/hooked"), *hook)
    assert shown["schedule"]["notification_webhook"] == hook[1]
    assert stage.engine.tools.store.get_crawl(UUID(shown["crawl_id"])).project_id == UUID(shown["project_id"])


@pytest.mark.quick(1)
@pytest.mark.parametrize("address", ["127.0.0.62:8902", "localhost:8902", "[::1]:8902"])
def test_a_site_that_the_workers_may_not_reach_is_not_watched(stage: Stage, address: str) -> None:
    tools = stage.engine.tools
    before = len(tools.store.list_projects(limit=100))
    tools.operating.live_workers.announce("fetcher@host", ["fetch"], egress=("127.0.0.1:8088",))
    for place in (stage.here, stage.there):
        told = stage.told(place, "watch", f"http://{address}/prices", status=2)
        assert told.startswith(f"{address} may not be reached from here, as it is no public address;")
        assert "start the service ('crawler up'; stop it first if it runs)" in told
        assert f"with CRAWLER_EGRESS_ALLOW=127.0.0.1:8088,{address}. " in told, "what is open stays open"
        assert "'crawler run' reaches it" in told
    assert len(tools.store.list_projects(limit=100)) == before
    tools.operating.live_workers.announce("fetcher@host", ["fetch"], egress=(address,))
    closed = stage.here.but(CRAWLER_EGRESS_ALLOW="")
    assert "Watching " in stage.told(closed, "watch", f"http://{address}/prices"), "what the workers say counts"
    tools.operating.live_workers.leave("fetcher@host", ["fetch"])


def test_a_webhook_that_the_workers_may_reach_is_taken_from_a_terminal_that_may_not(stage: Stage) -> None:
    workers, closed = stage.engine.tools.operating.live_workers, stage.here.but(CRAWLER_EGRESS_ALLOW="")
    words = ("watch", "https://93.184.216.34/hooked", "--name", "Hook inside", "--webhook", "http://10.2.3.4:8080/in")
    told = stage.told(closed, *words, status=2)
    assert told.startswith("--webhook: 10.2.3.4:8080 may not be reached from here")
    workers.announce("notify@host", ["notify"], egress=("10.2.3.0/24",))
    assert "changes are sent to http://10.2.3.4:8080/in" in " ".join(stage.told(closed, *words).split())
    workers.leave("notify@host", ["notify"])


def test_a_site_without_tls_is_watched_by_http_where_that_can_be_tried(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typed_site, "speaks_tls", lambda _host, _port: False)
    monkeypatch.setattr(typed_site, "takes_connections", lambda _host, _port: True)
    monkeypatch.setattr(typed_site, "is_unknown", lambda host: host == "nosuch.example")
    assert "Watching http://plain.example/a " in stage.told(stage.here, "watch", "plain.example/a")
    assert "Watching https://plain.example/b " in stage.told(stage.there, "watch", "plain.example/b")
    before = len(stage.engine.tools.store.list_projects(limit=100))
    assert "There is no host nosuch.example; " in stage.told(stage.here, "watch", "nosuch.example/a", status=2)
    assert len(stage.engine.tools.store.list_projects(limit=100)) == before


def test_a_mistake_in_what_is_to_be_watched_leaves_no_project_behind(stage: Stage) -> None:
    before = len(stage.engine.tools.store.list_projects(limit=100))
    for options in (("--time", "25:00"), ("--every", "cron"), ("--email", "nobody")):
        stage.told(stage.there, "watch", stage.site.url("/d"), *options, status=2)
    assert "no host" in stage.told(stage.there, "watch", "http://", status=2)
    assert len(stage.engine.tools.store.list_projects(limit=100)) == before


@pytest.mark.slow
def test_a_page_is_told_alone_by_its_url(stage: Stage) -> None:
    url, engine = stage.site.url, stage.engine
    lay(stage.site, {"/fair": ["/stall", "/tent", "/gate"], "/stall": page(body=BEFORE), "/tent": [], "/gate": []})
    first = engine.crawl(url("/fair"), use_sitemaps=False)
    lay(stage.site, {"/fair": ["/stall", "/stage", "/gate"], "/stall": page(body=AFTER), "/stage": []})
    stage.site.remove("/tent")
    engine.again(first)
    for place in (stage.here, stage.there):
        for typed in (url("/stall"), url("/stall").partition("://")[2]):
            shown = stage.told(place, "changes", typed).splitlines()
            assert shown[0] == url("/stall")
            assert shown[1].startswith("It changed in the crawl of 20")
            assert shown[2:] == ["- Old words stand here.", "+ New words stand here.", "+ More of it."]
        assert "It is new in the crawl of 20" in stage.told(place, "changes", url("/stage"))
        assert "It was removed in the crawl of 20" in stage.told(place, "changes", url("/tent"))
        assert "It did not change" in stage.told(place, "changes", url("/gate"))
        assert "There is no crawl and no project" in stage.told(place, "changes", "http://else.example/a", status=4)


@pytest.mark.slow
def test_a_failed_crawl_does_not_hide_the_one_before(stage: Stage, tmp_path: Path) -> None:
    engine, url = stage.engine, stage.site.url
    lay(stage.site, {"/failing": page(body="<p>First words of it.</p>")})
    first = engine.crawl(url("/failing"), use_sitemaps=False)
    lay(stage.site, {"/failing": page(body="<p>Second words of it.</p>")})
    engine.again(first)
    fault = stage.site.set_fault("/failing", status=500)
    failed = engine.again(first)
    assert (failed.status, "HTTP 500" in (failed.error_message or "")) == ("failed", True)
    name = engine.tools.projects.manage.change(first.project_id, {"name": "Failing"}).name
    for number, place in enumerate((stage.here, stage.there)):
        shown = stage.told(place, "changes", name)
        assert "is failed: " in shown
        assert "HTTP 500" in shown + stage.told(place, "crawl", "status", name)
        assert "The newest crawl that was compared is of 20" in shown
        assert "+ Second words of it." in shown.splitlines()
        by_id = stage.told(place, "changes", str(failed.id))
        assert "shows the newest that was compared" in by_id
        assert "Second words" not in by_id
        stage.told(place, "export", name, "--format", "markdown", "--output", str(tmp_path / str(number)))
        assert b"Second words" in (tmp_path / str(number) / "site.md").read_bytes()
        refused = stage.told(place, "export", str(failed.id), "--output", str(tmp_path), status=4)
        assert "has no pages: " in refused
    stage.site.mend(fault)


@pytest.mark.slow
def test_whoever_was_told_is_named_after_the_changes(stage: Stage) -> None:
    tools = stage.engine.tools
    for place in (stage.here, stage.there):
        shown = stage.told(place, "changes", "CRAWL")
        assert "http://127.0.0.1:9/hook" in shown.splitlines()[-2]
        assert "'crawler notification list " in shown.splitlines()[-1]
        tried = stage.told(place, "schedule", "test", "PROJECT", status=1)
        assert "http://127.0.0.1:9/hook: Not delivered" in tried
    made = tools.projects.manage.create(name="Tells nobody", website_url="http://quiet.example/")
    assert "'crawler schedule set 'Tells nobody' --webhook URL' names somebody" in stage.told(
        stage.there, "schedule", "test", str(made.id), status=2
    )


def test_what_is_missing_or_mistyped_is_named(stage: Stage) -> None:
    assert "A project or crawl is missing; write 'crawler explain latest http://a.example/x'" in stage.told(
        stage.here, "explain", "http://a.example/x", status=2
    )
    assert "did you mean 'latest'?" in stage.told(stage.here, "crawl", "status", "lastest", status=4)


def test_a_url_is_explained_by_its_path_or_without_its_scheme(stage: Stage) -> None:
    whole = stage.told(stage.here, "explain", "CRAWL", "URL")
    assert whole.startswith(stage.site.url("/gone"))
    for place in (stage.here, stage.there):
        assert stage.told(place, "explain", "CRAWL", "/gone") == whole
        assert stage.told(place, "explain", "CRAWL", stage.site.url("/gone").partition("://")[2]) == whole
