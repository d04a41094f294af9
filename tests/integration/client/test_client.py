"""`crawler.client` against the real service: everything it can ask for, what it makes of refusals, and lost answers."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from uuid import UUID, uuid4

import pytest

from crawler import client as lib
from crawler.client import Client
from crawler.client.connection import base_url
from crawler.domain.api_keys import ApiKey, Scope
from crawler.domain.notices.notice import Channel, NoticeKind, Target
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.integration.served import (
    Door,
    cut_off,
    door_before,
    lost_after_it_was_done,
    never_arrived,
    refused,
    served,
    told,
)
from tests.site.client import Site


class Stage(NamedTuple):
    engine: Engine
    url: str
    secret: str
    pauses: list[float]

    def client(self, url: str | None = None, sleep: Callable[[float], None] | None = None) -> Client:
        return Client(url or self.url, self.secret, sleep=sleep or self.pauses.append)

    def key(self, scope: Scope, *projects: UUID) -> str:
        return issued(self.engine, scope, *projects)


def issued(engine: Engine, scope: Scope, *projects: UUID) -> str:
    key, secret = ApiKey.issue(name="test", scope=scope, now=engine.tools.clock(), project_ids=projects or None)
    engine.tools.store.add_key(key)
    return secret


@pytest.fixture
def stage(crawler: Engine) -> Iterator[Stage]:
    with served(crawler.tools) as url:
        yield Stage(crawler, url, issued(crawler, Scope.ADMIN), [])


@pytest.fixture
def client(stage: Stage) -> Iterator[Client]:
    with stage.client() as client:
        yield client


@pytest.fixture
def door(stage: Stage) -> Iterator[Door]:
    with door_before(stage.url) as door:
        yield door


def run(stage: Stage, crawl_id: UUID) -> None:
    stage.engine.run(stage.engine.tools.crawls.seed(crawl_id))


def test_a_site_is_crawled_and_read_through_the_client(
    stage: Stage, client: Client, site: Site, tmp_path: Path
) -> None:
    lay(site, {"/": ["/a", "/gone", "/old"], "/a": page(body="<p>First words of a page.</p>", title="A"), "/old": []})
    site.remove("/gone")
    project = client.projects.create("Example", site.url(), settings={"render": "never", "use_sitemaps": False})
    assert client.projects.get(project.id) == project
    assert client.crawls.progress(project.id).crawl_id is None
    first = client.crawls.start(project.id, delay_seconds=0)
    run(stage, first)

    crawl = client.wait(first, timeout=5)
    assert (crawl.status, crawl.end_reason, crawl.pages_crawled, crawl.is_over) == ("completed", "exhausted", 3, True)
    assert client.crawls.progress(project.id).progress == 100
    assert [(url.url, url.http_status) for url in client.crawls.urls(first, reason="not_found")] == [
        (site.url("/gone"), 404)
    ]
    (found,) = client.pages.of(project.id, title="A", status="success")
    whole = client.pages.get(project.id, found.id)
    assert "First words" in (whole.content_text or "")
    assert "First words of a page." in client.pages.markdown(project.id, found.id)
    snapshot = client.pages.snapshot(project.id, found.id)
    assert b"<p>First words of a page.</p>" in snapshot.content
    assert (snapshot.version_id, snapshot.content_type) == (whole.version_id, "text/html; charset=utf-8")

    lay(site, {"/a": page(body="<p>Other words of a page.</p>", title="A"), "/": ["/a", "/b", "/gone"], "/b": []})
    site.set_fault("/old", redirect="/b")
    second = client.crawls.start(project.id)
    run(stage, second)
    changes = client.crawls.changes(project.id, second, pages=True)
    assert [(move.source, move.to) for move in changes.moved] == [(site.url("/old"), site.url("/b"))]
    assert (changes.moved_pages, changes.new_page_urls, changes.removals) == (1, (), ())
    assert set(changes.removal_counts.values()) == {0}
    assert changes.changed_pages is not None
    (changed,) = [each for each in changes.changed_pages if each.page_id == found.id]
    diff = client.pages.diff(project.id, changed.page_id, changed.from_version, changed.to_version)
    assert (diff.added, diff.removed) == (1, 1)
    assert "+Other words of a page." in diff.unified
    versions = [version.id for version in client.pages.versions(project.id, found.id)]
    assert versions == [changed.to_version, changed.from_version]
    assert [each.id for each in client.crawls.of(project.id)] == [second, first]
    assert client.crawls.get(second).change_summary is not None

    file = client.crawls.export(second, "jsonl", tmp_path / "pages.jsonl")
    assert {json.loads(line)["url"] for line in file.read_text().splitlines()} >= {site.url("/b")}
    assert "Other words" in client.projects.markdown(project.id, tmp_path / "site.md").read_text()
    assert not list(tmp_path.glob(".*")), "no draft is left"
    report = client.reports.get(second, kinds=["broken_link"])
    assert [(kind.kind, kind.found) for kind in report.kinds] == [("broken_link", 1)]
    (broken,) = client.reports.findings(second, "broken_link")
    assert broken.related[0].url == site.url("/")
    with client.reports.csv_pieces(second) as pieces:
        assert site.url("/gone") in b"".join(pieces).decode()


def test_operators_steer_hosts_keys_and_settings(stage: Stage, client: Client) -> None:
    changed = client.hosts.change("example.org", paused=True, delay_seconds=2)
    assert (changed.paused, changed.operator_seconds, changed.denied) == (True, 2, False)
    assert client.hosts.get("example.org") == changed
    assert [host.host for host in client.hosts.all().hosts] == ["example.org"]
    key = client.keys.create("reader", scope="read")
    with Client(stage.url, key.key) as reader:
        assert list(reader.projects.all()) == []
        with pytest.raises(lib.NotAllowed) as no:
            reader.projects.create("Mine")
        assert (no.value.status, no.value.code) == (403, "forbidden")
    client.keys.revoke(key.id)
    assert {each.name: each.revoked_at is None for each in client.keys.all()} == {"test": True, "reader": False}
    assert client.replace_settings(keep_versions=3).in_force["keep_versions"] == 3
    assert client.settings().stored["keep_versions"] == 3
    assert {check.name for check in client.health().checks} >= {"schema"}


def test_a_schedule_is_set_changed_and_run_and_who_was_told_is_listed(stage: Stage, client: Client) -> None:
    project = client.projects.create("Scheduled", "http://scheduled.example/")
    with pytest.raises(lib.NotFound):
        client.schedules.get(project.id)
    made = client.schedules.replace(project.id, enabled=True, frequency="daily", time="06:30", timezone="Asia/Tokyo")
    assert (made.described, len(made.upcoming), made.next_run_at) == (
        "every day at 06:30 (Asia/Tokyo)", 5, made.upcoming[0]
    )  # fmt: skip
    changed = client.schedules.change(project.id, notify_after_failures=1)
    assert (changed.notify_after_failures, changed.time) == (1, "06:30")
    crawl = client.schedules.run_now(project.id)
    assert client.crawls.get(crawl).crawl_type == "scheduled"
    with pytest.raises(lib.Conflict):
        client.schedules.run_now(project.id)
    tools, target = stage.engine.tools, Target(Channel.WEBHOOK, "http://127.0.0.1:9/")
    assert tools.notices.notifications.claim(uuid4(), project.id, crawl, NoticeKind.CHANGES, target, {})
    (told_,) = client.notifications.all()
    assert list(client.notifications.all(project.id)) == [told_]
    assert list(client.notifications.all(client.projects.create("Other", "http://other.example/").id)) == []
    assert (told_.status, told_.channel, told_.kind) == ("sending", "webhook", "changes")
    assert client.notifications.resend(told_.id).status == "failed"
    with pytest.raises(lib.NotFound):
        client.notifications.resend(uuid4())


def test_a_crawl_is_steered(client: Client) -> None:
    project = client.projects.create("Example", "http://example.org/")
    crawl_id = client.crawls.start_source(project.id, "http://example.org/docs/", include="/docs/", max_pages=7)
    crawl = client.crawls.get(crawl_id)
    config = {name: crawl.config[name] for name in ("max_depth", "max_pages", "use_sitemaps", "ingest")}
    assert config == {"max_depth": 2, "max_pages": 7, "use_sitemaps": False, "ingest": True}
    assert client.crawls.pause(crawl_id).paused
    assert not client.crawls.resume(crawl_id).paused
    client.crawls.cancel(crawl_id)
    client.crawls.cancel(crawl_id)
    assert client.crawls.get(crawl_id).status == "cancelled"
    assert client.projects.change(project.id, is_active=False).is_active is False
    shown = client.projects.preview(project.id, ["/cart/x"], config={"exclude_patterns": ["/cart"]})
    assert [(each.admitted, each.reason) for each in shown] == [(False, "excluded")]
    client.projects.delete(project.id)
    with pytest.raises(lib.NotFound):
        client.projects.get(project.id)


def test_wait_tells_of_progress_and_returns_the_crawl_when_it_is_over(stage: Stage, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    ids: list[UUID] = []
    seen: list[lib.Progress] = []
    with stage.client(sleep=lambda _: run(stage, ids[0])) as client:
        project = client.projects.create("Example", site.url(), settings={"render": "never", "use_sitemaps": False})
        ids.append(client.crawls.start(project.id, delay_seconds=0))
        crawl = client.wait(ids[0], timeout=60, on_progress=seen.append)
    assert (crawl.status, crawl.pages_crawled) == ("completed", 2)
    assert [(at.status, at.progress) for at in seen] == [("pending", 0), ("completed", 100)]


def test_wait_gives_up_when_its_time_is_over(client: Client) -> None:
    project = client.projects.create("Example", "http://example.org/")
    with pytest.raises(lib.StillRunning, match="not over yet"):
        client.wait(client.crawls.start(project.id), timeout=0)


def test_lists_are_read_to_their_end_part_by_part(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.client.connection.LIST_PART", 2)
    names = [f"Project {number}" for number in range(5)]
    for name in names:
        client.projects.create(name)
    assert [project.name for project in client.projects.all()] == names


def test_refusals_are_exceptions_with_code_and_sentence(stage: Stage, client: Client) -> None:
    missing = uuid4()
    with pytest.raises(lib.NotFound, match=f"There is no crawl {missing}.") as gone:
        client.crawls.get(missing)
    assert (gone.value.status, gone.value.code) == (404, "not_found")
    project = client.projects.create("Example", "http://example.org/")
    running = client.crawls.start(project.id)
    with pytest.raises(lib.Conflict) as conflict:
        client.crawls.start(project.id)
    assert (conflict.value.code, conflict.value.crawl_id) == ("crawl_running", str(running))
    with pytest.raises(lib.Invalid) as invalid:
        client.crawls.start(project.id, max_pagse=3)
    assert invalid.value.code == "invalid_request"
    with Client(stage.url, "crk_wrong") as stranger, pytest.raises(lib.NotAllowed) as unknown:
        stranger.health()
    assert unknown.value.status == 401


def test_a_start_whose_answer_was_lost_happens_once(stage: Stage, door: Door) -> None:
    door.mishaps = [lost_after_it_was_done, refused(502), never_arrived]
    with stage.client(door.address) as client:
        project = client.projects.create("Example", "http://example.org/")
        door.mishaps = [lost_after_it_was_done]
        crawl_id = client.crawls.start(project.id)
        assert [each.id for each in client.crawls.of(project.id)] == [crawl_id]
        assert [each.id for each in client.projects.all()] == [project.id]
    starts = [seen.key for seen in door.seen if seen.method == "POST"]
    assert len(starts) == 6
    assert len(set(starts)) == 2, "all tries of a start share a key, two starts do not"


def test_what_may_not_happen_twice_is_sent_once(stage: Stage, door: Door) -> None:
    with stage.client(door.address) as client:
        project = client.projects.create("Example", "http://example.org/")
        crawl_id = client.crawls.start(project.id)
        for call in (
            lambda: client.crawls.retry_failed(crawl_id),
            lambda: client.keys.create("another"),
            lambda: client.projects.delete(project.id),
        ):
            before = len(door.seen)
            door.mishaps = [lost_after_it_was_done]
            with pytest.raises(lib.NoAnswer, match="cannot be reached"):
                call()
            assert len(door.seen) == before + 1


def test_tries_are_bounded_spaced_and_as_far_apart_as_the_service_asks(stage: Stage, door: Door) -> None:
    door.mishaps = [refused(503, Retry_After="7"), refused(503), refused(502), refused(503)]
    with stage.client(door.address) as client, pytest.raises(lib.Unavailable) as away:
        list(client.projects.all())
    assert (away.value.status, away.value.code) == (503, "http_503")
    assert len(door.seen) == 4
    asked, second, third = stage.pauses
    assert 7 <= asked <= 8.4
    assert 1 <= second <= 1.2
    assert 2 <= third <= 2.4


def test_an_answer_that_breaks_off_leaves_no_file(stage: Stage, door: Door, tmp_path: Path) -> None:
    door.mishaps = [cut_off]
    (tmp_path / "out").mkdir()
    with stage.client(door.address) as client, pytest.raises(lib.NoAnswer, match="broke off its answer"):
        client.crawls.export(uuid4(), "jsonl", tmp_path / "out" / "pages.jsonl")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_key_is_not_taken_along_to_where_somebody_points(stage: Stage, door: Door) -> None:
    with door_before(stage.url) as elsewhere, stage.client(door.address) as client:
        door.mishaps = [refused(302, Location=f"{elsewhere.address}/api/v1/projects")]
        with pytest.raises(lib.NotAService, match="answers 302"):
            list(client.projects.all())
        assert elsewhere.seen == []


def test_a_key_beats_a_password_kept_for_the_same_host(
    stage: Stage, door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with stage.client(door.address) as client:
        assert list(client.projects.all()) == []
    assert door.seen[0].authorization == f"Bearer {stage.secret}"


def test_a_service_that_misses_a_server_says_which(stage: Stage, door: Door) -> None:
    check = {"name": "redis", "ok": False, "message": "gone", "fix": None, "required": True}
    door.mishaps = [told(503, json.dumps({"status": "failing", "checks": [check]}).encode())]
    with stage.client(door.address) as client:
        health = client.health()
    assert (health.ok, health.checks[0].name, len(door.seen)) == (False, "redis", 1)


@pytest.mark.parametrize("body", [b"<html>hello</html>", b'{"items": 3}', b"[]", b"[" * 99_999, b"9" * 9_999])
def test_something_else_than_the_service_is_told_as_such(stage: Stage, door: Door, body: bytes) -> None:
    with stage.client(door.address) as client:
        for call in (lambda: client.settings(), lambda: list(client.projects.all())):
            door.mishaps = [told(200, body)]
            with pytest.raises(lib.NotAService):
                call()


def test_a_list_that_never_ends_is_told_as_such(stage: Stage, door: Door) -> None:
    door.mishaps = [told(200, b'{"items": [], "next_cursor": "x"}')] * 9
    with stage.client(door.address) as client, pytest.raises(lib.NotAService, match="again and again"):
        list(client.projects.all())
    assert len(door.seen) == 2


def test_fields_of_a_newer_service_are_no_error(stage: Stage, door: Door) -> None:
    door.mishaps = [told(200, b'{"stored": {}, "in_force": {}, "since": 2030}')]
    with stage.client(door.address) as client:
        assert client.settings().stored == {}


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ("http://h:8800", "http://h:8800/api/v1"),
        ("https://h/", "https://h/api/v1"),
        ("https://h/crawler/", "https://h/crawler/api/v1"),
        ("https://h/api/v1/", "https://h/api/v1"),
    ],
)
def test_a_service_has_one_address_however_it_is_written(given: str, base: str) -> None:
    assert base_url(given) == base


@pytest.mark.parametrize("given", ["h:8800", "ftp://h/", "http://", "http://a:b@h/", "http://h/?key=x", ""])
def test_what_is_no_address_is_refused_at_once(given: str) -> None:
    with pytest.raises(ValueError, match="looks like https://"):
        Client(given, "k")


def test_the_client_imports_nothing_of_the_engine() -> None:
    code = "import sys, crawler.client; print(*(m for m in sys.modules if m.startswith(('crawler', 'workers'))))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {name for name in loaded if name != "crawler" and not name.startswith("crawler.client")} == set()
