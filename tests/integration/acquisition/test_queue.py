"""The acquisition queue on the engine: each entry is fetched once and ends as its URL does."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from crawler.adapters.acquisition.queue_claims import QueueClaims
from crawler.domain.acquisition import warc_import
from crawler.domain.acquisition.entries import ACQUISITION_NAME, Chosen, EntryStatus, QueueFilter
from crawler.domain.acquisition.entry_choices import BulkAction, Sort
from crawler.domain.crawls.crawl import CrawlStatus
from crawler.domain.crawls.project import ACQUISITION_ID, Project
from crawler.domain.retries import MAX_ROUNDS
from crawler.errors import Conflict, Invalid
from crawler.handlers.acquisition import fill_queue
from crawler.handlers.acquisition.run_queue import RunQueue, ensure_acquisition
from tests.integration.handmade import asked, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site

HOSTS = 6


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path, hosts=HOSTS, pages=2 * HOSTS) as site:
        yield site


class Queue:
    def __init__(self, crawler: Engine) -> None:
        self.engine = crawler
        self.tools = crawler.tools

    def add(self, *urls: str, **options: Any) -> None:
        assert self.tools.acquisition.fill_queue.add(urls, **options).added == len(urls)

    def entries(self) -> dict[str, dict[str, Any]]:
        rows = self.engine.rows("SELECT * FROM crawl_queue ORDER BY id")
        return {row["source_url"]: row for row in rows}

    def statuses(self) -> list[str]:
        return [row["status"] for row in self.entries().values()]

    def start(self) -> tuple[UUID, ...]:
        run = self.tools.acquisition.run_queue()
        for crawl_id in run.crawl_ids:
            self.tools.crawls.seed(crawl_id)
        return run.crawl_ids

    def work(self, seconds: float = 30) -> None:
        """Until no entry is pending or under way."""
        until = time.monotonic() + seconds
        while {"pending", "fetching"} & set(self.statuses()):
            assert time.monotonic() < until, self.entries()
            self.start()
            self.engine.shift()
            for crawl in self.tools.store.open_crawls():
                self.tools.crawls.finish(crawl.id)


@pytest.fixture
def queue(crawler: Engine) -> Queue:
    queue = Queue(crawler)
    queue.tools.acquisition.fill_queue.add([])  # makes the project
    settings = {"settings": {"render": "never", "delay_seconds": 0}}
    queue.tools.projects.manage.change(ACQUISITION_ID, settings)
    return queue


def test_entries_of_many_hosts_end_fetched_with_their_pages(queue: Queue, sites: Site) -> None:
    paths = ("/a", "/b", "/c")
    for host in range(HOSTS):
        lay(sites, dict.fromkeys(paths, ("/not-followed",)), host=host)
    queue.add(*(sites.url(path, host) for host in range(HOSTS) for path in paths), category="hotel")
    queue.work()
    for entry in queue.entries().values():
        assert entry["status"] == "fetched", entry
        assert (entry["attempts"], entry["last_error"], entry["rounds"]) == (1, None, 0)
        assert entry["last_attempted_at"] is not None
        (found,) = queue.engine.rows("SELECT url FROM crawled_pages WHERE id = :id", id=entry["page_id"])
        assert found["url"] == entry["source_url"]
    assert sorted(asked(sites)) == sorted(paths * HOSTS), "each once, and nothing they link to"
    crawls = queue.tools.store.list_crawls(ACQUISITION_ID)
    assert {crawl.status for crawl in crawls} == {CrawlStatus.COMPLETED}
    assert all(crawl.from_queue and crawl.crawl_type == "fetch_only" for crawl in crawls)


def test_a_dead_host_delays_nobody_else(queue: Queue, sites: Site) -> None:
    dead = "http://127.0.0.1:9/"
    for host in range(HOSTS):
        lay(sites, {"/a": ()}, host=host)
    queue.add(dead, *(f"{dead}{number}" for number in range(4)), priority=0)
    queue.add(*(sites.url("/a", host) for host in range(HOSTS)), priority=9)
    queue.start()
    queue.engine.shift()
    assert queue.statuses() == ["fetching"] * 5 + ["fetched"] * HOSTS, "the dead one is tried again meanwhile"


def test_what_cannot_be_fetched_fails_with_its_reason(queue: Queue, sites: Site) -> None:
    lay(sites, {"/ok": (), "/private/a": ()})
    sites.set_robots("User-agent: *\nDisallow: /private/")
    sites.remove("/gone")
    sites.set_fault("/broken", status=500)
    sites.set_fault("/file", content_type="application/zip", body="PK")
    expected = {
        "/ok": ("fetched", None),
        "/private/a": ("failed", "robots"),
        "/gone": ("failed", "not_found"),
        "/broken": ("failed", "http_5xx"),
        "/file": ("failed", "content_type"),
    }
    queue.add(*map(sites.url, expected))
    queue.work()
    found = {
        url.removeprefix(sites.url("")): (
            row["status"],
            row["last_error"] and row["last_error"].split(":")[0].split(" ")[0],
        )
        for url, row in queue.entries().items()
    }
    assert found == expected
    assert "/private/a" not in asked(sites)


def test_an_entry_follows_its_redirects_wherever_they_lead(queue: Queue, sites: Site) -> None:
    lay(sites, {"/place": (), "/target": ()})
    lay(sites, {"/far": ()}, host=1)
    sites.set_fault("/moved", redirect="/place")
    sites.set_fault("/away", redirect=sites.url("/hop", 1))
    sites.set_fault("/hop", host=1, redirect="/far")
    sites.set_fault("/loop", redirect="/pool")
    sites.set_fault("/pool", redirect="/loop")
    sites.set_fault("/dead-end", redirect=sites.url("/none", 1))
    sites.remove("/none", host=1)
    sites.set_fault("/late", redirect="/target", delay=0.5)
    queue.add(*map(sites.url, ("/moved", "/away", "/loop", "/dead-end", "/target", "/late")))
    queue.work()
    entries = {url.removeprefix(sites.url("")): row for url, row in queue.entries().items()}
    pages = {row["id"]: row["url"] for row in queue.engine.rows("SELECT id, url FROM crawled_pages")}
    assert pages[entries["/moved"]["page_id"]] == sites.url("/place")
    assert pages[entries["/away"]["page_id"]] == sites.url("/far", 1)
    assert pages[entries["/late"]["page_id"]] == sites.url("/target"), "it had ended before"
    statuses = {
        path: (row["status"], (row["last_error"] or "").split(":")[0].split(" ")[0]) for path, row in entries.items()
    }
    assert statuses == {
        "/moved": ("fetched", ""),
        "/away": ("fetched", ""),
        "/target": ("fetched", ""),
        "/late": ("fetched", ""),
        "/loop": ("failed", "redirect_loop"),
        "/dead-end": ("failed", "not_found"),
    }


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("delays", [(0.0, 0.5), (0.5, 0.0), (0.0, 0.0)])
def test_an_entry_does_not_fail_for_the_redirects_of_another(
    queue: Queue, sites: Site, delays: tuple[float, float]
) -> None:
    """/long is one redirect longer than is followed; /short leads into its way behind the first step."""
    lay(sites, {"/end": ()})
    for way in "xy":
        for step in range(1, 5):
            sites.set_fault(f"/{way}{step}", redirect=f"/{way}{step + 1}")
        sites.set_fault(f"/{way}5", redirect="/end")
    sites.set_fault("/alone", redirect="/y1")
    sites.set_fault("/long", redirect="/x1", delay=delays[0])
    sites.set_fault("/short", redirect="/x2", delay=delays[1])
    sites.set_fault("/self", redirect="/self")
    sites.set_fault("/to-self", redirect="/self")
    queue.add(*map(sites.url, ("/long", "/short", "/alone", "/self", "/to-self")))
    queue.work()
    found = {url.removeprefix(sites.url("")): row for url, row in queue.entries().items()}
    (end,) = queue.engine.rows("SELECT id FROM crawled_pages WHERE url LIKE '%/end'")
    assert (found["/short"]["status"], found["/short"]["page_id"]) == ("fetched", end["id"])
    assert found["/alone"]["last_error"] == "redirect_loop: There are more than 5 redirects."
    for path in ("/self", "/to-self"):
        assert found[path]["status"] == "failed"
        assert found[path]["last_error"] == "redirect_loop: It redirects to itself."
        assert (found[path]["attempts"] > 0, found[path]["rounds"]) == (True, 0)


@pytest.mark.slow
def test_batches_keep_the_gap_of_a_host_between_them(queue: Queue, sites: Site) -> None:
    queue.tools.projects.manage.change(ACQUISITION_ID, {"settings": {"delay_seconds": 0.2}})
    lay(sites, {f"/{number}": () for number in range(6)})
    for number in range(6):
        queue.add(sites.url(f"/{number}"))
        queue.start()
    assert len(queue.tools.store.open_crawls()) == 6, "side by side"
    queue.work()
    assert sites.politeness()[sites.requests()[0].address].keeps(0.2)


def test_two_runs_at_once_take_each_entry_once(queue: Queue) -> None:
    urls = [f"http://host{number}.example/" for number in range(200)]
    queue.add(*urls)
    tools, ready, counts = queue.tools, threading.Barrier(4), []

    def run() -> None:
        mine = RunQueue(
            QueueClaims(tools.database),
            tools.store,
            lambda _: None,
            tools.clock,
            batch_size=lambda: 30,
            concurrency=150,
        )
        ready.wait()
        counts.append(mine().entries)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(counts) == 150, "as many as may be under way at once"
    assert sorted(queue.statuses()) == ["fetching"] * 150 + ["pending"] * 50
    listed = queue.engine.rows("SELECT url FROM crawl_discovered_urls")
    assert len(listed) == len({row["url"] for row in listed}) == 150


def test_entries_are_taken_by_priority_then_age(queue: Queue) -> None:
    queue.add("http://a.example/", priority=9)
    queue.add("http://b.example/", "http://c.example/")
    queue.add("http://d.example/", priority=0)
    tools = queue.tools
    RunQueue(
        QueueClaims(tools.database), tools.store, lambda _: None, tools.clock, batch_size=lambda: 2, concurrency=2
    )()
    assert queue.statuses() == ["pending", "fetching", "pending", "fetching"]
    listed = tools.acquisition.queue.list_entries(QueueFilter(), Sort.PRIORITY)
    assert [entry.host for entry in listed] == ["d.example", "b.example", "c.example", "a.example"]


def test_no_host_takes_all_places(queue: Queue) -> None:
    queue.add(*(f"http://slow.example/{number}" for number in range(300)), priority=0)
    queue.add(*(f"http://host{number}.example/" for number in range(40)), priority=9)
    tools = queue.tools
    run = RunQueue(
        QueueClaims(tools.database), tools.store, lambda _: None, tools.clock, batch_size=lambda: 500, concurrency=100
    )()
    assert run.entries == 45
    taken = [url for url, row in queue.entries().items() if row["status"] == "fetching"]
    assert taken[:5] == [f"http://slow.example/{number}" for number in range(5)]
    assert len(taken) == 45


def test_what_is_inactive_paused_or_blocked_waits(queue: Queue) -> None:
    resting = queue.engine.project(None)
    queue.add("http://inactive.example/", "http://paused.example/", "http://blocked.example/", "http://soon.example/")
    queue.add("http://resting.example/", project_id=resting.id)
    queue.tools.acquisition.queue.change(BulkAction.DEACTIVATE, Chosen.of((), QueueFilter(host="inactive.example")))
    queue.tools.hosts.store.save_pause("paused.example", paused=True)
    now = queue.tools.clock()
    queue.tools.hosts.store.save_block("blocked.example", now.replace(year=now.year + 1), 1, 1)
    queue.tools.projects.manage.change(resting.id, {"is_active": False})
    assert queue.tools.acquisition.run_queue().entries == 1
    assert queue.statuses() == ["pending", "pending", "pending", "fetching", "pending"]


def test_a_crash_between_claim_and_start_costs_nothing_but_time(queue: Queue, sites: Site) -> None:
    lay(sites, {"/a": ()})
    queue.add(sites.url("/a"))

    def crash(_: UUID) -> None:
        raise KeyboardInterrupt

    tools = queue.tools
    with pytest.raises(KeyboardInterrupt):
        RunQueue(QueueClaims(tools.database), tools.store, crash, tools.clock, batch_size=lambda: 9, concurrency=9)()
    assert queue.statuses() == ["fetching"]
    with tools.database.begin() as db:
        db.exec_driver_sql("UPDATE crawl_jobs SET created_at = created_at - interval '1 minute'")
    tools.crawls.reconcile()
    queue.work()
    assert queue.statuses() == ["fetched"]
    assert asked(sites) == ["/a"]


def test_a_crash_inside_a_claim_leaves_the_queue_as_it_was(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    queue.add("http://a.example/")

    def crash(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("crawler.handlers.acquisition.run_queue.first_urls", crash)
    with pytest.raises(KeyboardInterrupt):
        queue.tools.acquisition.run_queue()
    assert queue.statuses() == ["pending"]
    assert queue.tools.store.open_crawls() == []


def test_entries_of_dead_batches_wait_again_but_not_for_ever(queue: Queue) -> None:
    queue.add("http://127.0.0.1:9/")
    for lost in range(MAX_ROUNDS):
        (crawl_id,) = queue.start()
        queue.tools.crawls.control.cancel(crawl_id)
        assert queue.statuses() == ["fetching"]
        queue.tools.acquisition.run_queue._requeue_stranded()
        assert queue.statuses() == (["pending"] if lost < MAX_ROUNDS - 1 else ["failed"])
    (entry,) = queue.entries().values()
    assert "over before its turn" in entry["last_error"]
    queue.tools.acquisition.queue.change(BulkAction.RETRY, Chosen.of((entry["id"],), None))
    assert queue.statuses() == ["pending"]
    assert len(queue.start()) == 1


def test_a_run_goes_on_by_itself_and_none_begins_by_itself(queue: Queue) -> None:
    queue.add("http://a.example/")
    queue.tools.acquisition.run_queue.recover()
    assert queue.statuses() == ["pending"], "nobody asked for a run"
    queue.tools.acquisition.run_queue()
    queue.add("http://b.example/")
    queue.tools.acquisition.run_queue.recover()
    assert queue.statuses() == ["fetching", "fetching"]


def test_the_end_of_a_batch_asks_for_the_next(queue: Queue, sites: Site) -> None:
    lay(sites, {"/a": ()})
    queue.add(sites.url("/a"))
    queue.work()
    assert ("run_queue", None) in queue.engine.sent


def test_batches_stand_in_the_way_of_no_crawl_of_their_project(queue: Queue, sites: Site) -> None:
    lay(sites, {"/": ("/a",), "/a": (), "/listed": ()})
    project = queue.engine.project(sites.url(), delay_seconds=0)
    queue.add(sites.url("/listed"), project_id=project.id)
    queue.start()
    crawl = queue.engine.start(project)
    queue.work()
    assert queue.engine.ends(queue.engine.run(crawl)) == {"/": "done", "/a": "done"}
    (entry,) = queue.entries().values()
    (page,) = queue.engine.rows("SELECT project_id FROM crawled_pages WHERE id = :id", id=entry["page_id"])
    assert page["project_id"] == project.id


def test_the_queues_own_project_stays(queue: Queue) -> None:
    with pytest.raises(Conflict, match="stays"):
        queue.tools.projects.manage.delete(ACQUISITION_ID)
    assert queue.tools.store.get_project(ACQUISITION_ID).name == "acquisition"


def test_many_entries_change_at_once_as_far_as_the_workflow_allows(queue: Queue) -> None:
    queue.add(*(f"http://{name}.example/" for name in "abcdef"), category="x")
    for name, status in zip("bcdef", ("fetching", "fetched", "extracting", "done", "failed"), strict=True):
        with queue.tools.database.begin() as db:
            db.exec_driver_sql(f"UPDATE crawl_queue SET status = '{status}' WHERE host = '{name}.example'")
    everything = Chosen.of((), None, everything=True)

    def change(action: BulkAction, chosen: Chosen) -> int:
        return queue.tools.acquisition.queue.change(action, chosen).changed

    assert change(BulkAction.RETRY, everything) == 1, "what failed"
    assert change(BulkAction.RETRY, Chosen.of((), QueueFilter(status=EntryStatus.FETCHING))) == 0
    assert change(BulkAction.RETRY, Chosen.of((), QueueFilter(status=EntryStatus.DONE))) == 1
    assert sorted(queue.statuses()) == ["extracting", "fetched", "fetching", "pending", "pending", "pending"]
    assert change(BulkAction.DEACTIVATE, Chosen.of((), QueueFilter(category="x", prefix="https://a.ex"))) == 1
    assert change(BulkAction.DEACTIVATE, everything) == 5, "those that were active"
    assert change(BulkAction.REACTIVATE, Chosen.of((), QueueFilter(active=False))) == 6
    ids = [row["id"] for row in queue.entries().values()]
    assert change(BulkAction.DELETE, Chosen.of((*ids[:2], 10**12), None)) == 2
    assert change(BulkAction.DELETE, everything) == 4
    assert queue.entries() == {}


def test_a_change_of_very_many_says_where_to_go_on(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.adapters.acquisition.queue_store.CHANGED_AT_ONCE", 2)
    queue.add(*(f"http://{name}.example/" for name in "abcde"))
    everything, parts, after = Chosen.of((), None, everything=True), [], 0
    while True:
        part = queue.tools.acquisition.queue.change(BulkAction.DEACTIVATE, everything, after=after, seconds=-1)
        parts.append(part.changed)
        if part.next_after is None:
            break
        after = part.next_after
    assert parts == [2, 2, 1, 0]


def test_a_batch_of_the_queue_is_not_the_phase_of_its_project(queue: Queue, site: Site) -> None:
    lay(site, {"/": [], "/single": []})
    crawl = queue.engine.crawl(site.url())
    queue.add(site.url("/single"), project_id=crawl.project_id)
    (batch,) = queue.start()
    progress = queue.tools.crawls.progress.of_project(crawl.project_id)
    assert (progress.crawl_id, progress.status) == (crawl.id, "completed"), "the batch is under way"
    queue.work()
    assert queue.tools.store.get_crawl(batch).status == "completed"
    assert queue.tools.store.get_project(crawl.project_id).phase_status == "completed"
    assert queue.tools.crawls.progress.of_project(crawl.project_id).crawl_id == crawl.id


def test_an_entry_that_fails_is_logged_with_its_error(queue: Queue, site: Site) -> None:
    site.set_fault("/gone", status=404)
    queue.add(site.url("/gone"))
    with capture_logs() as logged:
        queue.work()
    (line,) = [line for line in logged if line["event"] == "entry_failed"]
    assert (line["url"], line["error"]) == (site.url("/gone"), "not_found (HTTP 404)")


def test_a_project_that_has_the_name_of_the_queues_own_is_named(crawler: Engine) -> None:
    other = Project.create(name=ACQUISITION_NAME, website_url=None, now=crawler.tools.clock())
    crawler.tools.store.add_project(other)
    with pytest.raises(Conflict, match=f"called '{ACQUISITION_NAME}', and another one has that name; rename it"):
        ensure_acquisition(crawler.tools.store, crawler.tools.clock)


def test_a_file_that_is_no_list_is_not_read_to_its_end(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each bad row takes time, and millions of them would take minutes: what was good before is there."""
    monkeypatch.setattr(fill_queue, "MOST_BAD", 10)
    rows = b"url\nhttp://a.test/\n" + b"x\n" * 100
    with pytest.raises(Invalid, match=r"More than 10 rows cannot be read, the last one in line 13: The URL must"):
        queue.tools.acquisition.fill_queue.whole_file([rows])
    assert list(queue.entries()) == ["http://a.test/"]


def test_an_archive_that_is_too_large_is_not_read_to_its_end(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records of no kind give no bad row, and take time all the same: what was good before is there."""
    monkeypatch.setattr(warc_import, "MOST_RECORDS", 10)
    page = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/\r\nContent-Length: 0\r\n\r\n"
    archive = page + b"WARC/1.0\r\nContent-Length: 0\r\n\r\n" * 100
    with pytest.raises(Invalid, match=r"split it .* 10 records were read, and 1 URLs before it were added\.$"):
        queue.tools.acquisition.fill_queue.file().feed(archive)
    assert list(queue.entries()) == ["http://a.test/"]
    assert queue.tools.acquisition.fill_queue.whole_file([archive]).duplicates == 1, "one's own may be of any size"
