"""Schedules seen through: real beat, workers, mail server and webhook receiver, and a site that changes in between."""

import base64
import hashlib
import hmac
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import psutil
import pytest
import requests

from crawler.adapters.operating.celery_app import BEAT_LOOP_SECONDS
from crawler.embedded import EmbeddedServers
from tests.acceptance.cli import Cli
from tests.acceptance.running import Posted, Running, eventually, receiving_posts, words_of
from tests.acceptance.stack.conftest import WEBHOOK_KEY
from tests.integration.handmade import lay, page
from tests.integration.inbox import Inbox, Received
from tests.site.client import Site

READER = "ops@example.org"
CHAIN = ("run_scheduled_crawl", "finish_crawl", "diff_crawl", "notify")
pytestmark = [pytest.mark.slow, pytest.mark.stack, pytest.mark.timeout(300)]


class World(NamedTuple):
    up: Running
    site: Site
    inbox: Inbox
    mails_before: int
    """Of other tests."""
    hook: str
    posts: list[Posted]
    project: str
    """The one that is watched."""

    def mails(self) -> list[Received]:
        return self.inbox.mails[self.mails_before :]

    def notices(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.up("GET", "/notifications", project_id=self.project)["items"]
        return found


@pytest.fixture(scope="module")
def world(up: Running, inbox: Inbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("watched")
    with receiving_posts() as (hook, posts), Site(folder, hosts=1, pages=3) as site:
        eventually(lambda: requests.get(up.flower, timeout=30).ok, 120, "Flower looks on from the beginning")
        yield World(up, site, inbox, len(inbox.mails), hook, posts, up.project("Acme Coffee", site.url()))


def crawled(world: World, project: str, **config: Any) -> dict[str, Any]:
    """The crawl that beat began by the schedule, when it is over and whoever is to be told was told."""
    up, before = world.up, len(world.up.history(project))
    told = notified(up)
    up.due_soon(project, **config)
    eventually(lambda: _ended(up.history(project), before), 120, "the scheduled crawl is over")
    eventually(lambda: notified(up) > told, 120, "its notify task is done")
    return up.history(project)[0]


def _ended(history: list[dict[str, Any]], before: int) -> dict[str, Any] | None:
    newest = history[0] if len(history) > before else None
    return newest if newest and newest["completed_at"] else None


def notified(up: Running) -> int:
    return len(re.findall(r"Task crawler\.notify\[[^]]+\] succeeded", up.log("notify")))


def write(site: Site, sections: range) -> None:
    lay(site, {"/": page(*(f"/s{n}" for n in sections), title="Home", body="<p>Welcome to the site.</p>")})
    for n in sections:
        lay(site, {f"/s{n}": page(title=f"Section {n}", body=f"<p>All about section {n}.</p>")})


def test_what_changed_between_runs_is_one_true_mail_and_payload_and_nothing_is_told_when_nothing_did(
    world: World,
) -> None:
    up, site, project = world.up, world.site, world.project
    write(site, range(3))
    tells = {"notification_email": READER, "notification_webhook": world.hook}

    first = crawled(world, project, **tells)
    assert (first["crawl_type"], first["status"], first["pages_crawled"]) == ("scheduled", "completed", 4)
    assert f"Sending due task crawl_{project} (crawler.run_scheduled_crawl)" in up.log("beat"), "by beat's own entry"
    assert (world.mails(), world.posts) == ([], []), "with nothing to compare there is nothing to tell"

    write(site, range(9))
    site.edit("/s1", html=page(title="Section 1", body="<p>All new about section 1.</p>"))
    second = crawled(world, project, **tells)
    (received,), (posted,) = world.mails(), world.posts
    assert received.to == [READER]
    assert received.mail["Subject"] == "[Acme] Significant changes detected for Acme Coffee"
    text = received.text()
    for line in (
        "- New pages: 6",
        "- Changed pages: 2",
        "- Removed pages: 0",
        *(site.url(f"/s{n}") for n in range(3, 9)),
    ):
        assert line in text.splitlines(), text
    assert f"View details: https://dash.example.org/crawls/{second['id']}" in text.splitlines()
    assert f"Changed: {site.url('/s1')}\n- All about section 1.\n+ All new about section 1.\n" in text
    assert posted.json["changes"] == {
        "new_pages": 6, "changed_pages": 2, "removed_pages": 0, "is_significant": True,
        "moved_pages": 0, "template_changes": 0,
    }  # fmt: skip
    assert (posted.json["event"], posted.json["crawl_id"]) == ("crawl_completed", second["id"])
    assert is_signed(posted)
    assert up("GET", f"/projects/{project}")["flagged_for_review"]

    third = crawled(world, project, **tells)
    assert third["change_summary"]["summary"] == {
        "new_pages": 0, "removed_pages": 0, "changed_pages": 0, "unchanged_pages": 10
    }  # fmt: skip
    assert (len(world.mails()), len(world.posts)) == (1, 1), "nothing changed, nothing is told"

    (outcomes,) = {tuple(run["outcome"] for run in up("GET", f"/projects/{project}/schedule")["runs"])}
    assert outcomes == ("started", "started", "started")
    kinds = [(kept["channel"], kept["kind"], kept["status"]) for kept in world.notices()]
    assert sorted(kinds) == [("email", "changes", "sent"), ("webhook", "changes", "sent")]


def is_signed(posted: Posted) -> bool:
    """By the Standard Webhooks specification, as a receiver checks it."""
    signed = f"{posted.headers['webhook-id']}.{posted.headers['webhook-timestamp']}.".encode() + posted.body
    wanted = base64.b64encode(hmac.digest(WEBHOOK_KEY, signed, hashlib.sha256)).decode()
    return posted.headers["webhook-signature"] == f"v1,{wanted}"


def test_a_notice_is_sent_again_by_the_workers_also_from_a_shell_that_knows_no_mail_server(world: World) -> None:
    (mail,) = [kept for kept in world.notices() if kept["channel"] == "email"]
    before = len(world.mails())
    shell = Cli(world.up.cli.data_dir)
    done = shell("notification", "resend", mail["id"])
    assert (done.returncode, done.stdout) == (0, "The mail server took it.\n"), done.stderr
    first, again = world.mails()[before - 1 :]
    assert first.mail["Message-ID"] == again.mail["Message-ID"]
    project = world.up.project("Warned", world.site.url())
    told = shell("schedule", "set", project, "--frequency", "daily", "--email", READER, "--json")
    assert json.loads(told.stdout)["warnings"] == [], "the workers have one"


def test_the_way_of_a_scheduled_crawl_is_seen_in_flower_by_name(world: World) -> None:
    ours = (world.project, *(crawl["id"] for crawl in world.up.history(world.project)))
    for task in CHAIN:
        found = requests.get(f"{world.up.flower}/api/tasks", {"taskname": f"crawler.{task}"}, timeout=30).json()
        shown = [one["state"] for one in found.values() if any(id_ in f"{one['args']}{one['kwargs']}" for id_ in ours)]
        assert set(shown) == {"SUCCESS"}, task


def test_two_beats_start_each_slot_once(world: World) -> None:
    up = world.up
    write(world.site, range(2))
    project = up.project("Twice", world.site.url())
    with second_beat(up) as other:
        up.due_soon(project)
        eventually(lambda: _ended(up.history(project), 0), 120, "the slot was run")
        assert other.is_running()
        time.sleep(2 * BEAT_LOOP_SECONDS)  # a second start would come with the other's next round
        assert len(up.history(project)) == 1
        (run,) = up("GET", f"/projects/{project}/schedule")["runs"]
        assert run["outcome"] == "started"


def test_beat_dies_with_redis_and_comes_back_and_no_slot_is_missed_or_doubled(world: World) -> None:
    up = world.up
    write(world.site, range(2))
    project = up.project("Another", world.site.url())
    before = beat(up)
    up.due_soon(project)
    servers = json.loads((up.cli.data_dir / "servers" / "state.json").read_text())
    os.kill(int(servers["valkey"]["pid"]), signal.SIGKILL)
    before.kill()  # by itself it might not even notice; its lock outlives it
    newest = eventually(lambda: _ended(_history(up, project), 0), 120, "the slot was run")
    assert newest["status"] == "completed"
    eventually(lambda: beat(up).pid != before.pid, 120, "another beat runs")
    assert len(up.history(project)) == 1
    (run,) = up("GET", f"/projects/{project}/schedule")["runs"]
    assert run["outcome"] == "started"


@contextmanager
def second_beat(up: Running) -> Iterator[psutil.Process]:
    """With the very settings of the first."""
    with EmbeddedServers(up.cli.data_dir) as servers:
        urls = {"CRAWLER_DATABASE_URL": servers.database_url, "CRAWLER_REDIS_URL": servers.redis_url}
        env = {**up.cli.environment, **urls}
        process = psutil.Popen(words_of(beat(up)), env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def _history(up: Running, project: str) -> list[dict[str, Any]]:
    try:
        return up.history(project)
    except AssertionError:  # for a moment there is no Redis
        return []


def beat(up: Running) -> psutil.Process:
    def find() -> psutil.Process | None:
        found = [child for child in up.process.children() if "workers.beat.BeatScheduler" in words_of(child)]
        return found[0] if found else None

    return eventually(find, 120, "beat runs")
